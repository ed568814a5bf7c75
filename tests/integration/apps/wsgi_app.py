"""What test_wsgi.py asks for; every answer goes through wsgiref's validator first."""

import os
import threading
import time
from wsgiref.validate import validator

TEXT = [("Content-Type", "text/plain")]
closed = []


class Body:
    """An iterable with a close() that is remembered."""

    def __init__(self, name, pieces):
        self.name, self.pieces = name, pieces

    def __iter__(self):
        return iter(self.pieces)

    def close(self):
        closed.append(self.name)


def keys(environ, start_response):
    start_response("200 OK", TEXT)
    lines = [f"{key}={value!r}" for key, value in sorted(environ.items())
             if type(value) in (str, bool, tuple)]
    return ["\n".join(lines).encode()]


def echo(environ, start_response):
    body = environ["wsgi.input"].read(-1 if environ["wsgi.input_terminated"] else 0)
    start_response("200 OK", TEXT)
    return [body]


def lines(environ, start_response):
    start_response("200 OK", TEXT)
    return [str([len(line) for line in environ["wsgi.input"]]).encode()]


def stream(environ, start_response):
    start_response("200 OK", TEXT)
    count = int(environ["QUERY_STRING"] or 3)
    return Body("stream", (f"piece {i}\n".encode() for i in range(count)))


def large(environ, start_response):
    """As many bytes as the query says, in pieces of 64 KiB."""
    def pieces(left):
        while left > 0:
            yield b"x" * min(left, 65536)
            left -= 65536
    start_response("200 OK", TEXT)
    return Body("large", pieces(int(environ["QUERY_STRING"])))


def slow_stream(environ, start_response):
    """A piece, then nothing until the file of the query appears, then another."""
    def pieces():
        yield b"first\n"
        end = time.monotonic() + 20
        while not os.path.exists(environ["QUERY_STRING"]) and time.monotonic() < end:
            time.sleep(0.01)
        yield b"second\n"
    start_response("200 OK", TEXT)
    return Body("slow", pieces())


def write(environ, start_response):
    send = start_response("200 OK", TEXT)
    send(b"written, ")
    return [b"returned"]


def what_was_closed(environ, start_response):
    start_response("200 OK", TEXT)
    return [" ".join(closed).encode()]


def file(environ, start_response):
    start_response("200 OK", TEXT)
    return environ["wsgi.file_wrapper"](open(environ["QUERY_STRING"], "rb"))


def no_content(environ, start_response):
    start_response("204 No Content", [])
    return []


def errors(environ, start_response):
    environ["wsgi.errors"].write("a line for the log\n")
    print("printed by the app")
    start_response("200 OK", TEXT)
    return [b""]


def raises(environ, start_response):
    raise ValueError("the app's own error")


def raises_later(environ, start_response):
    def pieces():
        yield b"begun"
        raise ValueError("too late for a 500")
    start_response("200 OK", TEXT)
    return Body("raises", pieces())


def leaves(environ, start_response):
    raise SystemExit(3)


def connection(environ, start_response):
    start_response("200 OK", TEXT + [("Connection", "close")])
    return [b"x"]


def split(environ, start_response):
    start_response("200 OK", TEXT + [("X-Name", environ["QUERY_STRING"] + "\r\nSet-Cookie: a=b")])
    return [b"x"]


def overlong(environ, start_response):
    start_response("200 OK", TEXT + [("Content-Length", "4")])
    return [b"12345678"]


def short(environ, start_response):
    start_response("200 OK", TEXT + [("Content-Length", "8")])
    return [b"1234"]


def sleep(environ, start_response):
    time.sleep(float(environ["QUERY_STRING"]))
    start_response("200 OK", TEXT)
    return [str(threading.active_count()).encode()]


CHECKED = {name: validator(function) for name, function in
           [(f.__name__, f) for f in (keys, echo, lines, stream, large, slow_stream, write,
                                      what_was_closed, file, no_content, errors)]}
# The validator would refuse these before the server can.
PLAIN = {f.__name__: f for f in (raises, raises_later, leaves, connection, split, overlong, short,
                                 sleep)}


def application(environ, start_response):
    name = environ["PATH_INFO"].strip("/")
    return (CHECKED.get(name) or PLAIN[name])(environ, start_response)
