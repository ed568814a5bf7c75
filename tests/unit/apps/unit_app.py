"""The app that tests/unit/test_python.c drives: the path names one of the functions below."""

import io
import os
import sys
import tempfile
import threading

TEXT = [("Content-Type", "text/plain")]
kept = {}
calls = []


def hello(environ, start_response):
    start_response("200 OK", TEXT)
    return [b"Hello World!"]


def environ(environ, start_response):
    """Every key but wsgi's own objects, sorted, one repr a line."""
    start_response("200 OK", TEXT)
    assert type(environ) is dict
    lines = []
    for key in sorted(environ):
        value = environ[key]
        if key in ("wsgi.input", "wsgi.errors", "wsgi.file_wrapper"):
            value = "object"
        lines.append(f"{key}={value!r}\n")
    return ["".join(lines).encode()]


def mutate(environ, start_response):
    """What one request does to its environ must not be seen by the next."""
    found = environ.get("wsgi.mutated", "clean")
    environ["wsgi.mutated"] = "dirty"
    environ["SCRIPT_NAME"] = "/changed"
    start_response("200 OK", TEXT)
    return [found.encode()]


def read_body(environ, start_response):
    """QUERY_STRING is a Python expression over f, the input."""
    result = eval(environ["QUERY_STRING"], {"f": environ["wsgi.input"], "io": io})
    start_response("200 OK", TEXT)
    return [repr(result).encode()]


def chunks(environ, start_response):
    start_response("200 OK", TEXT)
    return [b"ab", b"", b"cde"]


def generator(environ, start_response):
    def body():
        start_response("200 OK", TEXT)
        calls.append("first")
        yield b""
        yield b"one"
        calls.append("second")
        yield b"two"
    return body()


class Closing:
    def __init__(self, pieces, fail_at=None, fail_in_close=False):
        self.pieces, self.fail_at, self.fail_in_close = iter(pieces), fail_at, fail_in_close
        self.count = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.count == self.fail_at:
            raise ValueError("in the middle")
        self.count += 1
        return next(self.pieces)

    def close(self):
        calls.append("close")
        if self.fail_in_close:
            raise ValueError("in close")


def closing(environ, start_response):
    start_response("200 OK", TEXT)
    return Closing([b"x", b"y", b"z"])


def closing_fails(environ, start_response):
    start_response("200 OK", TEXT)
    return Closing([b"x", b"y"], fail_at=1)


def closing_fails_first(environ, start_response):
    start_response("200 OK", TEXT)
    return Closing([b"x", b"y"], fail_at=0)


def closing_fails_close(environ, start_response):
    start_response("200 OK", TEXT)
    return Closing([b"x"], fail_in_close=True)


def closing_wrong_type(environ, start_response):
    start_response("200 OK", TEXT)
    return Closing(["text"])


def what_was_called(environ, start_response):
    start_response("200 OK", TEXT)
    body = " ".join(calls).encode()
    calls.clear()
    return [body]


def write(environ, start_response):
    send = start_response("200 OK", TEXT)
    send(b"")
    send(b"by write, ")
    return [b"by list"]


def write_wrong(environ, start_response):
    start_response("200 OK", TEXT)("text")


def exc_info_before(environ, start_response):
    start_response("200 OK", [("X-First", "1")])
    try:
        raise ValueError("replaced")
    except ValueError:
        start_response("500 Failed", [("X-Second", "2")], sys.exc_info())
    return [b"replaced"]


def exc_info_after(environ, start_response):
    def body():
        start_response("200 OK", TEXT)
        yield b"sent"
        try:
            raise ValueError("too late")
        except ValueError:
            start_response("500 Failed", TEXT, exc_info=sys.exc_info())
        yield b"never"
    return body()


def start_twice(environ, start_response):
    start_response("200 OK", TEXT)
    start_response("200 OK", TEXT)
    return [b""]


def no_start(environ, start_response):
    return [b"x"]


def no_start_empty(environ, start_response):
    return iter([])


def evaluate(environ, start_response):
    """QUERY_STRING is the arguments of start_response() as Python source."""
    status, headers = eval(environ["QUERY_STRING"])
    start_response(status, headers)
    return [b"x"]


def result(environ, start_response):
    """QUERY_STRING is what the app returns as Python source."""
    start_response("200 OK", [])
    return eval(environ["QUERY_STRING"])


def raises(environ, start_response):
    def deep(n):
        if n == 0:
            raise eval(environ["QUERY_STRING"])
        deep(n - 1)
    deep(3)


def chained(environ, start_response):
    try:
        {}["key"]
    except KeyError as error:
        raise RuntimeError("outer") from error


def long_traceback(environ, start_response):
    raise RuntimeError("x" * 20000 + " END")


def length(environ, start_response):
    """QUERY_STRING: Content-Length, then the pieces' lengths."""
    announced, *pieces = [int(n) for n in environ["QUERY_STRING"].split(",")]
    start_response("200 OK", [("content-length", str(announced))])
    return (b"x" * n for n in pieces)


def status(environ, start_response):
    start_response(environ["QUERY_STRING"].replace("+", " "), TEXT)
    return []


def keep(environ, start_response):
    kept.update(environ=environ, start_response=start_response, input=environ["wsgi.input"],
                write=start_response("200 OK", TEXT))
    return [b"kept"]


def use_kept(environ, start_response):
    start_response("200 OK", TEXT)
    said = []
    for action in (lambda: kept["start_response"]("200 OK", []), lambda: kept["write"](b"x"),
                   lambda: kept["input"].read(), lambda: kept["input"].readline(),
                   lambda: next(kept["input"]), lambda: kept["input"].readinto(bytearray(3)),
                   lambda: kept["environ"]["wsgi.input"].readlines()):
        try:
            action()
            said.append("nothing")
        except (RuntimeError, ValueError) as error:
            said.append(f"{type(error).__name__}: {error}")
    said.append(str(kept["input"].closed))
    kept.clear()
    return ["\n".join(said).encode()]


def errors(environ, start_response):
    stream = environ["wsgi.errors"]
    stream.write("one line\n")
    stream.writelines(["two\n", "three\n"])
    stream.flush()
    print("printed", file=stream)
    start_response("200 OK", TEXT)
    return []


def _file(environ, start_response, headers=(), text=b"0123456789", seek=0, wrap=lambda f: f):
    file = tempfile.TemporaryFile()
    file.write(text)
    file.flush()
    file.seek(seek)
    wrapped = wrap(file)
    start_response("200 OK", TEXT + list(headers))
    kept["file"] = wrapped
    return environ["wsgi.file_wrapper"](wrapped, 4)


def file(environ, start_response):
    return _file(environ, start_response)


def file_seek(environ, start_response):
    return _file(environ, start_response, seek=4)


def file_short(environ, start_response):
    return _file(environ, start_response, headers=[("Content-Length", "3")])


def file_long(environ, start_response):
    return _file(environ, start_response, headers=[("Content-Length", "30")])


def file_empty(environ, start_response):
    return _file(environ, start_response, text=b"")


def file_named(environ, start_response):
    named = tempfile.NamedTemporaryFile()
    named.write(b"named")
    named.flush()
    named.seek(0)
    start_response("200 OK", TEXT)
    kept["file"] = named
    return environ["wsgi.file_wrapper"](named)


def file_memory(environ, start_response):
    return _file(environ, start_response, wrap=lambda f: io.BytesIO(f.read()))


def file_gzip(environ, start_response):
    """Has a fileno(), of the file that it decodes."""
    import gzip
    return _file(environ, start_response, text=gzip.compress(b"decoded"),
                 wrap=lambda f: gzip.GzipFile(fileobj=f))


def file_wrapped(environ, start_response):
    """The wrapper inside an iterable of the app's own."""
    inner = _file(environ, start_response)
    return (piece for piece in inner)


def file_closed(environ, start_response):
    start_response("200 OK", TEXT)
    file = kept.pop("file")
    return [str(file.closed).encode()]


def modules(environ, start_response):
    """Extension modules that find libpython's symbols among the global ones."""
    import _ctypes, decimal, sqlite3, ssl, hashlib, socket
    value = sqlite3.connect(":memory:").execute("select 6*7").fetchone()[0]
    start_response("200 OK", TEXT)
    return [f"{value} {decimal.Decimal(1) / 8} {len(ssl.OPENSSL_VERSION) > 0}".encode()]


def where(environ, start_response):
    start_response("200 OK", TEXT)
    current = threading.current_thread() is threading.main_thread()
    return [f"{sys.argv} {sys.path[:2]} {sys.executable} {current} {os.getcwd()}".encode()]


def other_thread(environ, start_response):
    """A thread of the app uses write() and the input of its request."""
    send = start_response("200 OK", TEXT)
    said = []

    def run():
        said.append(environ["wsgi.input"].read())
        send(b"from a thread: ")

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return said


def refs(environ, start_response):
    """References that one request leaves behind would make this grow."""
    import gc
    gc.collect()
    start_response("200 OK", TEXT)
    return [str(len(gc.get_objects())).encode()]


class Name(str):
    """A str of the app's own, whose end runs its code."""
    def __del__(self):
        calls.append("del")


def own_strings(environ, start_response):
    start_response(Name("200 Fine"), [(Name("X-Own"), Name("yes"))])
    return [b"x"]


def application(environ, start_response):
    return globals()[environ["PATH_INFO"].lstrip("/")](environ, start_response)
