"""Runs the servers side by side and prints a table a section. Started by tests/bench/run.

Rounds are interleaved (each round measures every server once, one at a time), and the medians are
printed: what else the machine does then hits all of them alike. The server runs on CPU 0, the load
(and nginx) on CPU 1, so that neither takes the other's time."""

import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import peers

LOAD = os.path.join(os.environ["BENCH_PROGRAMS"], "load")
WITH_THREADS = ["limit", "ccontainer", "uwsgi", "gunicorn gthread"]


class Plan:
    """How long and how often."""

    def __init__(self, quick):
        self.rounds = int(os.environ.get("ROUNDS", 1 if quick else 5))
        self.seconds = int(os.environ.get("SECONDS_EACH", 1 if quick else 4))
        self.connections = int(os.environ.get("CONNECTIONS", 32))
        cpus = sorted(os.sched_getaffinity(0))
        self.server_cpus = {cpus[0]}
        self.load_cpus = {cpus[1]} if len(cpus) > 1 else {cpus[0]}


class Running:
    """A started program with its own session, on some CPUs; ended with all that it started."""

    def __init__(self, command, cpus):
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=peers.APPS, start_new_session=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: os.sched_setaffinity(0, cpus))

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(patience)
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue


def wait_for(address, process):
    """Until somebody listens there; an error when the server ends or 20 s pass."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if process.poll() is not None:
            raise OSError(f"ended with {process.returncode}")
        try:
            if address.startswith("unix:"):
                with socket.socket(socket.AF_UNIX) as peer:
                    peer.connect(address[5:])
            else:
                host, port = address.rsplit(":", 1)
                socket.create_connection((host, int(port)), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise OSError("not ready within 20 s")


def load(plan, protocol, address, server_pid, connections):
    done = subprocess.run(
        [LOAD, "-p", protocol, "-a", address, "-c", str(connections), "-d", str(plan.seconds),
         "-s", str(server_pid)],
        capture_output=True, text=True, timeout=plan.seconds + 60,
        preexec_fn=lambda: os.sched_setaffinity(0, plan.load_cpus))
    if done.returncode != 0:
        raise OSError(done.stderr.strip())
    return json.loads(done.stdout)


def warm_up(plan, protocol, address, server_pid):
    """The first second of a server says little: imports, caches, forks."""
    short = Plan(quick=True)
    short.seconds, short.load_cpus = 1, plan.load_cpus
    load(short, protocol, address, server_pid, 4)


def measure(plan, name, setup, folder, front, connections):
    """One round of one server: what load says, or {"why": text}."""
    try:
        with Running(peers.PEERS[name](setup, folder), plan.server_cpus) as server:
            wait_for(setup.load_address, server)
            if not front:
                warm_up(plan, setup.protocol, setup.load_address, server.pid)
                return load(plan, setup.protocol, setup.load_address, server.pid, connections)
            port = peers.free_port()
            conf = peers.nginx_conf(folder, port, setup.unix)
            command = [shutil.which("nginx", path="/usr/sbin:/usr/bin"), "-p", folder, "-c", conf]
            with Running(command, plan.load_cpus) as nginx:
                address = f"127.0.0.1:{port}"
                wait_for(address, nginx)
                warm_up(plan, "http", address, server.pid)
                return load(plan, "http", address, server.pid, connections)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return {"why": f"{error}"}


def section(plan, title, names, app="hello", protocol="http", processes=1, threads=1,
            front=False, connections=None, most=None):
    """Measures and prints one table. most: requests/s that cannot be passed (a sleeping app)."""
    connections = connections or plan.connections
    results = {name: [] for name in names}
    for _ in range(plan.rounds):
        for name in names:
            with tempfile.TemporaryDirectory(prefix="ccbench") as folder:
                os.chmod(folder, 0o755)
                setup = peers.Setup(app, protocol, processes, threads,
                                    unix=folder + "/app.sock" if front else None)
                results[name].append(measure(plan, name, setup, folder, front, connections))
    print(f"\n{title}: {processes} process(es) x {threads} thread(s), {connections} connections, "
          f"{plan.rounds} round(s) of {plan.seconds} s")
    print(f"{'server':<18}{'requests/s':>11}{'CPU us/request':>16}{'min..max':>14}"
          f"{'x limit':>9}{'p50 ms':>8}{'p99 ms':>8}{'failed':>8}"
          + (f"{'of most':>9}" if most else ""))
    floor = None
    for name in names:
        row = summary(results[name])
        if row is None:
            print(f"{name:<18}  {results[name][0].get('why')}")
            continue
        if name == "limit":
            floor = row["cpu"]
        ratio = f"{row['cpu'] / floor:.2f}" if floor else "-"
        print(f"{name:<18}{row['rps']:>11.0f}{row['cpu']:>16.1f}"
              f"{row['cpu_min']:>8.1f}..{row['cpu_max']:<4.1f}{ratio:>9}"
              f"{row['p50']:>8.2f}{row['p99']:>8.2f}{row['failed']:>8.0f}"
              + (f"{row['rps'] / most:>9.1%}" if most else ""))
    sys.stdout.flush()


def summary(rounds):
    """Medians over the rounds that went well; None: there is none."""
    good = [one for one in rounds if "why" not in one]
    if not good:
        return None

    def median(key):
        return statistics.median(one[key] for one in good)

    costs = [one["cpu_us_per_req"] for one in good]
    return {"rps": median("rps"), "cpu": median("cpu_us_per_req"), "cpu_min": min(costs),
            "cpu_max": max(costs), "p50": median("p50_ms"), "p99": median("p99_ms"),
            "failed": sum(one["bad"] + one["errors"] for one in good)}


def run_http(plan):
    # gunicorn's sync workers close each connection, whatever the client asks for.
    for threads in (1, 8):
        section(plan, "hello over HTTP, keep-alive", WITH_THREADS, threads=threads)


def run_close(plan):
    section(plan, "hello over HTTP, one connection a request",
            ["limit", "ccontainer", "uwsgi", "gunicorn sync"], protocol="close")
    section(plan, "hello over HTTP, one connection a request", WITH_THREADS, protocol="close",
            threads=8)


def run_uwsgi(plan):
    for threads in (1, 8):
        section(plan, "hello over uwsgi packets", ["limit", "ccontainer", "uwsgi"],
                protocol="uwsgi", threads=threads)


def run_nginx(plan):
    for processes, threads in ((1, 1), (2, 2), (4, 8)):
        section(plan, "hello behind nginx (uwsgi_pass, unix socket; the server's CPU alone)",
                ["limit", "ccontainer", "uwsgi"], protocol="uwsgi", processes=processes,
                threads=threads, front=True)


def run_sleep(plan):
    section(plan, "an app that sleeps 10 ms, HTTP keep-alive",
            ["ccontainer", "uwsgi", "gunicorn gthread"], app="sleepy", threads=8,
            connections=16, most=800)


SECTIONS = {"http": run_http, "close": run_close, "uwsgi": run_uwsgi, "nginx": run_nginx,
            "sleep": run_sleep}


def main(words):
    quick = "quick" in words
    wanted = [word for word in words if word != "quick"] or list(SECTIONS)
    unknown = [word for word in wanted if word not in SECTIONS]
    if unknown:
        sys.exit(f"unknown section {unknown[0]}; there are: {' '.join(SECTIONS)}")
    plan = Plan(quick)
    print("CPU us/request: user and system time of the server's whole process tree; limit: libev "
          "with no parsing and no app")
    for word in wanted:
        SECTIONS[word](plan)


if __name__ == "__main__":
    main(sys.argv[1:])
