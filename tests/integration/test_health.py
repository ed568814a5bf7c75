"""health-path and stop-delay: what a load balancer or Kubernetes asks, and is told."""

import os
import signal
import threading
import time

import clients
import processes
import pytest
import servers

APP = """
import os, time
if os.path.exists("broken"):
    raise RuntimeError("broken on purpose")

def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path.startswith("/sleep/"):
        open("begun", "a").write("x")
        time.sleep(float(path[7:]))
    body = str(os.getpid()).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


@pytest.fixture
def app(server, folder):
    """Starts a server of the app above with a health path, in a folder of its own."""
    def start(broken=False, **options):
        site = os.path.join(folder, "site")
        os.mkdir(site)
        os.chmod(site, 0o777)
        with open(os.path.join(site, "shop.py"), "w", encoding="ascii") as file:
            file.write(APP)
        if broken:
            with open(os.path.join(site, "broken"), "w", encoding="ascii"):
                pass
        one = server({"module": "shop", "chdir": site, "health-path": "/-/health",
                      "http-socket": "127.0.0.1:@PORT@", "socket": "@DIR@/u.sock",
                      "disable-logging": True, **options})
        one.site = site
        one.wait_log("ready")
        return one
    return start


def health(one, timeout=5):
    """What both protocols say about it."""
    begin = time.monotonic()
    http = one.get("/-/health", timeout=timeout)
    uwsgi = clients.uwsgi(one.addresses()[1], "/-/health", timeout=timeout)
    assert time.monotonic() - begin < timeout
    assert (http.status, http.body) == (uwsgi.status, uwsgi.body)
    return http.status, http.body.decode().strip()


def hold(one, *seconds):
    """Requests that keep a thread each; returns once they run."""
    begun = os.path.join(one.site, "begun")
    threads = []
    for number, time_s in enumerate(seconds, 1):
        thread = threading.Thread(target=one.get, args=(f"/sleep/{time_s}",),
                                  kwargs={"timeout": 30})
        thread.start()
        threads.append(thread)
        processes.wait_until(lambda: os.path.exists(begun) and os.path.getsize(begun) >= number,
                             what="the long request")
    return threads


def ask(one, count):
    """Requests that wait for a thread."""
    waiting = []
    for _ in range(count):
        peer = clients.Http(one.address, 30)
        peer.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        waiting.append(peer)
    return waiting


def all_answered(waiting):
    for peer in waiting:
        answer = peer.answer()
        assert answer.status == 200
        peer.close()


@pytest.mark.parametrize("master", [True, False])
def test_it_answers_while_the_only_thread_is_stuck(app, master):
    one = app(master=master, threads=1)
    assert health(one) == (200, "ok")
    held = hold(one, 2)
    waiting = ask(one, 30)
    for _ in range(3):
        assert health(one, timeout=1.5) == (200, "ok")
    assert held[0].is_alive()
    all_answered(waiting)
    held[0].join()
    assert "/-/health" not in one.log()


def test_who_waits_goes_to_the_first_that_is_free(app):
    one = app(processes=2, threads=1, **{"lazy-apps": True})
    one.wait_log("is ready", count=2)
    held = hold(one, 4, 0.7)
    waiting = ask(one, 20)
    assert health(one) == (200, "ok")
    all_answered(waiting)
    assert held[0].is_alive(), "they have waited behind the stuck one"
    for thread in held:
        thread.join()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_nobody_is_lost_in_the_lobby(app, number):
    one = app(threads=1)
    held = hold(one, 1)
    waiting = ask(one, 30)
    assert health(one) == (200, "ok")  # so the worker has looked who waits
    one.send_signal(number)
    one.wait_log("generation 2 serves" if number == signal.SIGHUP else "stopping")
    all_answered(waiting)
    held[0].join()


def test_an_app_that_did_not_load_is_not_healthy(app):
    one = app(broken=True)
    assert health(one) == (503, "the app is not loaded")


def test_it_is_not_healthy_while_it_drains(app):
    one = app(threads=2, **{"stop-delay": 1})
    kept = clients.Http(one.address)
    assert kept.get("/-/health").body == b"ok\n"
    begin = time.monotonic()
    one.send_signal(signal.SIGTERM)
    one.wait_log("stop-delay")
    processes.wait_until(lambda: health(one) == (503, "stopping"), 0.9, "the change")
    assert one.get("/").status == 200 and clients.uwsgi(one.addresses()[1]).status == 200
    assert kept.get("/-/health").status == 503
    assert kept.get("/").status == 200
    kept.close()
    assert one.wait() == 0
    assert 0.9 < time.monotonic() - begin < 10


@pytest.mark.parametrize("master", [True, False])
def test_a_request_may_take_its_time_after_the_delay(app, master):
    one = app(master=master, threads=1, **{"stop-delay": 4, "worker-reload-mercy": 4})
    one.send_signal(signal.SIGTERM)
    one.wait_log("stopping")
    (held,) = hold(one, 4.5)
    assert one.wait() == 0
    held.join()
    assert "still running" not in one.log()


def test_a_reload_is_healthy(app):
    one = app()
    kept = clients.Http(one.address)
    assert kept.get("/-/health").status == 200
    one.send_signal(signal.SIGHUP)
    one.wait_log("finishes its requests")
    answer = kept.get("/-/health")
    assert answer.status == 200
    assert health(one) == (200, "ok")
    kept.close()


def test_its_path_begins_with_a_slash(server):
    one = server({"health-path": "health"}, wait=False, exit_codes=(1,))
    assert one.wait() == 1
    assert 'health-path: expected a path that begins with /, got "health"' in one.log()


def test_without_the_option_the_path_is_the_apps(server):
    one = server({"module": "kitchen"})
    with servers.connect(one.address) as peer:
        peer.sendall(b"GET /-/health HTTP/1.0\r\n\r\n")
        assert b"ok\n" not in peer.recv(1000)
