"""The programs under test and beside it: ccontainer with a temporary ini, and nginx."""

import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import uuid

import processes

HERE = os.path.dirname(os.path.abspath(__file__))
APPS = os.path.join(HERE, "apps")
SUPPRESSIONS = os.path.join(HERE, "..", "lsan.supp")
SANITIZER = re.compile(
    r"ERROR: AddressSanitizer|ERROR: LeakSanitizer|WARNING: ThreadSanitizer|runtime error:"
)
SOCKETS = ("http-socket", "http", "http11-socket", "socket", "uwsgi-socket")


def free_port():
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_sanitized(binary):
    """Was it configured with --enable-sanitizers?"""
    if "CC_SANITIZED" in os.environ:
        return os.environ["CC_SANITIZED"] not in ("", "0")
    with open(binary, "rb") as file:
        return re.search(rb"lib[atu]b?san\.so", file.read()) is not None


def connect(address, timeout=5.0):
    """A connected socket; address: "host:port" or a path."""
    if address.startswith(("/", "@")):
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(timeout)
        peer.connect("\0" + address[1:] if address[0] == "@" else address)
        return peer
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host or "127.0.0.1", int(port)), timeout)


class Server:
    """One running ccontainer.

    ini: the text of the file, in which @PORT@, @DIR@ and @APPS@ are replaced by a free port, the
    server's own temporary folder and the folder of the test apps; or a dict of options (a list for
    an option that comes many times, True and False for flags, None for "leave it out"). A dict gets
    defaults for what a test does not care about: master, chdir = apps, module = hello, and HTTP on
    a free port if it names no socket.
    """

    def __init__(self, binary, folder, ini, args=(), env=None, wait=True, exit_codes=(0,),
                 may_crash=False, before=None):
        self.binary = binary
        self.folder = str(folder)
        self.port = free_port()
        self.exit_codes = exit_codes
        self.may_crash = may_crash
        self.sanitized = is_sanitized(binary)
        self.token = f"CC_TEST_SERVER={uuid.uuid4().hex}"
        self.ini = os.path.join(self.folder, "app.ini")
        self.log_path = os.path.join(self.folder, "server.log")
        self.options, text = self._ini_text(ini)
        with open(self.ini, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [binary, self.ini, *map(str, args)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env=self._environment(env or {}), start_new_session=True, preexec_fn=before,
            )
        if wait:
            self.wait_ready()

    # -- where it is

    @property
    def pid(self):
        return self.process.pid

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self):
        """The first socket's address."""
        addresses = self.addresses()
        return addresses[0] if addresses else f"127.0.0.1:{self.port}"

    def addresses(self):
        found = []
        for name in SOCKETS:
            value = self.options.get(name)
            if value is not None:
                found += value if isinstance(value, list) else [value]
        return [address for address in map(str, found) if not address.startswith("fd://")]

    def workers(self, count=None, timeout=20.0):
        """Pids of the worker processes; with a count, waits until there are that many."""
        if count is None:
            return self._workers()
        return processes.wait_until(
            lambda: len(self._workers()) == count and self._workers(),
            timeout * (4 if self.sanitized else 1),
            f"{count} workers of {self.pid} (now {self._workers()})\n{self.log()}",
        )

    def _workers(self):
        if not self.options.get("master") and int(self.options.get("processes") or 1) == 1:
            return [self.pid]
        below = processes.children(self.pid)
        return sorted(worker for app in below for worker in processes.children(app))

    # -- talking to it

    def get(self, path="/", method="GET", body=None, headers=None, timeout=None):
        """One HTTP request on a connection of its own; the answer has .status, .headers, .body."""
        patience = timeout or (60 if self.sanitized else 10)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            answer.body = answer.read()
            return answer
        finally:
            connection.close()

    def connect(self, timeout=10.0):
        return connect(self.address, timeout)

    def send_signal(self, number):
        os.kill(self.pid, number)

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_log(self, text, timeout=15.0, count=1):
        """Waits until text is in the log (count times) and returns the whole log."""
        end = time.monotonic() + timeout * (4 if self.sanitized else 1)
        while self.log().count(text) < count:
            assert time.monotonic() < end, f"not logged within {timeout} s: {text}\n{self.log()}"
            time.sleep(0.01)
        return self.log()

    def wait_ready(self, timeout=30.0):
        """Waits until each of its sockets takes a connection and SIGTERM would be noticed."""
        end = time.monotonic() + timeout
        while self.process.poll() is None and not processes.catches(self.pid, signal.SIGTERM):
            assert time.monotonic() < end, f"SIGTERM is not caught\n{self.log()}"
            time.sleep(0.01)
        for address in self.addresses():
            while True:
                if self.process.poll() is not None:
                    raise AssertionError(f"ended with {self.process.returncode}\n{self.log()}")
                try:
                    connect(address, 1.0).close()
                    break
                except OSError:
                    assert time.monotonic() < end, f"{address}: not ready\n{self.log()}"
                    time.sleep(0.01)

    # -- its end

    def wait(self, timeout=30.0):
        """Waits for its end and returns the exit code."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"still runs after {timeout} s:\n"
                f"{processes.describe(self.left_over())}\n{self.log()}"
            ) from None

    def stop(self, number=signal.SIGTERM, timeout=30.0):
        """Sends the signal if it still runs, waits, and returns the exit code."""
        if self.process.poll() is None:
            self.send_signal(number)
        return self.wait(timeout)

    def left_over(self):
        """Processes of it that are still there."""
        return processes.of_session(self.pid, self.token)

    def finish(self):
        """Stops it and complains about all that must not be: called by the fixture."""
        complaints = []
        try:
            code = self.stop()
            if code not in self.exit_codes:
                complaints.append(f"exit code {code}, expected {self.exit_codes}")
        except AssertionError as error:
            complaints.append(str(error))
        left = self._wait_empty()
        if left:
            complaints.append("processes left over:\n" + processes.describe(left))
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if self.process.poll() is None:
                self.process.wait(10)
        if not self.may_crash:
            complaints += self._sanitizer_output()
        assert not complaints, "\n".join(complaints) + "\n--- log\n" + self.log()[-20000:]

    def _wait_empty(self):
        # Orphans are reaped by init, which may take a moment.
        end = time.monotonic() + 3
        while self.left_over() and time.monotonic() < end:
            time.sleep(0.01)
        return self.left_over()

    def _sanitizer_output(self):
        found = []
        for name in os.listdir(self.folder):
            if name.endswith(".log"):
                with open(os.path.join(self.folder, name), encoding="utf-8",
                          errors="replace") as file:
                    found += [f"{name}: {line}" for line in file if SANITIZER.search(line)]
        return found

    # -- how it is started

    def rewrite(self, **changes):
        """Puts another ini in the file's place at once: options changed, or with None taken out."""
        options = {**self.options, **{name.replace("_", "-"): value
                                      for name, value in changes.items()}}
        self.options, text = self._ini_text(options)
        self.write_ini(text)

    def write_ini(self, text):
        with open(self.ini + ".new", "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.rename(self.ini + ".new", self.ini)

    def _ini_text(self, ini):
        if isinstance(ini, str):
            text = (ini.replace("@PORT@", str(self.port)).replace("@DIR@", self.folder)
                    .replace("@APPS@", APPS))
            return _options_of(text), text
        options = {str(name).replace("_", "-"): value for name, value in ini.items()}
        if not any(name in options for name in SOCKETS):
            options["http-socket"] = f"127.0.0.1:{self.port}"
        options.setdefault("master", True)
        options.setdefault("chdir", APPS)
        if not any(name in options for name in ("module", "wsgi", "wsgi-file")):
            options["module"] = "hello"
        options = {
            name: [_filled(item, self) for item in value] if isinstance(value, list)
            else _filled(value, self)
            for name, value in options.items() if value is not None
        }
        lines = ["[uwsgi]"]
        for name, value in options.items():
            for item in value if isinstance(value, list) else [value]:
                shown = {True: "true", False: "false"}.get(item, item) \
                    if isinstance(item, bool) else item
                lines.append(f"{name} = {shown}")
        return options, "\n".join(lines) + "\n"

    def _environment(self, extra):
        name, value = self.token.split("=")
        env = {key: text for key, text in os.environ.items()
               if not key.startswith(("UWSGI_", "PYTHON"))}
        env.update({name: value, "PYTHONDONTWRITEBYTECODE": "1"})
        if self.sanitized:
            suppressions = f":suppressions={SUPPRESSIONS}" if os.path.exists(SUPPRESSIONS) else ""
            env.update({
                "PYTHONMALLOC": "malloc",
                "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:handle_abort=1",
                "LSAN_OPTIONS": "print_suppressions=0" + suppressions,
                "UBSAN_OPTIONS": "print_stacktrace=1",
            })
        env.update(extra)
        return {key: text for key, text in env.items() if text is not None}


def _filled(value, server):
    if not isinstance(value, str):
        return value
    return (value.replace("@PORT@", str(server.port)).replace("@DIR@", server.folder)
            .replace("@APPS@", APPS))


def _options_of(text):
    """The options that the helper needs to know, read from an ini's text."""
    options = {}
    for line in text.splitlines():
        name, _, value = line.strip().partition("=")
        name, value = name.strip(), value.strip()
        if name in SOCKETS:
            options.setdefault(name, []).append(value)
        elif name in ("master", "lazy-apps"):
            options[name] = value not in ("false", "off", "no", "0")
        elif name in ("processes", "workers") and value.isdigit():
            options["processes"] = int(value)
    return options


class Nginx:
    """A real nginx in the foreground, in one process, with everything it writes below its folder.

    conf: what stands inside of http { }; @PORT@ and @DIR@ are replaced.
    """

    def __init__(self, folder, conf, whole=None):
        self.folder = str(folder)
        self.sanitized = False
        os.makedirs(self.folder, exist_ok=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.conf = os.path.join(self.folder, "nginx.conf")
        self.error_log = os.path.join(self.folder, "error.log")
        text = whole if whole is not None else _NGINX_CONF.replace("@HTTP@", conf)
        with open(self.conf, "w", encoding="utf-8") as file:
            file.write(text.replace("@PORT@", str(self.port)).replace("@DIR@", self.folder))
        with open(os.path.join(self.folder, "output.log"), "ab") as log:
            self.process = subprocess.Popen(
                [shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"),
                 "-p", self.folder, "-c", self.conf, "-e", self.error_log,
                 "-g", "daemon off; master_process off;"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )
        self._wait_ready()

    def get(self, path="/", *args, **options):
        return Server.get(self, path, *args, **options)

    def log(self):
        with open(self.error_log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def finish(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)

    def _wait_ready(self):
        def answers():
            assert self.process.poll() is None, self.log()
            try:
                connect(f"127.0.0.1:{self.port}", 1.0).close()
                return True
            except OSError:
                return False
        processes.wait_until(answers, 10, "nginx")


_NGINX_CONF = """
pid @DIR@/nginx.pid;
worker_rlimit_nofile 8192;
events { worker_connections 4096; }
http {
    access_log off;
    client_body_temp_path @DIR@/body;
    proxy_temp_path @DIR@/proxy;
    fastcgi_temp_path @DIR@/fastcgi;
    uwsgi_temp_path @DIR@/uwsgi;
    scgi_temp_path @DIR@/scgi;
@HTTP@
}
"""
