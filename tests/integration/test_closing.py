"""How connections end: no response is cut by a reset, and a stop loses nothing that was accepted."""

import os
import signal
import socket
import threading
import time

import clients
import processes
import pytest
import servers

APP = """
import os, time

def application(environ, start_response):
    path = environ["PATH_INFO"]
    body = b"hello"
    if path.startswith("/big/"):
        body = b"x" * int(path[5:])
    elif path.startswith("/sleep/"):
        open("begun", "w").close()
        time.sleep(float(path[7:]))
    elif path == "/fails":
        raise RuntimeError("on purpose")
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
"""


@pytest.fixture
def app(server, folder):
    """Starts a server of the app above, in a folder of its own."""
    def start(**options):
        site = os.path.join(folder, "site")
        os.mkdir(site)
        os.chmod(site, 0o777)
        with open(os.path.join(site, "shop.py"), "w", encoding="ascii") as file:
            file.write(APP)
        one = server({"module": "shop", "chdir": site, **options})
        one.site = site
        one.wait_log("is ready" if options.get("master", True) else "ready")
        return one
    return start


def read_to_end(peer):
    """All bytes to the end of the connection; a reset is an error."""
    data = b""
    while piece := peer.recv(65536):
        data += piece
    return data


def request(path, more=""):
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n{more}\r\n".encode()


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("after", [b"", b"\r\n", b"GET /next HTTP/1.1\r\nHost: a\r\n\r\n"],
                         ids=["nothing", "a blank line", "another request"])
def test_bytes_behind_the_last_request_cut_nothing(app, threads, after):
    one = app(threads=threads)
    size = 3_000_000
    with socket.socket() as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        peer.settimeout(20)
        peer.connect(("127.0.0.1", one.port))
        peer.sendall(request(f"/big/{size}", "Connection: close\r\n") + after)
        head = peer.recv(100)
        assert head.startswith(b"HTTP/1.1 200")
        # Also while the response is under way, and once all of it is in the kernel's hands.
        peer.sendall(after)
        body = (head + read_to_end(peer)).split(b"\r\n\r\n", 1)[1]
        assert len(body) == size


def test_bytes_behind_a_uwsgi_request_cut_nothing(app, folder):
    one = app(threads=2, **{"http-socket": None, "socket": ["127.0.0.1:@PORT@", os.path.join(folder, "u.sock")]})
    for address in one.addresses():
        with servers.connect(address) as peer:
            peer.sendall(clients.packet(clients.variables("/big/100000")) + b"more than it said")
            assert len(read_to_end(peer).split(b"\r\n\r\n", 1)[1]) == 100000


def test_a_refusal_is_read_by_a_client_that_still_sends(app):
    one = app(**{"limit-post": 1000})
    with servers.connect(one.address, 20) as peer:
        peer.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 30000000\r\n\r\n")
        end = time.monotonic() + 3  # longer than a single patience of the server
        while time.monotonic() < end:
            peer.sendall(b"x" * 10000)
            time.sleep(0.01)
        peer.shutdown(socket.SHUT_WR)
        assert read_to_end(peer).startswith(b"HTTP/1.1 413")


def test_a_client_that_never_ends_is_left_in_the_end(app):
    one = app()
    with servers.connect(one.address, 20) as peer:
        peer.sendall(b"no request at all\r\n\r\n")
        assert read_to_end(peer).startswith(b"HTTP/1.1 400")
        (worker,) = one.workers(1)
        before = processes.open_files(worker)
        processes.wait_until(lambda: processes.open_files(worker) < before, 10, "the close")


def test_an_idle_time_below_the_time_for_a_head_counts(app):
    """The first deadline of a connection is far away; the one after a request is not."""
    one = app(threads=2, **{"http-keepalive": 1, "http-headers-timeout": 30})
    with clients.Http(one.address, timeout=15) as peer:
        assert peer.get("/").status == 200
        begin = time.monotonic()
        assert peer.closed()
        assert time.monotonic() - begin < 5


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_request_that_crosses_the_close_is_answered(app, number, threads):
    one = app(threads=threads)
    (old,) = one.workers(1)
    kept = [clients.Http(one.address) for _ in range(5)]
    for peer in kept:
        assert "connection" not in peer.get("/").headers
    one.send_signal(number)
    one.wait_log("finishes its requests" if number == signal.SIGHUP else "stopping")
    time.sleep(0.1)  # the old worker knows by now, and the clients do not
    for peer in kept[:4]:
        answer = peer.get("/")
        assert answer.status == 200 and answer.headers["connection"] == "close"
        assert peer.socket.recv(1) == b""
        peer.close()
    # One that says nothing is closed, and not before a moment has passed.
    assert kept[4].socket.recv(1) == b""
    kept[4].close()
    processes.wait_until(lambda: not processes.alive(old), 10, "the old worker's end")


def wait_in_queue(one, count, make):
    """count requests in the listen queue of a server whose only thread is busy."""
    busy = threading.Thread(target=one.get, args=("/sleep/1",))
    busy.start()
    begun = os.path.join(one.site, "begun")
    processes.wait_until(lambda: os.path.exists(begun), what="the long request")
    time.sleep(0.05)
    return busy, [make() for _ in range(count)]


@pytest.mark.parametrize("master", [True, False])
@pytest.mark.parametrize("kind", ["tcp", "unix", "abstract"])
def test_what_the_kernel_accepted_is_answered_before_the_end(app, folder, master, kind):
    address = {"tcp": f"127.0.0.1:{servers.free_port()}", "unix": os.path.join(folder, "u.sock"),
               "abstract": f"@cc-test-{os.getpid()}"}[kind]
    one = app(master=master, **{"http-socket": "127.0.0.1:@PORT@", "socket": address})

    def ask():
        peer = servers.connect(address, 20)
        peer.sendall(clients.packet(clients.variables("/")))
        return peer

    busy, waiting = wait_in_queue(one, 30, ask)
    one.send_signal(signal.SIGTERM)
    one.wait_log("stopping")
    for peer in waiting:
        assert read_to_end(peer).endswith(b"hello")
        peer.close()
    busy.join()
    assert one.wait() == 0
    with pytest.raises(OSError):
        servers.connect(address, 1)


def test_two_workers_share_what_waits_at_the_end(app):
    one = app(processes=2, threads=2)
    stuck = [servers.connect(one.address, 20) for _ in range(4)]
    for peer in stuck:
        peer.sendall(request("/sleep/0.5", "Connection: close\r\n"))
    time.sleep(0.1)
    waiting = [servers.connect(one.address, 20) for _ in range(50)]
    for peer in waiting:
        peer.sendall(request("/", "Connection: close\r\n"))
    one.send_signal(signal.SIGTERM)
    for peer in stuck + waiting:
        assert read_to_end(peer).endswith(b"hello")
        peer.close()
    assert one.wait() == 0


def test_a_stop_does_not_wait_for_new_clients(app):
    """They are kept out, or a busy site would never end in good order."""
    one = app(threads=1, **{"worker-reload-mercy": 20})
    over = threading.Event()

    def keep_coming():
        while not over.is_set():
            try:
                one.get("/", timeout=0.5)
            except OSError:
                pass
            except Exception:  # http.client's own, for a connection that ended
                pass

    crowd = [threading.Thread(target=keep_coming) for _ in range(8)]
    for client in crowd:
        client.start()
    begin = time.monotonic()
    assert one.stop() == 0
    over.set()
    for client in crowd:
        client.join()
    assert time.monotonic() - begin < 10
    assert "still running" not in one.log()


def test_our_own_500_is_counted_in_the_log(app):
    one = app()
    answer = one.get("/fails")
    assert answer.status == 500
    log = one.wait_log("GET /fails => generated")
    assert f"GET /fails => generated {len(answer.body)} bytes" in log
