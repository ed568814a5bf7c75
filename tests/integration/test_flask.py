"""A Flask app with what Flask apps use."""

import http.cookiejar
import json
import os
import threading
import urllib.request

import pytest
import servers


@pytest.fixture(scope="module", params=["preloaded", "lazy"])
def site(request, shared_server):
    one = shared_server({"module": "pages_site:app", "processes": 2, "threads": 4,
                         "need-app": True, "lazy-apps": request.param == "lazy"})
    one.wait_log("all workers are ready", 30)
    return one


def test_pages(site):
    assert site.get("/").body == b"Hello World!"
    assert site.get("/template/%C3%BCber").body == "<p>Hello über of GET</p>".encode()
    assert site.get("/nowhere").status == 404
    assert site.get("/nowhere").body == b"no page /nowhere"
    assert site.get("/teapot").status == 418
    assert site.get("/", "OPTIONS").status == 200
    assert site.get("/", "DELETE").status == 405
    assert site.get("/", "HEAD").body == b""


def test_forms_and_files(site):
    boundary = "X" * 30
    file = b"f" * 1_500_000 + b"last"
    body = (f"--{boundary}\r\nContent-Disposition: form-data; name=word\r\n\r\ntext\r\n"
            f"--{boundary}\r\nContent-Disposition: form-data; name=file; filename=a.bin\r\n\r\n"
            ).encode() + file + f"\r\n--{boundary}--\r\n".encode()
    answer = site.get("/form", "POST", body, {
        "Content-Type": f"multipart/form-data; boundary={boundary}", "X-Agent": "test"})
    assert json.loads(answer.body) == {"name": "a.bin", "bytes": len(file), "word": "text",
                                       "agent": "test", "last": "last"}


def test_json(site):
    answer = site.get("/json?a=1&a=2", "PUT", b'{"x": [1, 2]}',
                      {"Content-Type": "application/json"})
    assert json.loads(answer.body) == {"got": {"x": [1, 2]}, "args": {"a": ["1", "2"]}}


def test_streams_and_files(site):
    lines = site.get("/stream?word=w").body.split(b"\n")
    assert len(lines) == 1001 and lines[999] == b"line 999 w"
    assert site.get("/download").body == b"d" * 200000
    with open(os.path.join(servers.APPS, "pages_site.py"), "rb") as file:
        assert site.get("/source").body == file.read()


def test_redirects_name_the_host_that_was_asked(site):
    answer = site.get("/away", headers={"Host": "example.org"})
    assert answer.status == 302
    assert answer.headers["Location"] == "http://example.org/"


def test_sessions_over_both_processes(site):
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    for number in range(1, 21):
        seen = json.loads(opener.open(site.url + "/count", timeout=10).read())
        assert seen["count"] == number and seen["same"]


def test_errors_are_logged_whole_and_the_worker_lives(site):
    workers = site.workers(2)
    assert site.get("/broken").status == 500
    log = site.wait_log("RuntimeError: pages_site: broken on purpose")
    assert "pages_site.py" in log
    assert site.workers(2) == workers


def test_teardown_runs_for_each_request(site):
    """The iterable is closed always; Flask hangs its teardown there for streams."""
    paths = ["/", "/stream?word=x", "/broken", "/download"] * 5
    for path in paths:
        site.get(path)
    seen = [path for _ in range(40) for path in json.loads(site.get("/torn-down").body)]
    assert {"/", "/stream", "/broken", "/download"} <= set(seen)


def test_many_at_once(site):
    wrong = []

    def client(name):
        for _ in range(20):
            answer = site.get(f"/template/{name}")
            if answer.body != f"<p>Hello {name} of GET</p>".encode():
                wrong.append(answer.body)

    threads = [threading.Thread(target=client, args=(f"n{number}",)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
