"""Where the threads were: what the log says of a process that crashes or hangs, natively and in
Python."""

import os
import re
import signal

import pytest

NO_HANDLERS = ("handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:"
               "use_sigaltstack=0:detect_leaks=0")
ASK = signal.SIGRTMAX - 4  # src/process/stacks_signals.h


def start(server, exit_codes=(0,), master=False, env=None, **options):
    return server({"master": master, "module": "stuck", "threads": 3, **options},
                  exit_codes=exit_codes, may_crash=True,
                  env={"ASAN_OPTIONS": NO_HANDLERS, **(env or {})})


def request_without_answer(one, path):
    """The server dies of it, so that no answer comes."""
    with one.connect() as peer:
        peer.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        peer.settimeout(40)
        try:
            return peer.recv(1000)
        except ConnectionError:
            return b""


@pytest.mark.parametrize("path, number, line", [
    ("/null", signal.SIGSEGV, "Crash: SIGSEGV at address 0x0, in thread"),
    ("/abort", signal.SIGABRT, "Crash: SIGABRT, raised by the process itself, in thread"),
    ("/overflow", signal.SIGSEGV, "Crash: SIGSEGV at address 0x"),
])
def test_a_crash_leaves_all_stacks_and_its_own_status(server, path, number, line):
    one = start(server, exit_codes=(-number,))
    assert request_without_answer(one, path) == b""
    assert one.wait() == -number
    log = one.log()
    report = log[log.index(line):log.index("-- end of report --")]
    # Native: all threads, with names of functions; and Python, the frame that did it.
    assert len(re.findall(r"^Native stack of thread \d+ \"", report, re.M)) >= 4
    assert re.search(r"^  #\d+ +0x[0-9a-f]{16} \w+\+0x[0-9a-f]+ \(/.*/libc.so.6\+0x", report, re.M)
    assert re.search(r"^Current thread 0x[0-9a-f]{16} \(most recent call first\):", report, re.M)
    assert re.search(r'File ".*/stuck.py", line \d+ in ', report)
    # The stacks of one thread can be put side by side.
    current = re.search(r"^Current thread (0x[0-9a-f]{16})", report, re.M).group(1)
    assert f"({current}):" in report


def test_the_apps_own_faulthandler_still_works(server):
    one = start(server, exit_codes=(-signal.SIGSEGV,), env={"APP_FAULTHANDLER": "1"})
    request_without_answer(one, "/null")
    assert one.wait() == -signal.SIGSEGV
    log = one.log()
    assert "Fatal Python error: Segmentation fault" in log
    assert "Crash: SIGSEGV" in log
    assert log.count("-- end of report --") == 1


def test_a_child_of_the_apps_that_crashes_is_its_own_business(server):
    one = start(server)
    assert one.get("/child").status == 200
    assert "Crash:" not in one.log()


def test_a_crash_while_the_app_is_imported_is_reported(server, tmp_path):
    (tmp_path / "fatal.py").write_text("import ctypes\nctypes.string_at(0)\n")
    one = server({"master": True, "module": "fatal", "chdir": str(tmp_path), "need-app": True},
                 wait=False, exit_codes=None, may_crash=True, env={"ASAN_OPTIONS": NO_HANDLERS})
    log = one.wait_log("-- end of report --")
    one.exit_codes = (one.stop(),)
    assert "Crash: SIGSEGV at address 0x0" in log
    assert re.search(r'File ".*/fatal.py", line 2 in <module>', log)


@pytest.mark.parametrize("path, function, native", [
    ("/hang", "hang_here", "clock_nanosleep"),
    ("/gil", "application", "pause"),  # the GIL is held all the time
])
def test_a_process_tells_where_it_hangs(server, path, function, native):
    one = start(server, threads=3)
    with one.connect() as peer:
        peer.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        log = ""
        for round_ in range(1, 40):  # until the request is in there
            one.send_signal(ASK)
            log = one.wait_log("-- end of report --", count=round_)
            if f"in {function}" in log:
                break
        report = log[:log.rindex("-- end of report --")]
        assert re.search(rf'File ".*/stuck.py", line \d+ in {function}', report)
        assert f" {native}+0x" in report
    os.kill(one.pid, signal.SIGKILL)
    one.exit_codes = (-signal.SIGKILL,)
    one.wait()
