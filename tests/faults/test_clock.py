"""The wall clock jumps, as after a suspended machine or a first look at a time server: nothing that
waits may be early, late or endless. The time comes from a library put before libc."""

import os
import shutil
import subprocess
import threading
import time

import clients
import processes
import pytest

import faults

LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift(void)
{
    const char *path = getenv("CLOCK_SHIFT");
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    long seconds = 0;
    if (file == NULL)
        return 0;
    if (fscanf(file, "%ld", &seconds) != 1)
        seconds = 0;
    fclose(file);
    return seconds;
}

int clock_gettime(clockid_t id, struct timespec *at)
{
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, at);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
        at->tv_sec += shift();
    return result;
}

int gettimeofday(struct timeval *at, void *zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at != NULL)
        *at = now.tv_sec;
    return now.tv_sec;
}
"""


@pytest.fixture
def shifted(folder, sanitized):
    """The environment of a program whose wall clock set(seconds) moves."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if sanitized or compiler is None:
        pytest.skip("a library before libc needs a compiler, and no sanitizer")
    source, library = os.path.join(folder, "clock.c"), os.path.join(folder, "clock.so")
    with open(source, "w", encoding="ascii") as file:
        file.write(LIBRARY)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    path = os.path.join(folder, "shift")

    def set_shift(seconds):
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(str(seconds))
        os.rename(path + ".new", path)

    set_shift(0)
    return {"LD_PRELOAD": library, "CLOCK_SHIFT": path}, set_shift


@pytest.mark.parametrize("jump", [86400, -86400], ids=["forward", "back"])
def test_the_wall_clock_jumps(server, folder, shifted, jump):
    env, set_shift = shifted
    one = server(faults.options(folder, harakiri=20, **{"http-keepalive": 20}), env=env)
    sound = faults.Sound(one)
    workers = one.workers()
    kept = clients.Http(one.address)
    day = kept.get("/").headers["date"][:16]
    answers = []
    running = threading.Thread(target=lambda: answers.append(one.get("/sleep/2", timeout=20)))
    running.start()
    time.sleep(0.3)
    set_shift(jump)
    # The jump is seen (Date is the wall's), and nothing else is changed by it.
    processes.wait_until(lambda: one.get("/").headers["date"][:16] != day, 5, "another day")
    assert kept.get("/").status == 200
    running.join()
    assert answers[0].status == 200
    time.sleep(1.5)  # as long as all that looks at clocks once a second needs
    assert kept.get("/").status == 200
    kept.close()
    assert one.workers() == workers
    assert "harakiri" not in one.log()
    sound.check()
    # Timers that begin after the jump end in their time.
    begin = time.monotonic()
    assert one.stop() == 0
    assert time.monotonic() - begin < 8
