"""The app plugin in C behind the real server: ini/native.ini."""

import os
import re
import time

import clients
import servers

INI = os.path.join(servers.HERE, "..", "..", "ini", "native.ini")


def start(server, **options):
    with open(INI, encoding="utf-8") as file:
        text = re.sub(r"127\.0\.0\.1:[0-9]+\n", "127.0.0.1:@PORT@\n", file.read())
    for name, value in options.items():
        text += f"{name} = {value}\n"
    return server(text)


def test_it_answers(server):
    one = start(server)
    assert one.get("/").body == b"Hello World!"
    assert one.get("/other").status == 404
    assert one.get("/stream?n=3").body == b"line 1 of 3\nline 2 of 3\nline 3 of 3\n"


def test_connections_that_are_over_are_not_counted(server):
    one = server("[uwsgi]\nplugin = native\nsocket = 127.0.0.1:@PORT@\nthreads = 4\n"
                 "max-connections = 20\n")
    packet = clients.packet(clients.variables("/sleep", "ms=2"))
    for _ in range(200):
        assert clients.uwsgi_raw(one.address, packet).status == 200
    assert "max-connections" not in one.log()


def test_no_interpreter_is_loaded(server):
    one = start(server)
    for worker in one.workers(2):
        with open(f"/proc/{worker}/maps", encoding="utf-8") as maps:
            assert "libpython" not in maps.read()


def test_it_echoes_what_is_spooled(server):
    one = start(server, **{"post-buffering": 4096})
    for size in (0, 1, 4096, 1000000):
        body = os.urandom(size)
        assert one.get("/echo", "POST", body).body == body


def test_a_client_that_reads_slowly_gets_all(server):
    one = start(server)
    with clients.Http(one.address, timeout=20) as peer:
        # HTTP/1.0: the body ends with the connection, without chunks to take apart.
        peer.send("GET /stream?n=100000 HTTP/1.0\r\n\r\n")
        time.sleep(0.3)  # long enough to fill every buffer on the way
        lines = peer.all().splitlines()
    assert lines[0] == b"HTTP/1.1 200 OK"
    assert lines[-100000] == b"line 1 of 100000" and lines[-1] == b"line 100000 of 100000"


def test_threads_sleep_side_by_side(server):
    one = start(server, threads=4)
    peers = [clients.Http(one.address) for _ in range(8)]
    begin = time.monotonic()
    for peer in peers:
        peer.send("GET /sleep?ms=1000 HTTP/1.1\r\nHost: x\r\n\r\n")
    for peer in peers:
        assert peer.answer().body == b"slept 1000 ms\n"
        peer.close()
    assert time.monotonic() - begin < 7.5  # one after the other would take 8
