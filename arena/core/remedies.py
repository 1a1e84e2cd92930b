"""Says what to do about errors of the operating system, and about arguments too many."""

from __future__ import annotations

import errno
from collections.abc import Collection
from typing import Final

DISK: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""The errors of a disk that is full, may not be written to, or fails."""

DESCRIPTORS: Final = frozenset({errno.EMFILE, errno.ENFILE})
"""The errors of too few descriptors: the file that was to be opened is not the reason."""

ROOM: Final = "make room, or set TMPDIR to another folder"
_FEWER: Final = "play fewer games at once (--concurrency)"
_PERMISSION: Final = "give a place that this user may use, or change its permissions"

OF_MACHINES: Final = {
    errno.EMFILE: f"raise the limit of open files (`ulimit -n`), or {_FEWER}",
    errno.ENFILE: f"raise the machine's limit of open files (fs.file-max), close other programs, or {_FEWER}",
    errno.EAGAIN: f"raise the limit of processes (`ulimit -u`), or {_FEWER}",
    errno.ENOMEM: f"close other programs, or {_FEWER}",
    errno.ENOSPC: ROOM,
    errno.EDQUOT: ROOM,
    errno.EROFS: ROOM,
}
"""Remedy by errno when the machine lacks something, whatever was to be done with it."""

OF_NAMES: Final = {
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ELOOP: "correct the link, or give another name",
    errno.ENOTDIR: "give another place",
    errno.EISDIR: "give another place",
    errno.ENOENT: "something removed it meanwhile, or its folder is not there: correct that, and call again",
    errno.EACCES: _PERMISSION,
    errno.EPERM: _PERMISSION,
}
"""Remedy by errno for a file or folder that the operator named."""


def of_extra(extra: str, options: Collection[str], takes: str) -> str:
    """Returns what to do about arguments of which a command has no use.

    Args:
        options: Those of the command. The name of a tournament or league is often given without its option.
        takes: The arguments that it takes; may be empty.

    >>> of_extra("latest", ["--db", "--tournament"], "")
    "Did you mean '--tournament latest'?"
    """
    if "--db" in options and "--tournament" not in options and not takes:
        names = " or ".join(f"'{name}'" for name in ("--db", "--league") if name in options)
        return f"Leave it out: all of the database is meant, and {names} names another."
    if found := next((name for name in ("--tournament", "--league") if name in options), None):
        return f"Did you mean '{found} {extra}'?"
    return f"It takes {takes or 'none'}; leave the rest out."
