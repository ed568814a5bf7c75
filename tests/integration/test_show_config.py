"""--show-config prints what Debian's uWSGI prints, for files that cover the whole dialect."""

import os
import random
import shutil
import subprocess

import ini_grammar
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
GOOD = os.path.join(HERE, "..", "ini", "good")
FILES = sorted(name for name in os.listdir(GOOD) if name.endswith(".ini"))

# What the two must read alike; the files' values need it.
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C.UTF-8",
    "CC_TEST_ONE": "one",
    "CC_TEST_TWO": "2 words",
    "CC_TEST_EMPTY": "",
    "CC_TEST_PORT": "8080",
    "CC_TEST_KEY": "%(n)-%(n)",
    "CC_TEST_NAME": "CC_TEST_ONE",
    "CC_TEST_FILE": "@(parts/port.txt)",
}

# Command lines beside the plain `--ini FILE` of each file: the order of options and files, sections.
COMMANDS = {
    "named section": ["--ini", "section_named.ini:prod"],
    "default section named": ["--ini", "section_named.ini:uwsgi"],
    "another section of the same file": ["--ini", "section_named.ini", "--ini", ":dev"],
    "two files": ["--ini", "include.ini", "--ini", "words_first.ini"],
    "bare file": ["flags.ini"],
    "bare file before options": ["flags.ini", "--master", "--processes", "3"],
    "bare file between options": ["--threads=2", "sums.ini", "-M"],
    "options before and after": ["--processes", "2", "--ini", "repeats.ini", "--workers=8"],
    "letters": ["-M", "-p", "4", "-s", "127.0.0.1:0", "-l", "10", "-t", "30", "-L", "-C"],
    "letters with the value attached": ["-p4", "-R1000", "-Mp", "2", "-z3"],
    "optional value": ["--chmod-socket=660", "--ini=flags.ini"],
    "optional value left out": ["--need-app", "--chmod-socket", "--ini", "flags.ini"],
    "placeholders": ["--set-ph", "n=5", "--set", "m=%(n)", "--set-placeholder", "k=a=b",
                     "--ini", "passes.ini"],
    "words are of files only": ["--env", "A=%d%n", "--pidfile", "%(x)", "--set", "x=%d"],
    "path with dots": ["--ini", "./parts/../words_file.ini"],
    "file in a folder": ["--ini", "parts/included.ini"],
    "no file": ["--http-socket", "127.0.0.1:0", "--master"],
}


def resolved(command, folder, env):
    """The lines between [uwsgi] and the end that the program prints to standard error."""
    # uWSGI goes on to start after printing; --no-server ends that, killing it makes sure.
    process = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines, inside = [], False
    try:
        for raw in process.stderr:
            line = raw.decode("utf-8", "surrogateescape").rstrip("\n")
            if line == ";end of configuration":
                return lines
            if inside:
                lines.append(line)
            inside = inside or line == "[uwsgi]"
    finally:
        process.kill()
        process.communicate()
    raise AssertionError(f"{command} printed no configuration (exit code {process.returncode})")


@pytest.fixture
def files(folder):
    """A copy of the files, since uWSGI binds the sockets that they name."""
    return shutil.copytree(GOOD, os.path.join(folder, "good"))


def assert_same(ccontainer, files, arguments, env=None):
    env = {**ENVIRONMENT, **(env or {})}
    theirs = resolved(["uwsgi", "--show-config", *arguments, "--no-server"], files, env)
    ours = resolved([ccontainer, "--show-config", *arguments, "--no-server"], files, env)
    assert ours == theirs
    assert "show-config = true" in ours


def test_there_are_enough_files():
    assert len(FILES) >= 30


@pytest.mark.parametrize("name", FILES)
def test_file(ccontainer, files, name):
    assert_same(ccontainer, files, ["--ini", name])


@pytest.mark.parametrize("name", COMMANDS)
def test_command_line(ccontainer, files, name):
    assert_same(ccontainer, files, COMMANDS[name])


RANDOM_FILES = 2000 if os.environ.get("CC_SOAK") else 60


def test_random_files(ccontainer, files):
    for seed in range(RANDOM_FILES):
        name = ini_grammar.Writer(random.Random(seed), files).file()
        try:
            assert_same(ccontainer, files, ["--ini", name])
        except AssertionError:
            print(f"seed {seed}, {name}:")
            with open(os.path.join(files, name), encoding="utf-8") as file:
                print(file.read())
            raise


def test_environment_sets_options(ccontainer, files):
    assert_same(ccontainer, files, ["--ini", "sums.ini"],
                {"UWSGI_PROCESSES": "4", "UWSGI_MASTER": "", "UWSGI_HTTP_SOCKET": "127.0.0.1:0"})


def test_symlink_is_not_followed(ccontainer, files):
    """As in apps-enabled/: the words are of the link, not of the file that it leads to."""
    os.mkdir(os.path.join(files, "enabled"))
    os.symlink("../words_file.ini", os.path.join(files, "enabled", "site.ini"))
    assert_same(ccontainer, files, ["--ini", "enabled/site.ini"])
    assert_same(ccontainer, files, ["--ini", os.path.join(files, "enabled", "site.ini")])


def test_exits_on_the_command_line(ccontainer, files):
    done = subprocess.run([ccontainer, "--show-config", "flask_site.ini"], cwd=files, timeout=20,
                          capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.startswith("[uwsgi]\nshow-config = true\nmodule = wsgi:app\n")
    assert done.stderr.endswith(";end of configuration\n")
    assert done.stdout == ""
    assert not os.path.exists(os.path.join(files, "flask_site.sock"))


def test_goes_on_in_a_file(server):
    """In a file it prints, and the server starts."""
    one = server({"show-config": True})
    lines = one.log().splitlines()
    start = lines.index("[uwsgi]")
    end = lines.index(";end of configuration")
    assert "show-config = true" in lines[start:end]
    assert f"module = hello" in lines[start:end]
