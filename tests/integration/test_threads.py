"""Processes x threads: who waits for whom."""

import json
import threading
import time

import clients
import processes
import pytest


def at_once(one, paths):
    """Requests all of the paths at the same time; (seconds it took, answers in order)."""
    answers = [None] * len(paths)

    def ask(index, path):
        answers[index] = one.get(path, timeout=60)

    threads = [threading.Thread(target=ask, args=pair) for pair in enumerate(paths)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - begin, answers


def busy(one, path):
    """A started request that is with the app; close it after use."""
    http = clients.Http(one.address, 30)
    http.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
    return http


def test_eight_sleeps_of_a_second_on_2_x_4_take_about_one(server):
    one = server({"module": "kitchen", "processes": 2, "threads": 4})
    one.workers(2)
    one.get()
    for _ in range(3):  # a machine that is busy with other things may spoil one of them
        took, answers = at_once(one, ["/sleep?s=1"] * 8)
        assert [answer.status for answer in answers] == [200] * 8
        if took < 1.9:
            break
    assert 1.0 <= took < 1.9
    # Both processes took part, and each the share that its threads allow.
    pids = [answer.body for answer in answers]
    assert sorted(pids.count(pid) for pid in set(pids)) == [4, 4]


def test_more_requests_than_threads_wait_and_are_answered(server):
    one = server({"module": "kitchen", "processes": 1, "threads": 2})
    took, answers = at_once(one, ["/sleep?s=0.3"] * 6)
    assert [answer.status for answer in answers] == [200] * 6
    assert took >= 0.9


def test_a_slow_request_does_not_stall_others(server):
    one = server({"module": "kitchen", "processes": 1, "threads": 2})
    with busy(one, "/sleep?s=3") as slow:
        begin = time.monotonic()
        for _ in range(20):
            assert one.get("/").status == 200
        assert time.monotonic() - begin < 2.5
        assert slow.answer().body.startswith(b"slept")


def test_a_stuck_process_does_not_stall_the_other(server):
    """Connections go where a thread is free."""
    one = server({"module": "kitchen", "processes": 2, "threads": 1})
    one.workers(2)
    with busy(one, "/sleep?s=3") as slow:
        begin = time.monotonic()
        for _ in range(20):
            assert one.get("/").status == 200
        assert time.monotonic() - begin < 2.5
        assert slow.answer().status == 200


def test_computing_requests_share_the_interpreter(server):
    """A thread that holds the GIL slows the others of its process, and stops none."""
    one = server({"module": "kitchen", "processes": 1, "threads": 4})
    with busy(one, "/spin?s=2"), busy(one, "/spin?s=2"):
        begin = time.monotonic()
        assert one.get("/").status == 200
        assert time.monotonic() - begin < 1.9


def test_idle_connections_cost_no_thread(server):
    one = server({"module": "kitchen", "processes": 1, "threads": 1})
    waiting = [clients.Http(one.address) for _ in range(50)]
    for http in waiting[:25]:
        assert http.get().status == 200           # idle keep-alive
    for http in waiting[25:]:
        http.send("GET / HTTP/1.1\r\nHost: a\r\n")  # half a head
    uploading = clients.Http(one.address)
    uploading.send("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
    for _ in range(10):
        assert one.get(timeout=5).status == 200
    for http in waiting[25:]:
        assert http.send("\r\n").answer().status == 200
    assert json.loads(uploading.send("x" * 97).answer().body)["length"] == 100
    for http in [*waiting, uploading]:
        http.close()


@pytest.mark.parametrize("count,threads", [(1, 1), (1, 4), (3, 1), (2, 2)])
def test_environ_says_what_runs(server, count, threads):
    one = server({"module": "kitchen", "processes": count, "threads": threads})
    seen = json.loads(one.get("/whoami").body)
    assert seen["multithread"] is (threads > 1)
    assert seen["multiprocess"] is (count > 1)
    assert seen["pid"] in one.workers(count)


def test_requests_run_on_as_many_threads_as_asked(server):
    one = server({"module": "kitchen", "processes": 1, "threads": 5})
    _, answers = at_once(one, ["/sleep?s=0.5"] * 5)
    assert all(answer.status == 200 for answer in answers)
    (worker,) = one.workers(1)
    assert processes.threads(worker) >= 5


def test_without_a_master(server):
    one = server({"module": "kitchen", "master": False, "threads": 4})
    assert json.loads(one.get("/whoami").body)["pid"] == one.pid
    took, answers = at_once(one, ["/sleep?s=1"] * 4)
    assert [answer.status for answer in answers] == [200] * 4
    assert took < 1.9
    assert not processes.children(one.pid)


def test_threads_with_lazy_apps(server):
    one = server({"module": "kitchen", "processes": 2, "threads": 4, "lazy-apps": True})
    one.workers(2)
    processes.wait_until(lambda: one.get().status == 200, what="the apps")
    took, answers = at_once(one, ["/sleep?s=1"] * 8)
    assert [answer.status for answer in answers] == [200] * 8
    assert took < 2.9
