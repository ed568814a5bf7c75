"""The life of a worker: what ends it, and that another serves in its place before it goes."""

import os
import signal
import threading

import processes
import test_process
from test_process import LAZY, InBackground, all_ready, body, generation, options, site, write_app

assert site  # a fixture


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
    one = server(options(site, threads=2, **{"max-requests": 20, "lazy-apps": lazy}))
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
    one = server(options(site, processes=1, **{"max-requests": 5, "lazy-apps": True}))
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
    one = server(options(site, processes=1, threads=3, **{"max-requests": 3}))
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
                         **{"max-requests": 3, "worker-reload-mercy": 1}), may_crash=True)
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
    one = server(options(site, processes=1, **{"max-requests": 3, "worker-reload-mercy": 1,
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
    one = server(options(site, processes=1, **{"max-requests": 3, "lazy-apps": True}))
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
    one = server(options(site, threads=4, **{"max-requests": 5}))
    all_ready(one)
    app = generation(one)
    load = Load(one)
    one.wait_log("is replaced (max-requests)", count=10)
    files, memory = processes.open_files(app), resident_kib(app)
    one.wait_log("is replaced (max-requests)", count=count, timeout=100)
    load.end()
    one.workers(2)
    assert processes.open_files(app) <= files
    if not one.sanitized:
        assert resident_kib(app) < memory + 512
    assert not processes.zombies(app)
    assert "killed" not in one.log()
