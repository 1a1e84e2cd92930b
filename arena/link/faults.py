"""Tells whose fault an error is, when a bot's program cannot be started."""

from __future__ import annotations

import errno
from typing import Final

_OF_THE_PROGRAM: Final = frozenset(
    {
        errno.E2BIG,
        errno.EACCES,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOEXEC,
        errno.ENOTDIR,
        errno.EISDIR,
    }
)


def is_of_the_program(error: OSError) -> bool:
    """Tells whether the bot's own program or folder is the cause: it is not there, or may not or cannot be executed.

    Every other error is the machine's: it lacks descriptors, processes, memory, disk, or permission to start anything.
    """
    return error.errno in _OF_THE_PROGRAM
