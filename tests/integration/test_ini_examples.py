"""Each file in ini/ does what its comment says, from whatever folder it is started."""

import os
import re
import subprocess
import time

import clients
import pytest
import servers

INI = os.path.abspath(os.path.join(servers.HERE, "..", "..", "ini"))
PORT = re.compile(r"127\.0\.0\.1:\d+")


@pytest.fixture
def example(server, folder):
    """Starts a copy of ini/NAME with its port (and nginx.ini's socket) replaced, since the real ones
    may be in use, and so with the folder of the original written for %d."""

    def start(name, **options):
        text = PORT.sub("127.0.0.1:@PORT@", _read(name))
        text = text.replace("/tmp/ccontainer-nginx.sock", os.path.join(folder, "app.sock"))
        return server(text.replace("%d", INI + "/"), **options)

    return start


def _read(name):
    with open(os.path.join(INI, name), encoding="utf-8") as file:
        return file.read()


def test_hello(example):
    one = example("hello.ini")
    answer = one.get()
    assert (answer.status, answer.body) == (200, b"Hello World!\n")
    assert len(one.workers(2)) == 2


def test_hello_finds_its_files_from_any_folder(ccontainer):
    """The file itself, not a copy: only the address comes from the command line."""
    done = subprocess.run([ccontainer, os.path.join(INI, "hello.ini"), "--show-config"],
                          cwd="/", capture_output=True, text=True, timeout=20)
    assert f"chdir = {INI}/apps" in done.stderr, done.stdout + done.stderr


def test_flask(example):
    one = example("flask.ini")
    assert one.get().body == b"Hello World!"
    assert b"<h1>Hello you!</h1>" in one.get("/template/you").body
    big = one.get("/big")
    assert big.body.count(b'class="article"') == 530
    assert 50000 < len(big.body) < 70000


def test_tuning(example):
    one = example("tuning.ini")
    assert len(one.workers(4)) == 4
    assert one.get().body == b"Hello World!"
    assert one.get("/big").status == 200
    # disable-logging: nothing about the two requests.
    assert "GET /" not in one.log()
    # protocol = http on the option socket; buffer-size = 32768 bounds the head.
    with clients.Http(one.address) as http:
        assert http.get("/", f"X-Long: {'x' * 20000}\r\n").status == 200
    with clients.Http(one.address) as http:
        assert http.get("/", f"X-Long: {'x' * 40000}\r\n").status == 431


def test_native(example):
    one = example("native.ini")
    assert one.get().body == b"Hello World!"
    assert len(one.get("/stream?n=5").body.splitlines()) == 5
    assert one.get("/echo", "POST", b"back").body == b"back"
    # No interpreter was started for it.
    with open(f"/proc/{one.pid}/maps", encoding="utf-8") as file:
        assert "libpython" not in file.read()


@pytest.fixture
def behind_nginx(example, nginx, folder):
    """ini/nginx.ini and ini/nginx.conf together; only port and paths differ from what is shipped."""
    own = os.path.join(folder, "own")
    os.mkdir(own)
    text = _read("nginx.conf").replace("127.0.0.1:8080", "127.0.0.1:@PORT@")
    text = text.replace("/tmp/ccontainer-nginx.sock", os.path.join(folder, "app.sock"))
    text = text.replace("/tmp/ccontainer-nginx", own + "/x")
    text = text.replace("daemon off;", "").replace("alias static/", f"alias {INI}/static/")
    one = example("nginx.ini")
    return one, nginx("", whole=text)


def test_behind_nginx(behind_nginx):
    _, front = behind_nginx
    assert front.get().body == b"Hello World!"
    big = front.get("/big")
    assert big.status == 200 and len(big.body) > 50000
    assert b"<h1>Hello nginx!</h1>" in front.get("/template/nginx").body
    assert front.get("/upload", "POST", b"z" * 5_000_000).body == b'{"bytes":5000000}\n'


def test_static_files_come_from_nginx(behind_nginx):
    one, front = behind_nginx
    answer = front.get("/static/style.css")
    assert answer.status == 200 and b"font-family" in answer.body
    assert "style.css" not in one.log()


def test_the_rate_limit_lets_the_burst_through_and_no_more(behind_nginx):
    _, front = behind_nginx
    begin = time.monotonic()
    statuses = [front.get("/limited").status for _ in range(100)]
    allowed = 1 + 20 + 50 * (time.monotonic() - begin)
    assert set(statuses) == {200, 503}
    assert 21 <= statuses.count(200) <= allowed + 1
    # Other locations are not limited.
    assert {front.get("/").status for _ in range(40)} == {200}


def test_the_socket_is_removed_at_the_end(example, folder):
    one = example("nginx.ini")
    assert os.path.exists(os.path.join(folder, "app.sock"))
    assert one.stop() == 0
    assert not os.path.exists(os.path.join(folder, "app.sock"))
