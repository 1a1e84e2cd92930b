"""Checks that what a bot sees of its own are regular files, folders and links, as in an archive.

A named pipe carries text from seat to seat and into the next game, however it is mounted, and a socket leads to whoever
listens there. So each folder is looked through before it is first used. Whoever adds something to a folder changes its
time; so later a look at the folders alone tells whether one is needed again.

In a sandbox a folder is seen as it is on the machine at that moment. A pipe that is made while a game goes on is there
too, and is refused before the next one. No bot at a level above trusted can make one, and what a build leaves is held
to the same rule (`author/archives/settling.py`).
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection
from typing import Final, NamedTuple

from arena.core.face import errors, machine_fault

_SETTLED_NS: Final = 10**9
"""mtime is too coarse to detect a second change within this time."""
_NAMES: Final = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class _State(NamedTuple):
    """What changes when something is added to a folder, or another folder takes its place."""

    device: int
    number: int
    changed_ns: int


_known: dict[str, dict[str, _State]] = {}
"""Folders of each place that was looked through, as they were before that."""


def check_kinds(place: str, name: str, sockets: Collection[str] = ()) -> None:
    """Checks a file or folder of a bot, with all that is in it.

    Args:
        name: The bot's name, for the error.
        sockets: Paths of sockets that the operator has put there.

    Raises:
        BotError: Something else is in it, or a folder cannot be listed. Show the message to the operator.
        MachineFault: The machine lacks descriptors, say.
        OSError: It is not there.
    """
    known = _known.get(place)
    if known is not None and all(_state(folder) == state for folder, state in known.items()):
        return
    now = time.time_ns()
    folders = _look_through(place, name, sockets)
    if all(now - state.changed_ns > _SETTLED_NS for state in folders.values()):
        _known[place] = folders
    else:
        _known.pop(place, None)


def _look_through(place: str, name: str, sockets: Collection[str]) -> dict[str, _State]:
    folders: dict[str, _State] = {}
    if not os.path.isdir(place):
        _check(place, os.stat(place).st_mode, name)
        return folders
    left = [place]
    while left:
        folder = left.pop()
        if (state := _state(folder)) is None:
            continue  # it is gone
        folders[folder] = state
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    elif not (entry.is_file(follow_symlinks=False) or entry.is_symlink() or entry.path in sockets):
                        _check(entry.path, entry.stat(follow_symlinks=False).st_mode, name)
        except FileNotFoundError:
            continue
        except PermissionError:
            raise errors.BotError(
                f"{name}: expected folders that can be listed, got: {folder}, which cannot; give the right to read it"
            ) from None
        except OSError as error:
            raise machine_fault(f"start {name}", error) from None
    return folders


def _check(path: str, mode: int, name: str) -> None:
    if not stat.S_ISREG(mode):
        kind = _NAMES.get(stat.S_IFMT(mode), "something else")
        raise errors.BotError(
            f"{name}: expected files and folders, which are all that a bot may have above level trusted, "
            f"got: {kind} - at {path}; remove it"
        )


def _state(folder: str) -> _State | None:
    try:
        found = os.lstat(folder)
    except OSError:
        return None
    return _State(found.st_dev, found.st_ino, found.st_ctime_ns)
