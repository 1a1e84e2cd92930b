"""Watches the room on a disk, and holds a reserve for the moment when there is none.

Laws:
1. Below the limit a league begins no game, and neither it nor its door receives anything. It goes on when there is half
   as much room again, so that it does not stop and go at every game. A disk may also run out of files that it can hold,
   with room for bytes left.
2. The reserve is given up once the disk is full, so that the results of running games can be committed and the logs
   closed. It is taken again when there is room.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from arena.core.face import files

GIB: Final = 2**30
LEAST_BYTES: Final = 2 * GIB
"""Free bytes below which a league stops ..."""
LEAST_PART: Final = 0.05
"""... or below this part of the disk, whichever is more, or below this part of the files that the disk can hold."""
AGAIN: Final = 1.5
"""The multiple of that which must be free before it goes on."""
RESERVE: Final = 64 * files.MIB
"""Bytes that are held back."""
LOOK_S: Final = 5.0
"""Seconds between two measurements of the room."""


class Disk(NamedTuple):
    """What a disk has, as the system says it."""

    free: int
    """Free bytes, for this user."""
    total: int
    free_files: int = 0
    """Files that can still be made."""
    files: int = 0
    """Files that it can hold; 0 if it has no such limit, as some kinds of disk."""


class DiskState(msgspec.Struct, frozen=True):
    """The room on a disk, as it was looked at."""

    free: int
    """Free bytes, for this user."""
    enough: bool
    """Whether games may begin and submissions be received."""
    needed: int
    """Free bytes that it takes: to go on, or not to stop."""
    free_files: int | None = None
    """Files that can still be made; None if the disk has no such limit."""
    needed_files: int = 0
    """Number of them that it takes."""

    def sentence(self) -> str:
        """Returns it for people: how much is free, and how much it takes."""
        if self.free_files is not None and self.free_files < self.needed_files:
            return (
                f"{self.free_files:,} more files fit on it: no game begins and nothing is received until "
                f"{self.needed_files:,} do; remove files, small ones too"
            )
        free, needed = f"{self.free / GIB:.1f} GiB", f"{self.needed / GIB:.1f} GiB"
        if self.enough:
            return f"{free} free; it stops below {needed}"
        return f"{free} free: no game begins and nothing is received until {needed} are free; make room"


def _space(path: Path) -> Disk:
    found = os.statvfs(path)
    size = found.f_frsize
    return Disk(found.f_bavail * size, found.f_blocks * size, found.f_favail, found.f_files)


class DiskWatch:
    """Looks at a disk again and again."""

    def __init__(self, path: Path, measure: Callable[[Path], Disk] = _space) -> None:
        self._path = path
        self._measure = measure
        self._enough = True

    def look(self) -> DiskState:
        """Returns the room that there is now. Raises OSError: the folder is gone."""
        space = self._measure(self._path)
        least = max(LEAST_BYTES, int(LEAST_PART * space.total)), int(LEAST_PART * space.files)
        needed, files_needed = self._needed(*least)
        self._enough = space.free >= needed and (not space.files or space.free_files >= files_needed)
        needed, files_needed = self._needed(*least)
        return DiskState(space.free, self._enough, needed, space.free_files if space.files else None, files_needed)

    def _needed(self, *least: int) -> tuple[int, ...]:
        """Returns of each how much it takes: as much as not to stop, or more, to go on."""
        return tuple(each if self._enough else int(each * AGAIN) for each in least)


class DiskRoom:
    """The room on a league's disk as its service watches it, and the reserve.

    Args:
        tell: Called with a sentence when the room becomes too small, and when it is enough again.
    """

    def __init__(self, folder: Path, tell: Callable[[str], object], measure: Callable[[Path], Disk] = _space) -> None:
        self._watch = DiskWatch(folder, measure)
        self._reserve = folder / "reserve"
        """A file that only takes room."""
        self._tell = tell
        self._looked = -LOOK_S
        self.room = self._watch.look()
        """As it was measured last."""
        self.is_short = False
        """Whether nothing should begin that needs room."""

    def look(self) -> None:
        """Measures what is free, now and then."""
        now = time.monotonic()
        if now < self._looked + LOOK_S:
            return
        self._looked = now
        room = self.room = self._watch.look()
        if room.enough == self.is_short:
            self.is_short = not room.enough
            self._tell(f"Disk: {room.sentence()}")
        if room.enough and not (self._reserve.exists() and self._reserve.stat().st_size == RESERVE):
            with suppress(OSError):  # it is tried again
                files.allocate(self._reserve, RESERVE)

    def give_up_reserve(self) -> None:
        """Frees the reserve, so that what is known can be committed. Raises OSError: the file cannot be removed."""
        self._reserve.unlink(missing_ok=True)
