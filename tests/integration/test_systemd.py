"""What systemd is told (a real datagram socket), the sockets that it passes, and its journal."""

import os
import re
import shutil
import signal
import socket
import subprocess

import pytest

import processes
import servers

UNITS = os.path.join(servers.HERE, "..", "..", "ini", "systemd")

APP = """
import os
def application(environ, start_response):
    names = [n for n in os.environ if n.startswith(("NOTIFY", "WATCHDOG", "LISTEN"))]
    body = repr(names).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


@pytest.fixture
def site(folder):
    path = os.path.join(folder, "site")
    os.mkdir(path)
    write_app(path, APP)
    return path


def write_app(path, text):
    with open(os.path.join(path, "told.py"), "w", encoding="utf-8") as file:
        file.write(text)


def options(site, **more):
    return {"module": "told", "chdir": site, "processes": 2, **more}


class Manager:
    """The service manager's end of NOTIFY_SOCKET."""

    def __init__(self, path):
        self.path = path
        self.heard = []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + path[1:] if path[0] == "@" else path)
        self.socket.settimeout(0.05)

    def listen(self):
        """All that has been said so far, a list of dicts."""
        while True:
            try:
                text = self.socket.recv(4096).decode()
            except TimeoutError:
                return self.heard
            self.heard.append(dict(line.split("=", 1) for line in text.split("\n")))

    def count(self, name):
        return sum(name in message for message in self.listen())

    def wait(self, name, count=1, timeout=30):
        processes.wait_until(lambda: self.count(name) >= count, timeout,
                             f"{name} {count} times, heard {self.heard}")

    def order(self):
        """The changes of state in order."""
        states = ("READY", "RELOADING", "STOPPING")
        return [name for message in self.listen() for name in message if name in states]

    def status(self):
        return [m["STATUS"] for m in self.listen() if "STATUS" in m][-1]


@pytest.fixture
def manager(folder):
    one = Manager(os.path.join(folder, "notify"))
    yield one
    one.socket.close()


@pytest.mark.parametrize("master", [True, False])
def test_ready_when_it_serves_and_stopping_at_the_end(server, site, manager, master):
    write_app(site, "import os, time\nopen('begun', 'w').close()\n"
              "while not os.path.exists('go'): time.sleep(0.01)\n" + APP)
    one = server(options(site, master=master, processes=2 if master else 1), wait=False,
                 env={"NOTIFY_SOCKET": manager.path})
    processes.wait_until(lambda: os.path.exists(os.path.join(site, "begun")), 30)
    assert manager.count("READY") == 0
    open(os.path.join(site, "go"), "w", encoding="ascii").close()
    manager.wait("READY")
    assert one.get().status == 200
    assert "serves" in manager.status()
    assert one.stop() == 0
    assert manager.order() == ["READY", "STOPPING"]
    assert "stopping" in manager.status()


def test_a_status_names_generation_workers_and_requests(server, site, manager):
    one = server(options(site), env={"NOTIFY_SOCKET": manager.path})
    manager.wait("READY")
    assert manager.status() == "generation 1 serves with 2 workers, 0 requests"
    for _ in range(3):
        one.get()
    one.send_signal(signal.SIGHUP)
    manager.wait("READY", 2)
    assert any("3 requests" in m.get("STATUS", "") for m in manager.heard)
    processes.wait_until(lambda: manager.listen() and manager.status().startswith(
        "generation 2 serves with 2 workers"), 10)


def test_an_abstract_notify_socket(server, site, folder):
    manager = Manager("@cc-test-" + os.path.basename(folder))
    server(options(site), env={"NOTIFY_SOCKET": manager.path})
    manager.wait("READY")
    manager.socket.close()


def test_a_reload_has_two_ends(server, site, manager):
    one = server(options(site), env={"NOTIFY_SOCKET": manager.path})
    manager.wait("READY")
    one.send_signal(signal.SIGHUP)
    manager.wait("READY", 2)
    assert manager.order() == ["READY", "RELOADING", "READY"]
    told = next(m for m in manager.heard if "RELOADING" in m)
    with open("/proc/uptime", encoding="ascii") as file:
        uptime = float(file.read().split()[0])
    assert 0 < int(told["MONOTONIC_USEC"]) / 1e6 <= uptime + 1


def test_a_reload_that_fails_has_two_ends_too(server, site, manager):
    one = server(options(site), env={"NOTIFY_SOCKET": manager.path})
    manager.wait("READY")
    write_app(site, "raise ValueError('a broken deploy')\n")
    one.send_signal(signal.SIGHUP)
    manager.wait("READY", 2)
    assert manager.order() == ["READY", "RELOADING", "READY"]
    assert "generation 1 serves" in manager.status()
    assert one.get().status == 200


@pytest.mark.parametrize("master", [True, False])
def test_the_watchdog_hears_of_it(server, site, manager, master):
    server(options(site, master=master, processes=2 if master else 1),
           env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"})
    manager.wait("READY")
    manager.wait("WATCHDOG", 5)
    assert manager.order() == ["READY"]


def test_the_watchdog_hears_nothing_of_a_stopped_master(server, site, manager):
    one = server(options(site), env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "100000"})
    manager.wait("WATCHDOG", 2)
    one.send_signal(signal.SIGSTOP)
    processes.wait_until(lambda: _state(one.pid) == "T", 10)
    before = manager.count("WATCHDOG")
    assert manager.count("WATCHDOG") == before
    one.send_signal(signal.SIGCONT)
    manager.wait("WATCHDOG", before + 2)


def _state(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def test_a_watchdog_of_another_process_is_left_alone(server, site, manager):
    server(options(site), env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "50000",
                               "WATCHDOG_PID": "1"})
    manager.wait("READY")
    assert manager.count("WATCHDOG") == manager.count("WATCHDOG") == 0


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("master", [True, False])
def test_the_app_sees_none_of_the_variables(server, site, manager, master, lazy):
    one = server(options(site, master=master, processes=2 if master else 1, **{"lazy-apps": lazy}),
                 env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "5000000",
                      "LISTEN_PID": "1", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "a:b:c"})
    manager.wait("READY")
    assert one.get().body == b"[]"
    for pid in processes.descendants(one.pid):
        for name in os.listdir(f"/proc/{pid}/fd"):
            assert manager.path not in os.readlink(f"/proc/{pid}/fd/{name}")


@pytest.mark.parametrize("where", ["/nowhere/notify", "vsock:2:1", "x"])
def test_a_manager_out_of_reach_is_a_warning(server, site, where):
    one = server(options(site), env={"NOTIFY_SOCKET": where})
    assert one.get().status == 200
    assert "NOTIFY_SOCKET: cannot reach the service manager" in one.log()


# -- sockets

def listening(family=socket.AF_INET, address=("127.0.0.1", 0), kind=socket.SOCK_STREAM):
    one = socket.socket(family, kind)
    one.bind(address)
    if kind == socket.SOCK_STREAM:
        one.listen(16)
    return one


def passing(*sockets, names=None, pid=None):
    """As systemd starts a service: descriptors from 3 on, and variables with the child's pid."""
    def before():
        copies = [os.dup(one.fileno()) for one in sockets]
        moved = [os.dup2(os.dup(fd), 100 + at) for at, fd in enumerate(copies)]
        for at, fd in enumerate(moved):
            os.dup2(fd, 3 + at)
        for fd in moved:
            os.close(fd)
        os.environ["LISTEN_PID"] = str(os.getpid() if pid is None else pid)
        os.environ["LISTEN_FDS"] = str(len(sockets))
        if names is not None:
            os.environ["LISTEN_FDNAMES"] = names
    return before


def start_with(ccontainer, folder, ini, before):
    """A server whose environment is made in the child (servers.Server makes it before)."""
    path = os.path.join(folder, "app.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write(ini)
    log = open(os.path.join(folder, "out.log"), "w+b")
    pid = os.fork()
    if pid == 0:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        before()
        os.execv(ccontainer, [ccontainer, path])
    return pid, log


class Activated:
    """A server that got its sockets passed."""

    def __init__(self, ccontainer, folder, ini, before):
        self.pid, self.file = start_with(ccontainer, folder, ini, before)
        self.code = None

    def log(self):
        self.file.seek(0)
        return self.file.read().decode()

    def wait_log(self, text):
        processes.wait_until(lambda: text in self.log(), 30, f"{text}\n{self.log()}")
        return self.log()

    def end(self, number=signal.SIGTERM):
        if self.code is None:
            if number:
                os.kill(self.pid, number)
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code


@pytest.fixture
def activated(ccontainer, folder):
    started = []

    def start(ini, before):
        own = os.path.join(folder, f"a{len(started)}")
        os.mkdir(own)
        started.append(Activated(ccontainer, own, ini, before))
        return started[-1]
    yield start
    for one in started:
        one.end()


def ini_of(site, *lines):
    return "\n".join(["[uwsgi]", "master = true", f"chdir = {site}", "module = told", *lines]) + "\n"


def http_get(address):
    with servers.connect(address) as peer:
        peer.sendall(b"GET / HTTP/1.0\r\n\r\n")
        answer = b""
        while piece := peer.recv(4096):
            answer += piece
        return answer


def name_of(one):
    return "{}:{}".format(*one.getsockname())


def test_passed_sockets_need_no_option(activated, site):
    with listening() as web:
        one = activated(ini_of(site, "protocol = http"), passing(web))
        assert http_get(name_of(web)).endswith(b"\r\n\r\n[]"), one.log()
        one.wait_log(f"listening on http://{name_of(web)} (http)")
        assert one.end() == 0


def test_passed_sockets_by_name(activated, site, folder):
    path = os.path.join(folder, "app.sock")
    with listening() as a, listening() as b, listening(socket.AF_UNIX, path) as c:
        one = activated(ini_of(site, "http = fd://web", "socket = fd://back", "vacuum = true"),
                        passing(a, c, b, names="web:back:web"))
        assert http_get(name_of(a)).endswith(b"[]"), one.log()
        assert http_get(name_of(b)).endswith(b"[]"), one.log()
        assert "listening on fd://back (uwsgi)" in one.log()
        servers.connect(path).close()
        assert one.end() == 0
        assert os.path.exists(path), "the file is systemd's"


def test_a_passed_socket_stands_for_its_address(activated, site, folder):
    path = os.path.join(folder, "app.sock")
    with listening() as web, listening(socket.AF_UNIX, path) as unix:
        before = os.stat(path)
        one = activated(ini_of(site, f"http-socket = {path}", f"http = {name_of(web)}",
                               "chmod-socket = 600", "vacuum = true"), passing(unix, web))
        assert http_get(path).endswith(b"[]"), one.log()
        assert http_get(name_of(web)).endswith(b"[]"), one.log()
        assert one.end() == 0
        assert os.stat(path).st_mode == before.st_mode


def test_sockets_passed_to_another_are_not_ours(activated, site):
    with listening() as web:
        one = activated(ini_of(site), passing(web, pid=1))
        assert one.end(0) == 1
        assert "there is no socket to listen on" in one.log()


@pytest.mark.parametrize("kind,said", [
    ("datagram", "is no stream socket"), ("silent", "does not listen"), ("file", "is no socket")])
def test_what_cannot_be_listened_on_is_refused(activated, site, folder, kind, said):
    passed = {"datagram": lambda: listening(kind=socket.SOCK_DGRAM),
              "silent": lambda: socket.socket(), "file": lambda: open(os.devnull, "rb")}[kind]()
    with passed:
        one = activated(ini_of(site), passing(passed))
        assert one.end(0) == 1
        assert said in one.log(), one.log()


def test_a_name_that_nobody_passed(activated, site):
    with listening() as web:
        one = activated(ini_of(site, "http = fd://webb"), passing(web, names="web"))
        assert one.end(0) == 1
        assert re.search(r'app\.ini:5: http: no socket named "webb" was passed .*passed: "web"',
                         one.log()), one.log()
        assert one.log().count("webb") == 1, one.log()


def test_passed_sockets_do_not_reach_what_the_app_starts(activated, site):
    write_app(site, """
import os, subprocess
def application(environ, start_response):
    names = subprocess.run(["ls", "/proc/self/fd"], close_fds=False, stdout=subprocess.PIPE).stdout
    start_response("200 OK", [])
    return [names]
""")
    with listening() as web:
        one = activated(ini_of(site, "protocol = http"), passing(web))
        # 3 is the folder that ls reads.
        assert http_get(name_of(web)).split(b"\r\n\r\n")[1].split() == [b"0", b"1", b"2", b"3"], \
            one.log()


@pytest.mark.skipif(shutil.which("systemd-socket-activate") is None,
                    reason="systemd-socket-activate is not installed")
def test_systemd_socket_activate(ccontainer, site, folder):
    port = servers.free_port()
    ini = os.path.join(folder, "app.ini")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(ini_of(site, "http = fd://web"))
    with open(os.path.join(folder, "out.log"), "w+b") as log:
        tool = subprocess.Popen(
            ["systemd-socket-activate", "--fdname=web", "-l", f"127.0.0.1:{port}", ccontainer, ini],
            stdout=log, stderr=log)
        try:
            processes.wait_until(lambda: _connects(port), 20)
            assert http_get(f"127.0.0.1:{port}").endswith(b"[]")
        finally:
            tool.terminate()
            tool.wait(30)
    assert tool.returncode == 0


def _connects(port):
    try:
        servers.connect(f"127.0.0.1:{port}", 1).close()
        return True
    except OSError:
        return False


@pytest.mark.skipif(shutil.which("systemd-analyze") is None,
                    reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", ["ccontainer@.service", "ccontainer@.socket"])
def test_the_units_are_valid(ccontainer, folder, unit):
    path = os.path.join(folder, unit.replace("@", "@test"))
    for name in ("ccontainer@.service", "ccontainer@.socket"):
        with open(os.path.join(UNITS, name), encoding="utf-8") as file:
            text = file.read().replace("/usr/bin/ccontainer", ccontainer)
        with open(os.path.join(folder, name.replace("@", "@test")), "w", encoding="utf-8") as file:
            file.write(text)
    told = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True,
                          text=True, timeout=60, check=False)
    ours = [line for line in (told.stdout + told.stderr).splitlines() if "ccontainer@" in line]
    assert ours == [] and told.returncode == 0, told.stderr


# -- the journal

def journal_of(fd):
    info = os.fstat(fd)
    return f"{info.st_dev}:{info.st_ino}"


def test_levels_for_the_journal(ccontainer, site, folder):
    write_app(site, "raise ValueError('broken')\n")
    ini = os.path.join(folder, "app.ini")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(ini_of(site, f"http = 127.0.0.1:{servers.free_port()}", "need-app = true"))
    reader, writer = socket.socketpair()  # the journal's end is a stream socket
    with reader, writer:
        code = subprocess.run([ccontainer, ini], stdout=writer, stderr=writer, check=False,
                              env={**os.environ, "JOURNAL_STREAM": journal_of(writer.fileno()),
                                   "ASAN_OPTIONS": "detect_leaks=0"},
                              timeout=60).returncode
        writer.close()
        text = b""
        while piece := reader.recv(65536):
            text += piece
    assert code == 22
    lines = text.decode().splitlines()
    # The traceback is Python's, on sys.stderr, and has the journal's default level.
    ours = [line for line in lines if line.startswith("<")]
    assert any(re.fullmatch(r"<6>ccontainer .*: master pid \d+, .*", line) for line in ours), lines
    assert any(line.startswith("<3>generation 1 exited with code 22") for line in ours), lines
    assert ours[-1] == "<6>stopped"


def test_another_stream_is_no_journal(ccontainer, server, site, folder):
    with open(os.path.join(folder, "other"), "wb") as other:
        one = server(options(site), env={"JOURNAL_STREAM": journal_of(other.fileno())})
    assert re.search(r"^\[20.*all workers are ready", one.wait_log("all workers are ready"), re.M)
