"""Waits 10 ms, as for a database: what is measured is whether all threads are used."""

import time


def application(environ, start_response):
    time.sleep(0.01)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]
