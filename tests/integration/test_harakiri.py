"""Harakiri: a request that is too old costs its worker the life, and the log says why and where."""

import os
import re
import signal
import time

import pytest

import clients
import processes
import test_process
from test_process import LAZY, InBackground, all_ready, body, generation, options, site, write_app

assert site  # a fixture

# /hold holds the GIL in C: no other thread of the worker can do anything. /crash dies in C.
APP = test_process.APP.replace('if path == "/version"', """if path == "/hold":
        lock = ctypes.create_string_buffer(64)
        ctypes.PyDLL(None).pthread_mutex_lock(lock)
        ctypes.PyDLL(None).pthread_mutex_lock(lock)
    elif path == "/crash":
        ctypes.string_at(0)
    elif path == "/version\"""")


def lines_of(log, *parts):
    """The numbers of the first lines that have each part, in the log's order."""
    lines = log.splitlines()
    return [next(i for i, line in enumerate(lines) if part in line) for part in parts]


@LAZY
def test_the_log_explains_and_the_others_finish(server, site, lazy):
    one = server(options(site, processes=1, threads=4, harakiri=2, **{"lazy-apps": lazy}),
                 may_crash=True)
    before = all_ready(one, count=1)[0]
    stuck = InBackground(one, site, 60, "stuck")
    time.sleep(1.2)
    short = InBackground(one, site, 1.8, "short")
    log = one.wait_log("is killed: its other requests have ended")
    said, stands, replaced, killed = order = lines_of(
        log, f"harakiri: worker 1 (pid {before}): GET /sleep/60/stuck has run for 2 seconds "
        "(the limit is 2) on thread", f"worker 1 (pid {before}): where it stands:",
        "is replaced (harakiri): pid", f"harakiri: worker 1 (pid {before}) is killed")
    assert order == sorted(order) and said < killed
    report = "\n".join(log.splitlines()[stands:replaced])
    assert re.search(r'shop\.py"?,? .*in application', report), report
    assert report.count("sleep") >= 1
    assert short.result().body == b"slept in one"
    assert stuck.result() is None
    assert int(body(one, "/")) != before and not processes.zombies(generation(one))


def test_a_sibling_is_not_touched(server, site):
    one = server(options(site, harakiri=1), may_crash=True)
    before = all_ready(one)
    stuck = InBackground(one, site, 60, "stuck")
    one.wait_log("is killed: all of its threads run requests that are too old")
    assert stuck.result() is None
    one.wait_log("is ready", count=3)
    after = one.workers(2)
    assert len(set(before) & set(after)) == 1
    assert body(one, "/version") == "one"


def test_many_short_requests_are_not_one_old_one(server, site):
    one = server(options(site, processes=1, threads=1, harakiri=1))
    before = all_ready(one, count=1)[0]
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        assert int(body(one, "/")) == before
    assert "harakiri" not in one.log()


@pytest.mark.parametrize("threads", [1, 4])
def test_the_gil_held_in_c(server, site, threads):
    write_app(site, APP)
    one = server(options(site, processes=1, threads=threads, harakiri=1), may_crash=True)
    before = all_ready(one, count=1)[0]
    with clients.Http(one.address) as peer:
        peer.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
        log = one.wait_log(f"harakiri: worker 1 (pid {before}) is killed", timeout=10)
        assert peer.closed()
    assert "GET /hold has run for 1 seconds" in log
    report = log[log.index("where it stands"):]
    assert "pthread_mutex_lock" in report
    assert "in application" in report
    assert int(body(one, "/")) != before


def test_a_stopped_worker(server, site):
    one = server(options(site, threads=2, harakiri=1), may_crash=True)
    before = all_ready(one)
    with clients.Http(one.address) as peer:
        peer.send("GET /sleep/60/frozen HTTP/1.1\r\nHost: a\r\n\r\n")
        begun = os.path.join(site, "frozen.begun")
        processes.wait_until(lambda: os.path.exists(begun), what="the request to begin")
        for pid in before:
            os.kill(pid, signal.SIGSTOP)
        log = one.wait_log("is killed: it is stopped")
        killed = int(re.search(r"\(pid (\d+)\) is killed: it is stopped", log).group(1))
        for pid in before:
            if pid != killed:
                os.kill(pid, signal.SIGCONT)
    assert "has not answered within a second, since it is stopped; seen from outside" in log
    assert "state T (stopped)" in log
    one.wait_log("is ready", count=3)
    assert len(set(before) & set(one.workers(2))) == 1
    assert body(one, "/version") == "one"


def test_one_that_dies_before_it_could_answer_is_reported(server, site):
    one = server(options(site, processes=1, threads=2, harakiri=1), may_crash=True)
    before = all_ready(one, count=1)[0]
    with clients.Http(one.address) as peer:
        peer.send("GET /sleep/60/gone HTTP/1.1\r\nHost: a\r\n\r\n")
        begun = os.path.join(site, "gone.begun")
        processes.wait_until(lambda: os.path.exists(begun), what="the request to begin")
        os.kill(before, signal.SIGSTOP)
        one.wait_log("has run for 1 seconds")
        os.kill(before, signal.SIGKILL)
        log = one.wait_log("was killed by SIGKILL while it ran GET /sleep/60/gone")
    assert f"worker 1 (pid {before}) died before it could say where it stands" in log
    assert int(body(one, "/")) != before


def test_verbose_adds_what_the_kernel_knows(server, site):
    one = server(options(site, processes=1, harakiri=1, **{"harakiri-verbose": True}),
                 may_crash=True)
    all_ready(one, count=1)
    stuck = InBackground(one, site, 60)
    log = one.wait_log("is killed: all of its threads")
    report = log[log.index("where it stands"):]
    assert re.search(r"thread \d+ \"\S+\": state S \(sleeping\), waits in \S+, system call", report)
    assert "file 2: " in report and "in application" in report
    assert stuck.result() is None


def test_a_crash_says_where(server, site, sanitized):
    if sanitized:
        pytest.skip("a sanitizer reports a crash itself")
    write_app(site, APP)
    one = server(options(site, processes=1, threads=2), may_crash=True)
    before = all_ready(one, count=1)[0]
    with clients.Http(one.address) as peer:
        peer.send("GET /crash HTTP/1.1\r\nHost: a\r\n\r\n")
        assert peer.closed()
    log = one.wait_log("was killed by SIGSEGV while it ran GET /crash; starting another")
    report = log[log.index(f"worker 1 (pid {before}): where it stood:"):]
    assert "SIGSEGV" in report and "in application" in report
    assert int(body(one, "/")) != before
