"""Prints what a program in Python finds: see tests/found.py. Called with the bot's memory in MiB."""

from __future__ import annotations

import fcntl
import getpass
import multiprocessing
import os
import pwd
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable

HERE = os.path.dirname(os.path.abspath(__file__))


def works(key: str, look: Callable[[], object]) -> None:
    """Prints whether something works."""
    try:
        print(key, "fails" if look() is False else "works")
    except Exception:
        print(key, "fails")


def found(key: str, look: Callable[[], object]) -> None:
    try:
        print(key, look())
    except Exception:
        print(key, "fails")


def memory() -> str:
    mib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    return "the bot's" if mib == int(sys.argv[1]) else f"{mib} MiB"


def disk(path: str) -> str:
    told = os.statvfs(path)
    return f"{told.f_blocks * told.f_frsize >> 20} MiB"


def locked() -> None:
    with open(os.path.join(HERE, "found.py")) as file:
        fcntl.lockf(file, fcntl.LOCK_SH)
        fcntl.flock(file, fcntl.LOCK_SH)
    with sqlite3.connect(os.path.join(HERE, "book.db")) as book:
        assert book.execute("SELECT count(*) FROM book").fetchone() == (1,)


def keeps_out() -> bool:
    with tempfile.NamedTemporaryFile("w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        if os.fork() == 0:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os._exit(1)
            os._exit(0)
        return bool(os.wait()[1])


def thread() -> None:
    made = threading.Thread(target=int)
    made.start()
    made.join()


def main() -> None:
    found("memory", memory)
    for path in ("/tmp", "/usr"):
        found("disk", lambda path=path: disk(path))
    found("cores", lambda: os.cpu_count() == len(os.sched_getaffinity(0)) == os.sysconf("SC_NPROCESSORS_ONLN"))
    found("user", getpass.getuser)
    found("account", lambda: pwd.getpwuid(os.getuid()).pw_name)
    found("home", lambda: os.path.expanduser("~"))
    found("host", socket.gethostname)
    works("threads", thread)
    works("processes", lambda: subprocess.run(["sh", "-c", "exit 0"], check=True))
    works("semaphores", multiprocessing.Lock)
    works("arrays", lambda: multiprocessing.Array("b", 100))
    works("files", lambda: tempfile.NamedTemporaryFile(dir="/tmp").close())
    works("lock", locked)
    works("exclusion", keeps_out)
    works("proc", lambda: open("/proc/self/status").close())
    works("network", lambda: socket.socket(socket.AF_INET).close())
    works("memfd", lambda: os.close(os.memfd_create("found")))
    works("pidfd", lambda: os.close(os.pidfd_open(os.getpid())))
    works("nice", lambda: os.nice(1))


if __name__ == "__main__":
    main()
