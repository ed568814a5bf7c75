"""What every fault is followed by: the server serves again, has lost nothing that it holds, and does
not spin; and the means to bring about a fault."""

import ctypes
import os
import resource
import threading
import time

import processes

HERE = os.path.dirname(os.path.abspath(__file__))
APPS = os.path.join(HERE, "apps")
SOAK = bool(os.environ.get("CC_SOAK"))
IDLE_S = 60 if SOAK else 3
# Of one processor, in all processes together.
IDLE_MOST = 0.001

CLONE_NEWNS, MS_REC, MS_PRIVATE, MS_RDONLY = 0x20000, 0x4000, 1 << 18, 1
libc = ctypes.CDLL(None, use_errno=True)


def options(folder, **more):
    """An ini for the fault app whose temporary files go to a folder of their own."""
    temporary = os.path.join(folder, "tmp")
    os.makedirs(temporary, exist_ok=True)
    os.chmod(temporary, 0o777)
    return {"module": "fault_app", "chdir": APPS, "processes": 2, "threads": 2,
            "env": f"TMPDIR={temporary}", **more}


def family(one):
    return [one.pid, *processes.descendants(one.pid)]


def cpu_ns(pids):
    """Time on a processor of all threads of all of them."""
    total = 0
    for pid in pids:
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
                    total += int(file.read().split()[0])
        except OSError:
            pass
    return total


def cpu_share(pids, seconds):
    before, begin = cpu_ns(pids), time.monotonic()
    time.sleep(seconds)
    return (cpu_ns(pids) - before) / 1e9 / (time.monotonic() - begin)


def serving(one, count=2, timeout=30):
    """Waits until there are count workers and each of a row of requests is answered."""
    def try_it():
        try:
            return len(one.workers()) == count and all(one.get("/").status == 200
                                                       for _ in range(2 * count))
        except OSError:
            return False
        except Exception:  # http.client's own, where a connection ends
            return False
    processes.wait_until(try_it, timeout * (4 if one.sanitized else 1),
                         f"{count} workers that serve\n{one.log()[-5000:]}")


def files_of(one):
    """Open files of the master, of the generation and of each worker."""
    generations = processes.children(one.pid)
    return ([processes.open_files(one.pid)], [processes.open_files(pid) for pid in generations],
            sorted(processes.open_files(pid) for pid in one.workers()))


class Sound:
    """Takes note of a healthy server; check() says whether it is healthy again."""

    def __init__(self, one, count=2):
        self.one, self.count = one, count
        one.wait_log("is ready", count=count)
        serving(one, count)
        time.sleep(0.05)
        self.files = files_of(one)
        self.family = len(family(one))

    def check(self, idle=True):
        one = self.one
        serving(one, self.count)
        processes.wait_until(lambda: len(family(one)) == self.family, 20,
                             f"as many processes as before\n{processes.describe(family(one))}")
        for pid in family(one):
            assert not processes.zombies(pid)
        processes.wait_until(lambda: files_of(one) <= self.files, 20,
                             f"as many open files as before ({self.files}, now {files_of(one)})")
        assert not os.listdir(os.path.join(os.path.dirname(one.folder), "tmp"))
        if idle and not one.sanitized:
            idles(one)


def idles(one):
    """It does nothing while nobody asks."""
    shares = []
    for _ in range(3):  # the end of what came before may still be under way
        shares.append(cpu_share(family(one), IDLE_S))
        if shares[-1] < IDLE_MOST:
            return
    raise AssertionError(f"an idle server uses {shares} of a processor")


class Crowd:
    """Clients that ask without a pause. lost: what they were not answered, but for requests that
    were running in a process that was killed."""

    def __init__(self, one, clients=4, path="/"):
        self.one, self.path = one, path
        self.answered, self.cut, self.lost = 0, 0, []
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self._ask, daemon=True) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def _ask(self):
        while not self.over.is_set():
            try:
                answer = self.one.get(self.path, timeout=60)
                if answer.status == 200 and answer.body:
                    self.answered += 1
                else:
                    self.lost.append(answer.status)
            except ConnectionRefusedError as error:
                self.lost.append(error)
            except TimeoutError as error:
                self.lost.append(error)
            except Exception:  # cut in the middle
                self.cut += 1

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join(90)
        assert not self.lost, self.lost[:10]
        return self


def limit(pid, kind, soft):
    """Sets a soft limit of another process; returns the old one."""
    old = resource.prlimit(pid, kind)
    resource.prlimit(pid, kind, (soft, old[1]))
    return old[0]


def limit_as(uid, pid, kind, soft):
    """The same for a process of a user and group uid: root may lack the right. None: the hard limit."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            hard = resource.prlimit(pid, kind)[1]
            resource.prlimit(pid, kind, (hard if soft is None else soft, hard))
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def with_mounts(*mounts):
    """For Popen's preexec_fn: (folder, size or None for read-only) as small tmpfs of its own."""
    def mount():
        if libc.unshare(CLONE_NEWNS) != 0 or \
                libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
            os._exit(97)
        for folder, size in mounts:
            flags = MS_RDONLY if size is None else 0
            data = f"size={size or '4k'},mode=1777".encode()
            if libc.mount(b"tmpfs", folder.encode(), b"tmpfs", flags, data) != 0:
                os._exit(98)
    return mount


def can_mount():
    """Is a mount namespace of its own allowed here?"""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if libc.unshare(CLONE_NEWNS) == 0 else 1)
    return os.waitpid(pid, 0)[1] == 0
