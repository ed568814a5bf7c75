"""Processes: who is alive, who replaces whom, what a signal does, and that nothing is left over.

Each server of these tests is checked at its end by the fixture: no process of its session or with
its token may be left, zombies included.
"""

import os
import pathlib
import pwd
import re
import signal
import socket
import stat
import subprocess
import textwrap
import threading
import time

import pytest

import clients
import processes
import servers

APP = """
import ctypes, os, signal, subprocess, sys, threading, time
VERSION = "one"
print("the app is loaded in", os.getpid(), flush=True)

def application(environ, start_response):
    path = environ["PATH_INFO"]
    body = str(os.getpid())
    if path == "/version":
        body = VERSION
    elif path.startswith("/sleep/"):
        open(path[7:].split("/")[1] + ".begun", "w").close()
        time.sleep(float(path[7:].split("/")[0]))
        body = "slept in " + VERSION
    elif path == "/exit":
        os._exit(7)
    elif path == "/segfault":
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        ctypes.string_at(0)
    elif path == "/ids":
        body = repr((os.getresuid(), os.getresgid(), sorted(os.getgroups())))
    elif path == "/env":
        body = os.environ.get("GREETING", "") + " " + os.getcwd()
    elif path == "/signals":
        lines = open("/proc/self/status").read().splitlines()
        body = "".join(x.split()[1] + " " for x in lines if x.startswith(("SigBlk", "SigIgn")))
    elif path == "/children":
        command = subprocess.run(
            [sys.executable, "-c", "print(open('/proc/self/status').read())"],
            capture_output=True, text=True, check=True)
        body = "".join(x.split()[1] + " " for x in command.stdout.splitlines()
                       if x.startswith(("SigBlk", "SigIgn")))
    elif path == "/stray":
        subprocess.Popen(["sleep", "1"], stdin=subprocess.DEVNULL)
    elif path == "/forks":
        status = subprocess.call(["true"])
        body = str(status)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body.encode()]
"""


@pytest.fixture
def site(folder):
    """A folder with the app above as shop.py; may be written to by any user."""
    path = os.path.join(folder, "site")
    os.mkdir(path)
    os.chmod(path, 0o777)
    write_app(path, APP)
    return path


def write_app(path, text):
    """Puts a new version in place at once, as a deployment does."""
    new = os.path.join(path, "shop.py.new")
    with open(new, "w", encoding="utf-8") as file:
        file.write(textwrap.dedent(text))
    os.chmod(new, 0o644)
    os.rename(new, os.path.join(path, "shop.py"))


def options(site, **more):
    return {"module": "shop", "callable": "application", "chdir": site, "processes": 2, **more}


def generation(server, other_than=0):
    """The pid of its only generation, when it is not the one given."""
    def only():
        below = processes.children(server.pid)
        return below[0] if len(below) == 1 and below[0] != other_than else None
    return processes.wait_until(only, 20, f"one generation\n{server.log()}")


def all_ready(server, count=2, times=1):
    server.wait_log("is ready", count=count * times)
    return server.workers(count)


def body(server, path, **more):
    answer = server.get(path, **more)
    assert answer.status == 200, server.log()
    return answer.body.decode()


class InBackground:
    """A request that runs on a thread of its own until it is asked for."""

    def __init__(self, server, site, seconds, name="slow"):
        self.answer = self.error = None
        self.thread = threading.Thread(
            target=self._run, args=(server, f"/sleep/{seconds}/{name}"), daemon=True)
        begun = os.path.join(site, name + ".begun")
        if os.path.exists(begun):
            os.unlink(begun)
        self.thread.start()
        processes.wait_until(lambda: os.path.exists(begun), 20, "the request has begun")

    def _run(self, server, path):
        try:
            self.answer = server.get(path, timeout=40)
        except OSError as error:
            self.error = error
        except Exception as error:  # http.client's own, where the connection ends
            self.error = error

    def result(self):
        self.thread.join(40)
        assert not self.thread.is_alive()
        return self.answer


LAZY = pytest.mark.parametrize("lazy", [False, True], ids=["preload", "lazy-apps"])


@LAZY
def test_a_killed_worker_is_back_at_once(server, site, lazy):
    one = server(options(site, **{"lazy-apps": lazy}))
    before = all_ready(one)
    app = generation(one)
    os.kill(before[0], signal.SIGKILL)
    log = one.wait_log("is ready", count=3)
    after = one.workers(2)
    assert before[0] not in after and before[1] in after and generation(one) == app
    assert f"(pid {before[0]}) was killed by SIGKILL; starting another" in log
    assert {int(body(one, "/")) for _ in range(20)} <= set(after)
    assert not processes.zombies(app) and not processes.zombies(one.pid)


@LAZY
def test_a_killed_generation_is_back_with_its_workers(server, site, lazy):
    one = server(options(site, **{"lazy-apps": lazy}))
    before = all_ready(one)
    app = generation(one)
    os.kill(app, signal.SIGKILL)
    generation(one, other_than=app)
    after = all_ready(one, times=2)
    assert not set(before) & set(after)
    assert int(body(one, "/")) in after
    processes.wait_until(lambda: not any(map(processes.alive, before)), what="old workers gone")
    assert not processes.zombies(one.pid)


@LAZY
def test_a_killed_master_takes_all_along(server, site, lazy):
    one = server(options(site, **{"lazy-apps": lazy}), exit_codes=(-signal.SIGKILL,),
                 may_crash=True)
    all_ready(one)
    app = generation(one)
    os.kill(one.pid, signal.SIGKILL)
    one.wait()
    processes.wait_until(lambda: not one.left_over(), what="nothing left over")
    assert not processes.alive(app)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
@pytest.mark.parametrize("shape", [
    {"processes": 2}, {"processes": 2, "lazy-apps": True}, {"processes": 1, "master": False},
], ids=["preload", "lazy-apps", "no-master"])
def test_signals_end_everything_and_vacuum_cleans(server, site, number, shape):
    path = os.path.join(site, "app.sock")
    one = server(options(site, **shape, socket=path, vacuum=True, pidfile="run.pid", threads=2))
    one.wait_log("ready")
    pidfile = os.path.join(one.folder, "run.pid")
    with open(pidfile, encoding="ascii") as file:
        assert file.read() == f"{one.pid}\n"
    assert clients.uwsgi(path, "/version").body == b"one"
    begin = time.monotonic()
    assert one.stop(number) == 0
    assert time.monotonic() - begin < 10
    assert not os.path.exists(path) and not os.path.exists(pidfile)
    assert not one.left_over()


def test_without_vacuum_the_files_stay(server, site):
    path = os.path.join(site, "app.sock")
    one = server(options(site, socket=path, pidfile="run.pid"))
    all_ready(one)
    assert one.stop() == 0
    assert os.path.exists(path) and os.path.exists(os.path.join(one.folder, "run.pid"))
    again = server(options(site, socket=path, pidfile=os.path.join(one.folder, "run.pid")))
    assert clients.uwsgi(path, "/version").body == b"one"
    assert again.stop() == 0


@pytest.mark.parametrize("master", [True, False])
def test_a_stop_lets_requests_finish(server, site, master):
    one = server(options(site, master=master, processes=1, threads=2))
    one.wait_log("ready")
    slow = InBackground(one, site, 1)
    assert one.stop() == 0
    assert slow.result().body == b"slept in one"


@pytest.mark.parametrize("master", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_request_that_hangs_does_not_hold_up_a_stop(server, site, master, threads):
    one = server(options(site, master=master, processes=1, threads=threads, vacuum=True,
                         pidfile="run.pid", **{"worker-reload-mercy": 1}), may_crash=True)
    one.wait_log("ready")
    slow = InBackground(one, site, 60)
    begin = time.monotonic()
    assert one.stop() == 0
    assert 0.9 < time.monotonic() - begin < 15
    assert slow.result() is None and slow.error is not None
    assert not os.path.exists(os.path.join(one.folder, "run.pid"))


@pytest.mark.parametrize("master", [True, False])
def test_a_second_signal_stops_at_once(server, site, master):
    one = server(options(site, master=master, processes=1, **{"worker-reload-mercy": 60}),
                 may_crash=True)
    one.wait_log("ready")
    slow = InBackground(one, site, 60)
    one.send_signal(signal.SIGINT)
    one.wait_log("SIGINT: stopping; running requests may finish")
    assert one.stop(signal.SIGTERM) == 0
    assert slow.result() is None


def test_a_terminals_interrupt_goes_to_all_and_ends_in_good_order(server, site):
    one = server(options(site))
    all_ready(one)
    slow = InBackground(one, site, 1)
    os.killpg(one.pid, signal.SIGINT)
    assert one.wait() == 0
    assert slow.result().body == b"slept in one"
    assert "starting another" not in one.log()


@LAZY
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGHUP],
                         ids=["INT", "QUIT", "HUP"])
def test_what_a_terminal_sends_is_for_the_master_alone(server, site, lazy, number):
    one = server(options(site, **{"lazy-apps": lazy}))
    workers = all_ready(one)
    app = generation(one)
    for pid in [app, *workers]:
        os.kill(pid, number)
    assert body(one, "/version") == "one"
    time.sleep(0.3)
    assert generation(one) == app and sorted(one.workers(2)) == sorted(workers)


@LAZY
def test_a_reload_takes_the_new_app_and_finishes_old_requests(server, site, lazy):
    one = server(options(site, threads=4, **{"lazy-apps": lazy}))
    before = all_ready(one)
    app = generation(one)
    slow = [InBackground(one, site, 2, f"slow{i}") for i in range(3)]
    write_app(site, APP.replace('"one"', '"two"'))
    one.send_signal(signal.SIGHUP)
    one.wait_log("finishes its requests and ends")
    # The old workers hear of it a moment after the log.
    processes.wait_until(lambda: body(one, "/version") == "two", what="the new app")
    assert {one.answer.body for one in slow if one.result()} == {b"slept in one"}
    assert all(request.answer for request in slow)
    assert generation(one, other_than=app) != app
    assert not set(before) & set(one.workers(2))
    assert not processes.zombies(one.pid)


def test_no_request_is_lost_while_it_reloads(server, site):
    one = server(options(site, threads=2))
    all_ready(one)
    over, failures, done = threading.Event(), [], []

    def ask():
        while not over.is_set():
            try:
                done.append(one.get("/version", timeout=20).body)
            except Exception as error:  # whatever it is, it is a request lost
                failures.append(repr(error))

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for thread in askers:
        thread.start()
    for version in ("two", "three", "four"):
        write_app(site, APP.replace('"one"', f'"{version}"'))
        app = generation(one)
        one.send_signal(signal.SIGHUP)
        generation(one, other_than=app)
        assert body(one, "/version") == version
    over.set()
    for thread in askers:
        thread.join(30)
    assert not failures, f"{failures[:3]}\n{one.log()[-3000:]}"
    assert len(done) > 20


def test_a_connection_that_was_accepted_is_served_by_the_old_generation(server, site):
    """Not even a client that has connected and is about to ask may find its connection closed."""
    one = server(options(site, processes=1))
    worker = all_ready(one, count=1)[0]
    with clients.Http(one.address) as new, clients.Http(one.address) as kept:
        assert kept.get("/").body == str(worker).encode()
        processes.wait_until(lambda: connections(worker) == 2, what="both to be accepted")
        app = generation(one)
        one.send_signal(signal.SIGHUP)
        one.wait_log("finishes its requests and ends")
        assert kept.closed()  # idle after an answer: its client knows that this may happen
        answer = new.get("/")
        assert answer.body == str(worker).encode()
        assert answer.headers["connection"] == "close" and new.closed()
        generation(one, other_than=app)


def connections(pid):
    """How many sockets it has that are connected by TCP."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        established = {line.split()[9] for line in file if line.split()[3] == "01"}
    count = 0
    for name in os.listdir(f"/proc/{pid}/fd"):
        target = os.readlink(f"/proc/{pid}/fd/{name}")
        count += target.startswith("socket:[") and target[8:-1] in established
    return count


@LAZY
@pytest.mark.parametrize("broken", ["raise RuntimeError('no shop today')", "this is no python",
                                    "import os; os._exit(3)", "import os; os.kill(os.getpid(), 11)"],
                         ids=["raises", "syntax", "exits", "segfaults"])
def test_a_reload_of_a_broken_app_leaves_the_old_one_serving(server, site, lazy, broken):
    one = server(options(site, **{"lazy-apps": lazy}), may_crash="11" in broken)
    before = all_ready(one)
    write_app(site, broken)
    one.send_signal(signal.SIGHUP)
    log = one.wait_log("reload failed: generation 2 ")
    assert "generation 1 goes on serving" in log
    if "today" in broken:
        assert "no shop today" in log
    assert one.workers(2) == before and int(body(one, "/")) in before
    write_app(site, APP.replace('"one"', '"mended"'))
    app = generation(one)
    one.send_signal(signal.SIGHUP)
    generation(one, other_than=app)
    assert body(one, "/version") == "mended"


def test_reloads_leave_nothing_open(server, site):
    one = server(options(site))
    all_ready(one)
    before = None
    for count in range(2, 5):
        app = generation(one)
        one.send_signal(signal.SIGHUP)
        app = generation(one, other_than=app)
        worker = all_ready(one, times=count)[0]
        now = [processes.open_files(pid) for pid in (one.pid, app, worker)]
        assert before in (None, now)
        before = now


@LAZY
def test_need_app_ends_the_start_with_22(server, site, lazy):
    write_app(site, "raise RuntimeError('no shop today')")
    one = server(options(site, vacuum=True, pidfile="run.pid", **{
        "need-app": True, "lazy-apps": lazy}), wait=False, exit_codes=(22,))
    assert one.wait() == 22
    assert "no shop today" in one.log()
    assert not os.path.exists(os.path.join(one.folder, "run.pid"))


@LAZY
def test_without_need_app_a_broken_app_is_a_500_until_a_reload(server, site, lazy):
    write_app(site, "raise RuntimeError('no shop today')")
    one = server(options(site, **{"lazy-apps": lazy}))
    assert one.get("/").status == 500
    assert "no shop today" in one.log()
    write_app(site, APP)
    app = generation(one)
    one.send_signal(signal.SIGHUP)
    generation(one, other_than=app)
    assert body(one, "/version") == "one"


@LAZY
@pytest.mark.parametrize("path, fate", [("/exit", "exited with code 7"),
                                        ("/segfault", "was killed by SIGSEGV")])
def test_an_app_that_ends_its_process_costs_only_its_own_request(server, site, sanitized, lazy, path,
                                                                 fate):
    one = server(options(site, **{"lazy-apps": lazy}), may_crash=True)
    all_ready(one)
    other = InBackground(one, site, 1)
    with clients.Http(one.address) as peer:
        peer.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
        assert peer.closed()
    log = one.wait_log("starting another")
    assert f"{fate} while it ran GET {path}; starting another" in log
    assert other.result().body == b"slept in one"
    one.wait_log("is ready", count=3)
    assert body(one, "/version") == "one"
    one.workers(2)


def test_a_worker_that_gets_sigterm_finishes_and_is_replaced(server, site):
    one = server(options(site))
    before = all_ready(one)
    slow = InBackground(one, site, 1)
    for worker in before:
        os.kill(worker, signal.SIGTERM)
        os.kill(worker, signal.SIGHUP)
    assert slow.result().body == b"slept in one"
    all_ready(one, times=2)
    assert not set(before) & set(one.workers(2))


def test_the_app_finds_clean_signals(server, site):
    one = server(options(site))
    # SIGPIPE (bit 12) is ignored by us and by Python; Python's subprocess gives it back. Signals
    # from 32 on (bit 31) are as whoever started the tests has left them.
    others = ~(1 << 12 | 1 << 24) & 0x7fffffff
    for path in ("/signals", "/children"):
        blocked, ignored = body(one, path).split()
        assert int(blocked, 16) == 0 and int(ignored, 16) & others == 0
    assert body(one, "/forks") == "0"


def test_app_threads_block_no_signal(server, site):
    """Or what they start, which inherits the mask, could not be ended by SIGTERM."""
    one = server(options(site, processes=1, threads=3))
    one.get("/")
    masks = []
    for thread in pathlib.Path(f"/proc/{one.workers()[0]}/task").iterdir():
        masks += re.findall(r"SigBlk:\s*(\w+)", (thread / "status").read_text())
    # The relief thread runs no app code, and leaves all to the others.
    assert sorted(int(mask, 16) != 0 for mask in masks) == [False] * 3 + [True]


def test_a_stop_that_comes_at_once_leaves_nothing_behind(server, site, folder):
    """The signal comes as soon as the socket is there, before the master watches for it."""
    path = os.path.join(folder, "app.sock")
    one = server(options(site, socket=path, vacuum=True), wait=False)
    processes.wait_until(lambda: os.path.exists(path))
    assert one.stop() == 0
    assert not os.path.exists(path)


def test_strays_are_reaped(server, site):
    one = server(options(site, processes=1))
    worker = all_ready(one, count=1)[0]
    body(one, "/stray")
    stray = processes.children(worker)[0]
    os.kill(generation(one), signal.SIGKILL)
    processes.wait_until(lambda: processes.parents().get(stray) in (one.pid, None),
                         what="the stray to be the master's")
    processes.wait_until(lambda: not processes.alive(stray), what="the stray to end")
    processes.wait_until(lambda: not processes.zombies(one.pid), what="no zombie")
    assert body(one, "/version") == "one"


ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@ROOT
@pytest.mark.parametrize("master", [True, False])
def test_privileges_are_dropped_before_the_app(server, site, master):
    path = os.path.join(site, "app.sock")
    nobody = pwd.getpwnam("nobody")
    one = server(options(site, master=master, processes=1, uid="nobody", gid="www-data",
                         socket=path, vacuum=True, **{"chmod-socket": "660"}))
    gid = 33
    uid = nobody.pw_uid
    groups = sorted(set(os.getgrouplist("nobody", gid)))
    got = clients.uwsgi(path, "/ids").body.decode()
    assert got == repr(((uid,) * 3, (gid,) * 3, groups))
    info = os.stat(path)
    assert (info.st_uid, info.st_gid, stat.S_IMODE(info.st_mode)) == (uid, gid, 0o660)
    # The master too: it has no business being root any longer.
    for pid in [one.pid, *processes.descendants(one.pid)]:
        assert os.stat(f"/proc/{pid}/task/{pid}").st_uid in (uid, 0)  # 0: not dumpable
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            uids = [line.split()[1:] for line in file if line.startswith("Uid:")][0]
        assert uids == [str(uid)] * 4
    assert one.stop() == 0
    assert not os.path.exists(path)


@ROOT
def test_what_vacuum_cannot_remove_is_said(server, folder, site):
    path = os.path.join(folder, "app.sock")  # root's folder
    one = server(options(site, uid="nobody", socket=path, vacuum=True, pidfile="run.pid"))
    all_ready(one)
    assert clients.uwsgi(path, "/version").body == b"one"
    assert one.stop() == 0
    assert f"the socket {path} cannot be removed: Permission denied" in one.log()
    assert "run.pid cannot be removed: Permission denied" in one.log()


@ROOT
@pytest.mark.parametrize("wrong, text", [
    ({"uid": "no-such-user-here"}, 'uid: there is no user "no-such-user-here"'),
    ({"gid": "no-such-group-here"}, 'gid: there is no group "no-such-group-here"'),
    ({"uid": "54321"}, "set gid as well"),
    ({"logto": "/nowhere/app.log"}, "logto: /nowhere/app.log"),
    ({"pidfile": "/nowhere/app.pid"}, "pidfile /nowhere/app.pid"),
])
def test_wrong_identities_and_files_end_the_start(server, site, wrong, text):
    one = server(options(site, **wrong), wait=False, exit_codes=(1, 3))
    assert one.wait() in (1, 3)
    assert text in one.log() and "the app is loaded" not in one.log()


@ROOT
def test_only_root_can_become_another(server, site, folder):
    os.chmod(folder, 0o777)

    def become_nobody():
        os.setgid(65534)
        os.setuid(65534)

    one = server(options(site, uid="root"), wait=False, exit_codes=(3,), before=become_nobody)
    assert one.wait() == 3
    assert "uid: only root can become another user, and this is user 65534" in one.log()


def test_a_pidfile_in_use_is_refused(server, site, folder):
    pidfile = os.path.join(folder, "run.pid")
    one = server(options(site, pidfile=pidfile))
    all_ready(one)
    two = server(options(site, pidfile=pidfile), wait=False, exit_codes=(1,))
    assert two.wait() == 1
    assert f"pidfile {pidfile}: another ccontainer runs with it (pid {one.pid})" in two.log()
    with open(pidfile, encoding="ascii") as file:
        assert file.read() == f"{one.pid}\n"


def test_environment_folder_and_log_are_the_apps(server, site, folder):
    log = os.path.join(folder, "app.log")
    one = server(options(site, logto=log, env=["GREETING=hello", "OTHER=1"]))
    assert body(one, "/env") == f"hello {site}"

    def text():
        with open(log, encoding="utf-8") as file:
            return file.read()

    # The line of a request is written after its answer.
    processes.wait_until(lambda: "GET /env => generated" in text(), what="the access line")
    assert "the app is loaded in" in text()
    assert "GET /env" not in one.log()


def test_requests_are_not_logged_when_nobody_wants_it(server, site):
    one = server(options(site, **{"disable-logging": True}))
    body(one, "/version")
    assert one.stop() == 0
    assert "stopped" in one.log() and "/version" not in one.log()


def takes_connections(path):
    try:
        servers.connect(path, 1).close()
    except OSError:
        return False
    return True


@ROOT
@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 0), (signal.SIGINT, 0)])
def test_it_works_as_process_1(ccontainer, site, folder, number, code):
    """As in a container: signals without a handler do nothing to process 1, and orphans are its."""
    ini = os.path.join(folder, "app.ini")
    with open(ini, "w", encoding="ascii") as file:
        file.write(f"[uwsgi]\nmaster = true\nprocesses = 2\nmodule = shop\nchdir = {site}\n"
                   f"socket = {site}/app.sock\npidfile = {folder}/run.pid\nvacuum = true\n")
    with open(os.path.join(folder, "out.log"), "wb") as log, subprocess.Popen(
            ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", ccontainer, ini],
            stdout=log, stderr=log, start_new_session=True) as unshare:
        path = os.path.join(site, "app.sock")
        # The file is there a moment before the socket listens.
        processes.wait_until(lambda: takes_connections(path), what="the socket")
        assert clients.uwsgi(path, "/version").body == b"one"
        with open(os.path.join(folder, "run.pid"), encoding="ascii") as file:
            assert file.read() == "1\n"
        first = processes.children(unshare.pid)[0]
        clients.uwsgi(path, "/stray")
        clients.uwsgi(path, "/exit")  # its child is process 1's now
        processes.wait_until(lambda: len(processes.descendants(first)) == 3,
                             what="the stray to end, the worker to be back")
        assert not processes.zombies(first)
        os.kill(first, number)
        assert unshare.wait(20) == code
        assert not os.path.exists(path)


def test_the_listen_queue_holds_what_comes_while_a_worker_is_replaced(server, site):
    one = server(options(site, processes=1))
    worker = all_ready(one, count=1)[0]
    os.kill(worker, signal.SIGKILL)
    processes.wait_until(lambda: not processes.alive(worker), what="the worker to be gone")
    assert int(body(one, "/")) != worker


def test_a_socket_survives_the_generation(server, site):
    """Sockets are the master's: a client that connects while nobody accepts waits, and is served."""
    one = server(options(site, processes=1))
    worker = all_ready(one, count=1)[0]
    os.kill(generation(one), signal.SIGKILL)
    processes.wait_until(lambda: not processes.alive(worker), what="the worker to be gone")
    with socket.create_connection(("127.0.0.1", one.port), 10) as peer:
        peer.sendall(b"GET /version HTTP/1.0\r\nHost: a\r\n\r\n")
        assert peer.recv(100).startswith(b"HTTP/1.")
