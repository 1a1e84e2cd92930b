"""Tells whose fault an error is, when a bot's program cannot be started."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from arena.core import remedies
from arena.core.errors import MachineFault

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


def is_of_the_program(error: OSError) -> bool:
    """Tells whether the bot's own program or folder is the cause: it is not there, or may not or cannot be executed.

    Every other error is the machine's: it lacks descriptors, processes, memory, disk, or permission to start anything.
    """
    return error.errno in _OF_THE_PROGRAM


def machine_fault(
    task: str, error: OSError | MemoryError | RuntimeError, *, at: Path | None = None, remedy: str = ""
) -> MachineFault:
    """Returns the error that says what the machine could not do, and what to do about it.

    Args:
        task: What follows "expected to": "start greedy", "capture a bot's output".
        at: The file or folder that it is about, if the task does not name it.
        remedy: What to do, if that is not what helps in general.
    """
    if not isinstance(error, OSError):  # Python says without a number that no thread could be started, or no memory got
        number = errno.ENOMEM if isinstance(error, MemoryError) else errno.EAGAIN
        error = OSError(number, str(error) or os.strerror(number))
    message = f"expected to {task}, got: {error.strerror or error}" + (f" - at {at}" if at else "")
    remedy = remedy or remedies.OF_MACHINES.get(error.errno or 0, "")
    return MachineFault(f"{message}; {remedy}" if remedy else message)
