"""The smallest WSGI application (PEP 3333)."""


def application(environ, start_response):
    body = b"Hello World!\n"
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
