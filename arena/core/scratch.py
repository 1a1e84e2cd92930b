"""Temporary folders that do not stay for ever if their process is killed: the next one of the same kind removes them.

Laws:
1. A process holds a lock on its folder, which the system takes from it when it ends, however it ends. A folder that
   nobody has locked is abandoned.
2. A kind is told by how its names begin: by a name of arena's own, with nothing in it that a user has chosen. Else a
   folder of the user's could be taken for one of the kind.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def folder(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """Yields a new folder that only this user can enter, and removes it, and first what was abandoned of its kind.

    Args:
        prefix: How its name begins, and that of each of its kind.
        within: Where it is made; None: where temporary files are.

    Raises:
        OSError: It cannot be made.
    """
    for path in abandoned(prefix, within):
        shutil.rmtree(path, ignore_errors=True)
    path, held = make(prefix, within)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(held)


def make(prefix: str, within: Path | None = None) -> tuple[Path, int]:
    """Makes a folder, and returns it with the descriptor whose lock says that it is in use.

    Raises:
        OSError: It cannot be made.
    """
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
        held = _lock(path)
        if held is not None:
            return path, held


def abandoned(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """Yields this user's folders of a kind that nobody uses any more. Each is locked until the next is asked for."""
    place = Path(tempfile.gettempdir() if within is None else within)
    with suppress(OSError):
        for name in os.listdir(place):
            path = place / name
            with suppress(OSError):
                if name.startswith(prefix) and path.lstat().st_uid == os.geteuid():
                    held = _lock(path)
                    if held is not None:
                        try:
                            yield path
                        finally:
                            os.close(held)


def _lock(path: Path) -> int | None:
    """Locks a folder and returns its descriptor; None if another process has locked it, or has removed it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None
