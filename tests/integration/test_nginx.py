"""Behind a real nginx: uwsgi_pass over a unix socket and over TCP, and proxy_pass."""

import hashlib
import json
import os
import threading
import time

import clients
import pytest

PARAMS = """
            include /etc/nginx/uwsgi_params;
            uwsgi_param UWSGI_PYHOME /nonexistent/venv;
            uwsgi_param UWSGI_CHDIR /nonexistent;
            uwsgi_param UWSGI_SCRIPT evil:app;
            uwsgi_read_timeout 100;
"""


def site(target, extra="", where=""):
    """An http { } block: everything goes to target."""
    return f"""
    client_max_body_size 20m;
    {where}
    server {{
        listen 127.0.0.1:@PORT@;
        location / {{ {PARAMS} uwsgi_pass {target}; }}
        {extra}
    }}
"""


@pytest.fixture(params=["unix", "tcp"])
def pair(request, server, nginx):
    """(ccontainer, nginx) joined by the uwsgi protocol."""
    socket = "@DIR@/app.sock" if request.param == "unix" else "127.0.0.1:@PORT@"
    one = server({"module": "kitchen", "socket": socket, "processes": 2, "threads": 4})
    return one, nginx(site("unix:" + one.address if request.param == "unix" else one.address))


def test_requests_and_environ(pair):
    _, front = pair
    answer = front.get("/environ?a=1", headers={"X-Some": "thing", "Host": "example.org"})
    assert answer.status == 200
    seen = json.loads(answer.body)
    assert seen["HTTP_X_SOME"] == "thing"
    assert seen["HTTP_HOST"] == "example.org"
    assert seen["QUERY_STRING"] == "a=1"
    assert seen["PATH_INFO"] == "/environ"
    assert seen["REMOTE_ADDR"] == "127.0.0.1"
    assert seen["SERVER_PORT"] == str(front.port)
    # The path is decoded by nginx.
    assert json.loads(front.get("/%65nviron").body)["PATH_INFO"] == "/environ"


def test_parameters_that_name_code_are_ignored(pair):
    one, front = pair
    seen = json.loads(front.get("/whoami").body)
    assert seen["cwd"] == one.options["chdir"]
    assert seen["pid"] in one.workers(2)


def test_an_upload_of_5_mb(pair):
    _, front = pair
    data = os.urandom(5_000_000)
    seen = json.loads(front.get("/body", "POST", data).body)
    assert seen == {"length": 5_000_000, "sha256": hashlib.sha256(data).hexdigest(), "rest": 0,
                    "terminated": seen["terminated"], "content_length": "5000000"}


def test_pages_large_and_small(pair):
    _, front = pair
    assert front.get("/big?n=60000&length=1").body == b"x" * 60000
    assert front.get("/big?n=60000").body == b"x" * 60000
    assert front.get("/big?n=8000000").body == b"x" * 8_000_000
    assert front.get("/status?code=204").status == 204
    assert front.get("/status?code=304").status == 304
    assert front.get("/big?n=60000", "HEAD").body == b""
    assert front.get("/pieces").body == b"piece 0\npiece 1\npiece 2\n"


def test_failures_are_500_and_not_502(pair):
    one, front = pair
    assert front.get("/fail").status == 500
    one.wait_log("kitchen: this failure is wanted")
    assert front.get("/").status == 200
    assert "prematurely closed" not in front.log()


def test_clients_keep_their_connection_to_nginx(pair):
    """One connection to nginx, one connection a request behind it."""
    _, front = pair
    with clients.Http(f"127.0.0.1:{front.port}") as http:
        for _ in range(30):
            assert http.get("/").body == b"Hello from the kitchen"


def test_many_at_once(pair):
    _, front = pair
    wrong = []

    def client():
        for number in range(25):
            answer = front.get(f"/environ?n={number}")
            if answer.status != 200 or json.loads(answer.body)["QUERY_STRING"] != f"n={number}":
                wrong.append(answer.status)

    threads = [threading.Thread(target=client) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_client_that_goes_does_no_harm(pair):
    one, front = pair
    for _ in range(5):
        with clients.Http(f"127.0.0.1:{front.port}") as http:
            http.send("GET /big?n=30000000 HTTP/1.1\r\nHost: a\r\n\r\n")
            assert http.socket.recv(1000)
    for _ in range(5):
        with clients.Http(f"127.0.0.1:{front.port}") as http:
            http.send("GET /sleep?s=0.2 HTTP/1.1\r\nHost: a\r\n\r\n")
    workers = one.workers(2)
    assert front.get("/").status == 200
    assert one.workers(2) == workers


def test_it_stops_at_once_after_a_slow_request(pair):
    """A connection that an app thread gave back without waking the loop must not hold the end up."""
    one, front = pair
    for _ in range(3):
        assert front.get("/sleep?s=0.05").status == 200
    begin = time.monotonic()
    assert one.stop() == 0
    assert time.monotonic() - begin < 5
    assert "killed" not in one.log()


def test_static_alias_never_reaches_the_app(server, nginx, folder):
    os.mkdir(folder + "/files")
    with open(folder + "/files/a.txt", "w", encoding="ascii") as file:
        file.write("a static file")
    one = server({"module": "kitchen", "socket": "@DIR@/app.sock"})
    front = nginx(site("unix:" + one.address,
                       f"location /static/ {{ alias {folder}/files/; }}"))
    assert front.get("/static/a.txt").body == b"a static file"
    assert front.get("/static/none.txt").status == 404
    assert front.get("/other").body == b"Hello from the kitchen"
    log = one.wait_log("/other")
    assert "/static" not in log


def test_limit_req_gives_503_for_the_excess(server, nginx):
    one = server({"module": "kitchen", "socket": "@DIR@/app.sock"})
    front = nginx(site(
        "unix:" + one.address,
        f"location /limited {{ limit_req zone=z burst=20 nodelay; {PARAMS} "
        f"uwsgi_pass unix:{one.address}; }}",
        "limit_req_zone $binary_remote_addr zone=z:1m rate=1r/s;"))
    statuses = [front.get("/limited").status for _ in range(60)]
    assert statuses[:21] == [200] * 21
    assert statuses.count(503) >= 30
    assert set(statuses) == {200, 503}
    assert front.get("/").status == 200


def test_proxy_pass_over_http(server, nginx):
    """The other common pairing: HTTP between nginx and us, connections kept alive."""
    one = server({"module": "kitchen", "processes": 2, "threads": 2})
    front = nginx(f"""
    client_max_body_size 20m;
    upstream app {{ server {one.address}; keepalive 8; }}
    server {{
        listen 127.0.0.1:@PORT@;
        location / {{
            proxy_pass http://app;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
        }}
    }}
""")
    for number in range(50):
        assert front.get(f"/?{number}").status == 200
    data = os.urandom(5_000_000)
    seen = json.loads(front.get("/body", "POST", data).body)
    assert seen["sha256"] == hashlib.sha256(data).hexdigest()
    assert front.get("/big?n=3000000").body == b"x" * 3_000_000
    assert front.get("/status?code=304").status == 304
    assert "upstream prematurely closed" not in front.log()
