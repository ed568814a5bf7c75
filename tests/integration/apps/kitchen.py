"""One app with a door for everything that a test wants an app to do; the path chooses."""

import hashlib
import json
import os
import signal
import sys
import threading
import time
from urllib.parse import parse_qs

CLOSED = []  # marks of the iterables that were closed, in this process


def _answer(start_response, body, status="200 OK", headers=()):
    if not isinstance(body, bytes):
        body = json.dumps(body, default=str).encode()
    start_response(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(body))),
                            *headers])
    return [body]


class _Pieces:
    """An iterable without a length that notes when it is closed."""

    def __init__(self, pieces, mark=None):
        self.pieces = iter(pieces)
        self.mark = mark

    def __iter__(self):
        return self.pieces

    def close(self):
        CLOSED.append(self.mark)


def environ(env, start_response, query):
    """What the app was told."""
    return _answer(start_response, {name: value for name, value in env.items()
                                    if isinstance(value, (str, int, bool, tuple))})


def body(env, start_response, query):
    """The body's size and hash, and whether reading it ended."""
    data = env["wsgi.input"].read()
    return _answer(start_response, {
        "length": len(data), "sha256": hashlib.sha256(data).hexdigest(),
        "rest": len(env["wsgi.input"].read()), "terminated": env.get("wsgi.input_terminated"),
        "content_length": env.get("CONTENT_LENGTH"),
    })


def echo(env, start_response, query):
    return _answer(start_response, env["wsgi.input"].read())


def unread(env, start_response, query):
    """Leaves the body alone."""
    return _answer(start_response, b"not read")


def pieces(env, start_response, query):
    """?n=3: so many pieces, no Content-Length."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return _Pieces(b"piece %d\n" % number for number in range(int(query.get("n", 3))))


def big(env, start_response, query):
    """?n=bytes&mark=x in pieces of 64 KiB; with &length=1 the length is announced."""
    size, piece = int(query["n"]), 65536
    headers = [("Content-Type", "application/octet-stream")]
    if query.get("length"):
        headers.append(("Content-Length", str(size)))
    start_response("200 OK", headers)
    parts = (b"x" * min(piece, size - start) for start in range(0, size, piece))
    return _Pieces(parts, query.get("mark"))


def closed(env, start_response, query):
    """Marks of the iterables that were closed by now."""
    return _answer(start_response, CLOSED)


def status(env, start_response, query):
    """?code=204: that status, and a body only if ?body is given."""
    code = query["code"]
    start_response(f"{code} Some Reason", [("X-Given", "yes")])
    return [query["body"].encode()] if "body" in query else []


def sleep(env, start_response, query):
    """?s=1: waits without the interpreter's lock."""
    time.sleep(float(query.get("s", 1)))
    return _answer(start_response, f"slept in {os.getpid()}".encode())


def meet(env, start_response, query):
    """?folder=F&n=8: answers when n requests are in here at once, in whatever processes."""
    folder, wanted = query["folder"], int(query["n"])
    with open(os.path.join(folder, f"{os.getpid()}-{threading.get_ident()}"), "x"):
        pass
    end = time.monotonic() + float(query.get("s", 30))
    while len(os.listdir(folder)) < wanted:
        if time.monotonic() > end:
            return _answer(start_response, b"nobody else came", "504 Gateway Timeout")
        time.sleep(0.01)
    return _answer(start_response, f"met in {os.getpid()}".encode())


def wait(env, start_response, query):
    """?file=F: answers when that file is there, waiting without the interpreter's lock."""
    end = time.monotonic() + float(query.get("s", 30))
    while not os.path.exists(query["file"]):
        if time.monotonic() > end:
            return _answer(start_response, b"it never came", "504 Gateway Timeout")
        time.sleep(0.01)
    return _answer(start_response, f"waited in {os.getpid()}".encode())


def spin(env, start_response, query):
    """?s=1: computes, holding the interpreter's lock."""
    end, count = time.monotonic() + float(query.get("s", 1)), 0
    while time.monotonic() < end:
        count += 1
    return _answer(start_response, b"spun")


def whoami(env, start_response, query):
    return _answer(start_response, {
        "pid": os.getpid(), "thread": threading.get_ident(), "uid": os.getuid(),
        "gid": os.getgid(), "cwd": os.getcwd(), "ppid": os.getppid(),
        "multithread": env["wsgi.multithread"], "multiprocess": env["wsgi.multiprocess"],
    })


def fail(env, start_response, query):
    raise ValueError("kitchen: this failure is wanted")


def halfway(env, start_response, query):
    """Breaks off after the first piece."""
    start_response("200 OK", [("Content-Type", "text/plain")])

    def parts():
        yield b"first piece\n"
        raise ValueError("kitchen: broken off half-way")
    return parts()


def full(env, start_response, query):
    """Sends a file, with all descriptors taken for half a second."""
    file = open(__file__, "rb")
    size = os.fstat(file.fileno()).st_size
    taken = []
    try:
        while True:
            taken.append(os.dup(file.fileno()))
    except OSError:
        pass

    def free():
        time.sleep(0.5)
        for descriptor in taken:
            os.close(descriptor)
    threading.Thread(target=free, daemon=True).start()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(size))])
    return env["wsgi.file_wrapper"](file)


def leave(env, start_response, query):
    """Ends the worker behind the server's back."""
    os._exit(3)


def crash(env, start_response, query):
    """Dies as a broken C extension dies."""
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(10)


def say(env, start_response, query):
    """Writes to the process's output and to wsgi.errors."""
    # One piece, so that other threads' output cannot come between the text and its end.
    sys.stdout.write("kitchen: printed\n")
    sys.stdout.flush()
    env["wsgi.errors"].write("kitchen: an error line\n")
    env["wsgi.errors"].flush()
    return _answer(start_response, b"said")


DOORS = {"/" + door.__name__: door for door in (
    environ, body, echo, unread, pieces, big, closed, status, sleep, meet, wait, spin, whoami, fail, halfway,
    full, leave, crash, say)}


def application(env, start_response):
    door = DOORS.get(env["PATH_INFO"])
    if door is None:
        return _answer(start_response, b"Hello from the kitchen")
    query = {name: values[-1]
             for name, values in parse_qs(env["QUERY_STRING"], keep_blank_values=True).items()}
    return door(env, start_response, query)
