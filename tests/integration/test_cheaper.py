"""The number of workers follows the load: it rises with it and falls with it, and no request is lost
on the way."""

import os
import threading
import time

import pytest

import processes
import servers
import test_process
from test_process import all_ready, body, options, site, write_app
from test_worker_life import Load

assert site  # a fixture

# /busy/N keeps a thread for N milliseconds.
APP = test_process.APP.replace('if path == "/version"', """if path.startswith("/busy/"):
        time.sleep(float(path[6:]) / 1000)
    elif path == "/version\"""")


def start(server, site, **more):
    write_app(site, APP)
    return server(options(site, **{"processes": 4, "threads": 1, "cheaper": 1,
                                   "cheaper-overload": 1, "disable-logging": True, **more}))


def serving(server):
    """Workers that are not on their way out: those that finish are gone soon."""
    return len(server.workers())


def at_most(server, count):
    processes.wait_until(lambda: serving(server) <= count, 30,
                         f"no more than {count} workers\n{server.log()}")


def at_least(server, count):
    processes.wait_until(lambda: serving(server) >= count, 30,
                         f"at least {count} workers\n{server.log()}")


@pytest.mark.parametrize("algorithm, more", [
    ("spare", {}),
    ("spare2", {"cheaper-idle": 1}),
    ("busyness", {"cheaper-busyness-multiplier": 1, "cheaper-busyness-penalty": 0,
                  "cheaper-busyness-verbose": True}),
])
def test_the_curve_of_a_load_that_rises_and_falls(server, site, algorithm, more):
    one = start(server, site, **{"cheaper-algo": algorithm, **more})
    all_ready(one, count=1)
    light = Load(one, "/busy/200", clients=1)
    heavy = Load(one, "/busy/50", clients=6)
    at_least(one, 4)
    heavy.end()
    at_most(one, 3)
    light.end()
    at_most(one, 1 if algorithm != "spare2" else 2)
    log = one.log()
    assert f"cheaper ({algorithm}): 2 workers from here on, 1 before: " in log
    assert f"cheaper ({algorithm}): 3 workers from here on, 4 before: " in log
    assert ("busyness: " in log) == (algorithm == "busyness")
    assert "killed" not in log


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_backlog_counts_who_waits(server, site, kind):
    sockets = {} if kind == "tcp" else {"http-socket": os.path.join(site, "app.sock")}
    one = start(server, site, **{"cheaper-algo": "backlog", "cheaper-overload": 3, **sockets})
    all_ready(one, count=1)
    peers = []
    for _ in range(12):
        peer = servers.connect(one.address, 20)
        peer.sendall(b"GET /busy/2500 HTTP/1.0\r\nHost: a\r\n\r\n")
        peers.append(peer)
    one.wait_log("2 workers from here on, 1 before: clients wait in the listen queue")
    at_least(one, 3)
    for peer in peers:
        assert peer.recv(100).startswith(b"HTTP/1.1 200")
        peer.close()
    one.wait_log("before: nobody waits, and the others suffice", timeout=30)
    at_most(one, 1)


def test_initial_and_step(server, site):
    one = start(server, site, **{"cheaper-initial": 2, "cheaper-step": 2, "cheaper-overload": 2})
    all_ready(one, count=2)
    assert serving(one) == 2
    load = Load(one, "/busy/50", clients=8)
    one.wait_log("4 workers from here on, 2 before: all threads are busy")
    load.end()
    at_most(one, 1)


def test_one_that_is_ended_finishes_its_requests(server, site):
    one = start(server, site, **{"cheaper-initial": 4})
    all_ready(one, count=4)
    answers = []
    slow = [threading.Thread(target=lambda: answers.append(one.get("/busy/6000", timeout=40).status))
            for _ in range(3)]
    for thread in slow:
        thread.start()
    one.wait_log("3 workers from here on, 4 before")
    for thread in slow:
        thread.join(40)
    assert answers == [200] * 3
    at_most(one, 1)
    assert "killed" not in one.log()


def test_memory_keeps_the_number_down(server, site, sanitized):
    if sanitized:
        pytest.skip("a sanitizer's memory says nothing")
    one = start(server, site, **{"cheaper-rss-limit-soft": 1 << 20})
    all_ready(one, count=1)
    load = Load(one, "/busy/50", clients=4)
    one.wait_log("cheaper: no more workers, since all together have ")
    load.end()
    assert serving(one) == 1


def test_memory_brings_the_number_down(server, site, sanitized):
    if sanitized:
        pytest.skip("a sanitizer's memory says nothing")
    one = start(server, site, **{"cheaper": 2, "cheaper-initial": 4,
                                 "cheaper-rss-limit-soft": 1 << 20,
                                 "cheaper-rss-limit-hard": 2 << 20})
    load = Load(one, "/busy/50", clients=4)
    one.wait_log("1 workers from here on, 2 before: the workers' memory is over "
                 "cheaper-rss-limit-hard")
    load.end()
    at_most(one, 1)


@pytest.mark.parametrize("wrong, text", [
    ({"cheaper": 4}, "cheaper: expected less than processes"),
    ({"cheaper-initial": 9}, "cheaper-initial: expected no more than processes"),
    ({"cheaper-rss-limit-hard": 5}, "cheaper-rss-limit-soft to be set as well, got 5"),
    ({"cheaper-algo": "magic"}, "cheaper-algo"),
    ({"cheaper-busyness-min": 60}, "cheaper-busyness-min: expected less than"),
])
def test_wrong_settings_are_refused(server, site, wrong, text):
    one = server(options(site, **{"processes": 4, "cheaper": 1, **wrong}), wait=False,
                 exit_codes=(1,))
    assert one.wait() == 1
    assert text in one.log()


def test_an_idle_one_does_not_spin(server, site):
    one = start(server, site)
    all_ready(one, count=1)
    app = processes.children(one.pid)[0]

    def ticks():
        with open(f"/proc/{app}/stat", encoding="ascii") as file:
            return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
    before = ticks()
    time.sleep(3)
    assert ticks() - before <= 3
    assert body(one, "/version") == "one"
