"""Tells whose fault an error is, when a bot's program cannot be started."""

from __future__ import annotations

import errno
from typing import Final

from arena.errors import MachineFault

_OF_THE_PROGRAM: Final = frozenset(
    {
        errno.E2BIG,
        errno.EACCES,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOEXEC,
        errno.ENOTDIR,
    }
)
_FEWER: Final = "play fewer games at once (--concurrency)"
_ROOM: Final = "make room, or set TMPDIR to another folder"
_REMEDIES: Final = {
    errno.EMFILE: f"raise `ulimit -n`, or {_FEWER}",
    errno.ENFILE: f"raise fs.file-max, or {_FEWER}",
    errno.EAGAIN: f"raise `ulimit -u`, or {_FEWER}",
    errno.ENOMEM: _FEWER,
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EROFS: _ROOM,
}


def is_of_the_program(error: OSError) -> bool:
    """Tells whether the bot's own program or folder is the cause: it is not there, or may not or cannot be executed.

    Every other error is the machine's: it lacks descriptors, processes, memory, disk, or permission to start anything.
    """
    return error.errno in _OF_THE_PROGRAM


def machine_fault(task: str, error: OSError) -> MachineFault:
    """Returns the error that says what the machine could not do, and what to do about it.

    `task` follows "expected to": "start greedy", "capture a bot's output".
    """
    remedy = _REMEDIES.get(error.errno or 0)
    message = f"expected to {task}, got: {error.strerror or error}"
    return MachineFault(f"{message}; {remedy}" if remedy else message)
