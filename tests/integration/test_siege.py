"""The load that people put on a server to compare it: no request may be lost."""

import os
import re
import subprocess

import pytest


def siege(folder, url, clients, times):
    """Runs siege -b as the experiments do; its report as {name: number}."""
    home = os.path.join(folder, "siege")
    os.makedirs(home + "/.siege", exist_ok=True)
    with open(home + "/.siege/siege.conf", "w", encoding="ascii") as file:
        file.write("verbose = false\nlogging = false\nlimit = 1023\nconnection = close\n"
                   "protocol = HTTP/1.1\ntimeout = 60\nfailures = 1000000\n")
    done = subprocess.run(
        ["siege", "-R", home + "/.siege/siege.conf", "-b", "-r", str(times), "-c", str(clients),
         url],
        capture_output=True, text=True, timeout=300, env={**os.environ, "HOME": home})
    report = done.stdout + done.stderr
    numbers = {name.lower(): float(number) for name, number in
               re.findall(r'"?([A-Za-z_ ]+?)"?:\s+"?([0-9.]+)', report)}
    assert "transactions" in numbers, report
    return numbers


def complete(report, clients, times):
    assert report["availability"] == 100.0, report
    assert report["transactions"] == clients * times, report
    assert report.get("failed_transactions", report.get("failed transactions")) == 0, report


@pytest.mark.parametrize("clients", [100, 200])
def test_hello(server, folder, clients):
    one = server({"processes": 2, "threads": 4})
    complete(siege(folder, one.url + "/", clients, 10), clients, 10)


def test_a_thousand_clients(server, folder):
    """Where a development server loses requests."""
    one = server({"processes": 2, "threads": 4, "listen": 1024})
    complete(siege(folder, one.url + "/", 1000, 3), 1000, 3)


def test_a_page_of_60_kb_from_flask(server, folder):
    one = server({"module": "pages:app", "chdir": os.path.join(os.path.dirname(__file__),
                                                             "../../ini/apps"),
                  "processes": 4, "threads": 2, "buffer-size": 32768,
                  "socket": "127.0.0.1:@PORT@", "protocol": "http"})
    complete(siege(folder, one.url + "/big", 100, 3), 100, 3)


def test_behind_nginx(server, nginx, folder):
    one = server({"processes": 2, "threads": 4, "socket": "@DIR@/app.sock", "listen": 512})
    front = nginx(f"server {{ listen 127.0.0.1:@PORT@ backlog=1024; location / {{ "
                  f"include /etc/nginx/uwsgi_params; uwsgi_pass unix:{one.address}; }} }}")
    complete(siege(folder, front.url + "/", 100, 10), 100, 10)


@pytest.mark.parametrize("keep", [[], ["-k"]])
def test_ab(server, keep):
    one = server({"processes": 2, "threads": 4, "listen": 512})
    report = subprocess.run(["ab", "-q", "-r", *keep, "-n", "4000", "-c", "100", one.url + "/"],
                            capture_output=True, text=True, timeout=120, check=True).stdout
    assert re.search(r"Complete requests:\s+4000", report), report
    assert re.search(r"Failed requests:\s+0\b", report), report
    assert "Non-2xx" not in report
    if keep:
        assert re.search(r"Keep-Alive requests:\s+4000", report), report


def test_ab_on_a_slow_handler(server):
    """Row 6 of the classic experiments, smaller: sleeping requests over all threads."""
    one = server({"module": "kitchen", "processes": 2, "threads": 20, "listen": 512})
    report = subprocess.run(
        ["ab", "-q", "-r", "-n", "200", "-c", "80", one.url + "/sleep?s=0.1"],
        capture_output=True, text=True, timeout=120, check=True).stdout
    assert re.search(r"Complete requests:\s+200", report), report
    assert "Non-2xx" not in report


def test_wrk_on_many_connections(server):
    one = server({"processes": 2, "threads": 4, "listen": 1024})
    report = subprocess.run(["wrk", "-t", "2", "-c", "400", "-d", "2s", one.url + "/"],
                            capture_output=True, text=True, timeout=60, check=True).stdout
    assert "Non-2xx" not in report and "Socket errors" not in report, report
