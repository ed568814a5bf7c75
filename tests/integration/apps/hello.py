"""The smallest app."""


def application(environ, start_response):
    body = b"Hello World!"
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
