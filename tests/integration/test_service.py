"""Running as a service: background, containers, privileges, sockets' owners, pidfiles."""

import grp
import os
import pwd
import re
import resource
import shutil
import signal
import stat
import subprocess

import pytest

import processes
import servers

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change users and root folders")
NOBODY = pwd.getpwnam("nobody")

APP = """
import ctypes, os, resource, socket, subprocess
def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/ids":
        body = repr((os.getresuid(), os.getresgid(), sorted(os.getgroups())))
    elif path == "/status":
        body = open("/proc/self/status").read()
    elif path == "/limits":
        body = repr([resource.getrlimit(n) for n in
                     (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE)])
    elif path == "/descriptors":
        body = subprocess.run(["ls", "-l", "/proc/self/fd"], close_fds=False,
                              stdout=subprocess.PIPE, text=True).stdout
    elif path == "/umask":
        old = os.umask(0); os.umask(old); body = oct(old)
    elif path == "/port":
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("127.0.0.1", 79)); body = "bound"
            except PermissionError:
                body = "refused"
    elif path == "/stray":
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", "0.2"])
            os._exit(0)
        os.wait()
        body = ""
    else:
        body = "hello"
    start_response("200 OK", [("Content-Length", str(len(body.encode())))])
    return [body.encode()]
"""


@pytest.fixture
def site(folder):
    path = os.path.join(folder, "site")
    os.mkdir(path)
    os.chmod(path, 0o755)
    with open(os.path.join(path, "served.py"), "w", encoding="utf-8") as file:
        file.write(APP)
    return path


def options(site, **more):
    return {"module": "served", "chdir": site, **more}


def field(server, name):
    text = server.get("/status").body.decode()
    return re.search(rf"^{name}:\s*(.*)$", text, re.M).group(1)


def run(ccontainer, folder, *lines, **more):
    """A start that is expected to end by itself."""
    path = os.path.join(folder, "run.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(["[uwsgi]", *lines]) + "\n")
    return subprocess.run([ccontainer, path], capture_output=True, text=True, timeout=60,
                          check=False, cwd=folder, **more,
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})


# -- background

class Daemon:
    def __init__(self, folder, site, port, *lines):
        self.log_path = os.path.join(folder, "daemon.log")
        self.pidfile = os.path.join(folder, "daemon.pid")
        self.lines = ["master = true", f"http = 127.0.0.1:{port}", f"chdir = {site}",
                      "module = served", f"pidfile = {self.pidfile}", *lines]

    def pid(self):
        with open(self.pidfile, encoding="ascii") as file:
            return int(file.read())

    def log(self):
        with open(self.log_path, encoding="utf-8") as file:
            return file.read()

    def stop(self):
        pid = self.pid()
        os.kill(pid, signal.SIGTERM)
        processes.wait_until(lambda: not processes.alive(pid), 20, "the end")


@pytest.mark.parametrize("master", [True, False])
@pytest.mark.parametrize("option", ["daemonize", "daemonize2"])
def test_into_the_background(ccontainer, folder, site, option, master):
    port = servers.free_port()
    one = Daemon(folder, site, port, f"{option} = {folder}/daemon.log")
    lines = one.lines if master else one.lines[1:]
    ended = run(ccontainer, folder, *lines)
    assert ended.returncode == 0, ended.stderr
    try:
        pid = one.pid()
        assert os.getsid(pid) == pid != os.getsid(0)
        assert os.readlink(f"/proc/{pid}/fd/0") == "/dev/null"
        assert os.readlink(f"/proc/{pid}/fd/2") == one.log_path
        if option == "daemonize":
            processes.wait_until(lambda: "ready" in one.log(), 20)
        assert "ready" in one.log()
        with servers.connect(f"127.0.0.1:{port}") as peer:
            peer.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert peer.recv(100).startswith(b"HTTP/1.1 200")
    finally:
        one.stop()
    assert "stopped" in one.log()


def test_an_app_that_does_not_load_is_shown(ccontainer, folder, site):
    with open(os.path.join(site, "served.py"), "w", encoding="utf-8") as file:
        file.write("raise ValueError('a broken deploy')\n")
    one = Daemon(folder, site, servers.free_port(), f"daemonize2 = {folder}/daemon.log",
                 "need-app = true")
    with open(one.log_path, "w", encoding="utf-8") as file:
        file.write("of the start before\n")
    ended = run(ccontainer, folder, *one.lines)
    assert ended.returncode == 22
    assert "ValueError: a broken deploy" in ended.stderr
    assert "of the start before" not in ended.stderr
    assert not os.path.exists(one.pidfile)


def test_errors_before_the_background_are_seen(ccontainer, folder, site):
    one = Daemon(folder, site, servers.free_port(), f"daemonize = {folder}/daemon.log",
                 "uid = no-such-user")
    ended = run(ccontainer, folder, *one.lines)
    assert ended.returncode == 1
    assert re.search(r'run\.ini:8: uid: there is no user "no-such-user"', ended.stderr)
    ended = run(ccontainer, folder, *one.lines[:-1], "daemonize2 = x.log")
    assert ended.returncode == 1 and "daemonize2: daemonize is there already" in ended.stderr


# -- containers

def test_processes_auto(server, site):
    one = server(options(site, processes="auto"))
    log = one.wait_log("processes = auto: ")
    count = int(re.search(r"processes = auto: (\d+)", log).group(1))
    assert 1 <= count <= len(os.sched_getaffinity(0))
    processes.wait_until(lambda: log.count("is ready") or one.log().count("is ready") == count, 20)


def test_processes_auto_follows_the_affinity(server, site):
    one = server(options(site, processes="auto"), before=lambda: os.sched_setaffinity(
        0, [min(os.sched_getaffinity(0))]))
    assert "processes = auto: 1, for 1 processors" in one.wait_log("all workers are ready")


def test_threads_auto_is_no_number(ccontainer, folder, site):
    ended = run(ccontainer, folder, "http = 127.0.0.1:0", "threads = auto")
    assert ended.returncode == 1
    assert 'run.ini:3: threads: expected a whole number from 1 to 1024, got "auto"' in ended.stderr


def _can_unshare():
    return os.geteuid() == 0 and subprocess.run(
        ["unshare", "--pid", "--fork", "--mount-proc", "true"], check=False,
        capture_output=True).returncode == 0


@pytest.mark.skipif(not _can_unshare(), reason="process namespaces are not allowed here")
@pytest.mark.parametrize("master", [True, False])
def test_process_1_of_a_container(ccontainer, folder, site, master):
    port = servers.free_port()
    ini = os.path.join(folder, "app.ini")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(f"[uwsgi]\n{'master = true' if master else ''}\nhttp = 127.0.0.1:{port}\n"
                   f"chdir = {site}\nmodule = served\n")
    with open(os.path.join(folder, "out.log"), "w+", encoding="utf-8") as log:
        outer = subprocess.Popen(["unshare", "--pid", "--fork", "--mount-proc", ccontainer, ini],
                                 stdout=log, stderr=log)
        try:
            def text():
                log.seek(0)
                return log.read()
            processes.wait_until(lambda: "all workers are ready" in text(), 30, text())
            assert "master pid 1," in text()
            inner = processes.children(outer.pid)[0]
            with servers.connect(f"127.0.0.1:{port}") as peer:
                peer.sendall(b"GET /stray HTTP/1.0\r\n\r\n")
                assert peer.recv(100).startswith(b"HTTP/1.1 200")
            processes.wait_until(lambda: not any(
                "sleep" in processes.describe([pid]) for pid in processes.descendants(inner)), 10)
            processes.wait_until(lambda: processes.zombies(inner) == [], 10)
            os.kill(inner, signal.SIGTERM)
            assert outer.wait(20) == 0
        finally:
            if outer.poll() is None:
                for pid in processes.descendants(outer.pid):
                    os.kill(pid, signal.SIGKILL)
                outer.wait(10)


# -- privileges

@ROOT
@pytest.mark.parametrize("master", [True, False])
def test_further_groups(server, site, master):
    one = server(options(site, uid="nobody", gid="nogroup", master=master,
                         **{"add-gid": ["games", "54321"]}))
    ids = eval(one.get("/ids").body)
    assert ids[0] == (NOBODY.pw_uid,) * 3
    assert set(ids[2]) == {grp.getgrnam("nogroup").gr_gid, grp.getgrnam("games").gr_gid, 54321}


@ROOT
def test_the_app_may_look_at_itself(server, site):
    one = server(options(site, uid="nobody"))
    pid = one.workers(1)[0]
    assert os.stat(f"/proc/{pid}/fd").st_uid == NOBODY.pw_uid


@ROOT
@pytest.mark.parametrize("master", [True, False])
def test_one_capability_stays(server, site, master):
    one = server(options(site, uid="nobody", cap="net_bind_service", master=master))
    bit = 1 << 10
    assert int(field(one, "CapEff"), 16) == int(field(one, "CapPrm"), 16) == bit
    assert int(field(one, "CapBnd"), 16) == bit
    assert one.get("/port").body == b"bound"
    assert eval(one.get("/ids").body)[0] == (NOBODY.pw_uid,) * 3


@ROOT
def test_without_cap_nothing_stays(server, site):
    one = server(options(site, uid="nobody"))
    assert int(field(one, "CapEff"), 16) == int(field(one, "CapPrm"), 16) == 0


def test_an_unknown_capability(ccontainer, folder, site):
    ended = run(ccontainer, folder, "http = 127.0.0.1:0", "cap = net_bind_service,fly")
    assert ended.returncode == 1
    assert 'run.ini:3: cap: there is no capability "fly"' in ended.stderr


@pytest.mark.parametrize("on", [True, False])
def test_no_new_privileges(server, site, on):
    one = server(options(site, **({} if on else {"no-new-privs": "false"})))
    assert field(one, "NoNewPrivs") == ("1" if on else "0")


def test_umask(server, site):
    one = server(options(site, umask="027", logto="@DIR@/app.log"))
    assert one.get("/umask").body == b"0o27"


@ROOT
def test_limits(server, site):
    one = server(options(site, **{"limit-as": 70000000, "limit-nproc": 5000, "max-fd": 777}))
    assert eval(one.get("/limits").body) == [
        (70000000 * 1024 * 1024,) * 2, (5000, 5000), (777, 777)]


def test_no_descriptor_reaches_what_the_app_starts(server, site, folder):
    held = open(os.path.join(folder, "held"), "wb")
    with held:
        def before():
            os.dup2(held.fileno(), 57)  # as some shells and supervisors leave behind
        one = server(options(site, logto="@DIR@/app.log", pidfile="@DIR@/app.pid", processes=2,
                             **{"http-socket": ["127.0.0.1:@PORT@", "@DIR@/a.sock"]}),
                     before=before)
        listed = one.get("/descriptors").body.decode().splitlines()
    numbers = [line.split(" -> ")[0].split()[-1] for line in listed if " -> " in line]
    assert numbers == ["0", "1", "2", "3"], listed  # 3: the folder that ls reads
    assert listed[-1].rstrip().endswith("/fd")


@ROOT
def test_a_new_root_folder(server, folder):
    """An empty one: Python does not even start in it, and everybody gets a 500."""
    root = os.path.join(folder, "root")
    os.mkdir(root)
    # The leak check of a sanitizer wants /proc.
    one = server({"chdir": "/", "module": "absent", "chroot": root, "uid": "nobody"},
                 env={"ASAN_OPTIONS": "detect_leaks=0"})
    assert one.get().status == 500
    for pid in [one.pid, *processes.descendants(one.pid)]:
        assert os.readlink(f"/proc/{pid}/root") == root
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{name}")
            except FileNotFoundError:
                continue  # the request's connection, closed meanwhile
            assert target == root or not os.path.isdir(target), "a way out of the root"


def test_only_root_changes_the_root_folder(ccontainer, folder, site):
    if os.geteuid() != 0:
        ended = run(ccontainer, folder, "http = 127.0.0.1:0", f"chroot = {site}")
    else:
        ended = run(ccontainer, folder, "http = 127.0.0.1:0", f"chroot = {site}",
                    user=NOBODY.pw_uid)
    assert ended.returncode == 3
    assert "chroot: " in ended.stderr and "only root may do that" in ended.stderr


# -- errors that are the configuration's

@pytest.mark.parametrize("line,said", [
    ("logto = /nowhere/a.log", "logto: /nowhere/a.log cannot be opened: No such file"),
    ("daemonize = /nowhere/a.log", "daemonize: /nowhere/a.log cannot be opened: No such file"),
    ("pidfile = /nowhere/a.pid", "pidfile /nowhere/a.pid: cannot be written: No such file"),
    ("pidfile = /etc/passwd", "pidfile /etc/passwd: the file exists and holds something else"),
    ("uid = no-such-user", 'uid: there is no user "no-such-user"'),
    ("add-gid = no-such-group", 'add-gid: there is no group "no-such-group"'),
    ("uid = 54321", "uid: user 54321 is not in the user database"),
    ("umask = 9", 'umask: expected an octal mode such as 027, got "9"'),
])
def test_mistakes_have_a_place(ccontainer, folder, line, said):
    sock = os.path.join(folder, "a.sock")
    ended = run(ccontainer, folder, f"http = {sock}", line)
    assert ended.returncode == 1, ended.stderr
    assert f"run.ini:3: {said}" in ended.stderr
    assert not os.path.exists(sock)


# -- sockets' files

@ROOT
def test_a_socket_has_owner_and_mode(server, site):
    one = server(options(site, uid="nobody", **{"http-socket": "@DIR@/a.sock",
                                                "chmod-socket": "660",
                                                "chown-socket": "games:games"}))
    info = os.stat(one.address)
    assert stat.S_IMODE(info.st_mode) == 0o660
    assert (info.st_uid, info.st_gid) == (pwd.getpwnam("games").pw_uid,
                                          grp.getgrnam("games").gr_gid)


def test_a_socket_has_what_the_umask_leaves(server, site):
    one = server(options(site, umask="007", **{"http-socket": "@DIR@/a.sock"}))
    assert stat.S_IMODE(os.stat(one.address).st_mode) == 0o770


def _can_trace():
    return shutil.which("strace") is not None and subprocess.run(
        ["strace", "-o", "/dev/null", "true"], check=False, capture_output=True).returncode == 0


@ROOT
@pytest.mark.skipif(not _can_trace(), reason="strace is not there or not allowed")
def test_nobody_can_connect_before_the_rights_are_right(ccontainer, folder, site, sanitized):
    if sanitized:
        pytest.skip("the leak check does not work under strace")
    sock, trace = os.path.join(folder, "a.sock"), os.path.join(folder, "trace")
    ini = os.path.join(folder, "app.ini")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(f"[uwsgi]\nhttp = {sock}\nchmod-socket = 666\nuid = nobody\nchdir = {site}\n"
                   "module = served\n")
    calls = "bind,listen,chmod,fchmod,fchmodat,chown,fchown,fchownat,setresuid"
    one = subprocess.Popen(["strace", "-f", "-o", trace, "-e", f"trace={calls}", ccontainer, ini],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        processes.wait_until(lambda: os.path.exists(sock) and _answers(sock), 60)
    finally:
        for pid in processes.children(one.pid):
            os.kill(pid, signal.SIGTERM)
        one.wait(30)
    with open(trace, encoding="utf-8") as file:
        names = re.findall(r"^\d+ +(\w+)\(", file.read(), re.M)
    order = [name for name in names if name in calls.split(",")]
    begin = order.index("bind")
    assert order[begin - 1] == "fchmod"
    assert order[begin:begin + 5] == ["bind", "fchownat", "chmod", "listen", "setresuid"], order


def _answers(path):
    try:
        servers.connect(path, 1).close()
        return True
    except OSError:
        return False


def test_a_link_in_the_place_of_a_socket_is_left_alone(ccontainer, folder, site):
    victim, sock = os.path.join(folder, "victim"), os.path.join(folder, "a.sock")
    with open(victim, "w", encoding="ascii") as file:
        file.write("precious")
    mode = os.stat(victim).st_mode
    os.symlink(victim, sock)
    ended = run(ccontainer, folder, f"http = {sock}", "chmod-socket = 666", "chown-socket = nobody",
                "vacuum = true")
    assert ended.returncode == 1
    assert "is there already and is no socket" in ended.stderr
    assert os.path.islink(sock) and os.stat(victim).st_mode == mode


def test_rights_on_an_abstract_socket_are_a_warning(server, site, folder):
    name = "@cc-test-" + os.path.basename(folder)
    one = server(options(site, **{"http-socket": name, "chmod-socket": "600"}))
    assert f"chmod-socket: does nothing for the abstract socket {name}" in one.log()


# -- pidfiles

@ROOT
def test_pidfiles_before_and_after(server, site, folder):
    before, after = os.path.join(folder, "before.pid"), os.path.join(folder, "drop", "after.pid")
    os.mkdir(os.path.dirname(after))
    os.chown(os.path.dirname(after), NOBODY.pw_uid, NOBODY.pw_gid)
    one = server(options(site, uid="nobody", pidfile=before, pidfile2=after))
    for path, owner in ((before, 0), (after, NOBODY.pw_uid)):
        with open(path, encoding="ascii") as file:
            assert int(file.read()) == one.pid
        assert os.stat(path).st_uid == owner


def test_a_running_instance_keeps_its_pidfile(server, ccontainer, folder, site):
    path = os.path.join(folder, "a.pid")
    one = server(options(site, pidfile=path))
    ended = run(ccontainer, folder, "http = 127.0.0.1:0", f"pidfile = {path}")
    assert ended.returncode == 1
    assert f"run.ini:3: pidfile {path}: another ccontainer runs with it (pid {one.pid})" \
        in ended.stderr
    with open(path, encoding="ascii") as file:
        assert int(file.read()) == one.pid


@ROOT
def test_a_planted_pidfile(ccontainer, folder):
    shared = os.path.join(folder, "shared")
    os.mkdir(shared)
    os.chmod(shared, 0o1777)
    path = os.path.join(shared, "a.pid")
    with open(path, "w", encoding="ascii") as file:
        file.write("1\n")
    os.chown(path, NOBODY.pw_uid, -1)
    ended = run(ccontainer, folder, "http = 127.0.0.1:0", f"pidfile = {path}")
    assert ended.returncode == 1
    assert "the file belongs to user 65534, in a folder that everybody may write to" in ended.stderr


def test_a_full_disk_leaves_no_pidfile(ccontainer, folder):
    """A limit on the size of files is as good as a full disk."""
    def before():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    path = os.path.join(folder, "a.pid")
    ended = run(ccontainer, folder, "http = 127.0.0.1:0", f"pidfile = {path}", preexec_fn=before)
    assert ended.returncode == 3
    assert f"pidfile {path}: cannot be written: File too large" in ended.stderr
    assert not os.path.exists(path)
