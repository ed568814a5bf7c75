"""An app that can be made to wait, to eat memory and to read what it is sent."""

import os
import time


def application(environ, start_response):
    path = environ["PATH_INFO"]
    body = str(os.getpid()).encode()
    if path.startswith("/sleep/"):
        time.sleep(float(path[7:]))
    elif path.startswith("/eat/"):
        body = str(len(bytearray(int(path[5:]) << 20))).encode()
    elif path == "/body":
        body = str(len(environ["wsgi.input"].read())).encode()
    elif path.startswith("/big/"):
        body = b"x" * int(path[5:])
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
