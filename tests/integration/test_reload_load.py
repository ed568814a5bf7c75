"""Reloads while clients ask without a pause: not one request may fail, and nothing may pile up.

CC_SOAK=1 makes it 200 reloads, and 50 of an app that fails to load every second time.
"""

import os
import signal
import socket
import threading

import pytest

import clients
import processes
from test_nginx import site as nginx_site
from test_process import APP, all_ready, body, generation, options, site, write_app

assert site  # a fixture, used by name

SOAK = bool(os.environ.get("CC_SOAK"))


class Load:
    """Clients on threads of their own, each of which asks again and again until the end."""

    def __init__(self, *asks, each=2):
        self.over = threading.Event()
        self.failures = []
        self.done = [0] * len(asks)
        self.threads = [threading.Thread(target=self._run, args=(index, ask), daemon=True)
                        for index, ask in enumerate(asks) for _ in range(each)]

    def _run(self, index, ask):
        state = {}
        while not self.over.is_set():
            try:
                answer = ask(state)
                assert answer.startswith(b"version "), answer
                self.done[index] += 1
            except Exception as error:  # whatever it is, it is a request that was lost
                self.failures.append(f"{ask.__name__}: {error!r}")
                state.clear()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join(30)

    def check(self, log):
        assert not self.failures, f"{len(self.failures)}: {self.failures[:5]}\n{log[-4000:]}"
        assert all(count > 10 for count in self.done), self.done


def http_close(address):
    def ask(_):
        with clients.Http(address, 30) as http:
            answer = http.get("/version", "Connection: close\r\n")
            assert answer.status == 200
            return answer.body
    ask.__name__ = "http, a connection each"
    return ask


def http_keepalive(address):
    """Asks on the same connection until an answer says that it was the last one there."""
    def ask(state):
        if "http" not in state:
            state["http"] = clients.Http(address, 30)
        answer = state["http"].get("/version")
        assert answer.status == 200
        if answer.headers.get("connection", "").lower() == "close":
            state.pop("http").close()
        return answer.body
    ask.__name__ = "http, kept alive"
    return ask


def uwsgi(address):
    def ask(_):
        answer = clients.uwsgi(address, "/version")
        assert answer.status == 200
        return answer.body
    ask.__name__ = "uwsgi"
    return ask


def version(number):
    return APP.replace('"one"', f'"version {number}"')


def reload(one, count):
    """The count-th reload; waits until the new generation alone is there."""
    app = generation(one)
    one.send_signal(signal.SIGHUP)
    app = generation(one, other_than=app)
    processes.wait_until(lambda: body(one, "/version") == f"version {count}", 20, "the new app")
    return app


@pytest.mark.parametrize("lazy", [False, True], ids=["preload", "lazy-apps"])
def test_no_request_is_lost_over_many_reloads(server, nginx, site, lazy):
    write_app(site, version(0))
    path = os.path.join(site, "app.sock")
    one = server(options(site, threads=2, socket=path, http_socket="127.0.0.1:@PORT@",
                         **{"lazy-apps": lazy, "disable-logging": True}))
    all_ready(one)
    front = nginx(nginx_site("unix:" + path))
    address = f"127.0.0.1:{one.port}"
    load = Load(http_close(address), http_keepalive(address), uwsgi(path),
                http_close(f"127.0.0.1:{front.port}"))
    with load:
        write_app(site, version(1))
        reload(one, 1)
        files, memory = processes.open_files(one.pid), processes.anonymous_kib(one.pid)
        for count in range(2, 201 if SOAK else 8):
            write_app(site, version(count))
            reload(one, count)
    load.check(one.log())
    processes.wait_closed(one.pid, files)
    if not one.sanitized:
        assert processes.anonymous_kib(one.pid) < memory + 200
    assert "killed" not in one.log()


def test_no_request_is_lost_while_workers_are_replaced(server, site):
    """Chain reload, and all workers anew."""
    fifo = os.path.join(site, "fifo")
    write_app(site, version(0))
    one = server(options(site, threads=2, master_fifo=fifo, http_socket="127.0.0.1:@PORT@",
                         **{"lazy-apps": True, "disable-logging": True}))
    before = all_ready(one)
    address = f"127.0.0.1:{one.port}"
    load = Load(http_close(address), http_keepalive(address))
    with load:
        for letter in "cwcw" * (20 if SOAK else 1):
            with open(fifo, "w", encoding="ascii") as file:
                file.write(letter)
            processes.wait_until(
                lambda: len(one.workers()) == 2 and not set(before) & set(one.workers()), 30,
                "new workers")
            before = one.workers(2)
    load.check(one.log())


@pytest.mark.parametrize("lazy", [False, True], ids=["preload", "lazy-apps"])
def test_a_reload_that_fails_every_second_time(server, site, lazy):
    write_app(site, version(0))
    one = server(options(site, threads=2, http_socket="127.0.0.1:@PORT@",
                         **{"lazy-apps": lazy, "disable-logging": True}))
    all_ready(one)
    address = f"127.0.0.1:{one.port}"
    load = Load(http_close(address), http_keepalive(address))
    files = processes.open_files(one.pid)
    with load:
        for count in range(50 if SOAK else 6):
            if count % 2 == 0:
                app, fails = generation(one), one.log().count("reload failed")
                write_app(site, "raise RuntimeError('no shop today')")
                one.send_signal(signal.SIGHUP)
                one.wait_log("reload failed", count=fails + 1)
                assert generation(one) == app
            else:
                write_app(site, version(count))
                reload(one, count)
    load.check(one.log())
    processes.wait_closed(one.pid, files)
    assert not processes.zombies(one.pid)


def test_nobody_is_refused_while_sockets_come_and_go(server, site):
    """What both configurations listen on is open all the time, whatever else changes."""
    write_app(site, version(0))
    kept, other = os.path.join(site, "kept.sock"), os.path.join(site, "other.sock")
    one = server(options(site, socket=kept, http_socket="127.0.0.1:@PORT@", vacuum=True,
                         **{"disable-logging": True}))
    all_ready(one)
    load = Load(uwsgi(kept), http_close(f"127.0.0.1:{one.port}"))
    with load:
        for count in range(1, 21 if SOAK else 5):
            one.rewrite(socket=[kept, other] if count % 2 else kept)
            write_app(site, version(count))
            reload(one, count)
            if count % 2:
                assert clients.uwsgi(other, "/version").body.startswith(b"version")
            else:
                processes.wait_until(lambda: not os.path.exists(other), what="the file's end")
    load.check(one.log())
    with pytest.raises(OSError), socket.socket(socket.AF_UNIX) as peer:
        peer.connect(other)
