"""Reloads: what the new configuration changes, and what a broken one does not."""

import os
import signal
import socket
import time

import pytest

import clients
import processes
import servers
from test_process import APP, InBackground, all_ready, body, generation, options, site, write_app

assert site  # a fixture, used by name


def reload(one, failed=False):
    """SIGHUP, and waits until the new generation alone serves, or until the reload has failed."""
    fails = one.log().count("reload failed")
    if failed:
        one.send_signal(signal.SIGHUP)
        return one.wait_log("reload failed", count=fails + 1)
    app = generation(one)
    one.send_signal(signal.SIGHUP)
    generation(one, other_than=app)
    return one.log()


def refused(address):
    try:
        servers.connect(address, 2).close()
    except (ConnectionRefusedError, FileNotFoundError):
        return True
    return False


def test_a_reload_reads_workers_threads_and_environment_again(server, site):
    one = server(options(site, env=["GREETING=hello"]))
    all_ready(one)
    assert body(one, "/env") == f"hello {site}"
    other = os.path.join(one.folder, "other")
    os.mkdir(other)
    write_app(other, APP.replace('"one"', '"two"'))
    one.rewrite(processes=3, threads=4, chdir=other, env=["GREETING=good morning"])
    reload(one)
    workers = one.workers(3)
    assert body(one, "/env") == f"good morning {other}"
    assert body(one, "/version") == "two"
    # The server's relief thread comes on top of its four.
    assert {processes.threads(pid) for pid in workers} == {5}


def test_the_command_line_and_its_folder_count_again(server, site):
    """A relative file is found although the server works in chdir by now."""
    def write(greeting):
        with open("more.ini", "w", encoding="ascii") as file:
            file.write(f"[uwsgi]\nenv = GREETING={greeting}\n")

    one = server(options(site, processes=None, include="more.ini"),
                 args=["--threads", "3", "--processes=2"], before=lambda: write("hello"))
    all_ready(one)
    assert body(one, "/env") == f"hello {site}"
    here = os.getcwd()
    os.chdir(one.folder)
    write("good morning")
    os.chdir(here)
    reload(one)
    assert body(one, "/env") == f"good morning {site}"
    assert {processes.threads(pid) for pid in one.workers(2)} == {4}


@pytest.mark.parametrize("text, said", [
    ("[uwsgi]\nmaster = true\nprocesses = four\n", "app.ini:3: processes: expected a whole number"),
    ("", "app.ini: the file is empty"),
    ("[uwsgi]\nmodule = shop\nmaster\n", "there is no socket to listen on"),
    ("[uwsgi]\nhttp = 127.0.0.1:0\nplugins = nosuchthing\n",
     'app.ini:3: plugin: cannot open the plugin "nosuchthing"'),
    ("[uwsgi]\nhttp = 127.0.0.1:0\nchdir = /nowhere\n", "app.ini:3: chdir: cannot enter /nowhere"),
    ("[uwsgi]\nhttp = 127.0.0.1:0\nsocket = /nowhere/app.sock\n",
     "app.ini:3: socket: cannot listen on /nowhere/app.sock"),
    ("[uwsgi]\nhttp = 127.0.0.1:0\ninclude = /dev/zero\n", "/dev/zero: this is no regular file"),
    ("\0\1\2", "this is no ini file"),
])
def test_a_broken_ini_changes_nothing(server, site, text, said):
    one = server(options(site))
    before = all_ready(one)
    good = open(one.ini, encoding="utf-8").read()
    files = processes.open_files(one.pid)
    one.write_ini(text)
    log = reload(one, failed=True)
    assert said in log and "so nothing changes" in log
    assert "reload failed: generation 1 goes on serving" in log
    assert one.workers(2) == before and int(body(one, "/")) in before
    processes.wait_closed(one.pid, files)
    one.write_ini(good)
    reload(one)
    assert body(one, "/version") == "one"


def test_an_ini_that_would_wait_is_refused(server, site):
    """A FIFO without a writer must not hang the master."""
    one = server(options(site))
    all_ready(one)
    os.unlink(one.ini)
    os.mkfifo(one.ini)
    assert "this is no regular file" in reload(one, failed=True)
    os.unlink(one.ini)
    assert "cannot read the file" in reload(one, failed=True)
    assert body(one, "/version") == "one"


def test_sockets_are_added_and_removed(server, site):
    kept, gone, new = (os.path.join(site, name) for name in ("kept.sock", "gone.sock", "new.sock"))
    tcp, late = servers.free_port(), servers.free_port()
    one = server(options(site, socket=[kept, gone], vacuum=True,
                         http_socket=["127.0.0.1:@PORT@", f"127.0.0.1:{tcp}"]))
    all_ready(one)
    files = processes.open_files(one.pid)
    number = os.stat(kept).st_ino
    assert clients.uwsgi(gone, "/version").body == b"one"
    one.rewrite(socket=[kept, new], http_socket=["127.0.0.1:@PORT@", f"127.0.0.1:{late}"])
    log = reload(one)
    assert f"{gone} is not listened on any more" in log
    assert os.stat(kept).st_ino == number and not os.path.exists(gone)
    for path in (kept, new):
        assert clients.uwsgi(path, "/version").body == b"one"
    assert refused(f"127.0.0.1:{tcp}") and refused(gone)
    with clients.Http(f"127.0.0.1:{late}") as http:
        assert http.get("/version").body == b"one"
    processes.wait_closed(one.pid, files)
    one.stop()
    assert not os.path.exists(kept) and not os.path.exists(new)


def test_without_vacuum_a_removed_sockets_file_stays(server, site):
    path = os.path.join(site, "gone.sock")
    one = server(options(site, socket=path, http_socket="127.0.0.1:@PORT@"))
    all_ready(one)
    one.rewrite(socket=None)
    reload(one)
    assert os.path.exists(path) and refused(path)


def test_a_socket_that_somebody_removed_is_there_again(server, site):
    path = os.path.join(site, "app.sock")
    one = server(options(site, socket=path, http_socket="127.0.0.1:@PORT@"))
    all_ready(one)
    os.unlink(path)
    reload(one)
    assert clients.uwsgi(path, "/version").body == b"one"


def test_a_socket_may_change_its_protocol(server, site):
    port = servers.free_port()
    one = server(options(site, socket=f"127.0.0.1:{port}", http_socket="127.0.0.1:@PORT@"))
    all_ready(one)
    assert clients.uwsgi(f"127.0.0.1:{port}", "/version").body == b"one"
    one.rewrite(socket=None, http=f"127.0.0.1:{port}")
    reload(one)
    with clients.Http(f"127.0.0.1:{port}") as http:
        assert http.get("/version").body == b"one"


def test_what_a_failed_reload_opened_is_gone_again(server, site):
    new = os.path.join(site, "new.sock")
    one = server(options(site, http_socket="127.0.0.1:@PORT@"))
    all_ready(one)
    files = processes.open_files(one.pid)
    write_app(site, "raise RuntimeError('no shop today')")
    one.rewrite(socket=new)
    log = reload(one, failed=True)
    assert "no shop today" in log
    processes.wait_until(lambda: not os.path.exists(new), what="the new socket to be gone")
    processes.wait_closed(one.pid, files)
    assert body(one, "/version") == "one"
    write_app(site, APP)
    reload(one)
    assert clients.uwsgi(new, "/version").body == b"one"


def test_what_only_a_restart_changes_is_named(server, site):
    one = server(options(site, pidfile="run.pid"))
    all_ready(one)
    one.rewrite(pidfile="other.pid", logto="other.log", master=None)
    log = reload(one)
    for name in ("pidfile", "logto"):
        assert f"{name}: only a restart changes it; it stays as it was" in log
    assert "app.ini:" in next(line for line in log.splitlines() if "pidfile: only" in line)
    assert os.path.exists(os.path.join(one.folder, "run.pid"))
    assert not os.path.exists(os.path.join(one.folder, "other.pid"))


def test_a_hung_request_does_not_keep_an_old_generation(server, site):
    one = server(options(site, processes=1, threads=2, reload_mercy=1), may_crash=True)
    all_ready(one, count=1)
    app = generation(one)
    slow = InBackground(one, site, 60)
    reload(one)
    assert slow.result() is None and slow.error is not None
    log = one.log()
    assert "is killed: it was to finish 1 s ago (reload-mercy) and still runs GET /sleep/60/slow" \
        in log
    assert not processes.alive(app) and not processes.zombies(one.pid)
    assert body(one, "/version") == "one"


def test_an_old_generation_that_is_stuck_itself_is_killed_too(server, site):
    one = server(options(site, processes=1, threads=2, reload_mercy=1), may_crash=True)
    all_ready(one, count=1)
    app = generation(one)
    slow = InBackground(one, site, 60)
    os.kill(app, signal.SIGSTOP)
    one.send_signal(signal.SIGHUP)
    processes.wait_until(lambda: not processes.alive(app), 20, "the old generation to end")
    assert slow.result() is None and slow.error is not None
    log = one.wait_log("generation 1 was still running 1 request: GET /sleep/60/slow for ")
    assert "generation 1 has not ended in its time (reload-mercy): killed" in log
    assert body(one, "/version") == "one"
    assert not processes.zombies(one.pid)


def test_an_import_that_hangs_is_given_up_when_a_reload_is_asked_again(server, site):
    one = server(options(site, reload_mercy=1))
    all_ready(one)
    write_app(site, "import time; print('hanging', flush=True); time.sleep(600)")
    one.send_signal(signal.SIGHUP)
    one.wait_log("hanging")
    write_app(site, APP.replace('"one"', '"mended"'))
    app = generation_of_worker(one)
    one.send_signal(signal.SIGHUP)
    processes.wait_until(lambda: not processes.alive(app), what="the old generation to end")
    assert body(one, "/version") == "mended"
    assert "generation 2 has not come to serve since the reload was asked for again" in one.log()


def generation_of_worker(one):
    return processes.parents()[int(body(one, "/"))]


def test_without_overlap_the_old_generation_ends_first(server, site):
    one = server(options(site, reload_overlap=False))
    all_ready(one)
    app = generation(one)
    slow = InBackground(one, site, 1)
    write_app(site, APP.replace('"one"', '"two"'))
    one.send_signal(signal.SIGHUP)
    most = 0
    end = time.monotonic() + 20
    while processes.alive(app) and time.monotonic() < end:
        most = max(most, len(processes.children(one.pid)))
    assert most == 1
    with socket.create_connection(("127.0.0.1", one.port), 20) as peer:
        peer.sendall(b"GET /version HTTP/1.0\r\nHost: a\r\n\r\n")
        assert b"two" in peer.makefile("rb").read()
    assert slow.result().body == b"slept in one"
    log = one.log()
    assert log.index("generation 1 has ended") < log.rindex("the app is loaded in")


def test_many_reloads_of_the_configuration_leave_nothing(server, site):
    one = server(options(site, processes=1))
    all_ready(one, count=1)
    reload(one)
    files, memory = processes.open_files(one.pid), processes.anonymous_kib(one.pid)
    for count in range(100 if os.environ.get("CC_SOAK") else 8):
        one.rewrite(threads=count % 3 + 1)
        reload(one)
    processes.wait_closed(one.pid, files)
    if not one.sanitized:
        assert processes.anonymous_kib(one.pid) < memory + 200
