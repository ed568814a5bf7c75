"""Processes x threads: who waits for whom."""

import json
import threading
import time

import clients
import processes
import pytest


def at_once(one, paths):
    """Requests all of the paths at the same time; the answers in order."""
    answers = [None] * len(paths)

    def ask(index, path):
        answers[index] = one.get(path, timeout=60)

    threads = [threading.Thread(target=ask, args=pair) for pair in enumerate(paths)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def busy(one, path):
    """A started request that is with the app; close it after use."""
    http = clients.Http(one.address, 30)
    http.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
    return http


def meeting(one, room, count):
    """Answers to requests that the app answers only once all of them are in it together.

    One comes after the other is with the app: a worker that accepts a connection before its request
    is there cannot know how soon it will come, and may accept more of them than it has threads.
    """
    room.mkdir()
    guests = []
    for number in range(count):
        guests.append(busy(one, f"/meet?folder={room}&n={count}&s=60"))
        processes.wait_until(lambda: len(list(room.iterdir())) > number, what="the guest")
    answers = [guest.answer() for guest in guests]
    for guest in guests:
        guest.close()
    assert [answer.status for answer in answers] == [200] * count
    return answers


def test_eight_requests_run_together_on_2_x_4(server, tmp_path):
    one = server({"module": "kitchen", "processes": 2, "threads": 4})
    one.workers(2)
    one.get()
    # Both processes took part, and each the share that its threads allow.
    pids = [answer.body for answer in meeting(one, tmp_path / "room", 8)]
    assert sorted(pids.count(pid) for pid in set(pids)) == [4, 4]


def test_more_requests_than_threads_wait_and_are_answered(server):
    one = server({"module": "kitchen", "processes": 1, "threads": 2})
    begin = time.monotonic()
    answers = at_once(one, ["/sleep?s=0.3"] * 6)
    assert [answer.status for answer in answers] == [200] * 6
    assert time.monotonic() - begin >= 0.9


@pytest.mark.parametrize("count,threads", [(1, 2), (2, 1)])
def test_a_stuck_request_does_not_stall_others(server, tmp_path, count, threads):
    """Connections go where a thread is free, in this process or in another."""
    one = server({"module": "kitchen", "processes": count, "threads": threads})
    one.workers(count)
    door = tmp_path / "door"
    with busy(one, f"/wait?file={door}&s=50") as stuck:
        for _ in range(20):
            assert one.get("/", timeout=20).status == 200
        door.touch()
        assert stuck.answer().body.startswith(b"waited")


def test_computing_requests_share_the_interpreter(server):
    """A thread that holds the GIL slows the others of its process, and stops none."""
    one = server({"module": "kitchen", "processes": 1, "threads": 4})
    with busy(one, "/spin?s=4") as first, busy(one, "/spin?s=4") as second:
        assert one.get("/", timeout=20).status == 200
        # Neither of them has ended, and so neither had to for that answer.
        assert not any(clients.readable(http) for http in (first, second))


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


def test_requests_run_on_as_many_threads_as_asked(server, tmp_path):
    one = server({"module": "kitchen", "processes": 1, "threads": 5})
    meeting(one, tmp_path / "room", 5)
    (worker,) = one.workers(1)
    assert processes.threads(worker) >= 5


def test_without_a_master(server, tmp_path):
    one = server({"module": "kitchen", "master": False, "threads": 4})
    assert json.loads(one.get("/whoami").body)["pid"] == one.pid
    meeting(one, tmp_path / "room", 4)
    assert not processes.children(one.pid)


def test_threads_with_lazy_apps(server, tmp_path):
    one = server({"module": "kitchen", "processes": 2, "threads": 4, "lazy-apps": True})
    one.workers(2)
    processes.wait_until(lambda: one.get().status == 200, what="the apps")
    meeting(one, tmp_path / "room", 8)
