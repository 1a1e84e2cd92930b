"""Counts what a bot has of memory beside its processes: its files and sockets, and what the kernel keeps for it."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from arena.core.face import NS_PER_MS, process_trees
from arena.sandbox.filter import SHARED

_SHARED: Final = b"/dev/zero (deleted)\n"
"""Suffix of the name of a mapping of shared memory without a file."""
_EPOLL: Final = "anon_inode:[eventpoll]"
_KEPT: Final = 256
"""Bytes that the kernel keeps for a mapping (200), or for a file that an epoll watches (200)."""
_TALLY_NS: Final = 200 * NS_PER_MS
"""The shortest time between two counts of what the kernel keeps."""
_BUFFER, _MESSAGE = 212_992, 65_536
"""Bytes that Linux lets a socket hold, and those that one message may add to that."""
_FOLDERS: Final = ("tmp", "dev/shm")  # as seen by the bot
_READ: Final = 65_536
_libc: Final = ctypes.CDLL(None)
_REST_SHARE: Final = 4
"""Pause after counting, as a multiple of the CPU time that it took."""


class Files(NamedTuple):
    """What a box has in memory beside its processes: its file systems, and its sockets."""

    mib: int
    """Each socket counts with all that it can hold: nobody but the system sees what it does."""
    entries: int


def files(members: Iterable[int]) -> Files:
    """Returns what lies in `/tmp` and `/dev/shm` of the box that some of `members` are in; nothing if none is yet."""
    for pid in members:
        with suppress(OSError):
            return _files(pid)
    return Files(0, 0)


def _files(pid: int) -> Files:
    """Returns what lies in the folders of a process's box. An OSError says that it is in no box, or has ended."""
    size = entries = 0
    for name in _FOLDERS:
        path = f"/proc/{pid}/root/{name}"
        # While the box is made, these may be folders of this system.
        if os.stat(path).st_dev in {os.stat(ours).st_dev for ours in ("/", f"/{name}") if os.path.exists(ours)}:
            raise FileNotFoundError(path)
        found = os.statvfs(path)
        size += (found.f_blocks - found.f_bfree) * found.f_frsize
        entries += found.f_files - found.f_ffree - 1  # the folder itself
    counted = process_trees.read_or_nothing(f"/proc/{pid}/net/sockstat").split()  # sockets: used 5 ...
    if len(counted) > 2:
        size += int(counted[2]) * _socket_bytes()
    return Files(size >> 20, entries)


@functools.cache
def _socket_bytes() -> int:
    """Returns how much a socket in a box can hold. The filter keeps it from being told to hold more."""
    return int((process_trees.read_or_nothing("/proc/sys/net/core/wmem_default").split() or (_BUFFER,))[0]) + _MESSAGE


def kept_mib(members: Iterable[int]) -> int:
    """Returns the memory that the kernel keeps for mappings of processes, and for what their epolls watch.

    As root it is called in a thread of its own, which can make no files afterwards.

    A mapping of shared memory without a file keeps all of that, whatever part of it is mapped: what the filter allows.
    Each of some tens of files can be watched by each of some tens of epolls under each of a hundred numbers, and all of
    them stay when the numbers are given away.
    """
    count = 0
    for pid in members:
        _see_as_user_of(pid)
        mapped, shared = _counts(f"/proc/{pid}/maps", b"\n", _SHARED)
        count += mapped + shared * SHARED // _KEPT
        for name in process_trees.listed(f"/proc/{pid}/fd"):
            with suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{name}") == _EPOLL:
                    count += _counts(f"/proc/{pid}/fdinfo/{name}", b"tfd:")[0]
    return count * _KEPT >> 20


def _see_as_user_of(pid: int) -> None:
    """Has this thread, as root, see what a process's own user may see: in Docker root itself lacks the right."""
    if os.geteuid() == 0:
        with suppress(OSError):
            found = os.stat(f"/proc/{pid}")
            _libc.setfsgid(found.st_gid)
            _libc.setfsuid(found.st_uid)


def _counts(path: str, *words: bytes) -> list[int]:
    """Returns how often each word stands in a file of /proc, but for what is cut between two reads."""
    found = [0] * len(words)
    with suppress(OSError), open(path, "rb", buffering=0) as file:
        for part in iter(lambda: file.read(_READ), b""):
            found = [count + part.count(word) for count, word in zip(found, words, strict=True)]
    return found


class KeptMemory:
    """Counts `kept_mib` in a thread, and rests between, so that counting takes no more than a part of a core."""

    def __init__(self) -> None:
        self.spent_ns = 0
        """The CPU time of all counting."""
        self._thread: threading.Thread | None = None
        self._mib = 0
        self._due_ns = 0

    def look(self, members: Sequence[int]) -> int:
        """Begins to count if it is time, and returns what was counted last."""
        if time.monotonic_ns() >= self._due_ns and not (self._thread and self._thread.is_alive()):
            self._thread = threading.Thread(target=self._work, args=(members,), daemon=True)
            with suppress(RuntimeError):  # the machine has no thread left: later, then
                self._thread.start()
        return self._mib

    def _work(self, members: Sequence[int]) -> None:
        begun_ns = time.thread_time_ns()
        self._mib = kept_mib(members)
        took_ns = time.thread_time_ns() - begun_ns
        self.spent_ns += took_ns
        self._due_ns = time.monotonic_ns() + max(_TALLY_NS, _REST_SHARE * took_ns)
