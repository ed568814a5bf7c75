"""How each server under comparison is started for the same app, address, processes and threads."""

import os
import socket

HERE = os.path.dirname(os.path.abspath(__file__))
APPS = os.path.join(HERE, "apps")
PYTHON = "/usr/bin/python3"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Setup:
    """What one server is asked to do. protocol: http, close or uwsgi, as load calls them."""

    def __init__(self, app, protocol, processes=1, threads=1, unix=None):
        self.app = app
        self.protocol = protocol
        self.processes = processes
        self.threads = threads
        self.unix = unix  # path of the unix socket, or None: TCP on a free port
        self.port = free_port()

    @property
    def address(self):
        """As an ini spells it."""
        return self.unix or f"127.0.0.1:{self.port}"

    @property
    def load_address(self):
        """As load spells it."""
        return f"unix:{self.unix}" if self.unix else self.address


def _uwsgi_options(setup, option):
    """Options that ccontainer and uWSGI share: the same ini serves both."""
    lines = {
        option: setup.address, "chdir": APPS, "module": f"{setup.app}:application",
        "master": "true", "processes": setup.processes, "threads": setup.threads,
        "disable-logging": "true", "listen": 1024, "die-on-term": "true", "buffer-size": 32768,
        "chmod-socket": 666,
    }
    if setup.threads == 1:
        del lines["threads"]  # for uWSGI even one thread costs the GIL's taking and giving
    return lines


def _ini(setup, option, folder):
    path = os.path.join(folder, f"app-{setup.port}.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write("[uwsgi]\n")
        for name, value in _uwsgi_options(setup, option).items():
            file.write(f"{name} = {value}\n")
    return path


def ccontainer(setup, folder):
    option = "socket" if setup.protocol == "uwsgi" else "http-socket"
    return [os.environ["CCONTAINER"], _ini(setup, option, folder)]


def uwsgi(setup, folder):
    # http11-socket is its only way to keep connections alive without another process in between.
    option = {"uwsgi": "socket", "http": "http11-socket", "close": "http-socket"}[setup.protocol]
    return ["uwsgi", "--plugin", "python3", _ini(setup, option, folder)]


def gunicorn(kind):
    def command(setup, folder):
        threads = ["--threads", str(setup.threads)] if kind == "gthread" else []
        return [PYTHON, "-m", "gunicorn", "-k", kind, "-w", str(setup.processes), *threads,
                "-b", setup.address, "--keep-alive", "60", "--log-level", "error",
                "--chdir", APPS, f"{setup.app}:application"]
    return command


def limit(setup, folder):
    program = os.path.join(os.environ["BENCH_PROGRAMS"], "limit")
    where = setup.load_address if setup.unix else str(setup.port)
    mode = [] if setup.protocol == "http" else ["close"]
    # The shell's umask lets nginx's workers into the unix socket.
    return ["sh", "-c", 'umask 0; exec "$@"', "limit", program, where, *mode]


PEERS = {
    "limit": limit,
    "ccontainer": ccontainer,
    "uwsgi": uwsgi,
    "gunicorn sync": gunicorn("sync"),
    "gunicorn gthread": gunicorn("gthread"),
}


def nginx_conf(folder, port, unix):
    """A configuration file for nginx in front of a uwsgi socket; its path."""
    path = os.path.join(folder, f"nginx-{port}.conf")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind}; "
                        for kind in ("client_body", "proxy", "fastcgi", "scgi", "uwsgi"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error;\n"
            "events { worker_connections 4096; }\n"
            f"http {{ access_log off; {temporary} keepalive_requests 10000000;\n"
            f"server {{ listen 127.0.0.1:{port} backlog=1024; location / {{\n"
            "include /etc/nginx/uwsgi_params; "
            f"uwsgi_pass unix:{unix}; }} }} }}\n")
    return path
