"""What bad clients get: a proper status where they can read one, and nobody else notices."""

import json
import os
import random
import resource
import shutil
import socket
import stat
import struct
import subprocess
import threading

import clients
import processes
import pytest
import servers

REQUEST = "POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789"


@pytest.fixture
def kitchen(server):
    def start(**options):
        return server({"module": "kitchen", **options})
    return start


def settled(worker, baseline, what="descriptors"):
    """Waits until the worker has as many open files as before."""
    processes.wait_until(lambda: processes.open_files(worker) <= baseline, 20, what)


def baseline_of(one):
    """Open files of the only worker once it has served something."""
    (worker,) = one.workers(1)
    for _ in range(3):
        assert one.get().status == 200
    return worker, processes.open_files(worker)


def reset(peer):
    """Closes with a RST, as a crashed client's kernel does."""
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


@pytest.mark.parametrize("leave", [clients.Http.close, clients.Http.shut, reset])
def test_half_a_request_and_gone(kitchen, leave):
    one = kitchen(threads=2)
    worker, before = baseline_of(one)
    for cut in range(1, len(REQUEST), 7):
        with clients.Http(one.address) as http:
            http.send(REQUEST[:cut])
            leave(http)
    assert one.get("/body", "POST", b"z").status == 200
    settled(worker, before)
    assert one.workers(1) == [worker]


def test_gone_while_the_app_works(kitchen):
    one = kitchen(threads=2)
    worker, before = baseline_of(one)
    for leave in (clients.Http.close, reset) * 4:
        http = clients.Http(one.address)
        http.send("GET /sleep?s=0.05 HTTP/1.1\r\nHost: a\r\n\r\n")
        leave(http)
    assert one.get().status == 200
    settled(worker, before)


def test_the_iterable_is_closed_when_the_client_goes(kitchen):
    one = kitchen(threads=2)
    for mark in range(3):
        with clients.Http(one.address) as http:
            http.send(f"GET /big?n=50000000&mark=m{mark} HTTP/1.1\r\nHost: a\r\n\r\n")
            assert http.socket.recv(100)
            reset(http)
    processes.wait_until(
        lambda: {"m0", "m1", "m2"} <= set(json.loads(one.get("/closed").body)),
        what="close() of the iterables")


def test_garbage(kitchen):
    one = kitchen(threads=2)
    worker, before = baseline_of(one)
    noise = random.Random(1)
    for number in range(100):
        data = noise.randbytes(noise.randrange(1, 3000))
        if number % 3 == 0:
            data = b"GET / HTTP/1.1\r\n" + data
        with clients.Http(one.address) as http:
            try:
                http.send(data).shut()
            except OSError:
                pass
            got = http.all()
            assert not got or got.startswith(b"HTTP/1.1 4") or got.startswith(b"HTTP/1.1 5"), data
    assert one.get().status == 200
    settled(worker, before)
    assert one.workers(1) == [worker]
    assert "Traceback" not in one.log()


@pytest.mark.parametrize("path", ["/big?n=60000000", "/big?n=60000000&length=1"])
def test_readers_that_stop(kitchen, sanitized, path):
    """As many as there are threads stop reading; others are still served."""
    one = kitchen(threads=4)
    worker, before = baseline_of(one)
    stalled = []
    for _ in range(3):
        http = clients.Http(one.address)
        http.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
        assert http.socket.recv(100)
        stalled.append(http)
    for _ in range(20):
        assert one.get(timeout=5).status == 200
    if not sanitized:
        # What they do not read is not piled up: 180 MB were asked for.
        assert processes.memory_kib(worker) < 90_000
    for http in stalled:
        http.close()
    settled(worker, before)
    assert one.get().status == 200


def test_a_reader_that_stops_for_good_is_cut_off(kitchen):
    one = kitchen(threads=2, **SEND_TIMEOUT)
    worker, before = baseline_of(one)
    http = clients.Http(one.address)
    http.send("GET /big?n=60000000 HTTP/1.1\r\nHost: a\r\n\r\n")
    assert http.socket.recv(100)
    settled(worker, before, "the stalled connection's descriptor")
    http.close()


def test_a_slow_reader_gets_all_of_it(kitchen):
    one = kitchen(threads=2)
    with clients.Http(one.address) as http:
        http.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        http.send("GET /big?n=200000&length=1 HTTP/1.1\r\nHost: a\r\n\r\n")
        assert http.answer().body == b"x" * 200_000


SEND_TIMEOUT = {"socket-timeout": 1}


@pytest.fixture
def many_files():
    """Room for thousands of sockets, in this process and in what it starts."""
    old = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192
    if old[1] != resource.RLIM_INFINITY and old[1] < wanted:
        pytest.skip(f"only {old[1]} open files are allowed here (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, old[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, old)


def test_5000_connections_that_say_nothing(kitchen, many_files, sanitized):
    one = kitchen(threads=2, listen=1024)
    worker, before = baseline_of(one)
    memory = processes.memory_kib(worker)
    silent = []
    try:
        for number in range(5000):
            silent.append(servers.connect(one.address, 20))
            if number % 500 == 0:
                assert one.get().status == 200
        # (A connection of the beginning may have been among those before.)
        processes.wait_until(lambda: processes.open_files(worker) >= before + 4990, 20,
                             "5,000 accepted connections")
        for _ in range(20):
            assert one.get(timeout=5).status == 200
        if not sanitized:
            each = (processes.memory_kib(worker) - memory) * 1024 / 5000
            assert each < 4096, f"{each:.0f} bytes for an idle connection"
    finally:
        for peer in silent:
            peer.close()
    settled(worker, before)
    assert one.get().status == 200
    assert one.workers(1) == [worker]


def test_when_descriptors_run_out_the_rest_goes_on(server):
    """More clients than the server may have files: it neither spins nor dies."""
    one = server({"module": "kitchen", "threads": 2, "listen": 512},
                 before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128)))
    (worker,) = one.workers(1)
    crowd = []
    try:
        for _ in range(300):
            crowd.append(servers.connect(one.address, 20))
        processes.wait_until(lambda: processes.open_files(worker) >= 100, what="a full table")
    finally:
        for peer in crowd:
            peer.close()
    processes.wait_until(lambda: one.get(timeout=10).status == 200, 20, "an answer")
    assert one.workers(1) == [worker]


def test_a_full_disk_is_one_500(server, folder):
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a tiny file system")
    full = folder + "/full"
    os.mkdir(full)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", full],
                      check=False).returncode != 0:
        pytest.skip("may not mount a tmpfs here")
    try:
        one = server({"module": "kitchen", "threads": 2, "post-buffering": 4096},
                     env={"TMPDIR": full})
        assert one.get("/body", "POST", b"s" * 20000).status == 200
        for _ in range(3):
            with clients.Http(one.address) as http:
                try:
                    http.send(b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n"
                              + b"l" * 500000)
                except (BrokenPipeError, ConnectionResetError):
                    pass
                answer = http.answer()
                assert answer.status == 500
                assert full.encode() not in answer.body
        log = one.wait_log("No space left on device")
        assert full in log
        # The space is free again: nothing was kept.
        assert one.get("/body", "POST", b"s" * 20000).status == 200
        processes.wait_until(lambda: shutil.disk_usage(full).used == 0, what="an empty disk")
        one.stop()
    finally:
        subprocess.run(["umount", full], check=True)


def test_half_a_body_leaves_no_file(kitchen):
    one = kitchen(**{"post-buffering": 1024, "threads": 2})
    worker, before = baseline_of(one)
    for _ in range(10):
        with clients.Http(one.address) as http:
            http.send(b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n"
                      + b"h" * 50000)
            reset(http)
    assert one.get().status == 200
    settled(worker, before)


def test_a_storm_of_resets_while_others_work(kitchen):
    one = kitchen(processes=2, threads=4, listen=512)
    workers = one.workers(2)
    wrong, stop = [], threading.Event()

    def vandal():
        while not stop.is_set():
            try:
                http = clients.Http(one.address, 5)
                http.send(REQUEST[:random.randrange(len(REQUEST))])
                reset(http)
            except OSError:
                pass

    vandals = [threading.Thread(target=vandal) for _ in range(4)]
    for thread in vandals:
        thread.start()
    try:
        for number in range(200):
            answer = one.get("/echo", "POST", str(number).encode())
            if answer.body != str(number).encode():
                wrong.append(answer)
    finally:
        stop.set()
        for thread in vandals:
            thread.join()
    assert not wrong
    assert one.workers(2) == workers


# -- the app does what it must not

@pytest.mark.parametrize("door", ["/leave", "/crash"])
def test_an_app_that_kills_its_worker(server, door):
    one = server({"module": "kitchen", "processes": 2, "threads": 2}, may_crash=True)
    workers = one.workers(2)
    with clients.Http(one.address) as http:
        http.send(f"GET {door} HTTP/1.1\r\nHost: a\r\n\r\n")
        assert http.all() == b""
    # The other worker serves meanwhile, and there are two again.
    assert one.get().status == 200
    processes.wait_until(lambda: set(one.workers(2)) != set(workers), what="a new worker")
    for _ in range(20):
        assert one.get().status == 200
    assert not processes.zombies(one.pid)


def test_an_app_that_raises(kitchen):
    one = kitchen()
    with clients.Http(one.address) as http:
        assert http.get("/fail").status == 500
    log = one.wait_log("ValueError: kitchen: this failure is wanted")
    assert "Traceback (most recent call last)" in log
    assert "kitchen.py" in log
    assert one.get().status == 200


# -- sockets

def test_a_unix_socket_has_the_mode_that_was_asked_for(server):
    one = server({"socket": "@DIR@/app.sock", "chmod-socket": "640"})
    assert stat.S_IMODE(os.stat(one.address).st_mode) == 0o640


def test_a_user_without_permission_cannot_connect(server):
    if os.geteuid() != 0:
        pytest.skip("needs root: becomes nobody")
    one = server({"socket": "@DIR@/app.sock", "chmod-socket": "600"})
    code = ("import os, socket, sys; os.setgid(65534); os.setuid(65534)\n"
            "s = socket.socket(socket.AF_UNIX)\n"
            "sys.exit(s.connect_ex(sys.argv[1]) == 13)")
    done = subprocess.run(["/usr/bin/python3", "-c", code, one.address], check=False)
    assert done.returncode == 1
    assert clients.uwsgi(one.address).status == 200


def test_a_socket_in_use_is_named(server, ccontainer, folder):
    one = server({})
    done = subprocess.run([ccontainer, "--http-socket", one.address, "--module", "hello"],
                          capture_output=True, text=True, timeout=20, cwd=servers.APPS)
    assert done.returncode == 1
    assert one.address in done.stderr
    assert "in use" in done.stderr
    assert one.get().status == 200


def test_a_live_unix_socket_is_not_taken_over(server, ccontainer):
    one = server({"socket": "@DIR@/app.sock"})
    done = subprocess.run([ccontainer, "--socket", one.address, "--module", "hello"],
                          capture_output=True, text=True, timeout=20, cwd=servers.APPS)
    assert done.returncode == 1
    assert one.address in done.stderr
    assert clients.uwsgi(one.address).status == 200


def test_a_stale_unix_socket_is_replaced(server, folder):
    """What a killed server left behind is no reason not to start."""
    path = folder + "/stale.sock"
    left = socket.socket(socket.AF_UNIX)
    left.bind(path)
    left.close()
    one = server({"socket": path})
    assert clients.uwsgi(one.address).status == 200


def test_a_socket_in_a_folder_without_permission(ccontainer, folder):
    if os.geteuid() != 0:
        pytest.skip("needs root: becomes nobody")
    closed = folder + "/closed"
    os.mkdir(closed, 0o700)

    def nobody():
        os.setgid(65534)
        os.setuid(65534)

    done = subprocess.run([ccontainer, "--socket", closed + "/a.sock", "--module", "hello"],
                          capture_output=True, text=True, timeout=20, cwd="/",
                          preexec_fn=nobody)
    assert done.returncode == 1
    assert closed in done.stderr
    assert "ermission" in done.stderr
