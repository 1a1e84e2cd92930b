"""Landlock: the kernel's way for a process without rights to give up files, TCP and other processes for good.

A ruleset is made here, once for each kind of seat, and handed to the process that confines itself by it
(`launcher.py`). What a version of the kernel lacks is closed by the rows of `fenced_filter.py`: so a seat has the same
from version 1 on.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable
from typing import Final

from arena.core.face import errors, machine_fault

LEAST: Final = 1
"""The lowest version that is of use."""
READ: Final = 0b1101
"""Read and execute files, and list folders."""
LIST: Final = 0b1000
USE: Final = 0b0110
"""Read and write files: devices."""
_OF_FILES: Final = 0b0111
"""Rights that a file can have."""
_CREATE, _ADD = 444, 445
_VERSION: Final = 1
_BENEATH: Final = 1
_FILE_RIGHTS: Final = (13, 14, 15, 15, 16)
"""Number of rights on files by version, from the first one on; later ones know as many as the last."""
_TCP: Final = 0b11
_SCOPES: Final = 0b11
"""Abstract sockets and signals of others."""
_WHY: Final = {
    errno.EOPNOTSUPP: "Landlock is in the kernel and was not turned on when it started",
    errno.ENOSYS: "the kernel has no Landlock, or a container's filter forbids it",
    errno.EPERM: "a container's filter forbids Landlock",
}
_DO: Final = {errno.EOPNOTSUPP: "add landlock to lsm=... of the kernel's command line, and restart"}
_OTHERWISE: Final = (
    "use Linux 5.13 or newer; in a container, Docker 23 or newer, or a seccomp profile that allows Landlock; where "
    "namespaces can be had without it, as in gVisor, level isolated may do"
)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def version() -> int:
    """Returns the version of Landlock that this kernel has.

    Raises:
        MachineFault: It has none. Show the message to the operator: it says what to do.
    """
    try:
        return _call(_CREATE, None, 0, _VERSION)
    except OSError as error:
        why = _WHY.get(error.errno or 0, os.strerror(error.errno or 0))
        raise errors.MachineFault(
            f"expected a kernel with Landlock, got: {why}; {_DO.get(error.errno or 0, _OTHERWISE)}"
        ) from None


def ruleset(granted: Iterable[tuple[str, int]]) -> int:
    """Makes a ruleset, and returns its descriptor.

    Args:
        granted: Paths of files and folders, each with `READ`, `LIST` or `USE`. A folder stands for all below it. A path
            that is not there is left out.

    Raises:
        MachineFault: The kernel refuses.
    """
    found = version()
    handled = (1 << _FILE_RIGHTS[min(found, len(_FILE_RIGHTS)) - 1]) - 1
    words = [handled, *([_TCP] if found >= 4 else []), *([_SCOPES] if found >= 6 else [])]
    rules = struct.pack(f"{len(words)}Q", *words)
    try:
        made = _call(_CREATE, rules, len(rules), 0)
    except OSError as error:
        raise machine_fault("make a Landlock ruleset", error) from None
    try:
        for path, rights in granted:
            _grant(made, path, rights)
    except OSError as error:
        os.close(made)
        raise machine_fault("add to a Landlock ruleset", error) from None
    return made


def _grant(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _OF_FILES
        _call(_ADD, ruleset, _BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: int | bytes | None) -> int:
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
