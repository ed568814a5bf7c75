"""A Django project: ORM, sessions, CSRF, templates, uploads."""

import hashlib
import http.cookiejar
import json
import os
import subprocess
import threading
import urllib.parse
import urllib.request

import pytest
import servers


@pytest.fixture(scope="module")
def site(shared_server, shared_folder):
    data = shared_folder + "/data"
    os.mkdir(data)
    env = {"DJANGO_SITE_DATA": data, "DJANGO_SETTINGS_MODULE": "djangosite.settings"}
    code = ("import django; django.setup()\n"
            "from django.core.management import call_command\n"
            "call_command('migrate', run_syncdb=True, verbosity=0)")
    subprocess.run(["/usr/bin/python3", "-B", "-c", code], cwd=servers.APPS, check=True,
                   timeout=120, env={**os.environ, **env, "PYTHONPATH": servers.APPS})
    # By the ini's own env lines, as people write them.
    one = shared_server({"module": "djangosite.wsgi:application", "processes": 2, "threads": 4,
                         "env": [f"{name}={value}" for name, value in env.items()]})
    one.wait_log("all workers are ready", 30)
    return one


def test_pages(site):
    assert site.get("/").body == b"Hello from Django"
    assert site.get("/nowhere").status == 404
    page = site.get("/page")
    assert page.status == 200 and b"<p>GET /page</p>" in page.body
    seen = json.loads(site.get("/where/%C3%BC?q=%C3%BC").body)
    assert seen["path"] == "/where/ü"
    assert seen["uri"] == f"{site.url}/where/%C3%BC?q=%C3%BC"
    # ALLOWED_HOSTS sees the real host.
    assert site.get("/where/%C3%BC", headers={"Host": "evil.example"}).status == 400


def test_the_database_from_all_threads(site):
    answers = []

    def add(number):
        body = urllib.parse.urlencode({"text": f"note {number} ü"}).encode()
        answer = site.get("/add", "POST", body, timeout=60, headers={
            "Content-Type": "application/x-www-form-urlencoded"})
        answers.append(answer.status)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 16
    page = site.get("/page").body.decode()
    assert page.count("<li>note ") == 16 and "note 15 ü" in page


def test_csrf_guards(site):
    assert site.get("/guarded", "POST", b"a=b").status == 403


def test_sessions(site):
    opener = urllib.request.build_opener(
        urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    for number in range(1, 11):
        assert json.loads(opener.open(site.url + "/count", timeout=20).read())["count"] == number


def test_an_upload_of_5_mb(site):
    data = os.urandom(5_000_000)
    mark = b"boundary" * 4  # a short one would turn up in the data by chance
    body = (b"--" + mark + b"\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\n"
            + data + b"\r\n--" + mark + b"--\r\n")
    answer = site.get("/upload", "POST", body,
                      {"Content-Type": "multipart/form-data; boundary=" + mark.decode()}, timeout=60)
    assert json.loads(answer.body) == {"bytes": len(data),
                                       "sha256": hashlib.sha256(data).hexdigest()}


def test_streams(site):
    assert site.get("/stream").body == b"".join(b"row %d\n" % number for number in range(500))


def test_errors(site):
    assert site.get("/broken").status == 500
    assert "djangosite: broken on purpose" in site.wait_log("RuntimeError")
    assert site.get("/").status == 200
