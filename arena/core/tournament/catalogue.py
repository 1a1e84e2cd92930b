"""Describes the tournaments in the database with what belongs to them on the disk, and removes them with their logs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from arena.core.files import final_name
from arena.core.record.published import COMMITMENT_FILE, CONTRIBUTIONS_FILE, CORRECTIONS_FILE, SECRET_FILE

_PUBLISHED = (COMMITMENT_FILE, CONTRIBUTIONS_FILE, SECRET_FILE, CORRECTIONS_FILE)


class Size(msgspec.Struct, frozen=True):
    """How much there is on the disk."""

    files: int
    bytes: int


class RemovedLogs(msgspec.Struct, frozen=True):
    """What became of a tournament's folder of logs."""

    folder: str
    removed: Size
    kept: str | None
    """Why the folder, or something in it, is still there; None if it is gone."""


def size_of(tournament: str, folder: Path) -> Size | None:
    """Returns the number of files of a tournament in its folder of logs, and their size; None if it has no folder."""
    if not folder.is_dir():
        return None
    sizes = [file.stat(follow_symlinks=False).st_size for file in _own_files(tournament, folder)]
    return Size(len(sizes), sum(sizes))


def remove_logs(tournament: str, folder: Path) -> RemovedLogs:
    """Removes the files of a tournament from its folder of logs, and the folder if nothing else is in it.

    A folder that does not bear the tournament's name is left as it is: others may have put files there.
    """
    nothing = Size(0, 0)
    if folder.is_symlink() or not folder.is_dir():
        return RemovedLogs(str(folder), nothing, "there is no such folder")
    if folder.name != tournament:
        return RemovedLogs(str(folder), nothing, "it is not the tournament's own folder")
    files = freed = 0
    try:
        for file in _own_files(tournament, folder):
            size = file.stat(follow_symlinks=False).st_size
            os.unlink(file.path)
            files, freed = files + 1, freed + size
        others = sorted(os.listdir(folder))
        if not others:
            folder.rmdir()
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        kept = f"it holds {', '.join(others[:3])}{more}" if others else None
    except OSError as error:
        kept = f"it cannot be removed: {error.strerror}"
    return RemovedLogs(str(folder), Size(files, freed), kept)


def _own_files(tournament: str, folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yields the files that arena wrote for a tournament: those named after its games, and what it published."""
    with os.scandir(folder) as entries:
        for entry in entries:
            own = entry.name.startswith(f"{tournament}-") or final_name(entry.name) in _PUBLISHED
            if own and not entry.is_dir(follow_symlinks=False):
                yield entry
