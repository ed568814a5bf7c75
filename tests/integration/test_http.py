"""HTTP/1.1 on the wire: RFC 9112 as clients meet it."""

import hashlib
import json
import re
import shutil
import subprocess
import time

import clients
import processes
import pytest

HEAD = "Host: localhost\r\n"
HEAD_TIMEOUT = {"http-headers-timeout": 1}
IDLE_TIMEOUT = {"http-keepalive": 1}
BODY_TIMEOUT = {"http-body-timeout": 1}


@pytest.fixture
def kitchen(server):
    def start(**options):
        return server({"module": "kitchen", **options})
    return start


def told(http, path="/environ", headers="", method="GET"):
    """The environ that the app saw."""
    answer = http.get(path, headers, method)
    assert answer.status == 200, answer
    return json.loads(answer.body)


# -- connections

def test_keep_alive_and_its_end(kitchen):
    with clients.Http(kitchen().address) as http:
        for number in range(50):
            assert http.get(f"/?{number}").status == 200
        answer = http.get("/", "Connection: close\r\n")
        assert answer.headers["connection"].lower() == "close"
        assert http.closed()


def test_keep_alive_can_be_declined(kitchen):
    with clients.Http(kitchen(**{"http-keepalive": 0}).address) as http:
        answer = http.get("/")
        assert answer.status == 200 and answer.headers["connection"].lower() == "close"
        assert http.closed()


def test_http_1_0_closes_unless_asked(kitchen):
    address = kitchen().address
    with clients.Http(address) as http:
        answer = http.send("GET / HTTP/1.0\r\n\r\n").answer()
        assert answer.status == 200
        assert http.closed()
    with clients.Http(address) as http:
        for _ in range(3):
            answer = http.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").answer()
            assert answer.headers["connection"].lower() == "keep-alive"
        # Without a length the end of the connection is the end of the body: no chunks for 1.0.
        http.send("GET /pieces HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        answer = http.answer()
        assert "transfer-encoding" not in answer.headers
        assert answer.body == b"piece 0\npiece 1\npiece 2\n"


def test_pipelined_requests_are_answered_in_order(kitchen):
    with clients.Http(kitchen(threads=4, processes=2).address) as http:
        data = b"".join(
            b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%d" % (len(str(n)), n)
            for n in range(200))
        http.send(data)
        for number in range(200):
            answer = http.answer()
            assert (answer.status, answer.body) == (200, str(number).encode())


def test_a_slow_pipelined_request_holds_back_the_next(kitchen):
    with clients.Http(kitchen(threads=4).address) as http:
        http.send("GET /sleep?s=0.3 HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert http.answer().body.startswith(b"slept")
        assert http.answer().body == b"Hello from the kitchen"


def test_a_request_may_come_byte_by_byte(kitchen):
    with clients.Http(kitchen().address) as http:
        for byte in b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde":
            http.send(bytes([byte]))
        assert http.answer().body == b"abcde"
        assert http.get().status == 200


def test_empty_lines_before_a_request_are_ignored(kitchen):
    # RFC 9112 2.2: at least one CRLF before the request line.
    with clients.Http(kitchen().address) as http:
        assert http.send("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").answer().status == 200


def test_a_half_closed_client_still_gets_its_answer(kitchen):
    with clients.Http(kitchen().address) as http:
        http.send("GET /sleep?s=0.2 HTTP/1.1\r\nHost: a\r\n\r\n").shut()
        assert http.answer().body.startswith(b"slept")
        assert http.closed()


# -- bodies

def test_bodies_by_length(kitchen):
    address = kitchen().address
    with clients.Http(address) as http:
        for size in (0, 1, 4095, 4096, 65536, 3_000_000):
            data = b"u" * size
            http.send(f"POST /body HTTP/1.1\r\n{HEAD}Content-Length: {size}\r\n\r\n".encode()
                      + data)
            seen = json.loads(http.answer().body)
            assert seen["length"] == size and seen["rest"] == 0
            assert seen["sha256"] == hashlib.sha256(data).hexdigest()


def test_chunked_bodies_reach_the_app(kitchen):
    with clients.Http(kitchen().address) as http:
        http.send(f"POST /body HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\n"
                  "5\r\nabcde\r\n0A;name=value\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n")
        seen = json.loads(http.answer().body)
        assert seen["length"] == 15 and seen["terminated"] is True
        assert seen["sha256"] == hashlib.sha256(b"abcde0123456789").hexdigest()
        # The connection is where it should be.
        assert http.get().status == 200


def test_a_large_chunked_body(kitchen):
    data = bytes(range(256)) * 8192
    with clients.Http(kitchen().address) as http:
        http.send(f"POST /body HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\n")
        for start in range(0, len(data), 10000):
            piece = data[start:start + 10000]
            http.send(b"%x\r\n" % len(piece) + piece + b"\r\n")
        http.send("0\r\n\r\n")
        seen = json.loads(http.answer().body)
        assert seen["sha256"] == hashlib.sha256(data).hexdigest()


def test_an_unread_body_does_not_become_the_next_request(kitchen):
    with clients.Http(kitchen().address) as http:
        evil = b"GET /status?code=299 HTTP/1.1\r\nHost: a\r\n\r\n"
        http.send(b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(evil)
                  + evil)
        assert http.answer().body == b"not read"
        assert http.get().body == b"Hello from the kitchen"


def test_answers_without_a_length_are_chunked(kitchen):
    with clients.Http(kitchen().address) as http:
        answer = http.get("/pieces?n=20")
        assert answer.headers["transfer-encoding"] == "chunked"
        assert answer.body == b"".join(b"piece %d\n" % n for n in range(20))
        assert http.get("/big?n=5000000").body == b"x" * 5_000_000
        assert http.get("/big?n=5000000&length=1").body == b"x" * 5_000_000
        assert http.get().status == 200


@pytest.mark.parametrize("code", [204, 304])
def test_statuses_without_a_body_keep_the_connection(kitchen, code):
    with clients.Http(kitchen().address) as http:
        # Also when an app gives one all the same.
        for path in (f"/status?code={code}", f"/status?code={code}&body=no"):
            answer = http.get(path)
            assert answer.status == code
            assert answer.headers["x-given"] == "yes"
            assert "transfer-encoding" not in answer.headers
        assert http.get().body == b"Hello from the kitchen"


def test_head_has_the_headers_and_no_body(kitchen):
    with clients.Http(kitchen().address) as http:
        answer = http.get("/", method="HEAD")
        assert answer.headers["content-length"] == "22"
        http.get("/pieces", method="HEAD")
        assert http.get("/big?n=200000", method="HEAD").status == 200
        assert http.get().body == b"Hello from the kitchen"


def test_expect_100_continue(kitchen):
    with clients.Http(kitchen().address) as http:
        http.send(f"POST /echo HTTP/1.1\r\n{HEAD}Content-Length: 4\r\n"
                  "Expect: 100-continue\r\n\r\n")
        # The client waits for the interim answer before it sends the body.
        assert http._until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        answer = http.send("body").answer()
        assert (answer.status, answer.body) == (200, b"body")
        assert http.get().status == 200


def test_an_answer_that_breaks_off_is_seen_as_broken(kitchen):
    one = kitchen()
    with clients.Http(one.address) as http:
        http.send(f"GET /halfway HTTP/1.1\r\n{HEAD}\r\n")
        data = http.all()
        assert b"first piece" in data
        assert not data.endswith(b"0\r\n\r\n")
    one.wait_log("kitchen: broken off half-way")
    assert one.get().status == 200


# -- what the app is told

def test_environ(kitchen):
    one = kitchen()
    with clients.Http(one.address) as http:
        seen = told(http, "/environ?a=b%20c", "X-Some-Thing: one\r\nContent-Type: text/x\r\n")
    assert seen["REQUEST_METHOD"] == "GET"
    assert seen["PATH_INFO"] == "/environ"
    assert seen["QUERY_STRING"] == "a=b%20c"
    assert seen["SERVER_PROTOCOL"] == "HTTP/1.1"
    assert seen["HTTP_HOST"] == "localhost"
    assert seen["HTTP_X_SOME_THING"] == "one"
    assert seen["CONTENT_TYPE"] == "text/x"
    assert seen["REMOTE_ADDR"] == "127.0.0.1"
    assert seen["SERVER_PORT"] == str(one.port)
    assert seen["wsgi.url_scheme"] == "http"
    assert "HTTP_CONTENT_TYPE" not in seen


def test_the_path_is_decoded_and_the_query_is_not(kitchen):
    with clients.Http(kitchen().address) as http:
        seen = told(http, "/%65nviron?x=%41")
        assert (seen["PATH_INFO"], seen["QUERY_STRING"]) == ("/environ", "x=%41")


def test_underscore_and_dash_names_stay_apart(kitchen):
    """X_User from a client must not look like the X-User that a proxy sets."""
    with clients.Http(kitchen().address) as http:
        seen = told(http, headers="X_User: evil\r\nX-User: good\r\nX_User: evil\r\n")
        assert seen["HTTP_X_USER"] == "good"
        seen = told(http, headers="X_User: evil\r\n")
        assert "HTTP_X_USER" not in seen
        seen = told(http, headers="Content_Length: 3\r\n")
        assert seen.get("CONTENT_LENGTH", "") in ("", "0")


def test_repeated_headers_are_joined(kitchen):
    with clients.Http(kitchen().address) as http:
        seen = told(http, headers="X-Many: a\r\nX-Many: b\r\nCookie: c=1\r\nCookie: d=2\r\n")
        assert seen["HTTP_X_MANY"].replace(" ", "") == "a,b"
        assert seen["HTTP_COOKIE"].replace(" ", "") == "c=1;d=2"


# -- strictness: whatever could let two servers disagree is refused, and the connection ends

GET = "GET / HTTP/1.1\r\n"
POST = "POST /echo HTTP/1.1\r\nHost: a\r\n"
BAD = {
    "length and chunked": POST + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked and length": POST + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    "two lengths": POST + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "two equal lengths": POST + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "list of lengths": POST + "Content-Length: 3, 3\r\n\r\nabc",
    "negative length": POST + "Content-Length: -3\r\n\r\nabc",
    "plus length": POST + "Content-Length: +3\r\n\r\nabc",
    "hex length": POST + "Content-Length: 0x3\r\n\r\nabc",
    "no length": POST + "Content-Length: \r\n\r\n",
    "length of words": POST + "Content-Length: three\r\n\r\nabc",
    "length too large": POST + "Content-Length: 99999999999999999999999\r\n\r\n",
    "bare LF in the request line": "GET / HTTP/1.1\nHost: a\r\n\r\n",
    "bare LF in a header": GET + "Host: a\nX: y\r\n\r\n",
    "bare LF at the end": GET + "Host: a\r\n\n",
    "bare CR in a value": GET + "Host: a\r\nX: a\rb\r\n\r\n",
    "bare CR in the request line": "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n",
    "space before the colon": GET + "Host: a\r\nX : y\r\n\r\n",
    "tab before the colon": GET + "Host: a\r\nX\t: y\r\n\r\n",
    "obs-fold": GET + "Host: a\r\nX: y\r\n z\r\n\r\n",
    "obs-fold by tab": GET + "Host: a\r\nX: y\r\n\tz\r\n\r\n",
    "space before the first header": GET + " Host: a\r\n\r\n",
    "no Host": GET + "\r\n",
    "two Hosts": GET + "Host: a\r\nHost: a\r\n\r\n",
    "NUL in a value": GET + "Host: a\r\nX: a\0b\r\n\r\n",
    "NUL in a name": GET + "Host: a\r\nX\0: b\r\n\r\n",
    "NUL in the path": "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n",
    "no colon": GET + "Host: a\r\nXy\r\n\r\n",
    "empty name": GET + "Host: a\r\n: y\r\n\r\n",
    "odd name": GET + "Host: a\r\nX(y): z\r\n\r\n",
    "two spaces": "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
    "no version": "GET /\r\nHost: a\r\n\r\n",
    "no target": "GET HTTP/1.1\r\nHost: a\r\n\r\n",
    "chunked is missing": POST + "Transfer-Encoding: gzip\r\n\r\n",
    "a coding we do not have": POST + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked is not last": POST + "Transfer-Encoding: chunked, gzip\r\n\r\n",
    "chunked twice": POST + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "two codings": POST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"
                          "0\r\n\r\n",
    "odd chunked": POST + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked in 1.0": "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunk size is no number": POST + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "chunk size of 0x": POST + "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
    "chunk size is signed": POST + "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
    "chunk size is empty": POST + "Transfer-Encoding: chunked\r\n\r\n\r\nabc\r\n0\r\n\r\n",
    "chunk size is huge": POST + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    "chunk size ends in LF": POST + "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
    "chunk without its CRLF": POST + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
    "TLS on a plain port": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
}


def test_every_ambiguity_is_400_and_a_close(kitchen):
    one = kitchen()
    wrong = {}
    for name, request in BAD.items():
        with clients.Http(one.address) as http:
            try:
                # What follows must not be taken for a second request.
                http.send(request + "GET /status?code=299 HTTP/1.1\r\nHost: a\r\n\r\n")
            except (BrokenPipeError, ConnectionResetError):
                pass
            got = http.all()
        statuses = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", got)]
        if statuses != [{"a coding we do not have": 501}.get(name, 400)]:
            wrong[name] = got[:100]
    assert not wrong
    assert one.get().status == 200


def test_an_unknown_version_is_refused(kitchen):
    one = kitchen()
    for version in ("HTTP/2.0", "HTTP/3.0", "HTTX/1.1", "HTTP/1.1.1", "http/1.1"):
        with clients.Http(one.address) as http:
            http.send(f"GET / {version}\r\nHost: a\r\n\r\n")
            assert http.answer().status in (400, 505), version
            assert http.closed()


def test_limits_of_the_head(kitchen):
    address = kitchen().address
    with clients.Http(address) as http:
        try:
            http.send(f"GET /{'a' * 200000} HTTP/1.1\r\nHost: a\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert http.answer().status == 414
        assert http.closed()
    for headers in (f"X: {'a' * 200000}\r\n", "X: y\r\n" * 20000):
        with clients.Http(address) as http:
            try:
                http.send(f"GET / HTTP/1.1\r\nHost: a\r\n{headers}\r\n")
            except (BrokenPipeError, ConnectionResetError):
                pass
            assert http.answer().status == 431
            assert http.closed()
    # Well within the default.
    with clients.Http(address) as http:
        assert http.get("/", f"X: {'a' * 6000}\r\n").status == 200


def test_a_body_over_the_limit_is_413(kitchen):
    with clients.Http(kitchen().address) as http:  # 1 GiB without a word in the file
        http.send(f"POST /body HTTP/1.1\r\n{HEAD}Content-Length: 1073741825\r\n\r\n")
        assert http.answer().status == 413
    address = kitchen(limit_post=10000).address
    with clients.Http(address) as http:
        http.send(f"POST /body HTTP/1.1\r\n{HEAD}Content-Length: 10001\r\n\r\n")
        assert http.answer().status == 413
        assert http.closed()
    with clients.Http(address) as http:
        http.send(f"POST /body HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(20):
                http.send(b"400\r\n" + b"x" * 1024 + b"\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert http.answer().status == 413
    with clients.Http(address) as http:
        http.send(f"POST /body HTTP/1.1\r\n{HEAD}Content-Length: 10000\r\n\r\n" + "x" * 10000)
        assert http.answer().status == 200


def test_by_default_a_body_is_a_gibibyte_at_most(kitchen):
    one = kitchen()
    for length in ((1 << 30) + 1, (1 << 63) - 1):
        with clients.Http(one.address) as http:
            http.send(f"POST /body HTTP/1.1\r\n{HEAD}Content-Length: {length}\r\n\r\n")
            assert http.answer().status == 413
            assert http.closed()
    assert "limit-post allows 1073741824" in one.log()


def test_a_file_that_cannot_be_sent_is_cut(kitchen):
    one = kitchen(threads=2)
    with clients.Http(one.address) as http:
        http.send(f"GET /full HTTP/1.1\r\n{HEAD}\r\n")
        begin = http.all()  # ends: what was announced does not come
    assert begin.startswith(b"HTTP/1.1 200 ") and begin.endswith(b"\r\n\r\n")
    assert one.get("/").status == 200


# -- time limits

def test_a_slow_head_is_cut_off(kitchen):
    one = kitchen(**HEAD_TIMEOUT)
    with clients.Http(one.address) as http:
        begin = time.monotonic()
        http.send("GET / HTTP/1.1\r\nHost: a\r\nX: ")
        answer = http.answer()
        assert answer.status == 408
        assert http.closed()
        assert 0.5 < time.monotonic() - begin < 8
    # A byte now and then does not help: the limit is for the whole head.
    with clients.Http(one.address) as http:
        begin = time.monotonic()
        http.send("GET / HTTP/1.1\r\nHost: a\r\nX: ")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while time.monotonic() < begin + 10:
                http.send("x")
                time.sleep(0.1)


def test_an_idle_connection_is_closed(kitchen):
    one = kitchen(**IDLE_TIMEOUT)
    with clients.Http(one.address) as http:
        assert http.get().status == 200
        begin = time.monotonic()
        assert http.closed()
        assert 0.5 < time.monotonic() - begin < 8


def test_a_stalled_body_is_cut_off(kitchen):
    one = kitchen(**BODY_TIMEOUT)
    with clients.Http(one.address) as http:
        http.send(f"POST /body HTTP/1.1\r\n{HEAD}Content-Length: 10\r\n\r\nabc")
        assert http.answer().status == 408
        assert http.closed()


def test_time_limits_do_not_touch_a_slow_app(kitchen):
    one = kitchen(**HEAD_TIMEOUT, **IDLE_TIMEOUT)
    with clients.Http(one.address) as http:
        assert http.get("/sleep?s=2.5").status == 200


# -- real clients

def curl(*args):
    return subprocess.run([shutil.which("curl"), "-sS", "--max-time", "20", *args],
                          capture_output=True, timeout=30, check=True).stdout


def test_curl(kitchen, folder):
    one = kitchen()
    assert curl(one.url + "/") == b"Hello from the kitchen"
    assert curl("--http1.0", one.url + "/pieces") == b"piece 0\npiece 1\npiece 2\n"
    data = b"q" * 2_000_000
    path = folder + "/data"
    with open(path, "wb") as file:
        file.write(data)
    # curl asks by Expect: 100-continue for a body of this size.
    seen = json.loads(curl("--data-binary", "@" + path, one.url + "/body"))
    assert seen["sha256"] == hashlib.sha256(data).hexdigest()
    seen = json.loads(curl("-H", "Transfer-Encoding: chunked", "-T", path, one.url + "/body"))
    assert seen["sha256"] == hashlib.sha256(data).hexdigest()
    assert curl("-I", one.url + "/").startswith(b"HTTP/1.1 200")
    # Two requests, one connection.
    made = curl("-w", "%{num_connects}\n", "-o", "/dev/null", one.url + "/", "-o", "/dev/null",
                one.url + "/")
    assert made == b"1\n0\n"


def test_wrk(kitchen):
    one = kitchen(processes=2, threads=4)
    report = subprocess.run(["wrk", "-t", "2", "-c", "50", "-d", "2s", one.url + "/"],
                            capture_output=True, text=True, timeout=60, check=True).stdout
    assert "Socket errors" not in report and "Non-2xx" not in report, report
    assert int(report.split(" requests in")[0].split()[-1]) > 100, report
    assert "Traceback" not in one.log()


def test_many_sockets_and_two_workers(server):
    """http and uwsgi beside each other, several of each."""
    import servers
    more = [servers.free_port() for _ in range(2)]
    one = server({"module": "kitchen", "processes": 2,
                  "http-socket": ["127.0.0.1:@PORT@", f"127.0.0.1:{more[0]}"],
                  "uwsgi-socket": [f"127.0.0.1:{more[1]}", "@DIR@/u.sock"]})
    assert one.get().status == 200
    with clients.Http(f"127.0.0.1:{more[0]}") as http:
        assert http.get().status == 200
    assert clients.uwsgi(f"127.0.0.1:{more[1]}").status == 200
    assert clients.uwsgi(one.folder + "/u.sock").status == 200
    assert processes.alive(one.pid)
