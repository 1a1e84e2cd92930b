"""Which logs of a league are kept, and for how long. Results, ratings and digests stay for ever: this is about files.

The rule: logs of finals stay for ever, those of games in which somebody forfeited for a year, all others for a month.
All logs together take 20 GiB at most. If that is exceeded, the oldest go first, but never those of finals.

Laws:
1. The decision is a pure function of rows, the time and the settings.
2. Files are removed by their names, and those that are gone are no error: killed at any point, it is done again.
3. A log is compressed before its original is removed, so that at any instant one of them is whole.
4. First games, those that a submission plays before it is rated, are games like others. No row names them: they are
   found by their files.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from arena.core.face import compression, errors, files, log_records
from arena.league.settings import Logs
from arena.league.store.played import EndedGame
from arena.league.visible import BESIDE

DAY_S: Final = 86_400.0
GIB: Final = 2**30
QUALIFYING: Final = "qualifying"
"""The folder for the logs of first games, beside those of seasons."""
_FILE: Final = re.compile(
    rf"(?P<game>.+?)(?:{re.escape(log_records.SUFFIX)}|\.seat(?P<seat>[0-9]{{1,3}})\.(?:{'|'.join(BESIDE)}))"
    rf"(?:{re.escape(compression.SUFFIX)})?"
)


def kept_until(game: EndedGame, rule: Logs) -> float:
    """Returns until when a game's log is kept, in seconds since 1970; infinity means for ever."""
    if game.final:
        return math.inf
    return game.ended + DAY_S * (rule.forfeit_days if game.forfeit else rule.days)


def expired(
    oldest_first: Iterable[EndedGame], size: Callable[[EndedGame], int], total: int, now: float, rule: Logs
) -> Iterator[EndedGame | None]:
    """Yields the games whose logs are to be removed now, and None for each other game that it looks at.

    Args:
        oldest_first: The games whose logs may be there, from the oldest on.
        size: Returns the bytes of all files of a game; 0 if they are gone.
        total: The bytes of all logs.
        now: The time, in seconds since 1970.
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
        yield game


def first_games(folder: Path, since: float) -> list[EndedGame]:
    """Returns the first games whose logs are in a folder, the oldest first, and matches that authors asked for.

    A file that is no log and from before a moment is removed: that of a game that was cut short has no other end.
    """
    found: dict[str, tuple[float, int]] = {}
    for entry in os.scandir(folder) if folder.is_dir() else ():
        if not entry.is_file(follow_symlinks=False):
            continue
        written = entry.stat(follow_symlinks=False).st_mtime
        match = _FILE.fullmatch(entry.name)
        if written < since and (match is None or match["seat"] is not None):
            os.unlink(entry.path)
        if match is not None:
            ended, seats = found.get(match["game"], (math.inf, 0))
            seat = match["seat"]
            found[match["game"]] = (written, seats) if seat is None else (ended, max(seats, int(seat) + 1))
    games = (EndedGame(game, ended, seats) for game, (ended, seats) in found.items() if ended < math.inf)
    return sorted(games, key=lambda game: game.ended)


class GameFiles:
    """The files of games: logs with what stands beside them, in folders that all have the same names."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Begins with the folders: that of the original logs, and those of what is published."""
        self._folders = folders

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
        """Removes all files of a game; those that are gone are no error. Raises OSError: one cannot be removed."""
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
