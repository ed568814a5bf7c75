"""What /proc says about processes: families, sessions, memory, open files."""

import os
import time


def parents():
    """{pid: parent pid} of every process that is not a zombie."""
    return {pid: fields[1] for pid, fields in _all_stats() if fields[0] != "Z"}


def children(pid):
    return sorted(child for child, parent in parents().items() if parent == pid)


def descendants(pid):
    """Every process below pid, whoever is between."""
    table = parents()
    found, todo = set(), [pid]
    while todo:
        parent = todo.pop()
        below = [child for child, its_parent in table.items() if its_parent == parent]
        found.update(below)
        todo.extend(below)
    return sorted(found)


def zombies(pid):
    """Children of pid that have ended and were not reaped."""
    return [child for child, fields in _all_stats() if fields[0] == "Z" and fields[1] == pid]


def alive(pid):
    return pid in parents()


def of_session(session, token=None):
    """Processes, zombies too, of a session, or with NAME=value in their first environment."""
    found = {pid for pid, fields in _all_stats() if fields[3] == session}
    if token:
        for pid, _ in _all_stats():
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if token.encode() in file.read().split(b"\0"):
                        found.add(pid)
            except OSError:
                pass
    return sorted(found)


def memory_kib(pid):
    """What only this process has in memory (private pages, clean and dirty)."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_"))


def anonymous_kib(pid):
    """What it has written to, shared with a forked child or not: of a parent, whose private pages
    come and go with its children."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon:"))


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def wait_closed(pid, files):
    """Waits until the process has no more than so many open files. Not at once: what is seen from
    outside, such as the end of a child, comes before the parent has closed what belonged to it."""
    wait_until(lambda: open_files(pid) <= files, what=f"no more than {files} open files")


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def catches(pid, number):
    """Has the process a handler for the signal?"""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            caught = next(line for line in file if line.startswith("SigCgt:"))
    except (OSError, StopIteration):
        return False
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def describe(pids):
    """Lines for a failure message."""
    lines = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode(errors="replace")
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                lines.append(f"{pid} {command or '(zombie)'} {file.read().split(')')[-1][:12]}")
        except OSError:
            pass
    return "\n".join(lines)


def wait_until(condition, timeout=10.0, what="the condition"):
    """Asks until the answer is true, and returns it. A readiness check instead of a sleep."""
    end = time.monotonic() + timeout
    while True:
        answer = condition()
        if answer:
            return answer
        assert time.monotonic() < end, f"{what}: not after {timeout} s"
        time.sleep(0.01)


def _all_stats():
    """(pid, [state, ppid, pgrp, session, ...]) of each process."""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        yield int(name), [fields[0], *map(int, fields[1:4])]
