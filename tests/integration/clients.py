"""Clients that show every byte: HTTP on a plain socket, and uwsgi packets."""

import select
import socket
import struct

import servers


class Answer:
    """A response: status, reason, version, headers (names in lower case), body."""

    def __init__(self, head, body=b""):
        lines = head.decode("latin-1").split("\r\n")
        self.version, self.status, self.reason = (lines[0].split(" ", 2) + ["", ""])[:3]
        self.status = int(self.status)
        self.pairs = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
        self.headers = {name.lower(): value for name, value in self.pairs}
        self.body = body
        self.interim = []  # statuses of 1xx answers that came before it

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:200]!r}>"


def readable(http):
    """Whether something of an answer has arrived on that connection by now."""
    return bool(select.select([http.socket], [], [], 0)[0])


class Http:
    """One HTTP connection, byte by byte. address: as servers.connect takes it."""

    def __init__(self, address, timeout=10.0):
        self.socket = servers.connect(address, timeout)
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode("latin-1"))
        return self

    def shut(self):
        """Says that nothing more will be sent."""
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def answer(self, method="GET"):
        """Reads one response; 1xx answers before it are noted."""
        interim = []
        while True:
            answer = Answer(self._until(b"\r\n\r\n"))
            if answer.status >= 200 or answer.status == 101:
                break
            interim.append(answer.status)
        answer.interim = interim
        answer.body = self._body(answer, method)
        return answer

    def get(self, path="/", headers="", method="GET"):
        self.send(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")
        return self.answer(method)

    def closed(self):
        """True if the server closes now without another byte (a reset counts)."""
        try:
            return self.rest == b"" and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def all(self):
        """Everything up to the end of the connection."""
        data, self.rest = self.rest, b""
        while True:
            try:
                piece = self.socket.recv(65536)
            except ConnectionResetError:
                return data
            if not piece:
                return data
            data += piece

    def _more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise EOFError(f"closed after {self.rest!r}")
        self.rest += piece

    def _until(self, mark):
        while mark not in self.rest:
            self._more()
        found, self.rest = self.rest.split(mark, 1)
        return found

    def _exactly(self, count):
        while len(self.rest) < count:
            self._more()
        found, self.rest = self.rest[:count], self.rest[count:]
        return found

    def _body(self, answer, method):
        if method == "HEAD" or answer.status in (204, 304):
            return b""
        if answer.headers.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while True:
                size = int(self._until(b"\r\n").split(b";")[0], 16)
                if size == 0:
                    while self._until(b"\r\n"):
                        pass
                    return body
                body += self._exactly(size)
                assert self._exactly(2) == b"\r\n", "no CRLF after a chunk"
        if "content-length" in answer.headers:
            return self._exactly(int(answer.headers["content-length"]))
        return self.all()


def packet(variables, modifier1=0, modifier2=0, size=None):
    """A uwsgi packet of (name, value) pairs or a dict."""
    pairs = variables.items() if isinstance(variables, dict) else variables
    data = b""
    for name, value in pairs:
        for text in (name, value):
            text = text if isinstance(text, bytes) else str(text).encode("latin-1")
            data += struct.pack("<H", len(text)) + text
    return struct.pack("<BHB", modifier1, len(data) if size is None else size, modifier2) + data


def variables(path="/", query="", method="GET", length=None, **more):
    """What nginx's uwsgi_params would send."""
    result = {
        "QUERY_STRING": query, "REQUEST_METHOD": method, "CONTENT_TYPE": "",
        "CONTENT_LENGTH": "" if length is None else length,
        "REQUEST_URI": path + ("?" + query if query else ""), "PATH_INFO": path,
        "DOCUMENT_ROOT": "/var/www/html", "SERVER_PROTOCOL": "HTTP/1.1",
        "REQUEST_SCHEME": "http", "REMOTE_ADDR": "127.0.0.1", "REMOTE_PORT": "40000",
        "SERVER_PORT": "80", "SERVER_NAME": "localhost", "HTTP_HOST": "localhost",
    }
    result.update(more)
    return result


def uwsgi(address, path="/", body=None, timeout=10.0, **more):
    """One request by the uwsgi protocol; an Answer."""
    length = len(body) if body is not None else None
    data = packet(variables(path, length=length, method="POST" if body is not None else "GET",
                            **more)) + (body or b"")
    return uwsgi_raw(address, data, timeout)


def uwsgi_raw(address, data, timeout=10.0):
    """Sends bytes, reads to the end; an Answer, or None when nothing came back."""
    with servers.connect(address, timeout) as peer:
        try:
            peer.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all of it was read; the answer may be there all the same
        got = b""
        while True:
            try:
                piece = peer.recv(65536)
            except ConnectionResetError:
                break
            if not piece:
                break
            got += piece
    if not got:
        return None
    head, _, rest = got.partition(b"\r\n\r\n")
    return Answer(head, rest)
