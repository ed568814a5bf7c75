"""What a wrong configuration gets: every error at once with its place, and the right exit code."""

import os
import re
import socket
import subprocess

import pytest

OK, CONFIG, USAGE = 0, 1, 2
NOBODY = 65534


class Run:
    """A run of ccontainer that must end by itself."""

    def __init__(self, binary, arguments, folder, **options):
        env = {key: value for key, value in os.environ.items() if not key.startswith("UWSGI_")}
        env.update(options.pop("env", {}))
        done = subprocess.run([binary, *arguments], cwd=folder, env=env, timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True, **options)
        self.code = done.returncode
        self.err = done.stderr.decode("utf-8", "replace")
        self.out = done.stdout.decode("utf-8", "replace")
        self.lines = self.err.splitlines()
        assert "Traceback" not in self.err and "Sanitizer" not in self.err, self.err

    def has(self, pattern):
        """The one line that the pattern fits."""
        found = [line for line in self.lines if re.search(pattern, line)]
        assert len(found) == 1, f"{len(found)} lines fit {pattern!r}:\n{self.err}"
        return found[0]

    def has_not(self, pattern):
        assert not re.search(pattern, self.err), self.err


@pytest.fixture
def run(ccontainer, folder):
    """run(text, ...) writes app.ini (None: does not) and runs ccontainer on it."""

    def start(text, *arguments, name="app.ini", **options):
        if text is not None:
            mode = "wb" if isinstance(text, bytes) else "w"
            with open(os.path.join(folder, "app.ini"), mode) as file:
                file.write(text)
        return Run(ccontainer, [*([name] if name else []), *arguments], folder, **options)

    return start


# A configuration that is right but for an error that stops the start: whatever is tested beside it
# is seen without a server being started.
STOPPED = "[uwsgi]\nhttp = 127.0.0.1:0\nchmod-socket = stop\n"


# -- files

def test_missing(run):
    done = run(None, name="missing.ini")
    assert (done.code, done.lines) == (
        CONFIG, ["missing.ini: cannot read the file: No such file or directory"])


def test_missing_after_ini_option(run):
    done = run(None, "--ini", "missing.ini", name=None)
    assert done.code == CONFIG
    done.has(r"^missing\.ini: cannot read the file: No such file or directory$")


def test_unreadable(run, folder):
    path = os.path.join(folder, "secret.ini")
    with open(path, "w") as file:
        file.write("[uwsgi]\nhttp = :0\n")
    os.chmod(path, 0)
    options = {}
    if os.getuid() == 0:
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    done = run(None, name="secret.ini", **options)
    assert (done.code, done.lines) == (
        CONFIG, ["secret.ini: cannot read the file: Permission denied"])


def test_directory(run, folder):
    os.mkdir(os.path.join(folder, "conf.ini"))
    done = run(None, name="conf.ini")
    assert (done.code, done.lines) == (
        CONFIG, ["conf.ini: this is a directory, expected a file"])


def test_directory_without_extension(run, folder):
    os.mkdir(os.path.join(folder, "conf"))
    done = run(None, name="conf")
    assert (done.code, done.lines) == (CONFIG, ["conf: this is a directory, expected a file"])


def test_binary_junk(run, ccontainer):
    with open("/bin/true", "rb") as file:
        done = run(file.read())
    assert done.code == CONFIG
    assert re.fullmatch(r"app\.ini:\d+: this is no ini file: it has a NUL byte at offset \d+",
                        done.has("NUL byte"))
    assert len(done.lines) == 1


def test_junk_without_nul(run):
    done = run(bytes(range(1, 256)) * 2000)
    assert done.code == CONFIG
    done.has(r"has no section \[uwsgi\]")


def test_endless_junk_in_the_section(run):
    """Many thousands of unknown keys are no reason to work for minutes."""
    done = run("[uwsgi]\n" + "".join(f"thraeds{i} = 1\n" for i in range(200000)))
    assert done.code == CONFIG
    done.has("more than 10000 options in all")


def test_too_large(run):
    done = run(b"[uwsgi]\n" + b"# comment\n" * 2000000)
    assert (done.code, done.lines) == (CONFIG, ["app.ini: the file is larger than 16 MiB"])


def test_empty(run):
    done = run("")
    assert (done.code, done.lines) == (
        CONFIG, ["app.ini: the file is empty, expected a section [uwsgi]"])


def test_without_section(run):
    done = run("http = :8000\n")
    assert done.code == CONFIG
    done.has(r"^app\.ini: the file has no section \[uwsgi\], nor any other")
    done.has_not("no socket")


def test_other_sections(run):
    done = run("[app:main]\nuse = egg:x\n[server]\nport = 1\n")
    assert done.code == CONFIG
    done.has(r"^app\.ini: the file has no section \[uwsgi\]; it has \[app:main\] \[server\]")


def test_section_asked_for_is_missing(run):
    done = run("[uwsgi]\nhttp = :0\n", name="app.ini:prod")
    assert done.code == CONFIG
    done.has(r"^app\.ini: the file has no section \[prod\]; it has \[uwsgi\]")


def test_section_header_not_closed(run):
    done = run("[uwsgi] ; the main one\nhttp = :0\n")
    assert done.code == CONFIG
    done.has(r"^app\.ini:1: \"\[uwsgi\] ; the main one\" is no section header")


def test_lines_before_the_section(run):
    done = run("master = true\n" + STOPPED)
    done.has(r"^app\.ini:1: warning: master: ignored, since it stands before the first \[section\]")


def test_a_program_instead_of_an_ini(run):
    done = run("import os\n" + "port = 8000\n" * 50)
    assert done.code == CONFIG
    assert len(done.lines) == 4, done.lines
    done.has(r"^app\.ini:3: warning: port: ignored, .*, and so are further lines there$")
    done.has(r"^app\.ini: the file has no section \[uwsgi\], nor any other")


def test_include_of_a_missing_file(run):
    done = run(STOPPED + "include = parts/none.ini\nini = none2.ini\n")
    assert done.code == CONFIG
    done.has(r"^app\.ini:4: parts/none\.ini: cannot read the file: No such file.*working directory")
    done.has(r"^app\.ini:5: none2\.ini: cannot read the file: No such file")


def test_include_of_itself(run):
    done = run(STOPPED + "include = app.ini\n")
    assert done.code == CONFIG
    done.has(r"^app\.ini:4: app\.ini, section \[uwsgi\], includes itself")


def test_include_in_a_circle(run, folder):
    with open(os.path.join(folder, "b.ini"), "w") as file:
        file.write("[uwsgi]\nini = app.ini:uwsgi\n")
    done = run(STOPPED + "include = b.ini\n")
    assert done.code == CONFIG
    done.has(r"^b\.ini:2: app\.ini, section \[uwsgi\], includes itself")


def test_include_without_end(run, folder):
    """Not a circle, but a tree of two to the sixteenth files."""
    for level in range(20):
        with open(os.path.join(folder, f"l{level}.ini"), "w") as file:
            file.write(f"[uwsgi]\ninclude = l{level + 1}.ini\n" * 2)
    done = run(STOPPED + "include = l0.ini\n")
    assert done.code == CONFIG
    assert "too many included files" in done.err


def test_file_in_a_value(run):
    done = run(STOPPED + "uid = @(none.txt)\ngid = @(/)\nenv = A=@(http://127.0.0.1/)\n")
    assert done.code == CONFIG
    done.has(r"^app\.ini:4: @\(none\.txt\): cannot read the file: No such file")
    done.has(r"^app\.ini:5: @\(/\): this is a directory")
    done.has(r"^app\.ini:6: @\(http://127\.0\.0\.1/\): only a file's path is supported")


def test_value_that_leads_to_itself(run):
    done = run(STOPPED + "a = x%(a)\n")
    assert done.code == CONFIG
    done.has(r"^app\.ini:4: a: replacing its %\(name\) does not end")


def test_logic_blocks(run):
    done = run(STOPPED + "if-not-env = X_Y_Z\nprocesses = x\nelse =\nthreads = y\nendif =\n"
               "for = a b\nlisten = %(_)\nif-opt = a\nelse\nendfor =\nfor-times = 3\n")
    assert done.code == CONFIG
    done.has(r'^app\.ini:5: processes: .*"x"')
    done.has(r'^app\.ini:10: listen: .*"a"')
    done.has(r'^app\.ini:10: listen: .*"b"')
    done.has(r"^app\.ini:11: if-opt: stands in the block of line 9 \(a b\), and blocks do not nest")
    done.has(r"^app\.ini:12: else: belongs to an if-\.\.\. block, and this is a for$")
    done.has(r"^app\.ini:14: warning: the block that begins here has no end")
    assert not [line for line in done.lines if "threads" in line]


# -- values

def test_every_wrong_value_at_once(run, folder):
    os.mkdir(os.path.join(folder, "here"))
    done = run("""[uwsgi]
processes = four
threads = 0
listen = 70000
harakiri = -1
max-requests = 10x
http = 8000
socket = nohost:99999
uwsgi-socket = /%s
chmod-socket = 888
chown-socket = nobody-there:nogroup-there
uid = nobody-there
gid = nogroup-there
env = NOEQUALS
protocol = gopher
pidfile =
post-buffering = 99999999999999999999
""" % ("x" * 150))
    assert done.code == CONFIG
    for line, pattern in enumerate([
        'processes: expected a whole number from 1 to 1024 or auto, got "four"',
        'threads: expected a whole number from 1 to 1024, got "0"',
        'listen: expected a whole number from 1 to 65535, got "70000"',
        'harakiri: expected a whole number of seconds from 0 to .*, got "-1"',
        'max-requests: expected a whole number, 0 or more, got "10x"',
        'http: "8000" is a port without a colon: write ":8000"',
        'socket: "nohost:99999" has no port between 0 and 65535',
        "uwsgi-socket: the path is 151 bytes long, a unix socket's may have at most 107",
        'chmod-socket: expected an octal mode such as 660, got "888"',
        'chown-socket: there is no user "nobody-there"',
        'uid: there is no user "nobody-there"',
        'gid: there is no group "nogroup-there"',
        'env: expected NAME=value, got "NOEQUALS"',
        'protocol: expected uwsgi or http, got "gopher"',
        r"pidfile: needs a value \(path\)",
        "post-buffering: expected a whole number of bytes, 0 or more, got",
    ], start=2):
        done.has(rf"^app\.ini:{line}: {pattern}")
    done.has(r'^app\.ini:11: chown-socket: there is no group "nogroup-there"')
    assert len(done.lines) == 17
    assert [int(line.split(":")[1]) for line in done.lines] == sorted(
        int(line.split(":")[1]) for line in done.lines)


def test_nothing_to_listen_on(run):
    done = run("[uwsgi]\nmaster = true\n")
    assert done.code == CONFIG
    done.has(r'^app\.ini: there is no socket to listen on: add one, for example "http = ')


def test_an_address_twice(run):
    done = run(STOPPED + "http-socket = 127.0.0.1:18123\nsocket = 127.0.0.1:18123\n")
    assert done.code == CONFIG
    done.has(r"127\.0\.0\.1:18123 is listened on twice, see socket in \S*app\.ini:\d+$")


def test_an_address_twice_on_the_command_line(run):
    same = ["--http-socket", "127.0.0.1:18123", "--socket", "127.0.0.1:18123"]
    done = run(STOPPED, *same)
    assert done.code == CONFIG
    done.has(r"is listened on twice, see socket on the command line$")


def test_socket_in_use(run):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = run(f"[uwsgi]\nmaster = true\nhttp = 127.0.0.1:{port}\nthreads = x\n")
    assert done.code == CONFIG
    done.has(rf"^app\.ini:3: http: cannot listen on 127\.0\.0\.1:{port}: Address already in use")
    done.has(r"^app\.ini:4: threads: expected")


def test_a_queue_longer_than_the_kernels(run):
    with open("/proc/sys/net/core/somaxconn", encoding="ascii") as file:
        most = int(file.read())
    if most >= 65535:
        pytest.skip("the kernel's limit is as high as the option's")
    done = run(f"{STOPPED}listen = {most + 1}\n")
    done.has(rf"^app\.ini:4: warning: listen: the kernel makes it {most}, as net\.core\.somaxconn says")
    run(f"{STOPPED}listen = {most}\n").has_not("listen:")


def test_a_socket_that_may_be_in_use_stays(run, folder):
    path = os.path.join(folder, "app.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(path)
        done = run(f"[uwsgi]\nsocket = {path}\n")
    assert done.code == CONFIG and os.path.exists(path)
    done.has(r"^app\.ini:2: socket: cannot tell whether anybody listens on ")


def test_an_option_of_several_tables_is_wrong_once(run):
    done = run("[uwsgi]\nhttp = 127.0.0.1:0\nbuffer-size = 64k\nlimit-post = 12MB\n")
    assert done.code == CONFIG
    assert [line.split(":")[1] for line in done.lines] == ["3", "4"]


def test_a_failed_start_leaves_no_socket_behind(run, folder):
    done = run("[uwsgi]\nsocket = app.sock\nsocket = none/app.sock\n")
    assert done.code == CONFIG
    assert not os.path.exists(os.path.join(folder, "app.sock"))


def test_folder_of_the_socket_is_missing(run):
    done = run("[uwsgi]\nsocket = none/app.sock\n")
    assert done.code == CONFIG
    done.has(r"^app\.ini:2: socket: cannot listen on none/app\.sock: No such file or directory")


def test_no_permission_for_the_socket(run, folder):
    os.mkdir(os.path.join(folder, "closed"), 0o755)
    options = {}
    if os.getuid() == 0:
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    else:
        os.chmod(os.path.join(folder, "closed"), 0o555)
    done = run("[uwsgi]\nsocket = closed/app.sock\n", **options)
    assert done.code == CONFIG
    done.has(r"^app\.ini:2: socket: cannot listen on closed/app\.sock: Permission denied")


def test_chdir_to_nowhere(run):
    done = run("[uwsgi]\nhttp = 127.0.0.1:0\nchdir = none\n")
    assert done.code == CONFIG
    done.has(r"^app\.ini:3: chdir: cannot enter .*/none: No such file or directory")


def test_plugin_that_is_not_there(run):
    done = run("[uwsgi]\nhttp = 127.0.0.1:0\nplugins = http, perl\n")
    assert done.code == CONFIG
    done.has(r'^app\.ini:3: plugin: cannot open the plugin "perl"; tried:')


def test_odd_flags_are_said(run):
    done = run(STOPPED + "vacuum = false # not now\nneed-app = maybe\nmaster = true ; yes\n")
    done.has(r'^app\.ini:4: warning: vacuum: taken as false; uWSGI takes the note "# not now"')
    done.has(r'^app\.ini:5: warning: need-app: "maybe" is neither true nor false')
    done.has_not("app.ini:6")


def test_option_as_placeholder(run):
    done = run(STOPPED + "set-ph = processes=4\nset-placeholder = nothing\n")
    assert done.code == CONFIG
    done.has(r"^app\.ini:4: processes: an option's name cannot be a placeholder")
    done.has(r'^app\.ini:5: set-placeholder: expected key=value, got "nothing"')


# -- names

def test_unknown_names_have_the_nearest_one(run):
    done = run(STOPPED + "theads = 4\nbuffer-sizi = 4096\nchmod-sock = 660\nprocess = 2\n"
               "max-request = 5\nsome-name-of-mine = 1\n")
    for line, theirs, meant in [(4, "theads", "threads"), (5, "buffer-sizi", "buffer-size"),
                                (6, "chmod-sock", "chmod-socket"), (7, "process", "processes"),
                                (8, "max-request", "max-requests")]:
        done.has(rf'^app\.ini:{line}: warning: {theirs}: unknown option, did you mean "{meant}"\?$')
    done.has_not("some-name-of-mine")


def test_known_to_uwsgi_is_one_warning(run):
    done = run(STOPPED + "spooler = /tmp/x\nstats = :9191\nthreads = 2\ncron = 1\n")
    assert done.has("warning").startswith("app.ini:4: warning: ignored, since uWSGI has these")
    assert done.has("warning").endswith(
        "yet: spooler (app.ini:4), stats (app.ini:5), cron (app.ini:7)")


def test_placeholders_are_no_mistakes(run):
    done = run(STOPPED + "thread = 2\nthreads = %(thread)\nbase = /srv\nenv = A=%(base)\n")
    done.has_not("warning")


def test_strict_makes_errors_of_them(run):
    text = "[uwsgi]\nhttp = 127.0.0.1:0\ntheads = 4\nstats = :9191\nunused = 1\nused = 2\n" \
           "env = A=%(used)\nstrict = true\n"
    done = run(text)
    assert done.code == CONFIG
    assert done.lines == [
        'app.ini:3: theads: unknown option, did you mean "threads"?',
        "app.ini:4: stats: uWSGI has this option, ccontainer does not do it yet",
        "app.ini:5: unused: unknown option, and no %(unused) uses it",
    ]


def test_unknown_names_do_not_stop_the_start(server):
    one = server({"theads": 4, "stats": "127.0.0.1:0", "base": "/srv"})
    assert one.get().status == 200, one.log()
    assert 'theads: unknown option, did you mean "threads"?' in one.log()


def test_underscores_are_dashes(server):
    one = server({"http_socket": "127.0.0.1:@PORT@", "http": None, "master": None,
                  "socket": "@cc-test-underscore-@PORT@"})
    assert one.get().status == 200


# -- the command line

@pytest.mark.parametrize("arguments, message", [
    (["--theads", "4"], "there is no option --theads; did you mean --threads?"),
    (["--htpp=:8000"], "there is no option --htpp; did you mean --http?"),
    (["--xyzzy-nothing"], "there is no option --xyzzy-nothing; --help lists them"),
    (["--processes"], "--processes needs a value"),
    (["-p"], "-p needs a value"),
    (["-M", "-%"], "there is no option -%; --help lists them"),
    (["hello.py"], '"hello.py" is neither an option nor an ini file'),
])
def test_usage(run, arguments, message):
    done = run(None, *arguments, name=None)
    assert (done.code, done.lines, done.out) == (USAGE, [f"ccontainer: {message}"], "")


def test_no_arguments(run):
    done = run(None, name=None)
    assert done.code == USAGE
    assert done.lines[0].startswith("usage: ccontainer")
    assert len(done.lines) <= 5


def test_values_of_the_command_line(run):
    done = run(None, "--http", "8000", "--processes", "many", name=None)
    assert done.code == CONFIG
    done.has(r'^command line: processes: expected a whole number from 1 to 1024 or auto, got "many"')
    done.has(r"^command line: http: ")


def test_the_environment_is_not_to_blame_for_what_is_missing(run):
    done = run("[uwsgi]\nmaster = true\n", env={"UWSGI_THREADS": "2"})
    assert (done.code, len(done.lines)) == (CONFIG, 1)
    done.has(r"^app\.ini: there is no socket to listen on")


def test_without_a_file(ccontainer, app_dir, folder):
    """All of it on the command line; a relative socket lies below chdir."""
    path = os.path.join(folder, "app.sock")
    process = subprocess.Popen(
        [ccontainer, "--http-socket", "app.sock", "--pythonpath", app_dir, "--chdir", folder,
         "--module=hello", "-p2", "--threads", "2", "-M", "--vacuum"],
        cwd="/", stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while b"all workers are ready" not in process.stderr.readline():
            assert process.poll() is None
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert client.recv(4096).startswith(b"HTTP/1.1 200 ")
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == OK
    assert not os.path.exists(path)


def test_values_of_the_environment(run):
    done = run(STOPPED, env={"UWSGI_PROCESSES": "many", "UWSGI_THEADS": "4"})
    assert done.code == CONFIG
    done.has(r"^environment, UWSGI_PROCESSES: processes: expected a whole number")
    done.has(r'^environment, UWSGI_THEADS: warning: theads: unknown option, did you mean "threads"')


def test_file_overrides_the_command_line(run):
    done = run(STOPPED + "processes = 2\n", "--processes", "4")
    done.has(r"^app\.ini:4: warning: processes: overrides the command line's value")


def test_help(run):
    done = run(None, "--help", name=None)
    assert (done.code, done.err) == (OK, "")
    for name in ["--processes, --workers number", "-M, --master", "--module", "--buffer-size"]:
        assert name in done.out
    texts = [line for line in done.out.splitlines() if line.startswith("        ")]
    assert len(texts) > 50 and all(len(line) <= 80 for line in texts)


def test_help_with_a_word(run):
    done = run(None, "--help", "harakiri", name=None)
    assert done.code == OK
    assert "--harakiri" in done.out and "--module" not in done.out
    done = run(None, "--help", "xyzzy", name=None)
    assert done.code == CONFIG


def test_version(run):
    done = run(None, "--version", name=None)
    assert (done.code, done.err) == (OK, "")
    assert re.fullmatch(r"ccontainer \d+\.\d+\.\d+\n", done.out)
