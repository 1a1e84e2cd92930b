"""Walks through folders that a stranger's program has written to: how much is there, whose it is, what it is.

No link is followed. Call what changes something only when no process of the stranger's is left.
"""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

DEEPEST: Final = 3_000
"""Characters of a path. What lies deeper can soon not be reached by its path."""


class Used(NamedTuple):
    """What folders hold."""

    size: int
    """Bytes on the disk; with holes those that are read, where that is more."""
    entries: int
    """Files and folders; not all were counted if there are more than was asked for."""
    is_too_deep: bool = False
    """Something lies deeper than can be counted."""


def used(folders: Iterable[Path], most: int, *, holes: bool = False) -> Used:
    """Returns what some folders hold.

    A file counts once, however many names it has. Missing may be what comes or goes meanwhile, what was removed and is
    still open (`unlinked`), and what lies in a folder that this user may not list.

    Args:
        most: With more files and folders than this, the count ends.
        holes: Whether a file counts with its size if it takes less of the disk: whoever reads it gets so much.
    """
    entries = 0
    sizes: dict[tuple[int, int], int] = {}
    for entry in itertools.chain.from_iterable(map(entries_below, folders)):
        entries += 1
        with suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            sizes[status.st_dev, status.st_ino] = max(status.st_size if holes else 0, status.st_blocks * 512)
        is_too_deep = len(entry.path) > DEEPEST
        if entries > most or is_too_deep:
            return Used(sum(sizes.values()), entries, is_too_deep=entries <= most)
    return Used(sum(sizes.values()), entries)


def unlinked(members: Iterable[int], folder: Path) -> int:
    """Returns the bytes on the disk of a folder in files that processes have open and that have no name any more."""
    device = folder.stat().st_dev
    found: dict[int, int] = {}
    for pid in members:
        with suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    status = os.stat(f"/proc/{pid}/fd/{name}")
                    if not status.st_nlink and stat.S_ISREG(status.st_mode) and status.st_dev == device:
                        found[status.st_ino] = status.st_blocks * 512
    return sum(found.values())


def entries_below(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yields all that lies below a folder, a folder before what lies in it. What cannot be listed is skipped."""
    left = [str(folder)]
    while left:
        with suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)


def own(folder: Path, user: int) -> None:
    """Gives a folder to a user, with all that lies below it. No process of a stranger may write there meanwhile.

    Raises:
        OSError: The system refuses.
    """
    os.chown(folder, user, user, follow_symlinks=False)
    for entry in entries_below(folder):
        os.chown(entry.path, user, user, follow_symlinks=False)
