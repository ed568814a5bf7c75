"""A new binary takes over from one that runs: `ccontainer upgrade`, and f into the master-fifo."""

import os
import shutil
import signal
import socket
import subprocess
import textwrap

import pytest

import clients
import processes
import servers
from conftest import start_servers
from test_nginx import site as nginx_site
from test_orders import write
from test_process import APP, InBackground, all_ready, body, generation, options, site, write_app
from test_reload_load import SOAK, Load, http_close, http_keepalive, uwsgi, version
from test_systemd import Activated, Manager, http_get, listening, name_of, passing

assert site  # a fixture, used by name


@pytest.fixture
def binary(ccontainer, folder):
    """A copy of the binary under test that may be replaced, with the plugins beside it."""
    path = os.path.join(folder, "bin")
    os.mkdir(path)
    os.symlink(os.path.join(os.path.dirname(ccontainer), ".libs"), os.path.join(path, ".libs"))
    return shutil.copy(ccontainer, path)


@pytest.fixture
def own(binary, folder):
    """Starts servers of that copy."""
    yield from start_servers(binary, folder)


def install(binary, content):
    """Puts another program in its place at once, as a package does: a script, or bytes."""
    with open(binary + ".new", "wb") as file:
        file.write(content if isinstance(content, bytes) else textwrap.dedent(content).encode())
    os.chmod(binary + ".new", 0o755)
    os.rename(binary + ".new", binary)


def keep_aside(binary):
    """Where the binary goes on to be found when another is in its place."""
    return shutil.copy(binary, binary + ".real")


def upgrade(one, ccontainer):
    done = command_of(ccontainer, "upgrade", one.ini)
    assert done.returncode == 0, f"{done.stderr}\n{one.log()}"
    assert "took over from ccontainer" in done.stdout


def command_of(ccontainer, *words):
    return subprocess.run([ccontainer, *words], capture_output=True, text=True, timeout=100,
                          check=False, stdin=subprocess.DEVNULL)


def serves(one, which):
    """Old workers may accept for a moment more."""
    processes.wait_until(lambda: body(one, "/version") == which, 20, f"{which} to serve")


def test_no_request_is_lost_over_upgrades(own, binary, ccontainer, nginx, site):
    path, pidfile = os.path.join(site, "app.sock"), os.path.join(site, "pid")
    write_app(site, version(0))
    one = own(options(site, threads=2, socket=path, http_socket="127.0.0.1:@PORT@",
                      pidfile=pidfile, **{"disable-logging": True}))
    all_ready(one)
    front = nginx(nginx_site("unix:" + path))
    address = f"127.0.0.1:{one.port}"
    load = Load(http_close(address), http_keepalive(address), uwsgi(path),
                http_close(f"127.0.0.1:{front.port}"))
    with load:
        for count in range(1, 51 if SOAK else 6):
            app = generation(one)
            write_app(site, version(count))
            install(binary, open(ccontainer, "rb").read())
            upgrade(one, ccontainer)
            generation(one, other_than=app)
            serves(one, f"version {count}")
            if count == 1:
                files, memory = processes.open_files(one.pid), processes.anonymous_kib(one.pid)
    load.check(one.log())
    processes.wait_closed(one.pid, files)
    if not one.sanitized:
        assert processes.anonymous_kib(one.pid) < memory + 200
    assert not processes.zombies(one.pid)
    assert open(pidfile, encoding="ascii").read() == f"{one.pid}\n"
    assert os.path.samefile(f"/proc/{one.pid}/exe", binary)
    assert "killed" not in one.log()


@pytest.mark.parametrize("lazy", [False, True], ids=["preload", "lazy-apps"])
def test_a_request_that_runs_is_finished(server, site, lazy, ccontainer):
    write_app(site, APP)
    one = server(options(site, threads=2, **{"lazy-apps": lazy}))
    before = all_ready(one)
    slow = InBackground(one, site, 3)
    write_app(site, APP.replace('"one"', '"two"'))
    upgrade(one, ccontainer)
    serves(one, "two")
    assert slow.result().body == b"slept in one"
    processes.wait_until(lambda: not set(before) & set(one.workers(2)), 20, "the old workers' end")
    assert not processes.zombies(one.pid)


def test_all_goes_on_afterwards(server, site, ccontainer):
    """Reloads, orders, deaths and the end are those of any server."""
    fifo = os.path.join(site, "fifo")
    one = server(options(site, master_fifo=fifo, vacuum=True, socket=os.path.join(site, "a.sock"),
                         http_socket="127.0.0.1:@PORT@"))
    all_ready(one)
    upgrade(one, ccontainer)
    write_app(site, APP.replace('"one"', '"two"'))
    done = command_of(ccontainer, "reload", one.ini)
    assert done.returncode == 0 and "generation 3 serves" in done.stdout
    serves(one, "two")
    write(fifo, "f")
    one.wait_log("reload: generation 4 serves")
    one.wait_log("generation 3 has ended")
    for pid in one.workers(2):
        os.kill(pid, signal.SIGKILL)
    one.wait_log("is ready", count=10)
    serves(one, "two")
    os.kill(generation(one), signal.SIGKILL)
    one.wait_log("generation 4 (pid")
    one.wait_log("is ready", count=12)
    serves(one, "two")
    assert command_of(ccontainer, "stop", one.ini).returncode == 0
    assert not os.path.exists(fifo) and not os.path.exists(os.path.join(site, "a.sock"))


# -- what cannot be done changes nothing

BAD = {
    "missing": None,
    "no program": b"\x7fELF and nothing more",
    "another program": "#!/bin/sh\nexit 0\n",
    "another that talks": "#!/bin/sh\necho hello\n",
    "it fails": "#!/bin/sh\necho 'library xy not found' >&2\nexit 127\n",
    "it crashes": "#!/bin/sh\nkill -SEGV $$\n",
    "it talks without end": "#!/bin/sh\nyes oh no | head -c 9000000\nexit 1\n",
}
SAID = {
    "missing": "No such file or directory",
    "another program": "is no ccontainer that can take over",
    "another that talks": "is no ccontainer that can take over",
    "it fails": "library xy not found",
    "it crashes": "SIGSEGV",
    "it talks without end": "oh no",
}


@pytest.mark.parametrize("what", BAD)
def test_a_binary_that_will_not_do(own, binary, ccontainer, site, what):
    one = own(options(site))
    workers = all_ready(one)
    files = processes.open_files(one.pid)
    if BAD[what] is None:
        os.unlink(binary)
    else:
        install(binary, BAD[what])
    done = command_of(ccontainer, "upgrade", one.ini)
    assert done.returncode == 1, one.log()
    assert "upgrade failed" in done.stderr and SAID.get(what, "") in done.stderr
    assert "upgrade failed, nothing has changed" in one.log()
    assert one.workers(2) == workers and body(one, "/version") == "one"
    processes.wait_closed(one.pid, files)
    install(binary, open(ccontainer, "rb").read())
    upgrade(one, ccontainer)


def test_a_configuration_that_is_wrong(server, ccontainer, site, folder):
    taken = servers.free_port()
    one = server(options(site))
    workers = all_ready(one)
    good = open(one.ini, encoding="utf-8").read()
    one.write_ini(good + "processes = many\n")
    done = command_of(ccontainer, "upgrade", one.ini)
    assert done.returncode == 1
    assert f"{one.ini}:{good.count(chr(10)) + 1}: " in done.stderr and '"many"' in done.stderr
    with socket.create_server(("127.0.0.1", taken)):
        new = os.path.join(folder, "new.sock")
        one.write_ini(good + f"socket = {new}\nsocket = 127.0.0.1:{taken}\n")
        done = command_of(ccontainer, "upgrade", one.ini)
    assert done.returncode == 1 and f"127.0.0.1:{taken}" in done.stderr
    assert not os.path.exists(new)
    assert one.workers(2) == workers and body(one, "/version") == "one"
    one.write_ini(good)
    upgrade(one, ccontainer)


def test_an_app_that_does_not_load(server, ccontainer, site):
    """The new binary runs, and the old app serves on."""
    one = server(options(site, pidfile=os.path.join(site, "pid")))
    workers = all_ready(one)
    write_app(site, "raise RuntimeError('no shop today')")
    done = command_of(ccontainer, "upgrade", one.ini)
    assert done.returncode == 1 and "generation 2" in done.stderr
    assert one.workers(2) == workers and body(one, "/version") == "one"
    write_app(site, APP.replace('"one"', '"two"'))
    assert command_of(ccontainer, "reload", one.ini).returncode == 0
    serves(one, "two")
    one.wait_log("generation 1 has ended")


LATE = """\
#!/bin/sh
# The second call is the real one: by then somebody has broken the ini.
if [ -e {mark} ]; then printf '[uwsgi]\\nprocesses = many\\n' > {ini}; else touch {mark}; fi
exec {real} "$@"
"""


@pytest.mark.parametrize("end", ["mended", "stopped"])
def test_a_configuration_that_breaks_between_the_trial_and_the_start(own, binary, site, folder,
                                                                     end, ccontainer):
    one = own(options(site), exit_codes=(0, 1))
    workers = all_ready(one)
    good = open(one.ini, encoding="utf-8").read()
    install(binary, LATE.format(mark=os.path.join(folder, "tried"), ini=one.ini,
                                real=keep_aside(binary)))
    with subprocess.Popen([ccontainer, "upgrade", one.ini], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as waiting:
        one.wait_log("the configuration is read again every second")
        assert one.workers() == workers and body(one, "/version") == "one"
        if end == "stopped":
            assert one.stop() == 1
            assert waiting.wait(30) != 0
            return
        one.write_ini(good)
        assert waiting.wait(60) == 0, waiting.stdout.read()
    processes.wait_until(lambda: not set(workers) & set(one.workers(2)), 20, "new workers")
    assert body(one, "/version") == "one"
    assert one.log().count("processes: ") == 1


def test_a_stop_during_the_trial(own, binary, site, ccontainer):
    one = own(options(site))
    all_ready(one)
    install(binary, "#!/bin/sh\nexec sleep 50\n")
    with subprocess.Popen([ccontainer, "upgrade", one.ini], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as waiting:
        one.wait_log("upgrade: trying")
        assert one.stop() == 0
        assert waiting.wait(30) == 1


def test_many_ask_at_once(server, ccontainer, site):
    """Upgrades and reloads at the same time: everybody gets an answer, and all is well."""
    one = server(options(site))
    all_ready(one)
    asking = [subprocess.Popen([ccontainer, word, one.ini], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
              for word in ("upgrade", "reload", "upgrade", "reload", "status")]
    said = [process.communicate(timeout=100)[0] for process in asking]
    assert [process.returncode for process in asking] == [0] * len(asking), f"{said}\n{one.log()}"
    generation(one)
    assert body(one, "/version") == "one"


def test_what_travels(server, ccontainer, site):
    """That the server was paused."""
    fifo = os.path.join(site, "fifo")
    one = server(options(site, master_fifo=fifo))
    all_ready(one)
    write(fifo, "p")
    one.wait_log("paused")
    upgrade(one, ccontainer)
    status = command_of(ccontainer, "status", one.ini).stdout
    assert "paused" in status, status
    write(fifo, "p")
    processes.wait_until(lambda: "paused" not in command_of(ccontainer, "status", one.ini).stdout)
    assert body(one, "/version") == "one"


# -- sockets

def test_sockets_come_and_go(server, ccontainer, site):
    first, second = os.path.join(site, "1.sock"), os.path.join(site, "2.sock")
    one = server(options(site, socket=first, http_socket="127.0.0.1:@PORT@", vacuum=True))
    all_ready(one)
    number = os.stat(first).st_ino
    one.rewrite(socket=[first, second])
    upgrade(one, ccontainer)
    assert clients.uwsgi(second, "/version").body == b"one"
    assert os.stat(first).st_ino == number
    one.rewrite(socket=second)
    upgrade(one, ccontainer)
    processes.wait_until(lambda: not os.path.exists(first), what="the file's end")
    assert f"{first} is not listened on any more" in one.log()
    assert clients.uwsgi(second, "/version").body == b"one"


@pytest.mark.parametrize("how", ["address", "name"])
def test_passed_sockets_travel(ccontainer, folder, site, how):
    with listening() as web:
        address = name_of(web) if how == "address" else "fd://web"
        ini = (f"[uwsgi]\nmaster = true\nchdir = {site}\nwsgi-file = shop.py\n"
               f"http-socket = {address}\n")
        one = Activated(ccontainer, folder, ini, passing(web, names="web"))
        try:
            for turn in range(3):
                one.wait_log(f"generation {turn + 1} serves" if turn else "all workers are ready")
                assert http_get(name_of(web)).split(b"\r\n\r\n")[1].isdigit(), one.log()
                word = "reload" if turn == 1 else "upgrade"
                done = command_of(ccontainer, word, os.path.join(folder, "app.ini"))
                assert done.returncode == 0, f"{done.stderr}\n{one.log()}"
            assert http_get(name_of(web)).split(b"\r\n\r\n")[1].isdigit(), one.log()
        finally:
            assert one.end() == 0, one.log()


# -- the surroundings

@pytest.mark.parametrize("fails", [False, True], ids=["done", "failed"])
def test_the_service_manager_hears_of_it(own, binary, ccontainer, site, folder, fails):
    manager = Manager(os.path.join(folder, "notify"))
    one = own(options(site), env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000"})
    manager.wait("READY")
    assert manager.count("RELOADING") == 0
    if fails:
        write_app(site, "raise RuntimeError('no shop today')")
    done = command_of(ccontainer, "upgrade", one.ini)
    assert done.returncode == (1 if fails else 0)
    manager.wait("READY", 2)
    heard = [next(iter(message)) for message in manager.listen()
             if "READY" in message or "RELOADING" in message]
    assert heard == ["READY", "RELOADING", "READY"]
    manager.wait("WATCHDOG", manager.count("WATCHDOG") + 2)
    assert all("MAINPID" not in message for message in manager.listen())
    one.stop()
    manager.wait("STOPPING")


def powers(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return {line.split(":")[0]: line.split(":")[1].split() for line in file
                if line.startswith(("Uid", "Gid", "Groups", "Cap", "NoNewPrivs", "SigBlk",
                                 "SigIgn", "SigCgt"))}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives rights away")
@pytest.mark.parametrize("more", [{}, {"cap": "net_bind_service"},
                                  {"cap": "net_bind_service", "no-new-privs": True}],
                         ids=["plain", "cap", "no-new-privs"])
def test_rights_stay_what_they_were(server, ccontainer, site, more):
    one = server(options(site, uid="nobody", gid="nogroup", **more))
    before = [powers(pid) for pid in (one.pid, generation(one), all_ready(one)[0])]
    app = generation(one)
    for _ in range(2):
        upgrade(one, ccontainer)
        app = generation(one, other_than=app)
        after = [powers(pid) for pid in (one.pid, app, one.workers(2)[0])]
        assert after == before


def test_a_daemon_stays_one(ccontainer, folder, site):
    log, pidfile = os.path.join(folder, "d.log"), os.path.join(folder, "pid")
    ini = os.path.join(folder, "d.ini")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(f"[uwsgi]\nmaster = true\nchdir = {site}\nwsgi-file = shop.py\n"
                   f"http-socket = 127.0.0.1:{servers.free_port()}\ndaemonize = {log}\n"
                   f"pidfile = {pidfile}\n")
    assert command_of(ccontainer, ini).returncode == 0
    pid = int(open(pidfile, encoding="ascii").read())
    try:
        assert command_of(ccontainer, "upgrade", pidfile).returncode == 0
        assert int(open(pidfile, encoding="ascii").read()) == pid
        text = open(log, encoding="utf-8").read()
        assert "takes over from ccontainer" in text and "generation 2 serves" in text
    finally:
        assert command_of(ccontainer, "stop", pidfile).returncode == 0


def test_only_an_upgrade_hands_over(ccontainer, server, site):
    one = server(options(site))
    for value in ("7", "x", "", "0", "99999999999"):
        done = subprocess.run([ccontainer, one.ini], capture_output=True, text=True, check=False,
                              env={**os.environ, "CCONTAINER_HANDOVER": value}, timeout=30,
                              stdin=subprocess.DEVNULL)
        assert done.returncode == 2 and "remove it" in done.stderr, done


def test_wrong_words_are_told(ccontainer, folder):
    path = os.path.join(folder, "none.ini")
    with open(path, "w", encoding="ascii") as file:
        file.write("[uwsgi]\n")
    assert command_of(ccontainer, "upgrade", path).returncode == 3
    assert command_of(ccontainer, "upgrade").returncode == 2
