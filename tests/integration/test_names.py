"""What ps shows of each process."""

import os

import pytest

import processes
from test_process import body, options, site
from test_reload import reload

assert site  # a fixture, used by name


def shown(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().rstrip(b"\0").decode()


def names(one):
    """Of the master, its one generation, and the generation's workers in order."""
    (generation,) = processes.children(one.pid)
    workers = sorted(shown(pid) for pid in processes.children(generation))
    return [shown(one.pid), shown(generation), *workers]


@pytest.mark.parametrize("lazy", [False, True])
def test_each_process_says_what_it_is(server, lazy):
    one = server({"processes": 2, "lazy-apps": lazy, "auto-procname": True})
    one.wait_log("all workers are ready")
    assert names(one) == ["ccontainer master", "ccontainer app 1",
                          "ccontainer worker 1", "ccontainer worker 2"]


def test_prefix_and_append_go_around_it(server):
    one = server({"auto-procname": True, "procname-prefix-spaced": "shop",
                  "procname-append": "(blue)"})
    one.wait_log("all workers are ready")
    assert names(one) == ["shop ccontainer master(blue)", "shop ccontainer app 1(blue)",
                          "shop ccontainer worker 1(blue)"]


def test_names_of_ones_own(server):
    one = server({"procname": "shop", "procname-prefix": "my-", "procname-master": "the-shop"})
    one.wait_log("all workers are ready")
    assert names(one) == ["my-the-shop", "my-shop", "my-shop"]


def test_a_name_for_the_master_alone(server):
    one = server({"procname-master": "the-shop"})
    one.wait_log("all workers are ready")
    master, *others = names(one)
    assert master == "the-shop"
    assert [os.path.basename(name) for name in others] == [os.path.basename(one.binary)] * 2


def test_without_a_master_there_is_one_name(server):
    one = server({"master": False, "auto-procname": True})
    one.wait_log("ready, without a master")
    assert shown(one.pid) == "ccontainer worker 1"


def test_what_a_long_name_is_written_over_is_kept(server, site):
    """The environment, and the command line that a reload reads again."""
    one = server(options(site, auto_procname=True, procname_append="x" * 3000),
                 env={"GREETING": "hello from outside"})
    one.wait_log("all workers are ready")
    assert shown(one.pid).startswith("ccontainer masterxxx")
    assert "hello from outside" in body(one, "/env")
    reload(one)
    assert names(one)[1].startswith("ccontainer app 2xxx")
    assert "hello from outside" in body(one, "/env")


def test_what_goes_around_a_name_does_not_ask_for_one(server):
    one = server({"procname-prefix": "shop "})
    assert one.binary in shown(one.pid)
    assert "procname-prefix: does nothing without a name" in one.log()


def test_threads_are_told_apart(server):
    """In top -H, in a debugger and in the kernel's own messages."""
    one = server({"threads": 3, "py-autoreload": 5})
    one.wait_log("all workers are ready")
    worker = one.workers(1)[0]

    def threads():
        found = []
        for task in os.listdir(f"/proc/{worker}/task"):
            with open(f"/proc/{worker}/task/{task}/comm", encoding="ascii") as file:
                found.append(file.read().strip())
        return sorted(found)
    expected = ["cc-autoreload", "cc-relief", "cc-thread-1", "cc-thread-2", "cc-worker-1"]
    processes.wait_until(lambda: threads() == expected, 10, f"names, now {threads()}")
