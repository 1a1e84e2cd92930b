"""Walks through folders that a stranger's program has written to: how much is there, whose it is, what it is.

No link is followed. Call what changes something only when no process of the stranger's is left.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

DEEPEST: Final = 3_000
"""Characters of a path. What lies deeper can soon not be reached by its path."""


class Used(NamedTuple):
    """What folders hold."""

    size: int
    """Bytes on the disk."""
    entries: int
    """Files and folders; not all were counted if there are more than was asked for."""
    is_too_deep: bool = False
    """Something lies deeper than can be counted."""


def used(folders: Iterable[Path], most: int) -> Used:
    """Returns what some folders hold.

    Missing may be what comes or goes meanwhile, what was removed and is still open, and what lies in a folder that this
    user may not list.

    Args:
        folders: The folders.
        most: With more files and folders than this, the count ends.
    """
    size = entries = 0
    for folder in folders:
        for entry in entries_below(folder):
            entries += 1
            with suppress(OSError):
                size += entry.stat(follow_symlinks=False).st_blocks * 512
            if entries > most:
                return Used(size, entries)
            if len(entry.path) > DEEPEST:
                return Used(size, entries, is_too_deep=True)
    return Used(size, entries)


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
