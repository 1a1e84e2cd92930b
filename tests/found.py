"""What programs find at each level: `boxed/found/` looks, `sandbox/e2e/test_found.py` compares, docs/bots.md tells.

A program prints a line `KEY VALUE` for each thing that it has a way to look for.
"""

from __future__ import annotations

from typing import Final, NamedTuple

MACHINE: Final = "the machine's"  # what is found without a box, whatever it is


class Found(NamedTuple):
    """What programs find of one thing."""

    what: str
    trusted: str
    fenced: str
    boxed: str
    """At levels `isolated` and `strict`."""

    def at(self, level: str) -> str:
        """What is found at a level."""
        return {"trusted": self.trusted, "fenced": self.fenced}.get(level, self.boxed)


FOUND: Final = {
    "memory": Found("size of the memory (`_SC_PHYS_PAGES`, `os.totalmem()`)", MACHINE, "the bot's", "the bot's"),
    "disk": Found("size of every file system (`statvfs`)", MACHINE, "16 MiB", "16 MiB"),
    "cores": Found("number of cores (`os.cpu_count()`, `availableProcessors()`)", MACHINE, MACHINE, MACHINE),
    "kinds": Found("kinds of cores (`os.cpus()`)", "works", "fails", "works"),
    "user": Found("the user's name (`USER`, `getpass`)", MACHINE, "`bot`", "`bot`"),
    "account": Found("the name of its number (`getpwuid`, `os.userInfo()`, `user.name`)", MACHINE, "fails", "`bot`"),
    "home": Found("the home (`HOME`, `~`)", MACHINE, "`/tmp`", "`/tmp`"),
    "host": Found("the machine's name", MACHINE, MACHINE, "`seat`"),
    "sort": Found("`qsort` keeps the order of equals (glibc)", "works", "works", "works"),
    "threads": Found("threads", "works", "works", "works"),
    "processes": Found("processes (`fork`, `subprocess`, `child_process`)", "works", "fails", "works"),
    "semaphores": Found("semaphores with a name (`sem_open`, `multiprocessing.Lock`)", "works", "fails", "works"),
    "arrays": Found("shared memory of processes (`multiprocessing.Array`)", "works", "fails", "works"),
    "files": Found("files in `/tmp`", "works", "fails", "works"),
    "lock": Found("a lock on a file of its own (`fcntl`, `flock`, SQLite, `FileLock`)", "works", "works", "works"),
    "exclusion": Found("such a lock keeps another process out", "works", "fails", "fails"),
    "proc": Found("`/proc/self`", "works", "fails", "works"),
    "network": Found("sockets of the internet", "works", "fails", "fails"),
    "memfd": Found("`memfd_create`", "works", "fails", "fails"),
    "pidfd": Found("`pidfd_open`", "works", "fails", "fails"),
    "nice": Found("a lower priority (`nice`)", "works", "fails", "fails"),
}  # fmt: skip


def table() -> str:
    """The table of docs/bots.md: what differs, and what does not although one might think so."""
    head = "\n| what a program looks for | `trusted` | `fenced` | `isolated`, `strict` |\n|---|---|---|---|\n"
    return head + "".join(f"| {' | '.join(found)} |\n" for found in FOUND.values())
