"""Requests that crash or hang, each in its way."""

import ctypes
import faulthandler
import os
import sys
import time

if os.environ.get("APP_FAULTHANDLER"):
    faulthandler.enable()

libc_with_gil = ctypes.PyDLL(None)


def hang_here(seconds):
    time.sleep(seconds)


def native_deep():
    """qsort() with a comparison that sorts again: the C stack grows until it ends."""
    sys.setrecursionlimit(10 ** 8)
    compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    libc = ctypes.CDLL(None)
    numbers = (ctypes.c_int * 2)(2, 1)

    def compare(a, b):
        libc.qsort(numbers, ctypes.c_size_t(2), ctypes.c_size_t(4), compare_function)
        return 0

    compare_function = compare_type(compare)
    compare(None, None)


def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/null":
        ctypes.string_at(0)
    elif path == "/abort":
        os.abort()
    elif path == "/overflow":
        native_deep()
    elif path == "/gil":
        libc_with_gil.pause()
    elif path == "/hang":
        hang_here(100)
    elif path == "/child":
        pid = os.fork()
        if pid == 0:
            os.abort()
        os.waitpid(pid, 0)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{os.getpid()}".encode()]
