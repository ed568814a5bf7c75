"""What code written for uWSGI does: uwsgidecorators, uwsgi.opt, uwsgi.atexit."""

import os

import uwsgi
from uwsgidecorators import postfork, thread

ran = []
noted = []


@postfork
def note():
    ran.append(uwsgi.worker_id())


@postfork
@thread
def in_thread():
    noted.append(os.getpid())


if os.environ.get("BAD_HOOK"):

    @postfork
    def bad():
        raise ValueError("this hook fails")


def bye():
    print(f"bye from worker {uwsgi.worker_id()}", flush=True)


uwsgi.atexit = bye


def answer(path):
    if path == "/reload":
        return uwsgi.reload()
    if path == "/log":
        return uwsgi.log("a line of the app's")
    if path.startswith("/get/"):
        try:
            return getattr(uwsgi, path[5:])
        except AttributeError as error:
            return f"AttributeError {error}"
    if path == "/timer":
        from uwsgidecorators import timer
        try:
            return timer(3)(answer)
        except AttributeError as error:
            return f"AttributeError {error}"
    return {"ran": ran, "thread": noted == [os.getpid()], "pid": uwsgi.mypid() == os.getpid(),
            "id": uwsgi.worker_id(), "master": uwsgi.masterpid(), "mule": uwsgi.mule_id()}


def application(environ, start_response):
    text = repr(answer(environ["PATH_INFO"]))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [text.encode()]
