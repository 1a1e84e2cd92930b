"""Which logs of a league are kept, and for how long. Results, ratings and digests stay for ever: this is about files.

The rule: logs of finals stay for ever. A log that is among the last 50 games of one of its versions, or in which
somebody forfeited, stays for a year. Any other stays for a month, and so does that of a submission's first game. All
logs together take 20 GiB at most. If that is exceeded, the oldest of the last kind go first, then the oldest of the
others, but never those of finals.

Laws:
1. The decision is a pure function of rows, the time and the settings. It reads its rows in order and keeps none of
   them, so that millions of games need no memory.
2. Files are removed by their names, and those that are gone are no error: killed at any point, it is done again.
3. A log is compressed before its original is removed, so that at any instant one of them is whole.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from arena import files
from arena.errors import ConfigError, LogError
from arena.league.visible import BESIDE
from arena.record import compressed
from arena.record.log import SUFFIX

DAY_S: Final = 86_400.0
"""Seconds of a day."""
GIB: Final = 2**30


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long logs are kept."""

    last_games: int = 50
    """So many last games of each version are kept longer."""
    forfeit_days: float = 365
    """How long these are kept, and games with a forfeit."""
    days: float = 30
    """How long other games are kept."""
    gib: float = 20
    """The most that all logs may take of the disk."""

    def check(self) -> None:
        """Checks that every parameter is in its range.

        Raises:
            ConfigError: One is not. Show the message to the operator.
        """
        for name in ("last_games", "forfeit_days", "days", "gib"):
            if not 0 <= (value := getattr(self, name)) < math.inf:
                raise ConfigError(f"expected {name} to be a number from 0 on, got: {value}")
        if self.forfeit_days < self.days:
            raise ConfigError(f"expected forfeit_days to be at least days, {self.days:g}, got: {self.forfeit_days:g}")


class Logged(msgspec.Struct, frozen=True, kw_only=True):
    """A game whose log may still be there."""

    game: str
    """Its identifier: the log's name without its ending."""
    ended: float
    """When it ended, in seconds since 1970."""
    entrants: tuple[int, ...]
    """Who played it, by seat."""
    forfeit: bool = False
    """Whether somebody forfeited."""
    final: bool = False
    """Whether it belongs to a season's final."""
    first: bool = False
    """Whether it is one of those that a submission plays before it is rated. Its seats are no entrants then."""


class Expired(msgspec.Struct, frozen=True):
    """A game whose log is to be removed."""

    game: Logged
    why: str
    """The reason, for people."""


def recent_since(
    newest_first: Iterable[tuple[float, Sequence[int]]], recent: int, since: dict[int, float]
) -> Iterator[None]:
    """Finds out by entrant since when its `recent` last games were played: when the first of them ended.

    Args:
        newest_first: When each game ended, and who played it, from the last game on.
        recent: How many games. Entrants with fewer are left out: all their games are recent.
        since: Where that is written. It is complete when everything is read; after each game there is a yield.
    """
    left: dict[int, int] = {}
    for ended, entrants in newest_first:
        for entrant in entrants:
            left[entrant] = left.get(entrant, recent) - 1
            if left[entrant] == -1 == recent - 1:
                since[entrant] = math.inf  # none is recent
            elif left[entrant] == 0:
                since[entrant] = ended
        yield


def kept_until(game: Logged, since: Mapping[int, float], settings: Retention) -> float:
    """Returns until when a game's log is kept, in seconds since 1970; infinity means for ever.

    Args:
        game: The game.
        since: What `recent_since` found.
        settings: The rule's parameters.
    """
    if game.final:
        return math.inf
    days = settings.forfeit_days if _is_kept_longer(game, since) else settings.days
    return game.ended + days * DAY_S


def _is_kept_longer(game: Logged, since: Mapping[int, float]) -> bool:
    if game.first:
        return False
    return game.forfeit or any(game.ended >= since.get(entrant, -math.inf) for entrant in game.entrants)


def expired(
    oldest_first: Callable[[], Iterable[Logged]],
    size: Callable[[Logged], int],
    total: int,
    since: Mapping[int, float],
    now: float,
    settings: Retention,
) -> Iterator[Expired | None]:
    """Yields the games whose logs are to be removed now, and None for each other game that it looks at.

    Args:
        oldest_first: Begins to read the games whose logs may be there, from the oldest on. Called up to three times.
        size: Returns the bytes of all files of a game; 0 if they are gone.
        total: The bytes of all logs.
        since: What `recent_since` found.
        now: The time, in seconds since 1970.
        settings: The rule's parameters.
    """
    most = settings.gib * GIB
    for game in oldest_first():
        if game.ended + settings.days * DAY_S > now:
            break  # whatever comes after it is newer, and nothing is kept for less
        if kept_until(game, since, settings) > now or (bytes := size(game)) == 0:
            yield None
            continue
        total -= bytes
        yield Expired(game, "old")
    for longer in (False, True):
        if total <= most:
            return
        for game in oldest_first():
            if total <= most:
                return
            if game.final or _is_kept_longer(game, since) != longer or kept_until(game, since, settings) <= now:
                yield None
                continue
            if (bytes := size(game)) == 0:
                yield None
                continue
            total -= bytes
            yield Expired(game, f"all logs together have more than {settings.gib:g} GiB")


class Sweep:
    """Finds what is to be removed a few rows at a time, so that a service with millions of games never stops for it."""

    def __init__(
        self,
        newest_first: Callable[[], Iterable[Logged]],
        oldest_first: Callable[[], Iterable[Logged]],
        shelf: Shelf,
        now: float,
        settings: Retention,
        before: Iterable[None] = (),
    ) -> None:
        """Begins with the games whose logs may be there, in both orders, the files, the time, and the rule.

        What `before` does is done first, a step at a time.
        """
        self._before = before
        self._newest_first = newest_first
        self._oldest_first = oldest_first
        self._shelf = shelf
        self._now = now
        self._settings = settings
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
        since: dict[int, float] = {}
        latest = ((game.ended, game.entrants) for game in self._newest_first())
        yield from recent_since(latest, self._settings.last_games, since)
        total = 0
        for size in self._shelf.sizes():
            total += size
            yield None
        yield from expired(self._oldest_first, self._size, total, since, self._now, self._settings)

    def _size(self, game: Logged) -> int:
        return self._shelf.size(game.game, len(game.entrants))


class Shelf:
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
            if path.suffix == compressed.SUFFIX:
                continue
            data = files.read(path, "a game's log, transcript or output", files.MOST_LOG, LogError, links=False)
            packed = path.with_name(path.name + compressed.SUFFIX)
            files.write(packed, compressed.compress(data), durably=True)
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
        name = f"{game}{SUFFIX}"
        own = [folder for folder in self._folders if folder.name == game.rpartition("-")[0]]
        return any(
            os.path.lexists(path)
            for folder in own or self._folders
            for path in (folder / (name + compressed.SUFFIX), folder / name)
        )

    def files(self, game: str, seats: int) -> Iterator[Path]:
        """Yields the files of a game that are there. Their names are made: to list a folder of millions takes long."""
        names = [f"{game}{SUFFIX}", *(f"{game}.seat{seat}.{kind}" for seat in range(seats) for kind in BESIDE)]
        for folder in self._folders:
            for name in names:
                for path in (folder / name, folder / (name + compressed.SUFFIX)):
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
