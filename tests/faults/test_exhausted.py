"""What runs out: memory, descriptors, room on disks, and the patience of whoever reads the log."""

import os
import resource
import signal
import socket
import time

import processes
import pytest

import faults

MOUNT = pytest.mark.skipif(os.geteuid() != 0 or not faults.can_mount(),
                           reason="needs root and a mount namespace")


def test_memory_in_a_worker(server, folder, sanitized):
    if sanitized:
        pytest.skip("a sanitizer's address space is no measure")
    one = server(faults.options(folder, processes=1))
    sound = faults.Sound(one, 1)
    (worker,) = one.workers()
    with open(f"/proc/{worker}/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    faults.limit(worker, resource.RLIMIT_AS, size + (300 << 20))
    for _ in range(3):
        assert one.get("/eat/400").status == 500
        assert one.get("/eat/1").status == 200
    assert "MemoryError" in one.log()
    assert one.workers() == [worker]
    # Where not even the server's own buffers find room, the worker ends and another serves.
    faults.limit(worker, resource.RLIMIT_AS, size >> 1)
    peers = []
    while processes.alive(worker) and len(peers) < 3000:
        try:
            peers.append(socket.create_connection(("127.0.0.1", one.port), 5))
            peers[-1].sendall(b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n"
                              + b"x" * 40000)
        except OSError:
            pass
    for peer in peers:
        peer.close()
    assert not processes.alive(worker), "it needs no memory?"
    one.wait_log("starting another")
    sound.check()


def test_descriptors_in_a_worker(server, folder):
    one = server(faults.options(folder, processes=1, listen=100))
    sound = faults.Sound(one, 1)
    (worker,) = one.workers()
    old = faults.limit(worker, resource.RLIMIT_NOFILE, processes.open_files(worker) + 8)
    crowd = []
    for _ in range(60):
        peer = socket.create_connection(("127.0.0.1", one.port), 10)
        peer.sendall(b"GET /")
        crowd.append(peer)
    one.wait_log("cannot accept connections: Too many open files")
    share = faults.cpu_share([worker], 1.5)
    assert share < 0.02 or one.sanitized, f"it spins: {share}"
    # Whoever has a connection is served, and those that wait as soon as there is room.
    for peer in crowd:
        peer.sendall(b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    for peer in crowd:
        data = b""
        while piece := peer.recv(1000):
            data += piece
        assert data.startswith(b"HTTP/1.1 200"), data
        peer.close()
    assert one.log().count("cannot accept connections") == 1
    faults.limit(worker, resource.RLIMIT_NOFILE, old)
    assert one.workers() == [worker]
    sound.check()


@MOUNT
def test_room_for_bodies(server, folder):
    options = faults.options(folder, **{"post-buffering": 1024})
    one = server(options, before=faults.with_mounts((os.path.join(folder, "tmp"), "128k")))
    sound = faults.Sound(one)
    for _ in range(5):
        answer = one.get("/body", "POST", b"x" * 1_000_000)
        assert answer.status == 500 and b"tmp" not in answer.body
        answer = one.get("/body", "POST", b"x" * 50_000)
        assert (answer.status, answer.body) == (200, b"50000")
    assert "No space left on device" in one.log()
    sound.check()


def test_room_for_the_log(server, folder):
    one = server(faults.options(folder, processes=1, logto="/dev/full"), wait=False)
    processes.wait_until(lambda: len(one.workers()) == 1, 20, "a worker")
    one.wait_ready()
    for _ in range(200):
        assert one.get("/").status == 200
    assert one.stop() == 0


def piped(write):
    """For Popen's preexec_fn: the log goes to this end of a pipe."""
    def redirect():
        os.dup2(write, 1)
        os.dup2(write, 2)
    return redirect


def test_the_reader_of_the_log_is_gone(server, folder):
    read, write = os.pipe()
    one = server(faults.options(folder), before=piped(write))
    os.close(write)
    os.close(read)
    for _ in range(200):
        assert one.get("/").status == 200
    before = set(one.workers(2))
    os.kill(min(before), signal.SIGKILL)
    faults.serving(one)
    faults.idles(one)
    assert one.stop() == 0


def test_the_reader_of_the_log_has_stopped(server, folder):
    read, write = os.pipe()
    one = server(faults.options(folder), before=piped(write))
    os.close(write)
    slowest = 0
    for _ in range(1500):  # more than a pipe holds
        begin = time.monotonic()
        assert one.get("/").status == 200
        slowest = max(slowest, time.monotonic() - begin)
    assert slowest < 5
    faults.idles(one)
    log = b""
    os.set_blocking(read, False)
    try:
        while piece := os.read(read, 65536):
            log += piece
    except BlockingIOError:
        pass
    assert b"GET / => generated" in log
    assert one.get("/").status == 200
    processes.wait_until(lambda: b"lines of this log are lost" in (os.read(read, 65536)
                                                                   if one.get("/") else b""),
                         10, "the word about what was lost")
    # A terminal or supervisor that has gone to sleep does not keep it from ending.
    assert one.stop() == 0
    os.close(read)


@MOUNT
@pytest.mark.parametrize("size", [None, "4k"], ids=["read-only", "tiny"])
def test_shared_memory_is_not_asked_of_a_file_system(server, folder, size):
    one = server(faults.options(folder), before=faults.with_mounts(("/dev/shm", size)))
    sound = faults.Sound(one)
    os.kill(one.workers()[0], signal.SIGKILL)
    one.wait_log("is ready", count=3)
    one.send_signal(signal.SIGHUP)
    one.wait_log("finishes its requests")
    sound.check(idle=False)
