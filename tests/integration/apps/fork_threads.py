"""Threads that run while the app is imported, and so while the workers are forked: a busy logger, a
queue listener, a pool, a printer, and one that holds a lock."""

import atexit
import concurrent.futures
import logging
import logging.handlers
import os
import queue
import sys
import threading
import time

LOG = os.environ["FORK_LOG"]
log = logging.getLogger("fork")
log.setLevel(logging.INFO)
log.propagate = False
file_handler = logging.FileHandler(LOG)
log.addHandler(file_handler)

records = queue.Queue()
listener = logging.handlers.QueueListener(records, file_handler)
queued = logging.getLogger("queued")
queued.setLevel(logging.INFO)
queued.propagate = False
queued.addHandler(logging.handlers.QueueHandler(records))

pool = concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="import-pool")
held = threading.Lock()
over = threading.Event()
importer = os.getpid()


def chatter():
    while not over.is_set():
        log.info("%s", "x" * 200)
        queued.info("y")
        time.sleep(0.0002)


def printer():
    while not over.is_set():
        sys.stderr.write("")
        sys.stderr.flush()
        sys.stdout.flush()
        time.sleep(0.0002)


def holder():
    with held:
        over.wait()


listener.start()
for body in (chatter, printer, holder):
    threading.Thread(target=body, name=f"import-{body.__name__}", daemon=True).start()
pool.submit(time.sleep, 0.001).result()
log.info("imported")


@atexit.register
def end():
    over.set()


def application(environ, start_response):
    # What a thread that is not here any more may have held when the fork came.
    log.info("in a request")
    queued.info("in a request")
    print("in a request", file=sys.stderr, flush=True)
    sys.stdout.write("")
    sys.stdout.flush()
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{os.getpid()} {os.getpid() == importer} {held.locked()}".encode()]
