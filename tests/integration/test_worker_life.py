"""The life of a worker: what ends it, and that another serves in its place before it goes."""

import os
import signal
import threading
import time

import pytest

import clients
import processes
import test_process
from test_process import LAZY, InBackground, all_ready, body, generation, options, site, write_app

assert site  # a fixture


# A worker may be replaced as soon as it serves.
QUICK = {"min-worker-lifetime": 0}

# Loading it takes until the file is gone.
SLOW_START = test_process.APP.replace('VERSION = "one"', """VERSION = "one"
while os.path.exists("hold"): time.sleep(.01)""")


class Load:
    """Clients that ask all the time, and note what went wrong."""

    def __init__(self, server, path="/", clients=4):
        self.server, self.path = server, path
        self.over, self.failures, self.pids = threading.Event(), [], []
        self.threads = [threading.Thread(target=self._ask, daemon=True) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def _ask(self):
        while not self.over.is_set():
            try:
                answer = self.server.get(self.path, timeout=30)
                self.pids.append(answer.body.decode())
                if answer.status != 200:
                    self.failures.append(answer.status)
            except Exception as error:  # whatever it is, it is a request lost
                self.failures.append(repr(error))

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(40)
        assert not self.failures, f"{self.failures[:3]}\n{self.server.log()[-3000:]}"
        return self.pids


def moved(server, before):
    """Waits until another process answers: the old one may take what is there when it is told."""
    processes.wait_until(lambda: int(body(server, "/")) != before, what="another to answer")


@LAZY
def test_max_requests_replaces_workers_without_losing_requests(server, site, lazy):
    one = server(options(site, threads=2, **QUICK, **{"max-requests": 20, "lazy-apps": lazy}))
    before = all_ready(one)
    app = generation(one)
    load = Load(one)
    one.wait_log("is replaced (max-requests): pid", count=6)
    pids = load.end()
    assert len(set(pids)) >= 6
    assert "killed" not in one.log()
    assert not set(before) & set(one.workers(2))
    assert not processes.zombies(app) and generation(one) == app


def test_one_that_is_replaced_serves_until_the_other_is_ready(server, site):
    """A replacement that loads slowly, in the one worker that there is: nobody notices."""
    write_app(site, SLOW_START)
    one = server(options(site, processes=1, **QUICK, **{"max-requests": 5, "lazy-apps": True}))
    before = all_ready(one, count=1)[0]
    hold = os.path.join(site, "hold")
    open(hold, "w", encoding="ascii").close()
    for _ in range(30):
        assert int(body(one, "/")) == before
    both = one.workers(2)
    assert before in both and int(body(one, "/")) == before
    os.unlink(hold)
    after = [pid for pid in both if pid != before][0]
    one.wait_log(f"is replaced (max-requests): pid {after} takes over from pid {before}")
    moved(one, before)


def test_one_that_is_replaced_finishes_its_requests(server, site):
    one = server(options(site, processes=1, threads=3, **QUICK, **{"max-requests": 3}))
    before = all_ready(one, count=1)[0]
    slow = [InBackground(one, site, 1.5, f"slow{i}") for i in range(2)]
    for _ in range(3):
        body(one, "/")
    one.wait_log(f"takes over from pid {before}")
    moved(one, before)
    assert [request.result().body for request in slow] == [b"slept in one"] * 2
    processes.wait_until(lambda: not processes.alive(before), what="the old one to end")
    assert "killed" not in one.log()


def test_one_that_never_finishes_is_killed_after_the_mercy(server, site):
    one = server(options(site, processes=1, threads=2,
                         **QUICK, **{"max-requests": 3, "worker-reload-mercy": 1}), may_crash=True)
    before = all_ready(one, count=1)[0]
    stuck = InBackground(one, site, 60, "stuck")
    for _ in range(3):
        body(one, "/")
    one.wait_log(f"takes over from pid {before}")
    moved(one, before)
    log = one.wait_log("was to finish 1 s ago")
    assert f"worker 1 (pid {before}) is killed: it was to finish 1 s ago (worker-reload-mercy) " \
           "and still runs GET /sleep/60/stuck" in log
    assert stuck.result() is None
    assert not processes.zombies(generation(one))


def test_a_frozen_worker_is_replaced_and_killed_after_the_mercy(server, site):
    """SIGSTOP: it reads no message."""
    write_app(site, SLOW_START)
    one = server(options(site, processes=1, **QUICK, **{"max-requests": 3, "worker-reload-mercy": 1,
                                               "lazy-apps": True}), may_crash=True)
    before = all_ready(one, count=1)[0]
    hold = os.path.join(site, "hold")
    open(hold, "w", encoding="ascii").close()
    for _ in range(3):
        body(one, "/")
    one.workers(2)
    os.kill(before, signal.SIGSTOP)
    os.unlink(hold)
    one.wait_log(f"takes over from pid {before}")
    moved(one, before)
    one.wait_log(f"worker 1 (pid {before}) is killed: it was to finish 1 s ago "
                 "(worker-reload-mercy) and has not ended")
    processes.wait_until(lambda: not processes.alive(before), what="the frozen one to be gone")


def test_a_replacement_that_fails_leaves_the_old_one_serving(server, site):
    one = server(options(site, processes=1, **QUICK, **{"max-requests": 3, "lazy-apps": True}))
    before = all_ready(one, count=1)[0]
    write_app(site, "raise RuntimeError('no shop today')")
    for _ in range(3):
        body(one, "/")
    log = one.wait_log("before it was ready; pid", count=2)
    assert f"exited with code 22 before it was ready; pid {before} goes on; next try in 1 s" in log
    assert "no shop today" in log and "in 0 s" not in log
    assert int(body(one, "/")) == before
    write_app(site, test_process.APP.replace('"one"', '"mended"'))
    one.wait_log(f"takes over from pid {before}")
    processes.wait_until(lambda: body(one, "/version") == "mended", what="the mended app")


def test_sigterm_to_a_worker_starts_another_at_once(server, site):
    one = server(options(site, processes=1))
    before = all_ready(one, count=1)[0]
    slow = InBackground(one, site, 2)
    os.kill(before, signal.SIGTERM)
    moved(one, before)
    assert slow.result().body == b"slept in one"


def resident_kib(pid):
    """With what it shares: what is private changes with the number of its children."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def test_respawns_leave_nothing_behind(server, site):
    """Threads, descriptors and memory of the generation after many respawns with threads."""
    count = 1000 if os.environ.get("CC_SOAK") else 30
    one = server(options(site, threads=4, **QUICK, **{"max-requests": 5}))
    all_ready(one)
    app = generation(one)
    load = Load(one)
    one.wait_log("is replaced (max-requests)", count=10)
    files, memory = processes.open_files(app), resident_kib(app)
    one.wait_log("is replaced (max-requests)", count=count, timeout=100)
    load.end()
    one.workers(2)
    processes.wait_closed(app, files)
    if not one.sanitized:
        assert resident_kib(app) < memory + 512
    assert not processes.zombies(app)
    assert "killed" not in one.log()


def test_max_requests_delta_spreads_replacements(server, site):
    one = server(options(site, processes=2, threads=1,
                         **QUICK, **{"max-requests": 8, "max-requests-delta": 1000000}))
    all_ready(one)
    load = Load(one)
    one.wait_log("worker 1 is replaced (max-requests)", count=3)
    load.end()
    assert "worker 2 is replaced" not in one.log()


def test_min_worker_lifetime_holds_max_requests_back(server, site):
    one = server(options(site, processes=1, **{"max-requests": 2, "min-worker-lifetime": 2}))
    before = all_ready(one, count=1)[0]
    begin = time.monotonic()
    for _ in range(5):
        assert int(body(one, "/")) == before
    one.wait_log("is replaced (max-requests): pid")
    assert 1 < time.monotonic() - begin < 12


def test_max_worker_lifetime_replaces_with_a_delta(server, site):
    one = server(options(site, **{"max-worker-lifetime": 2, "max-worker-lifetime-delta": 60}))
    before = all_ready(one)
    load = Load(one, clients=2)
    one.wait_log("worker 1 is replaced (max-worker-lifetime)", count=1)
    load.end()
    assert "worker 2 is replaced" not in one.log()
    assert len(set(before) & set(one.workers(2))) == 1


# /eat/N takes N MB that are touched, /map/N takes N MB of addresses alone.
EATER = test_process.APP.replace("import ctypes", "eaten = []\nimport mmap\nimport ctypes").replace(
    'if path == "/version"', """if path.startswith("/eat/"):
        eaten.append(bytearray(int(path[5:]) << 20))
    elif path.startswith("/map/"):
        eaten.append(mmap.mmap(-1, int(path[5:]) << 20))
    elif path == "/version\"""")
SIZES = pytest.mark.parametrize("option, path, limit", [("reload-on-rss", "/eat/", 100),
                                                        ("reload-on-as", "/map/", 2000)])


@SIZES
def test_one_that_takes_too_much_memory_is_replaced(server, site, sanitized, option, path, limit):
    if sanitized:
        pytest.skip("a sanitizer takes terabytes of address space")
    write_app(site, EATER)
    one = server(options(site, processes=1, threads=2, **QUICK, **{option: limit}))
    before = all_ready(one, count=1)[0]
    slow = InBackground(one, site, 2)
    assert body(one, path + "10") == str(before)
    assert f"{option} is {limit}" not in one.log()
    assert body(one, f"{path}{limit}") == str(before)
    log = one.wait_log(f"is replaced ({option})")
    assert f"worker 1 (pid {before}) has " in log and f"MB, and {option} is {limit}" in log
    moved(one, before)
    assert slow.result().body == b"slept in one"
    assert "killed" not in one.log()


@SIZES
def test_one_that_takes_far_too_much_is_killed(server, site, sanitized, option, path, limit):
    if sanitized:
        pytest.skip("a sanitizer takes terabytes of address space")
    write_app(site, EATER)
    one = server(options(site, processes=1, threads=2, **{f"evil-{option}": limit}),
                 may_crash=True)
    before = all_ready(one, count=1)[0]
    stuck = InBackground(one, site, 60)
    with clients.Http(one.address) as peer:  # it may be killed before it can answer
        peer.send(f"GET {path}{limit} HTTP/1.1\r\nHost: a\r\n\r\n")
        log = one.wait_log(f"and evil-{option} is {limit}")
    assert f"worker 1 (pid {before}) is killed: it has" in log
    assert stuck.result() is None
    moved(one, before)


def test_a_lifetime_that_cannot_be_is_refused(server, site):
    one = server(options(site, **{"min-worker-lifetime": 20, "max-worker-lifetime": 10}),
                 wait=False, exit_codes=(1,))
    assert one.wait() == 1
    assert "min-worker-lifetime: expected less than max-worker-lifetime (10), got 20" in one.log()


@LAZY
def test_cheap_starts_with_the_first_client(server, site, lazy):
    one = server(options(site, cheap=True, **{"lazy-apps": lazy}), wait=False)
    one.wait_log("all workers are ready")
    assert one.workers() == []
    assert body(one, "/version") == "one"
    assert len(one.workers(2)) == 2 and "a client has come" in one.log()


@LAZY
def test_idle_ends_the_workers_until_a_client_comes(server, site, lazy):
    one = server(options(site, idle=1, **{"lazy-apps": lazy}))
    before = all_ready(one)
    one.wait_log("no workers until a client comes")
    processes.wait_until(lambda: not one.workers(), what="no workers")
    app = generation(one)
    assert body(one, "/version") == "one"
    assert not set(before) & set(one.workers(2)) and generation(one) == app
    one.wait_log("no workers until a client comes", count=2)
    assert not processes.zombies(app)


def test_a_request_that_runs_is_not_idle(server, site):
    one = server(options(site, idle=1))
    all_ready(one)
    assert InBackground(one, site, 3).result().body == b"slept in one"
    assert "until a client comes" not in one.log()


def test_die_on_idle_ends_the_server(server, site):
    one = server(options(site, idle=1, vacuum=True, pidfile="run.pid", **{"die-on-idle": True}))
    assert one.wait() == 0
    assert "the server ends (die-on-idle)" in one.log()
    assert not os.path.exists(os.path.join(one.folder, "run.pid"))


def test_a_reload_works_while_there_are_no_workers(server, site):
    one = server(options(site, cheap=True), wait=False)
    one.wait_log("all workers are ready")
    write_app(site, test_process.APP.replace('"one"', '"two"'))
    app = generation(one)
    one.send_signal(signal.SIGHUP)
    generation(one, other_than=app)
    assert one.workers() == [] and body(one, "/version") == "two"


def test_a_crash_loop_is_slowed_down_and_said(server, site):
    """Deaths soon after the start: at once at first, then further and further apart."""
    write_app(site, test_process.APP + "\nos.register_at_fork(after_in_child=lambda: "
                                       "threading.Timer(.05, os._exit, [9]).start())\n")
    one = server(options(site, processes=1), wait=False, may_crash=True)
    log = one.wait_log("exited with code 9; next try in 4 s", timeout=30)
    assert "next try in 1 s" in log and "next try in 2 s" in log and "in 0 s" not in log
    assert log.count("exited with code 9; starting another") == 5
