"""Apps that start threads while they are imported, and code for uWSGI that runs after a fork."""

import os
import re
import signal
import time

import pytest

import processes

STARTS = 200 if os.environ.get("CC_SOAK") else 10


@pytest.mark.parametrize("lazy", [False, True], ids=["preload", "lazy"])
def test_threads_at_import_never_lock_a_worker(server, tmp_path, lazy):
    """Each start is a worker that is forked while all of them run; its request uses all that a
    thread may have held then."""
    one = server({"processes": 1, "threads": 2, "module": "fork_threads", "lazy-apps": lazy,
                  "master-fifo": str(tmp_path / "fifo"),
                  "harakiri": 12},  # a lock's stacks are in the log before the client gives up
                 env={"FORK_LOG": str(tmp_path / "fork.log")})
    seen = set()
    for _ in range(STARTS):
        signal.alarm(120)  # conftest's limit, for one start instead of all
        answer = one.get("/", timeout=20)
        assert answer.status == 200, one.log()[-3000:]
        pid, importer, _held = answer.body.decode().split()
        assert importer == str(lazy)
        assert pid not in seen
        seen.add(pid)
        # By an order: workers that end by themselves right after their start are slowed down.
        with open(tmp_path / "fifo", "w") as fifo:
            fifo.write("w")
        processes.wait_until(lambda: one.workers() and int(pid) not in one.workers(), 20,
                             f"another worker\n{one.log()[-3000:]}")
    warnings = re.findall(r"warning: the app started \d+ threads while it was imported \((.*)\): ",
                          one.log())
    if lazy:
        assert not warnings
    else:
        assert len(warnings) == 1  # and not for each worker
        for name in ("import-chatter", "import-printer", "import-holder", "import-pool_0"):
            assert name in warnings[0]
        assert "lazy-apps = true" in one.log() and "postfork" in one.log()


@pytest.mark.parametrize("lazy", [False, True], ids=["preload", "lazy"])
def test_uwsgidecorators_hooks_run_in_each_worker(server, lazy):
    one = server({"processes": 2, "module": "hooks", "lazy-apps": lazy})
    one.workers(2)
    for _ in range(6):
        told = eval(one.get("/").body)
        assert told["ran"] == [told["id"]] and told["id"] in (1, 2)
        assert told["thread"] and told["pid"] and told["mule"] == 0
        assert told["master"] == one.pid
    one.stop()
    assert "bye from worker 1" in one.log() and "bye from worker 2" in one.log()
    assert "bye from worker 0" not in one.log()


def test_a_hook_that_fails_is_logged_and_the_worker_serves(server):
    one = server({"module": "hooks"}, env={"BAD_HOOK": "1"})
    assert one.get("/").status == 200
    log = one.log()
    assert "uwsgi.post_fork_hook raised an exception" in log
    assert "ValueError: this hook fails" in log


def test_the_uwsgi_module_tells_the_configuration(server):
    one = server({"module": "hooks", "processes": 2, "env": ["A=1", "B=2"]})
    opt = eval(one.get("/get/opt").body)
    assert opt["module"] == b"hooks" and opt["env"] == [b"A=1", b"B=2"]
    assert opt["enable-threads"] is True
    assert eval(one.get("/get/numproc").body) == 2
    assert re.match(rb"b'\d+\.\d+", one.get("/get/version").body)


@pytest.mark.parametrize("path, text", [
    ("/get/spool", "uwsgi.spool: the spooler is not in ccontainer"),
    ("/get/cache_get", "uwsgi.cache_get: the cache is not in ccontainer"),
    ("/get/nonsense", "uwsgi.nonsense: ccontainer's uwsgi module does not have it"),
    ("/timer", "uwsgi.signal_registered: uWSGI's signals are not in ccontainer"),
])
def test_what_the_uwsgi_module_has_not_it_explains(server, path, text):
    one = server({"module": "hooks"})
    assert text in one.get(path).body.decode()


def test_uwsgi_reload_and_log(server):
    one = server({"module": "hooks"})
    assert one.get("/log").body == b"True"
    assert "] a line of the app's\n" in one.log()
    assert one.get("/reload").body == b"True"
    one.wait_log("generation 2 serves")
    assert "the app called uwsgi.reload(): asking for a reload" in one.log()


def test_without_a_master_uwsgidecorators_says_what_it_needs(server):
    one = server({"master": False, "module": "hooks", "need-app": True}, wait=False,
                 exit_codes=(22,))
    assert one.wait() == 22
    one.wait_log("you have to enable the uWSGI master process to use this module")


def test_app_threads_left_running_do_not_hold_up_the_end(server, tmp_path):
    (tmp_path / "lingering.py").write_text(
        "import threading, time\n"
        "def forever():\n"
        "    while True: time.sleep(0.01)\n"
        "def application(environ, start_response):\n"
        "    for daemon in (False, True):\n"
        "        for _ in range(4):\n"
        "            threading.Thread(target=forever, daemon=daemon).start()\n"
        "    start_response('200 OK', [])\n"
        "    return [b'started']\n")
    one = server({"module": "lingering", "chdir": str(tmp_path), "processes": 2})
    assert one.get("/").body == b"started"
    begun = time.monotonic()
    assert one.stop() == 0
    assert time.monotonic() - begun < 20
    assert "did not end within" in one.log()
    assert "killed by SIG" not in one.log() and "Crash:" not in one.log()


ASKS = """
import threading, uwsgi, uwsgidecorators
@uwsgidecorators.postfork
def ask():
    threading.Timer(0.1, uwsgi.reload).start()
def application(environ, start_response):
    start_response("200 OK", [])
    return [b"still here"]
"""


def test_an_app_that_asks_for_reloads_again_and_again_is_slowed_down(server, folder):
    with open(os.path.join(folder, "asks.py"), "w", encoding="ascii") as file:
        file.write(ASKS)
    one = server({"module": "asks", "chdir": folder})
    one.wait_log("the app asks for a reload again and again: the next in 2 s")
    assert "again and again: the next in 1 s" in one.log()
    count = one.log().count("starting generation")
    assert 2 <= count <= 4
    assert one.get("/").body == b"still here"
