"""Says what to do about errors of the operating system."""

from __future__ import annotations

import errno
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
