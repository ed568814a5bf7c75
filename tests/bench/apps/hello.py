"""The smallest answer: what is measured is the server."""

BODY = b"Hello World!"


def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "12")])
    return [BODY]
