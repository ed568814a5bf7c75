"""The log: one line a request, whole, where it was asked for."""

import os
import re
import threading

import clients
import pytest

LINE = re.compile(
    r"^\[pid: (?P<pid>\d+)\|app: -?\d+\|req: \d+/\d+\] (?P<addr>\S+) \(.*?\) "
    r"\{\d+ vars in \d+ bytes\} \[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ [\d:]{8} \d{4}\] "
    r"(?P<method>\S+) (?P<uri>\S+) => generated (?P<bytes>\d+) bytes in (?P<ms>\d+) msecs "
    r"\((?P<protocol>HTTP/1\.[01]) (?P<status>\d+)\) \d+ headers in \d+ bytes")


def lines(text):
    return [match for match in map(LINE.match, text.splitlines()) if match]


def test_one_line_a_request(server):
    one = server({"module": "kitchen", "processes": 2, "threads": 2})
    one.get("/environ?a=b")
    one.get("/status?code=404&body=12345", "POST", b"x")
    log = one.wait_log("=> generated", count=2)
    # Each worker writes its own line after the answer, so the second may be first.
    first, second = sorted(lines(log), key=lambda line: line["method"])
    assert first["method"] == "GET" and first["uri"] == "/environ?a=b"
    assert first["status"] == "200" and first["addr"] == "127.0.0.1"
    assert int(first["pid"]) in one.workers(2)
    assert (second["method"], second["status"], second["bytes"]) == ("POST", "404", "5")


def test_the_time_in_it_is_the_app_s(server):
    one = server({"module": "kitchen"})
    one.get("/sleep?s=0.3")
    (line,) = lines(one.wait_log("=> generated"))
    assert 300 <= int(line["ms"]) < 2000


def test_over_uwsgi(server):
    one = server({"module": "kitchen", "socket": "@DIR@/app.sock"})
    clients.uwsgi(one.address, "/environ", QUERY_STRING="q", REQUEST_URI="/environ?q",
                  REMOTE_ADDR="10.1.2.3")
    (line,) = lines(one.wait_log("=> generated"))
    assert line["addr"] == "10.1.2.3" and line["uri"] == "/environ?q"


def test_lines_are_never_mixed(server):
    one = server({"module": "kitchen", "processes": 2, "threads": 4})

    def client(number):
        for turn in range(25):
            one.get(f"/say?{number}-{turn}-{'y' * 1000}")

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log = one.wait_log("=> generated", count=200)
    assert len(lines(log)) == 200
    uris = {line["uri"] for line in lines(log)}
    assert uris == {f"/say?{n}-{t}-{'y' * 1000}" for n in range(8) for t in range(25)}


def test_logto(server, folder):
    path = os.path.join(folder, "s0", "requests.log")
    one = server({"module": "kitchen", "logto": path})
    one.get("/say?to-the-file")

    def content():
        with open(path, encoding="utf-8") as file:
            return file.read()
    from processes import wait_until
    wait_until(lambda: lines(content()), what="a line in " + path)
    text = content()
    # What the app says goes there as well, and nothing of it to the terminal.
    assert "kitchen: printed" in text and "kitchen: an error line" in text
    assert "kitchen: printed" not in one.log() and "=> generated" not in one.log()


def test_disable_logging_keeps_everything_but_request_lines(server):
    one = server({"module": "kitchen", "disable-logging": True})
    for _ in range(5):
        one.get("/say")
    one.get("/fail")
    log = one.wait_log("ValueError: kitchen")
    assert "=> generated" not in log
    assert "kitchen: printed" in log and "kitchen: an error line" in log


@pytest.mark.parametrize("path", ["/a\x1b[31mred", "/a\x7f", "/a%0A[pid:%201"])
def test_a_client_cannot_forge_lines(server, path):
    one = server({"module": "kitchen"})
    with clients.Http(one.address) as http:
        http.send(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: a\r\n"
                  b"User-Agent: x\x1b[2J\r\n\r\n")
        http.all() if path[2] != "%" else http.answer()
    one.get("/end")
    log = one.wait_log("/end")
    assert "\x1b" not in log and "\x7f" not in log
    assert not re.search(r"^\[pid: 1\b", log, re.M)


@pytest.mark.parametrize("master", [True, False])
def test_closed_standard_files_never_become_sockets(server, master):
    one = server({"module": "kitchen", "master": master, "processes": 1, "logto": "@DIR@/log"},
                 before=lambda: os.closerange(0, 3))
    assert one.get("/say?into-the-log").status == 200
    for pid in {one.pid, *one.workers()}:
        for number in (0, 1, 2):
            target = os.readlink(f"/proc/{pid}/fd/{number}")
            assert target == "/dev/null" or target.endswith("/log"), (pid, number, target)
