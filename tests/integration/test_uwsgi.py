"""The uwsgi protocol on the wire."""

import hashlib
import json
import struct
import subprocess
import threading

import clients
import pytest


@pytest.fixture
def kitchen(server):
    def start(**options):
        return server({"module": "kitchen", "socket": "127.0.0.1:@PORT@", **options})
    return start


def test_a_packet_and_its_environ(kitchen):
    answer = clients.uwsgi(kitchen().address, "/environ", QUERY_STRING="a=1",
                           HTTP_X_ANY="value", SOMETHING="else", EMPTY="")
    assert answer.status == 200
    seen = json.loads(answer.body)
    assert seen["PATH_INFO"] == "/environ"
    assert seen["QUERY_STRING"] == "a=1"
    assert seen["HTTP_X_ANY"] == "value"
    assert seen["SOMETHING"] == "else"
    assert seen["EMPTY"] == ""
    assert seen["wsgi.url_scheme"] == "http"
    assert seen["SCRIPT_NAME"] == ""


def test_a_peer_cannot_set_what_is_the_servers(kitchen):
    ours = dict.fromkeys(["wsgi.input", "wsgi.errors", "wsgi.file_wrapper", "wsgi.version",
                          "wsgi.url_scheme", "wsgi.other"], "the peer's")
    address = kitchen().address
    for _ in range(2):  # the second time the names are known
        answer = clients.uwsgi(address, "/environ", **ours)
        assert answer.status == 200
        assert "the peer's" not in json.loads(answer.body).values()


@pytest.mark.parametrize("more", [{"HTTPS": "on"}, {"UWSGI_SCHEME": "https"},
                                  {"REQUEST_SCHEME": "https"}])
def test_the_scheme(kitchen, more):
    seen = json.loads(clients.uwsgi(kitchen().address, "/environ", **more).body)
    assert seen["wsgi.url_scheme"] == "https"


def test_bodies(kitchen):
    address = kitchen(**{"post-buffering": 4096}).address
    for size in (0, 1, 4096, 100_000, 3_000_000):
        data = b"b" * size
        seen = json.loads(clients.uwsgi(address, "/body", body=data).body)
        assert seen["length"] == size and seen["rest"] == 0
        assert seen["sha256"] == hashlib.sha256(data).hexdigest()


def test_answers_end_with_the_connection(kitchen):
    address = kitchen().address
    answer = clients.uwsgi(address, "/pieces")
    # The web server in front decides on the framing: nothing of ours in between.
    assert "transfer-encoding" not in answer.headers
    assert answer.body == b"piece 0\npiece 1\npiece 2\n"
    assert clients.uwsgi(address, "/big", QUERY_STRING="n=3000000").body == b"x" * 3_000_000
    assert clients.uwsgi(address, "/", REQUEST_METHOD="HEAD").body == b""


def test_the_largest_packet_is_taken_by_default(kitchen):
    pairs = list(clients.variables("/environ").items())
    used = len(clients.packet(pairs)) - 4
    pairs.append(("HTTP_X_LARGE", "v" * (65535 - used - 4 - len("HTTP_X_LARGE"))))
    data = clients.packet(pairs)
    assert struct.unpack("<BHB", data[:4])[1] == 65535
    answer = clients.uwsgi_raw(kitchen().address, data)
    assert answer.status == 200
    assert json.loads(answer.body)["HTTP_X_LARGE"] == pairs[-1][1]


def test_buffer_size_is_a_limit_when_it_is_set(kitchen):
    one = kitchen(**{"buffer-size": 4096})
    assert clients.uwsgi(one.address, "/environ", HTTP_X="v" * 2000).status == 200
    answer = clients.uwsgi(one.address, "/environ", HTTP_X="v" * 5000)
    assert answer is None or answer.status in (400, 431)
    # It tells what to do.
    log = one.wait_log("buffer-size")
    assert "4096" in log
    assert clients.uwsgi(one.address).status == 200


def test_a_packet_may_come_byte_by_byte(kitchen):
    with clients.Http(kitchen().address) as peer:
        for byte in clients.packet(clients.variables("/echo", length=3, method="POST")) + b"abc":
            peer.send(bytes([byte]))
        assert peer.all().endswith(b"\r\n\r\nabc")


def test_ping(kitchen):
    one = kitchen()
    with clients.Http(one.address) as peer:
        # uWSGI's own answer: modifier2 = 1 says "alive".
        assert peer.send(struct.pack("<BHB", 100, 0, 0))._exactly(4) == b"\x64\0\0\x01"
        assert peer.closed()
    # And uWSGI's own client is content.
    done = subprocess.run(["uwsgi", "--plugin", "ping", "--ping", one.address], capture_output=True, text=True,
                          timeout=20, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_http_on_a_uwsgi_socket_is_named(kitchen):
    one = kitchen()
    with clients.Http(one.address) as peer:
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        got = peer.all()
        assert not got or b"HTTP/1." in got.split(b"\r\n")[0]
    assert "HTTP" in one.wait_log("uwsgi socket")
    assert clients.uwsgi(one.address).status == 200


@pytest.mark.parametrize("modifier", [5, 7, 9, 14, 110, 111, 173, 255])
def test_other_modifiers_are_refused_by_number(kitchen, modifier):
    one = kitchen()
    answer = clients.uwsgi_raw(one.address, clients.packet(clients.variables(),
                                                           modifier1=modifier))
    assert answer is None or answer.status >= 400
    one.wait_log(str(modifier))
    assert clients.uwsgi(one.address).status == 200


BAD = {
    "a key beyond the packet": struct.pack("<BHB", 0, 4, 0) + b"\xff\xffab",
    "a value beyond the packet": struct.pack("<BHB", 0, 7, 0) + b"\x01\0A\xff\xffxx",
    "a key without a value": struct.pack("<BHB", 0, 3, 0) + b"\x01\0A",
    "half a length": struct.pack("<BHB", 0, 1, 0) + b"\x01",
    "a length of letters": clients.packet(clients.variables(length="abc")),
    "a negative length": clients.packet(clients.variables(length="-1")),
    "a huge length": clients.packet(clients.variables(length="9" * 30)),
    "zeros": b"\0" * 5000,
    "ones": b"\xff" * 5000,
}


def test_bad_packets_are_refused_and_the_rest_goes_on(kitchen):
    one = kitchen()
    wrong = {}
    for name, data in BAD.items():
        answer = clients.uwsgi_raw(one.address, data)
        if answer is not None and answer.status not in (400, 413, 431, 500, 501):
            wrong[name] = answer
        if clients.uwsgi(one.address).status != 200:
            wrong[name] = "not served afterwards"
    assert not wrong
    assert len(one.workers(1)) == 1


def test_half_packets_that_go_away(kitchen):
    one = kitchen()
    whole = clients.packet(clients.variables("/echo", length=10, method="POST")) + b"0123456789"
    worker = one.workers(1)
    for cut in list(range(0, 40)) + [len(whole) - 12, len(whole) - 3]:
        with clients.Http(one.address) as peer:
            peer.send(whole[:cut])
    assert clients.uwsgi(one.address, "/echo", body=b"whole").body == b"whole"
    assert one.workers(1) == worker


def test_variables_that_name_code_are_ignored(kitchen):
    """An exposed socket must not be remote code execution."""
    one = kitchen()
    answer = clients.uwsgi(one.address, "/whoami", UWSGI_SCRIPT="hello", UWSGI_MODULE="hello",
                           UWSGI_CALLABLE="application", UWSGI_FILE="/etc/passwd",
                           UWSGI_CHDIR="/", UWSGI_PYHOME="/nonexistent", UWSGI_APPID="other",
                           UWSGI_SETENV="A=b", UWSGI_TOUCH_RELOAD="/x", UWSGI_POSTFILE="/x")
    assert answer.status == 200
    assert json.loads(answer.body)["cwd"] != "/"


def test_many_clients_at_once(kitchen):
    address = kitchen(processes=2, threads=4, listen=512).address
    failed = []

    def client(number):
        for turn in range(20):
            text = f"{number}-{turn}".encode()
            answer = clients.uwsgi(address, "/echo", body=text)
            if answer is None or answer.body != text:
                failed.append((number, turn, answer))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
