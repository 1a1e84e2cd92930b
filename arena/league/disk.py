"""Watches the room on a league's disk, and holds a reserve for the moment when there is none.

Laws:
1. Below the limit no game begins and nothing is received. It goes on when there is half as much room again, so that it
   does not stop and go at every game.
2. The reserve is given up once the disk is full, so that the results of running games can be committed and the logs
   closed. It is taken again when there is room.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from arena import files

GIB: Final = 2**30
RESERVE: Final = 64 * files.MIB
"""Bytes that are held back."""


class DiskLimits(msgspec.Struct, frozen=True, kw_only=True):
    """When a league stops for want of room."""

    least_bytes: int = 2 * GIB
    """It stops below so many free bytes,"""
    least_part: float = 0.05
    """or below this part of the disk, whichever is more."""
    again: float = 1.5
    """It goes on at so many times that."""

    def stop_below(self, total: int) -> int:
        """Returns below how many free bytes a league on a disk of `total` bytes stops."""
        return max(self.least_bytes, int(self.least_part * total))


class Room(msgspec.Struct, frozen=True):
    """The room on a disk, as it was looked at."""

    free: int
    """Free bytes, for this user."""
    enough: bool
    """Whether games may begin and submissions be received."""
    needed: int
    """How many free bytes it takes: to go on, or not to stop."""

    def sentence(self) -> str:
        """Returns it for people: how much is free, and how much it takes."""
        free, needed = f"{self.free / GIB:.1f} GiB", f"{self.needed / GIB:.1f} GiB"
        if self.enough:
            return f"{free} free; it stops below {needed}"
        return f"{free} free: no game begins and nothing is received until {needed} are free; make room"


def _free_and_total(path: Path) -> tuple[int, int]:
    usage = shutil.disk_usage(path)
    return usage.free, usage.total


class DiskWatch:
    """Looks at a disk again and again."""

    def __init__(
        self, path: Path, limits: DiskLimits, measure: Callable[[Path], tuple[int, int]] = _free_and_total
    ) -> None:
        """Begins as if there was enough room.

        Args:
            path: A folder on the disk.
            limits: When it is not enough.
            measure: Returns the free and all bytes of the disk.
        """
        self._path = path
        self._limits = limits
        self._measure = measure
        self._enough = True

    def look(self) -> Room:
        """Returns the room that there is now.

        Raises:
            OSError: The folder is gone.
        """
        free, total = self._measure(self._path)
        stop = self._limits.stop_below(total)
        needed = stop if self._enough else int(stop * self._limits.again)
        self._enough = free >= needed
        return Room(free, self._enough, stop if self._enough else int(stop * self._limits.again))


class Reserve:
    """A file that only takes room."""

    def __init__(self, path: Path, size: int = RESERVE) -> None:
        """Begins with where it is, or will be, and how many bytes it takes."""
        self._path = path
        self._size = size

    @property
    def held(self) -> bool:
        """Whether it is there, in its full size."""
        try:
            return self._path.stat().st_size == self._size
        except FileNotFoundError:
            return False

    def hold(self) -> bool:
        """Takes the room, if it is not taken yet. Returns whether it is taken now."""
        if not self.held:
            try:
                files.allocate(self._path, self._size)
            except OSError:
                return False
        return True

    def give_up(self) -> None:
        """Frees the room.

        Raises:
            OSError: The file cannot be removed.
        """
        self._path.unlink(missing_ok=True)
