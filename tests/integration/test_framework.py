"""The test framework itself: a helper that sees nothing would let every test pass."""

import os
import subprocess
import sys

import clients
import processes
import servers


def test_processes_see_a_family():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                          start_new_session=True) as parent:
        child = processes.wait_until(lambda: processes.children(parent.pid), what="a child")[0]
        assert processes.descendants(os.getpid()).count(child) == 1
        assert processes.of_session(parent.pid) == sorted([parent.pid, child])
        assert processes.memory_kib(parent.pid) > 100
        parent.stdin.close()
    assert not processes.of_session(parent.pid)


def test_a_process_that_left_its_session_is_found_by_its_token():
    with subprocess.Popen(["setsid", "-w", "cat"], stdin=subprocess.PIPE,
                          env={**os.environ, "CC_TEST_SERVER": "x1"}) as process:
        seen = processes.wait_until(
            lambda: processes.of_session(-1, "CC_TEST_SERVER=x1"), what="the token")
        assert process.pid in seen
        process.stdin.close()


def test_sanitizer_output_is_recognised():
    for line in ("==1==ERROR: AddressSanitizer: heap-use-after-free",
                 "src/a.c:1:2: runtime error: signed integer overflow",
                 "==7==ERROR: LeakSanitizer: detected memory leaks",
                 "WARNING: ThreadSanitizer: data race"):
        assert servers.SANITIZER.search(line)
    assert not servers.SANITIZER.search("RuntimeError: no")


def test_packets_are_as_the_protocol_says():
    assert clients.packet({"A": "bc"}) == b"\x00\x07\x00\x00\x01\x00A\x02\x00bc"
