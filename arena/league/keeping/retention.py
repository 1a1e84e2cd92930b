"""Which logs of a league are kept, and for how long. Results, ratings and digests stay for ever: this is about files.

The rule: logs of finals stay for ever, those of games in which somebody forfeited for a year, all others for a month.
All logs together take 20 GiB at most. If that is exceeded, the oldest go first, but never those of finals.

Laws:
1. The decision is a pure function of rows, the time and the settings. It reads its rows once, in order, and keeps none
   of them, so that millions of games need no memory.
2. Files are removed by their names, and those that are gone are no error: killed at any point, it is done again.
3. A log is compressed before its original is removed, so that at any instant one of them is whole.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import compression, errors, files, log_records
from arena.league.settings import Logs
from arena.league.visible import BESIDE

DAY_S: Final = 86_400.0
"""Seconds of a day."""
GIB: Final = 2**30


class Logged(msgspec.Struct, frozen=True, kw_only=True):
    """A game whose log may still be there."""

    game: str
    """Its identifier: the log's name without its ending."""
    ended: float
    """When it ended, in seconds since 1970."""
    seats: int
    """The number of its seats, which have files of their own."""
    forfeit: bool = False
    """Whether somebody forfeited."""
    final: bool = False
    """Whether it belongs to a season's final."""


class Expired(msgspec.Struct, frozen=True):
    """A game whose log is to be removed."""

    game: Logged
    why: str
    """The reason, for people."""


def kept_until(game: Logged, rule: Logs) -> float:
    """Returns until when a game's log is kept, in seconds since 1970; infinity means for ever."""
    if game.final:
        return math.inf
    return game.ended + DAY_S * (rule.forfeit_days if game.forfeit else rule.days)


def expired(
    oldest_first: Iterable[Logged], size: Callable[[Logged], int], total: int, now: float, rule: Logs
) -> Iterator[Expired | None]:
    """Yields the games whose logs are to be removed now, and None for each other game that it looks at.

    Args:
        oldest_first: The games whose logs may be there, from the oldest on.
        size: Returns the bytes of all files of a game; 0 if they are gone.
        total: The bytes of all logs.
        now: The time, in seconds since 1970.
        rule: How long logs are kept.
    """
    most = rule.gib * GIB
    for game in oldest_first:
        if total <= most and game.ended + rule.days * DAY_S > now:
            return  # whatever comes after it is newer, and nothing is kept for less
        is_old = kept_until(game, rule) <= now
        if game.final or not (is_old or total > most) or (bytes := size(game)) == 0:
            yield None
            continue
        total -= bytes
        yield Expired(game, "old" if is_old else f"all logs together have more than {rule.gib:g} GiB")


class ExpiredFiles:
    """Finds what is to be removed a few rows at a time, so that a service with millions of games never stops for it."""

    def __init__(
        self,
        oldest_first: Callable[[], Iterable[Logged]],
        game_files: GameFiles,
        now: float,
        rule: Logs,
        before: Iterable[None] = (),
    ) -> None:
        """Begins with the games whose logs may be there, from the oldest on, the files, the time, and the rule.

        What `before` does is done first, a step at a time; only then are the games read.
        """
        self._before = before
        self._oldest_first = oldest_first
        self._game_files = game_files
        self._now = now
        self._rule = rule
        self._steps = self._all_steps()
        self.is_done = False
        """Whether everything was looked at."""

    def step(self, rows: int) -> list[Expired]:
        """Looks at so many more games or files, and returns which games' logs are to be removed."""
        steps = list(islice(self._steps, rows))
        self.is_done = len(steps) < rows
        return [one for one in steps if one is not None]

    def _all_steps(self) -> Iterator[Expired | None]:
        for _ in self._before:
            yield None
        total = 0
        for size in self._game_files.sizes():
            total += size
            yield None
        yield from expired(self._oldest_first(), self._size, total, self._now, self._rule)

    def _size(self, game: Logged) -> int:
        return self._game_files.size(game.game, game.seats)


class GameFiles:
    """The files of games: logs with what stands beside them, in folders that all have the same names."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Begins with the folders: that of the original logs, and those of what is published."""
        self._folders = folders

    def total(self) -> int:
        """Returns the bytes that all files in the folders take of the disk."""
        return sum(self.sizes())

    def sizes(self) -> Iterator[int]:
        """Yields the bytes that each file in the folders takes of the disk."""
        for folder in self._folders:
            if folder.is_dir():
                with os.scandir(folder) as entries:
                    yield from map(_length, entries)

    def size(self, game: str, seats: int) -> int:
        """Returns the bytes that all files of a game take of the disk; 0 if its log is gone."""
        return sum(_taken(path.stat()) for path in self.files(game, seats)) if self._has_log(game) else 0

    def compress(self, game: str, seats: int) -> None:
        """Compresses the files of a game that are not compressed yet.

        Raises:
            LogError: One cannot be read.
            OSError: One cannot be written. The original is still there.
        """
        for path in self.files(game, seats):
            if path.suffix == compression.SUFFIX:
                continue
            data = files.read(path, "a game's log, transcript or output", files.MOST_LOG, errors.LogError, links=False)
            packed = path.with_name(path.name + compression.SUFFIX)
            files.write(packed, compression.compress(data), durably=True)
            path.unlink()

    def remove(self, game: str, seats: int) -> None:
        """Removes all files of a game; those that are gone are no error.

        Raises:
            OSError: One cannot be removed.
        """
        # The original last: as long as it is there, the game is found again after a kill.
        for path in reversed(list(self.files(game, seats))):
            path.unlink(missing_ok=True)

    def _has_log(self, game: str) -> bool:
        """Returns whether a game's original log is there. Of seasons with a folder each, only its own is looked at."""
        name = f"{game}{log_records.SUFFIX}"
        own = [folder for folder in self._folders if folder.name == game.rpartition("-")[0]]
        return any(
            os.path.lexists(path)
            for folder in own or self._folders
            for path in (folder / (name + compression.SUFFIX), folder / name)
        )

    def files(self, game: str, seats: int) -> Iterator[Path]:
        """Yields the files of a game that are there. Their names are made: to list a folder of millions takes long."""
        names = [
            f"{game}{log_records.SUFFIX}",
            *(f"{game}.seat{seat}.{kind}" for seat in range(seats) for kind in BESIDE),
        ]
        for folder in self._folders:
            for name in names:
                for path in (folder / name, folder / (name + compression.SUFFIX)):
                    if os.path.lexists(path):
                        yield path


def _taken(status: os.stat_result) -> int:
    """Returns how many bytes of the disk a file takes: whole blocks. A system may keep small files without any."""
    return max(status.st_size, 512 * status.st_blocks)


def _length(entry: os.DirEntry[str]) -> int:
    try:
        return _taken(entry.stat(follow_symlinks=False)) if entry.is_file(follow_symlinks=False) else 0
    except FileNotFoundError:  # removed meanwhile
        return 0
