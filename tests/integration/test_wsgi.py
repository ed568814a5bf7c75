"""PEP 3333 through the real server, over each protocol; with validator, Flask and Django."""

import json
import os
import subprocess
import time

import pytest

import clients
import servers


class Over:
    """Requests over one protocol that look the same in a test."""

    def __init__(self, server, protocol):
        self.server, self.protocol = server, protocol

    def get(self, path, query="", body=None, method=None, **more):
        if self.protocol == "uwsgi":
            if method is not None:
                more["REQUEST_METHOD"] = method
            return clients.uwsgi(self.server.address, path, body, QUERY_STRING=query, **more)
        with clients.Http(self.server.address) as peer:
            method = method or ("GET" if body is None else "POST")
            target = path + ("?" + query if query else "")
            length = "" if body is None else f"Content-Length: {len(body)}\r\n"
            peer.send(f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n{length}\r\n")
            if body:
                peer.send(body)
            return peer.answer(method)


@pytest.fixture(params=["http", "uwsgi"])
def over(request, server):
    """over(options) starts a server with that socket and gives the client for it."""
    def start(module="wsgi_app", **options):
        socket = "http-socket" if request.param == "http" else "uwsgi-socket"
        options.setdefault(socket, "127.0.0.1:@PORT@")
        options.setdefault("threads", 2)
        return Over(server({"module": module, **options}), request.param)
    return start


def assert_valid(server):
    """Nothing that the validator or the interpreter complained of is in the log."""
    log = server.log()
    assert "Traceback" not in log and "AssertionError" not in log, log
    assert "without being closed" not in log, log


def test_environ(over):
    client = over(processes=2)
    answer = client.get("/keys", "a=%C3%A4&b=1", HTTP_X_TEST="\xe4")
    found = dict(line.split("=", 1) for line in answer.body.decode().split("\n"))
    assert found["PATH_INFO"] == "'/keys'"
    assert found["QUERY_STRING"] == "'a=%C3%A4&b=1'"
    assert found["REQUEST_METHOD"] == "'GET'"
    assert found["SCRIPT_NAME"] == "''"
    assert found["SERVER_PROTOCOL"] == "'HTTP/1.1'"
    assert found["HTTP_HOST"] == "'localhost'"
    assert found["REMOTE_ADDR"] == "'127.0.0.1'"
    assert found["wsgi.version"] == "(1, 0)"
    assert found["wsgi.url_scheme"] == "'http'"
    assert found["wsgi.multithread"] == "True"
    assert found["wsgi.multiprocess"] == "True"
    assert found["wsgi.run_once"] == "False"
    assert found["wsgi.input_terminated"] == "True"
    assert int(found["SERVER_PORT"].strip("'")) > 0
    assert_valid(client.server)


def test_one_thread_and_process_is_said(over):
    client = over(processes=1, threads=1)
    body = client.get("/keys").body.decode()
    assert "wsgi.multithread=False" in body and "wsgi.multiprocess=False" in body


def test_valid_answers(over):
    client = over()
    assert client.get("/echo", body=b"some bytes").body == b"some bytes"
    assert client.get("/echo").body == b""
    assert client.get("/stream").body == b"piece 0\npiece 1\npiece 2\n"
    assert client.get("/write").body == b"written, returned"
    assert client.get("/no_content").status == 204
    assert client.get("/stream", method="HEAD").body == b""
    assert client.get("/errors").status == 200
    log = client.server.wait_log("printed by the app\n")
    assert "a line for the log\n" in log
    assert client.get("/what_was_closed").status == 200
    assert_valid(client.server)


@pytest.mark.parametrize("post_buffering", [4096, 1 << 20])
def test_large_bodies_come_whole(over, post_buffering):
    client = over(post_buffering=post_buffering)
    body = b"".join(b"%d " % i * (i % 50) + b"\n" for i in range(3000))
    assert client.get("/echo", body=body).body == body
    expected = [len(line) + 1 for line in body.split(b"\n")[:-1]]
    assert json.loads(client.get("/lines", body=body).body) == expected
    assert_valid(client.server)


def test_chunked_bodies_reach_the_input(server):
    with clients.Http(server({"module": "wsgi_app"}).address) as peer:
        peer.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n")
        assert peer.answer().body == b"hello, world"
        peer.send("POST /keys HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "5\r\nhello\r\n0\r\n\r\n")
        assert b"CONTENT_LENGTH='5'" in peer.answer().body


def test_each_piece_is_sent_before_the_next_is_made(server, folder):
    flag = os.path.join(folder, "go")
    one = server({"module": "wsgi_app"})
    with clients.Http(one.address) as peer:
        peer.send(f"GET /slow_stream?{flag} HTTP/1.1\r\nHost: x\r\n\r\n")
        while b"first\n" not in peer.rest:
            peer._more()
        assert b"second" not in peer.rest
        open(flag, "w").close()
        assert peer.answer().body == b"first\nsecond\n"


def test_exceptions_are_logged_and_answered_500(over):
    client = over()
    assert client.get("/raises").status == 500
    log = client.server.wait_log("ValueError: the app's own error")
    assert "GET /raises: the app raised an exception\nTraceback (most recent call last)" in log
    assert client.get("/leaves").status == 500
    client.server.wait_log("SystemExit: 3")
    assert client.get("/echo", body=b"x").body == b"x"


def test_headers_that_would_split_the_response_are_refused(over):
    client = over()
    for path, said in (("/connection", "hop-by-hop"), ("/split", "control character")):
        answer = client.get(path)
        assert answer.status == 500
        assert "set-cookie" not in answer.headers and b"a=b" not in answer.body
        assert "Traceback" in client.server.wait_log(said)


def test_a_failure_in_the_middle_cuts_the_response(server):
    one = server({"module": "wsgi_app"})
    with clients.Http(one.address) as peer:
        peer.send("GET /raises_later HTTP/1.1\r\nHost: x\r\n\r\n")
        rest = peer.all()
        assert b"begun" in rest and b"\r\n0\r\n" not in rest
    one.wait_log("too late for a 500")
    assert b"raises" in one.get("/what_was_closed").body


def test_content_length_is_kept_to(over):
    client = over()
    assert client.get("/overlong").body == b"1234"
    client.server.wait_log("more than its Content-Length of 4 bytes")
    if client.protocol == "http":
        with pytest.raises(EOFError):
            client.get("/short")
    else:
        assert client.get("/short").body == b"1234"
    client.server.wait_log("fewer than its Content-Length of 8")


def test_close_is_called_when_the_client_is_gone(server):
    one = server({"module": "wsgi_app", "processes": 1})
    with clients.Http(one.address) as peer:
        peer.send(f"GET /large?{200 << 20} HTTP/1.1\r\nHost: x\r\n\r\n")
        peer._until(b"\r\n\r\n")
    end = time.monotonic() + 20
    while b"large" not in one.get("/what_was_closed").body:
        assert time.monotonic() < end, one.log()
        time.sleep(0.02)
    assert_valid(one)


def test_a_slow_reader_holds_no_other_request_up(server):
    """The interpreter's lock is released while a thread waits for a client."""
    one = server({"module": "wsgi_app", "processes": 1, "threads": 2})
    with clients.Http(one.address) as slow:
        slow.send(f"GET /large?{30 << 20} HTTP/1.1\r\nHost: x\r\n\r\n")
        slow._until(b"\r\n\r\n")
        for _ in range(20):
            assert one.get("/echo", method="POST", body=b"x", timeout=10).body == b"x"


def test_waiting_requests_run_side_by_side(server):
    one = server({"module": "wsgi_app", "processes": 1, "threads": 4})
    peers = [clients.Http(one.address) for _ in range(4)]
    start = time.monotonic()
    for peer in peers:
        peer.send("GET /sleep?3 HTTP/1.1\r\nHost: x\r\n\r\n")
    for peer in peers:
        assert peer.answer().status == 200
        peer.close()
    assert time.monotonic() - start < 11  # one after the other would take 12


@pytest.mark.parametrize("size", [0, 1, 100000, 5000000])
def test_files_are_sent_whole(over, folder, size):
    path = os.path.join(folder, "file")
    content = os.urandom(size)
    with open(path, "wb") as file:
        file.write(content)
    client = over()
    for _ in range(2):
        answer = client.get("/file", path)
        assert answer.body == content
    # The validator wraps the wrapper, so this one is read; the unwrapped one is Flask's below.
    assert_valid(client.server)


def test_flask(over):
    client = over("flask_app:app")
    assert client.get("/").body == b"Hello from Flask"
    answer = client.get("/json", body=b'{"a": [1, 2]}', CONTENT_TYPE="application/json") \
        if client.protocol == "uwsgi" else None
    if answer:
        assert json.loads(answer.body) == {"got": {"a": [1, 2]}}
    assert client.get("/stream", "name=flask").body == b"flask 0\nflask 1\nflask 2\n"
    with open(os.path.join(servers.APPS, "flask_app.py"), "rb") as file:
        answer = client.get("/file")
        assert answer.body == file.read()
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert client.get("/memory").body == b"in memory"
    assert client.get("/file", method="HEAD").headers["content-length"] == str(len(answer.body))
    assert client.get("/absent").status == 404
    assert client.get("/error").status == 500
    client.server.wait_log("RuntimeError: in a Flask view")
    torn = []
    end = time.monotonic() + 5
    while "/file" not in torn and time.monotonic() < end:
        torn = json.loads(client.get("/torn").body)
    assert "/file" in torn and "/stream" in torn


def test_flask_forms_and_uploads(server, folder):
    one = server({"module": "flask_app:app", "post-buffering": 4096})
    upload = os.path.join(folder, "upload")
    with open(upload, "wb") as file:
        file.write(b"u" * 50000)
    done = subprocess.run(
        ["curl", "-sS", "--max-time", "20", "-F", "name=value", "-F", f"file=@{upload}",
         f"{one.url}/form"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"form": {"name": "value"}, "files": {"file": 50000}}
    done = subprocess.run(
        ["curl", "-sS", "--max-time", "20", "-H", "Transfer-Encoding: chunked",
         "-H", "Content-Type: application/json", "-d", '{"chunked": true}', f"{one.url}/json"],
        capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"got": {"chunked": True}}


def test_django(over):
    client = over("django_app")
    assert client.get("/", "name=you").body == b"Hello from Django, you"
    assert client.get("/echo", body=b"a body").body == b"a body"
    assert client.get("/stream").body == b"0\n1\n2\n"
    with open(os.path.join(servers.APPS, "django_app.py"), "rb") as file:
        assert client.get("/file").body == file.read()
    assert client.get("/error").status == 500


def test_django_takes_chunked_bodies(server):
    with clients.Http(server({"module": "django_app"}).address) as peer:
        peer.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "5\r\nhello\r\n0\r\n\r\n")
        assert peer.answer().body == b"hello"


def test_scheme_from_the_front_server(server):
    one = server({"module": "wsgi_app", "uwsgi-socket": "127.0.0.1:@PORT@"})
    for more, scheme in (({}, "http"), ({"HTTPS": "on"}, "https"), ({"HTTPS": "off"}, "http"),
                         ({"REQUEST_SCHEME": "https"}, "https"),
                         ({"UWSGI_SCHEME": "https"}, "https")):
        body = clients.uwsgi(one.address, "/keys", **more).body.decode()
        assert f"wsgi.url_scheme='{scheme}'" in body


def test_a_virtualenv(server, folder):
    venv = os.path.join(folder, "venv")
    python = os.environ.get("CC_PYTHON", "/usr/bin/python3")
    subprocess.run([python, "-m", "venv", "--without-pip", venv], check=True, timeout=60)
    version = subprocess.run(
        [os.path.join(venv, "bin", "python"), "-c",
         "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True)
    with open(os.path.join(version.stdout.strip(), "only_in_venv.py"), "w") as file:
        file.write("import sys\ndef application(environ, start_response):\n"
                   "    start_response('200 OK', [])\n    return [sys.prefix.encode()]\n")
    for name in ("home", "virtualenv", "venv", "pyhome"):
        one = server({"module": "only_in_venv", name: venv})
        assert one.get("/").body.decode() == venv
        one.finish()


@pytest.mark.parametrize("lazy", [False, True])
def test_an_app_that_cannot_load(server, lazy):
    one = server({"module": "wsgi_app:aplication", "lazy-apps": lazy, "need-app": True},
                 wait=False, exit_codes=(22,))
    assert one.wait() == 22
    assert 'did you mean "application"?' in one.log()


def test_an_app_that_is_not_there_is_not_needed(server):
    one = server({"module": "no_such_module"})
    assert one.get("/").status == 500
    log = one.log()
    assert 'there is no Python module "no_such_module"' in log and "sys.path = ['.'" in log


def test_threads_that_the_fork_leaves_behind_are_named(server, folder):
    with open(os.path.join(folder, "threaded.py"), "w") as file:
        file.write("import threading\nfrom wsgi_app import application\n"
                   "threading.Thread(target=threading.Event().wait, name='poller', "
                   "daemon=True).start()\n")
    for lazy in (False, True):
        one = server({"module": "threaded", "pythonpath": folder, "lazy-apps": lazy})
        assert one.get("/echo").status == 200
        assert ("while it was imported (poller)" in one.log()) is not lazy


def test_a_stop_does_not_wait_for_answered_requests(over):
    client = over(threads=2)
    for _ in range(3):
        assert client.get("/sleep", "0.05").status == 200
    start = time.monotonic()
    assert client.server.stop() == 0
    assert time.monotonic() - start < 6  # worker-reload-mercy and its like are longer
