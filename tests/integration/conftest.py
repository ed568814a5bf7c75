"""Fixtures of the integration tests; what they start is in servers.py."""

import os
import shutil
import signal
import tempfile

import pytest

import servers

# The longest that a test may take; on a sanitizer build everything is slower.
LONGEST_S = 120


@pytest.fixture(scope="session")
def ccontainer():
    """Path of the binary under test."""
    return os.path.abspath(os.environ["CCONTAINER"])


@pytest.fixture(scope="session")
def sanitized(ccontainer):
    """Is it a build with sanitizers? (Slower, and its memory says nothing.)"""
    return servers.is_sanitized(ccontainer)


def new_folder():
    """An empty folder with a short path (unix sockets) that any user may enter."""
    path = tempfile.mkdtemp(prefix="cc")
    os.chmod(path, 0o755)
    return path


@pytest.fixture
def folder():
    """The test's own folder; see new_folder."""
    path = new_folder()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def shared_folder():
    """A folder for all tests of a file; see new_folder."""
    path = new_folder()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def app_dir():
    """The folder of the test apps."""
    return servers.APPS


def start_servers(binary, folder):
    """Yields server(ini, ...), which starts a ccontainer (see servers.Server). At the end each is
    stopped, and the test fails on a wrong exit code, on processes left over and on what a sanitizer
    printed."""
    started = []

    def start(ini=None, **options):
        own = os.path.join(folder, f"s{len(started)}")
        os.mkdir(own)
        os.chmod(own, 0o755)
        one = servers.Server.__new__(servers.Server)
        started.append(one)
        one.__init__(binary, own, {} if ini is None else ini, **options)
        return one

    yield start
    complaints = []
    for one in started:
        if not hasattr(one, "process"):
            continue
        try:
            one.finish()
        except AssertionError as error:
            complaints.append(str(error))
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def server(ccontainer, folder):
    """Starts servers for one test; see start_servers."""
    yield from start_servers(ccontainer, folder)


@pytest.fixture(scope="module")
def shared_server(ccontainer, shared_folder):
    """Starts servers that all tests of a file use: for apps that take long to load."""
    yield from start_servers(ccontainer, shared_folder)


@pytest.fixture
def nginx(folder):
    """nginx(conf) starts a real nginx with conf inside of http { }; see servers.Nginx."""
    started = []

    def start(conf, **options):
        one = servers.Nginx(os.path.join(folder, f"n{len(started)}"), conf, **options)
        started.append(one)
        return one

    yield start
    for one in started:
        one.finish()


@pytest.fixture(autouse=True)
def no_hang(sanitized):
    """A test that hangs fails, and what it started is ended by its fixtures."""
    def complain(number, frame):
        raise TimeoutError(f"the test took longer than {longest} s")

    longest = LONGEST_S * (4 if sanitized else 1)
    before = signal.signal(signal.SIGALRM, complain)
    signal.alarm(longest)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
