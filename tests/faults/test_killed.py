"""Processes that are killed, stopped, or cannot be made."""

import os
import random
import resource
import signal
import threading
import time

import clients
import processes
import pytest

import faults

KILLS = 1000 if faults.SOAK else 30
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def test_a_killed_worker(server, folder):
    one = server(faults.options(folder))
    sound = faults.Sound(one)
    crowd = faults.Crowd(one)
    os.kill(one.workers()[0], signal.SIGKILL)
    one.wait_log("was killed by SIGKILL")
    faults.serving(one)
    assert crowd.stop().cut <= 4
    sound.check()


def test_a_killed_generation(server, folder):
    one = server(faults.options(folder))
    sound = faults.Sound(one)
    crowd = faults.Crowd(one)
    os.kill(processes.children(one.pid)[0], signal.SIGKILL)
    one.wait_log("is ready", count=4)
    faults.serving(one)
    assert crowd.stop().cut <= 8
    sound.check()


def test_a_killed_master_leaves_nothing_behind(server, folder):
    path = os.path.join(folder, "u.sock")
    ini = faults.options(folder, socket=path, **{"http-socket": "127.0.0.1:@PORT@"})
    one = server(ini, exit_codes=(-signal.SIGKILL,), may_crash=True)
    faults.Sound(one)
    everybody = faults.family(one)
    os.kill(one.pid, signal.SIGKILL)
    one.wait()
    processes.wait_until(lambda: not any(map(processes.alive, everybody)), 10, "nobody left")
    # Its unix socket's file is there, and its port may be bound again at once.
    assert os.path.exists(path)
    two = server(ini)
    assert clients.uwsgi(path, "/").status == 200
    assert two.stop() == 0


def test_a_stopped_worker_holds_nobody_up(server, folder):
    """SIGSTOP, as a debugger or a full cgroup freezer does."""
    one = server(faults.options(folder, processes=2, threads=1, harakiri=2), may_crash=True)
    sound = faults.Sound(one)
    stuck = threading.Thread(target=lambda: _quietly(one, "/sleep/1"))
    stuck.start()
    time.sleep(0.3)
    victim = _worker_in_app(one)
    os.kill(victim, signal.SIGSTOP)
    for _ in range(20):
        assert int(one.get("/", timeout=5).body) != victim
    one.wait_log("harakiri", timeout=10)
    processes.wait_until(lambda: not processes.alive(victim), 15, "its end")
    stuck.join()
    sound.check(idle=False)


def _quietly(one, path):
    try:
        one.get(path, timeout=30)
    except Exception:  # it is killed on the way
        pass


def _worker_in_app(one):
    """The worker that did not answer any of many requests."""
    answered = {int(one.get("/").body) for _ in range(10)}
    (victim,) = set(one.workers()) - answered
    return victim


@ROOT
def test_when_no_process_can_be_forked(server, folder):
    """EAGAIN: the user has as many processes as are allowed."""
    uid = 54321

    def become():
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)

    os.chmod(folder, 0o777)
    one = server(faults.options(folder), before=become)
    sound = faults.Sound(one)
    (generation,) = processes.children(one.pid)
    faults.limit_as(uid, generation, resource.RLIMIT_NPROC, 1)
    os.kill(one.workers()[0], signal.SIGKILL)
    one.wait_log("cannot be started")
    assert one.get("/").status == 200
    before = one.log().count("cannot be started")
    share = faults.cpu_share(faults.family(one), 1.5)
    assert share < 0.05 or one.sanitized
    assert one.log().count("cannot be started") - before <= 3
    faults.limit_as(uid, generation, resource.RLIMIT_NPROC, None)
    sound.check()


def test_random_kills_under_load(server, folder):
    """Of workers and generations; the listening sockets are the master's, so nobody is refused."""
    one = server(faults.options(folder, processes=3), may_crash=True)
    sound = faults.Sound(one, 3)
    chance = random.Random(4)
    crowd = faults.Crowd(one, clients=3)
    memory = None
    for number in range(KILLS):
        workers = one.workers()
        victims = processes.children(one.pid) if chance.random() < 0.1 else workers
        if victims:
            try:
                os.kill(chance.choice(victims), signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(chance.random() * 0.25)
        if number == KILLS // 3:
            memory = processes.anonymous_kib(one.pid)
    faults.serving(one, 3, timeout=60)
    crowd.stop()
    assert crowd.answered > KILLS
    sound.check()
    if not one.sanitized:
        assert processes.anonymous_kib(one.pid) < memory + 512


def test_a_stopped_worker_without_a_request_is_replaced(server, folder):
    """Nothing is too old there, so only a look at it can tell. What it has in hand is not lost: once
    another serves it is let go on, and finishes."""
    one = server(faults.options(folder))
    sound = faults.Sound(one)
    victim = one.workers()[0]
    with clients.Http(one.address, 40) as peer:
        while int(peer.get("/").body) != victim:
            peer.close()
            peer.__init__(one.address, 40)
        os.kill(victim, signal.SIGSTOP)
        one.wait_log(f"(pid {victim}) is stopped by a signal", timeout=10)
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        crowd = faults.Crowd(one)
        one.wait_log(f"takes over from pid {victim}", timeout=30)
        assert peer.answer().status == 200
    processes.wait_until(lambda: not processes.alive(victim), 15, "its end")
    end = crowd.stop()
    assert end.cut == 0 and not end.lost
    assert "is killed" not in one.log()
    sound.check()


def test_a_worker_that_is_stopped_for_a_moment_goes_on(server, folder):
    one = server(faults.options(folder))
    sound = faults.Sound(one)
    workers = one.workers()
    os.kill(workers[0], signal.SIGSTOP)
    one.wait_log("is stopped by a signal", timeout=10)
    os.kill(workers[0], signal.SIGCONT)
    one.wait_log(f"(pid {workers[0]}) goes on", timeout=10)
    sound.check()
    assert one.workers() == workers


def test_a_stopped_generation_is_replaced(server, folder):
    one = server(faults.options(folder))
    sound = faults.Sound(one)
    app = processes.children(one.pid)[0]
    os.kill(app, signal.SIGSTOP)
    one.wait_log(f"generation 1 (pid {app}) is stopped by a signal", timeout=10)
    crowd = faults.Crowd(one)
    one.wait_log("reload: generation 2 serves", timeout=30)
    processes.wait_until(lambda: not processes.alive(app), 15, "its end")
    end = crowd.stop()
    assert end.cut == 0 and not end.lost
    assert "killed" not in one.log()
    sound.check()
