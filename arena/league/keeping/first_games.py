"""Finds the logs of first games, those that a submission plays before it is rated. No row of the database names them.

They are logs like others: they count in the size of all, and stay as long as those of most games.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena.core.face import compression, log_records
from arena.league.keeping.retention import DAY_S, Logged
from arena.league.settings import Logs
from arena.league.visible import BESIDE

QUALIFYING: Final = "qualifying"
"""The folder for the logs of first games, beside those of seasons."""
MOST: Final = 10_000
"""Of how many games it knows at a time, the oldest: there may be many more."""
_FILE: Final = re.compile(
    rf"(?P<game>.+?)(?:{re.escape(log_records.SUFFIX)}|\.seat(?P<seat>[0-9]{{1,3}})\.(?:{'|'.join(BESIDE)}))"
    rf"(?:{re.escape(compression.SUFFIX)})?"
)


class FirstGames:
    """The first games whose logs are there.

    Args:
        folder: Where they are.
        now: The time, in seconds since 1970.
        rule: How long logs are kept.
    """

    def __init__(self, folder: Path, now: float, rule: Logs) -> None:
        self._folder = folder
        self._oldest = now - rule.days * DAY_S
        self._found: dict[str, tuple[float, int]] = {}
        """By game when its log was written, and for how many seats there are files."""

    def find(self) -> Iterator[None]:
        """Removes files whose time is over, and finds the games of the others. Yields after each file.

        A file without a log, of a game that was cut short, goes when its own time is over.
        """
        if not self._folder.is_dir():
            return
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    self._look_at(entry)
                yield

    def oldest_first(self) -> list[Logged]:
        """Returns the games that were found."""
        games = [
            Logged(game=game, ended=ended, seats=seats)
            for game, (ended, seats) in self._found.items()
            if ended < math.inf
        ]
        return sorted(games, key=lambda game: game.ended)

    def _look_at(self, entry: os.DirEntry[str]) -> None:
        written = entry.stat(follow_symlinks=False).st_mtime
        if written < self._oldest:
            os.unlink(entry.path)
        elif (match := _FILE.fullmatch(entry.name)) is not None:
            ended, seats = self._found.get(match["game"], (math.inf, 0))
            if match["seat"] is None:
                ended = written
            else:
                seats = max(seats, int(match["seat"]) + 1)
            self._found[match["game"]] = (ended, seats)
            if len(self._found) > 2 * MOST:
                self._found = dict(sorted(self._found.items(), key=lambda item: item[1])[:MOST])
