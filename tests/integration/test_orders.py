"""The ways to tell the master what to do: touched files, the master-fifo, and the commands."""

import os
import pwd
import random
import socket
import stat
import subprocess
import time

import pytest

import processes
import servers
from test_process import APP, InBackground, all_ready, body, generation, options, site, write_app
from test_reload import refused

assert site  # a fixture, used by name


def put(path, text=""):
    """Replaces the file by another, as a deployment does."""
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(text)
    os.rename(path + ".new", path)


def write(path, letters):
    """To a FIFO that must have a reader."""
    fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.write(fd, letters if isinstance(letters, bytes) else letters.encode())
    os.close(fd)


def command(one, *words, timeout=60, **more):
    return subprocess.run([one.binary, *words], capture_output=True, text=True, timeout=timeout,
                          check=False, stdin=subprocess.DEVNULL, **more)


# -- touched files

@pytest.mark.parametrize("name", ["touch-reload", "touch-chain-reload", "touch-workers-reload"])
@pytest.mark.parametrize("how", ["touch", "rename", "appears"])
def test_touching_a_file_brings_the_new_app(server, site, name, how):
    path = os.path.join(site, "touched")
    if how != "appears":
        put(path)
    one = server(options(site, **{name: path, "lazy-apps": True, "master": None}))
    before = all_ready(one)
    app = generation(one)
    write_app(site, APP.replace('"one"', '"two"'))
    if how == "touch":
        os.utime(path)
    else:
        put(path)
    one.wait_log("is ready", count=4)
    processes.wait_until(lambda: not set(before) & set(one.workers(2)), 20, "new workers")
    assert body(one, "/version") == "two"
    assert (generation(one) == app) is (name != "touch-reload")
    assert one.log().count(f"{name}: {path}: ") == (2 if how == "appears" else 1)


def test_what_is_not_touched_does_nothing(server, site):
    path = os.path.join(site, "touched")
    put(path)
    one = server(options(site, touch_reload=[path, os.path.join(site, "other")]))
    workers = all_ready(one)
    with open(path, encoding="ascii") as file:  # read, not changed
        file.read()
    os.unlink(path)
    time.sleep(2.5)  # two looks
    assert one.workers(2) == workers and "touch-reload: " + path + ": reload" not in one.log()


def test_the_log_is_opened_again_everywhere(server, site):
    log, path = os.path.join(site, "app.log"), os.path.join(site, "rotate")
    one = server(options(site, logto=log, touch_logreopen=path))
    body(one, "/version")
    os.rename(log, log + ".1")
    put(path)
    processes.wait_until(lambda: os.path.exists(log), what="the new log")

    def says(text):
        body(one, "/version")
        with open(log, encoding="utf-8") as file:
            return text in file.read()

    processes.wait_until(lambda: says("GET /version"), what="an access line in the new log")
    size = os.path.getsize(log + ".1")
    body(one, "/version")
    assert os.path.getsize(log + ".1") == size


# -- the FIFO

@pytest.fixture
def fifo(site):
    return os.path.join(site, "fifo")


def test_the_fifo_is_its_owners_alone_and_goes_at_the_end(server, site, fifo):
    one = server(options(site, master_fifo=fifo, master=None))
    all_ready(one)
    info = os.stat(fifo)
    assert stat.S_ISFIFO(info.st_mode) and stat.S_IMODE(info.st_mode) == 0o600
    assert one.stop() == 0
    assert not os.path.exists(fifo)


def test_fifo_reloads(server, site, fifo):
    one = server(options(site, master_fifo=fifo, **{"lazy-apps": True}))
    before = all_ready(one)
    for count, letter in enumerate("rcwRW", 2):
        app = generation(one)
        version = f"by {letter}"
        write_app(site, APP.replace('"one"', f'"{version}"'))
        write(fifo, letter + "\n")
        if letter in "rRW":
            generation(one, other_than=app)
        one.wait_log("is ready", count=2 * count)
        processes.wait_until(lambda: not set(before) & set(one.workers(2)), 20, "new workers")
        processes.wait_until(lambda: body(one, "/version") == version, what=version)
        before = one.workers(2)


def test_a_brutal_reload_does_not_wait(server, site, fifo):
    one = server(options(site, processes=1, threads=2, master_fifo=fifo), may_crash=True)
    all_ready(one, count=1)
    app = generation(one)
    slow = InBackground(one, site, 60)
    write(fifo, "R")
    processes.wait_until(lambda: not processes.alive(app), 20, "the old generation to be gone")
    assert slow.result() is None
    assert "generation 1 was still running 1 request: GET /sleep/60/slow" in one.log()
    assert body(one, "/version") == "one"


@pytest.mark.parametrize("letter", ["q", "Q"])
def test_fifo_stops(server, site, fifo, letter):
    one = server(options(site, processes=1, threads=2, master_fifo=fifo), may_crash=True)
    all_ready(one, count=1)
    slow = InBackground(one, site, 1)
    write(fifo, letter)
    assert one.wait() == 0
    assert (slow.result() is not None) is (letter == "q")


def test_fifo_pauses_and_goes_on(server, site, fifo):
    one = server(options(site, master_fifo=fifo))
    all_ready(one)
    write(fifo, "p")
    one.wait_log("paused: nobody is accepted")
    with servers.connect(one.address) as peer:
        peer.sendall(b"GET /version HTTP/1.0\r\nHost: a\r\n\r\n")
        peer.settimeout(0.5)
        with pytest.raises(TimeoutError):
            peer.recv(1)
        peer.settimeout(20)
        write(fifo, "p")
        assert b"one" in peer.makefile("rb").read()


def test_fifo_answers_what_it_does_not_do(server, site, fifo):
    one = server(options(site, master_fifo=fifo))
    all_ready(one)
    for letter, why in {"L": "logrotate", "P": "pid never changes", "B": "emperor",
                        "E": "emperor", "S": "subscriptions", "l": "there is no logto"}.items():
        write(fifo, letter)
        assert why in one.wait_log(f"master-fifo, {letter}: ")
    write(fifo, "s")
    log = one.wait_log("generation 1: serving, pid ")
    assert "2 workers" in log


def test_a_digit_switches_the_fifo(server, site, fifo):
    one = server(options(site, master_fifo=[fifo, fifo + "1"]))
    all_ready(one)
    assert not os.path.exists(fifo + "1")
    write(fifo, "1")
    one.wait_log(f"master-fifo: reading {fifo}1")
    write(fifo + "1", "7s")
    one.wait_log("there is no number 7: there are 2")
    one.wait_log("generation 1: serving, pid ")


def test_hostile_bytes_in_the_fifo(server, site, fifo):
    one = server(options(site, master_fifo=fifo))
    workers = all_ready(one)
    noise = random.Random(4).randbytes(20000)
    noise = bytes(byte for byte in noise if chr(byte) not in "+-cCfQqrRwWlp")
    fd = os.open(fifo, os.O_WRONLY)
    for at in range(0, len(noise), 1000):
        os.write(fd, noise[at:at + 1000])
    os.close(fd)
    write(fifo, "s")
    one.wait_log("unknown bytes ignored")
    assert body(one, "/version") == "one" and one.workers(2) == workers


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_fifo_that_cannot_be_made_ends_the_start(server, site, fifo, what):
    if what == "file":
        put(fifo)
    one = server(options(site, master_fifo=fifo if what == "file" else "/nowhere/fifo"),
                 wait=False, exit_codes=(3,))
    assert one.wait() == 3
    assert ("is no FIFO" if what == "file" else "/nowhere/fifo cannot be made") in one.log()
    assert what == "folder" or os.path.exists(fifo)


def test_a_reload_may_bring_another_fifo(server, site, fifo):
    one = server(options(site, master_fifo=fifo))
    all_ready(one)
    app = generation(one)
    one.rewrite(master_fifo=fifo + "2")
    write(fifo, "r")
    generation(one, other_than=app)
    processes.wait_until(lambda: os.path.exists(fifo + "2"), what="the new FIFO")
    write(fifo + "2", "s")
    one.wait_log("generation 2: serving, pid ")


# -- the commands

@pytest.mark.parametrize("by", ["ini", "pidfile"])
def test_commands_reload_show_and_stop(server, site, by):
    one = server(options(site, pidfile="run.pid"))
    all_ready(one)
    target = one.ini if by == "ini" else os.path.join(one.folder, "run.pid")
    write_app(site, APP.replace('"one"', '"two"'))
    done = command(one, "reload", target)
    assert (done.returncode, done.stdout, done.stderr) == (0, "generation 2 serves\n", "")
    processes.wait_until(lambda: body(one, "/version") == "two", what="the new app")
    generation(one)
    done = command(one, "status", target)
    assert done.returncode == 0
    assert f"pid {one.pid}, up " in done.stdout
    assert "generation 2: serving, pid " in done.stdout and "2 workers" in done.stdout
    slow = InBackground(one, site, 1)
    done = command(one, "stop", target)
    assert (done.returncode, done.stdout) == (0, f"stopped (pid {one.pid})\n")
    assert one.process.poll() is not None or one.wait(1) == 0
    assert slow.result().body == b"slept in two"
    done = command(one, "status", target)
    assert done.returncode == 3 and "no server runs" in done.stderr
    assert command(one, "stop", target).returncode == 3


def test_reload_says_when_it_fails(server, site):
    one = server(options(site))
    all_ready(one)
    write_app(site, "raise RuntimeError('no shop today')")
    done = command(one, "reload", one.ini)
    assert done.returncode == 1 and done.stdout == ""
    assert "reload failed: generation 2 exited with code 22 before it was ready" in done.stderr
    write_app(site, APP)
    one.write_ini("[uwsgi]\nprocesses = four\n")
    done = command(one, "reload", one.ini)
    assert done.returncode == 1 and "the configuration is broken" in done.stderr
    assert body(one, "/version") == "one"


@pytest.mark.parametrize("gone", [False, True])
def test_a_broken_ini_is_answered_without_another_event(server, site, gone):
    """A server that is idle has nothing else to wake up for: this took a minute."""
    one = server(options(site, pidfile="run.pid"))
    all_ready(one)
    command(one, "status", one.ini)
    if gone:
        os.unlink(one.ini)
    else:
        one.write_ini("[uwsgi]\nprocesses = four\n")
    done = command(one, "reload", os.path.join(one.folder, "run.pid"), timeout=30)
    assert done.returncode == 1 and "the configuration is broken" in done.stderr


def test_commands_that_are_wrong(server, site, folder):
    one = server(options(site))
    assert command(one, "reload").returncode == 2
    assert command(one, "reload", one.ini, "more").returncode == 2
    assert command(one, "reload", "/nowhere/app.ini").returncode == 3
    other = os.path.join(folder, "other.ini")
    put(other, "[uwsgi]\n")
    assert command(one, "reload", other).returncode == 3


def test_a_pidfile_that_names_another_process_does_no_harm(server, site, folder):
    """Left over, and its pid somebody else's by now: nothing may happen to that process."""
    one = server(options(site, pidfile="run.pid"))
    all_ready(one)
    stale = os.path.join(folder, "stale.pid")
    for pid in (os.getpid(), one.pid, 1, 4194305):
        put(stale, f"{pid}\n")
        for word in ("stop", "reload", "status"):
            done = command(one, word, stale)
            assert done.returncode in (3, 4), done
    assert "reload" not in one.log() and body(one, "/version") == "one"


def test_two_servers_of_one_ini_need_a_pidfile(server, site):
    one = server(options(site, pidfile="$(NAME).pid", socket=f"{site}/$(NAME).sock"),
                 env={"NAME": "one"}, wait=False)
    all_ready(one)
    with open(os.path.join(one.folder, "two.log"), "wb") as log, subprocess.Popen(
            [one.binary, one.ini], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            cwd=one.folder,
            env={**os.environ, "NAME": "two", "ASAN_OPTIONS": "detect_leaks=0"}) as two:
        try:
            processes.wait_until(lambda: len(processes.descendants(two.pid)) == 3, 20, "the other")
            done = command(one, "status", one.ini)
            assert done.returncode == 4 and "name the pidfile of one" in done.stderr
            for name, pid in (("one", one.pid), ("two", two.pid)):
                done = command(one, "status", os.path.join(one.folder, name + ".pid"))
                assert done.returncode == 0 and f"pid {pid}, up " in done.stdout
            done = command(one, "stop", os.path.join(one.folder, "two.pid"))
            assert (done.returncode, done.stdout) == (0, f"stopped (pid {two.pid})\n")
            assert command(one, "status", one.ini).returncode == 0
        finally:
            if two.poll() is None:
                two.terminate()
            two.wait(20)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_strangers_may_not_command(server, site):
    one = server(options(site))
    all_ready(one)
    os.chmod(one.folder, 0o755)
    nobody = pwd.getpwnam("nobody").pw_uid

    def knock(word):
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        peer.connect(f"\0ccontainer/{one.pid}")
        peer.settimeout(5)
        try:
            peer.send(word)
            return peer.recv(1000)
        except OSError:
            return b""

    pid = os.fork()
    if pid == 0:
        os.setresuid(nobody, nobody, nobody)
        os._exit(0 if knock(b"stop") == b"" and knock(b"status") == b"" else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert knock(b"status").startswith(b"0 ccontainer")
    assert body(one, "/version") == "one" and "stop" not in one.log()


def test_hostile_clients_of_the_control_socket(server, site):
    one = server(options(site))
    all_ready(one)
    files = processes.open_files(one.pid)

    def connect():
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        peer.connect(f"\0ccontainer/{one.pid}")
        peer.settimeout(5)
        return peer

    silent = [connect() for _ in range(40)]
    noise = random.Random(5)
    for size in (0, 1, 31, 32, 33, 5000, 60000):
        peer = connect()
        try:
            peer.send(noise.randbytes(size))
            peer.recv(1000)
        except OSError:
            pass
        peer.close()
    assert command(one, "status", one.ini).returncode == 0
    for peer in silent:
        peer.close()
    assert command(one, "reload", one.ini).returncode == 0
    generation(one)
    processes.wait_closed(one.pid, files)


def test_the_server_of_a_client_that_gives_up_goes_on(server, site):
    one = server(options(site))
    all_ready(one)
    write_app(site, "import time; time.sleep(1)\n" + APP)
    app = generation(one)
    with pytest.raises(subprocess.TimeoutExpired):
        command(one, "reload", one.ini, timeout=0.5)
    generation(one, other_than=app)
    assert body(one, "/version") == "one"
