"""A file system of the soak's own, whose size it can change at any time: so the disk of the league can be filled.

It is a tmpfs in a namespace of mounts that only the soak and what it starts see. To make it smaller takes no memory,
and the kernel then refuses to write with the same error as on a full disk. Where the machine does not give such a
namespace the soak runs without this trouble, and says so.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

SIZE: Final = 6 * 2**30
"""Bytes of the file system when it has room: more than a league needs to begin games. They are taken as they are
written."""
_REMOUNT: Final = 0x20
_AMBIENT, _CLEAR_ALL = 47, 4
_libc: Final = ctypes.CDLL(None, use_errno=True)


def wrap(command: Sequence[str]) -> list[str] | None:
    """Returns the command in a namespace of mounts of its own; None where the machine gives none."""
    if shutil.which("unshare") is None:
        return None
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    wrapped = ["unshare", *user, "--mount", "--propagation", "private", "--"]
    tried = [*wrapped, sys.executable, "-m", "tests.soak.room"]
    if subprocess.run(tried, capture_output=True, check=False, timeout=60).returncode != 0:
        return None
    return [*wrapped, *command]


class Room:
    """The file system.

    Args:
        path: The folder that it is mounted on; None makes one without any power over its size.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        if path is not None:
            _mount(path, SIZE, 0)
            # What the soak starts shall not have this power.
            _libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)

    @property
    def is_own(self) -> bool:
        """Whether its size can be changed."""
        return self._path is not None

    def leave(self, free: int) -> None:
        """Leaves so many bytes free."""
        if self._path is None:
            return
        for _ in range(100):  # it cannot be smaller than what is in it, and somebody may write at this moment
            state = os.statvfs(self._path)
            used = (state.f_blocks - state.f_bfree) * state.f_frsize
            try:
                _mount(self._path, used + free, _REMOUNT)
                return
            except OSError:
                continue

    def restore(self) -> None:
        """Gives it its full size again."""
        if self._path is not None:
            _mount(self._path, SIZE, _REMOUNT)


def _mount(path: Path, size: int, flags: int) -> None:
    options = f"size={max(size, os.sysconf('SC_PAGE_SIZE'))},mode=0755".encode()
    if _libc.mount(b"soak", os.fsencode(path), b"tmpfs", flags, options) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))


if __name__ == "__main__":  # tried by `wrap`, in a namespace
    _mount(Path("/tmp"), 2**20, 0)
    (Path("/tmp") / "soak").write_bytes(bytes(1000))
