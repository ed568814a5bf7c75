"""py-autoreload and reload-on-exception."""

import itertools
import os

import pytest

import processes

APP = """
import part
def application(environ, start_response):
    if environ["PATH_INFO"] == "/late":
        import late
    if environ["PATH_INFO"] == "/ignored":
        import ignored
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [part.TEXT.encode()]
"""

RAISING = """
import itertools
import os
class OwnError(Exception):
    pass
def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/own":
        raise OwnError("of ours")
    if path == "/value":
        raise ValueError("the text")
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
"""


def write(folder, name, text):
    """As editors do: the old file goes, a new one takes its name."""
    path = folder / name
    fresh = folder / (name + ".new")
    fresh.write_text(text)
    os.replace(fresh, path)


@pytest.fixture
def edited(server, tmp_path):
    write(tmp_path, "app.py", APP)
    write(tmp_path, "part.py", "TEXT = 'one'\n")
    write(tmp_path, "late.py", "")
    write(tmp_path, "ignored.py", "")
    one = server({"module": "app", "chdir": str(tmp_path), "processes": 2, "py-autoreload": 1,
                  "py-auto-reload-ignore": "ignored", "need-app": True})
    one.wait_log("all workers are ready")
    return one


def body_becomes(one, text):
    processes.wait_until(lambda: one.get("/").body == text, 30, f"{text}\n{one.log()}")


def test_an_edit_reloads_once(edited, tmp_path):
    assert edited.get("/").body == b"one"
    write(tmp_path, "part.py", "TEXT = 'two'\n")
    body_becomes(edited, b"two")
    edited.wait_log("generation 1 has ended")
    log = edited.log()
    assert log.count("part.py has changed: asking for a reload") == 1
    assert "generation 3" not in log


def test_a_broken_edit_leaves_the_old_serving_and_the_next_is_seen(edited, tmp_path):
    write(tmp_path, "part.py", "TEXT = \n")
    edited.wait_log("part.py has changed: asking for a reload")
    edited.wait_log("SyntaxError")
    assert edited.get("/").body == b"one"
    (tmp_path / "part.py").unlink()
    assert edited.get("/").body == b"one"
    write(tmp_path, "part.py", "TEXT = 'mended'\n")
    body_becomes(edited, b"mended")


def test_modules_imported_later_are_watched_and_ignored_ones_not(edited, tmp_path):
    for _ in range(8):  # both workers
        edited.get("/late")
        edited.get("/ignored")
    write(tmp_path, "ignored.py", "X = 1\n")
    # It is noticed on the second look: the first only sees that it is there.
    number = itertools.count()
    processes.wait_until(
        lambda: write(tmp_path, "late.py", f"Y = {next(number)}\n")
        or "late.py has changed" in edited.log(), 30, edited.log())
    assert "ignored.py" not in edited.log()


def test_without_a_master_it_says_that_it_does_nothing(server):
    one = server({"master": False, "py-autoreload": 1})
    assert "py-autoreload does nothing: it takes a master" in one.log()


@pytest.mark.parametrize("option, value, path, replaced", [
    ("reload-on-exception", True, "/own", True),
    ("reload-on-exception-type", "OwnError", "/own", True),
    ("reload-on-exception-type", "raising.OwnError", "/own", True),
    ("reload-on-exception-type", "OwnError", "/value", False),
    ("reload-on-exception-value", "the text", "/value", True),
    ("reload-on-exception-value", "text", "/value", False),
    ("reload-on-exception-repr", "ValueError: the text", "/value", True),
    ("reload-on-exception-repr", "ValueError('the text')", "/value", True),
    ("reload-on-exception-repr", "ValueError", "/value", False),
])
def test_an_exception_replaces_its_worker(server, tmp_path, option, value, path, replaced):
    write(tmp_path, "raising.py", RAISING)
    one = server({"module": "raising", "chdir": str(tmp_path), option: value})
    before = one.get("/").body
    assert one.get(path).status == 500
    if replaced:
        processes.wait_until(lambda: one.get("/").body != before, 20, one.log())
        assert f"{option} (" in one.log()
    else:
        assert one.get("/").body == before
        assert "asking for a new worker" not in one.log()
