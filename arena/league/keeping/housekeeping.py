"""Removes what a league need not keep: logs, old orders, answers and notices.

Laws:
1. Logs are looked through a little at a time, so that games go on.
2. An order is not forgotten while its file is there: it would be obeyed once more.
3. The notices that a status shows stay: those that the operator has not read, and the last ones of each author.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Final

from arena.core.face import counted
from arena.league.folder import ASIDE, Folder
from arena.league.keeping import calendar
from arena.league.keeping.retention import DAY_S, QUALIFYING, GameFiles, expired, first_games
from arena.league.settings import Logs
from arena.league.store import LeagueReader, LeagueStore
from arena.league.store.records import HOUSE

EACH_S: Final = 3600.0
"""How often logs are looked through, and what is old is forgotten."""
AT_ONCE: Final = 500
"""How many games are looked at before the service looks at everything else, or how many times 20 files."""
ORDER_DAYS: Final = 7
"""Days for which an answered order is known, with its answer."""
ASIDE_DAYS: Final = 30
"""Days for which an order is kept that was put aside."""
NOTICE_DAYS: Final = 30
"""Days for which a notice stays that no status shows."""


def all_logs(store: LeagueReader, folder: Folder) -> GameFiles:
    """Returns all logs that count towards the limit: first games, the originals of all seasons, what is published."""
    published = folder.published
    own = [published / "own" / author.name for author in store.authors.all() if author.name != HOUSE]
    originals = [folder.logs / season.tournament for season in store.seasons.all()]
    return GameFiles([*originals, folder.logs / QUALIFYING, published / "logs", *own])


class Tidy:
    """Removes what the rules do not keep, logs a few at a time, and knows how large all logs are."""

    def __init__(self, store: LeagueStore, folder: Folder, rule: Logs, tell: Callable[[str], object]) -> None:
        self._store = store
        self._folder = folder
        self._rule = rule
        self._tell = tell
        self._due = 0.0
        self._steps: Iterator[None] = iter(())
        self.bytes = 0
        """The size of all logs when they were looked through last."""

    def look(self) -> None:
        """Looks at some games, and removes the logs of those whose time is over, if it is time for that."""
        if sum(1 for _ in islice(self._steps, AT_ONCE)) < AT_ONCE and (now := time.monotonic()) >= self._due:
            self._due = now + EACH_S
            self._forget()
            self._steps = self._all_steps()

    def _forget(self) -> None:
        """Forgets orders, answers and notices that are old."""
        store, folder, now = self._store, self._folder, calendar.now(self._store)
        waiting = [path.stem for path in folder.orders() if path.stem.isascii()]
        store.commands.forget(calendar.days_ago(self._store, ORDER_DAYS), waiting)
        store.notices.forget(calendar.days_ago(self._store, NOTICE_DAYS))
        _remove_old(folder.answers, "", now - DAY_S)  # that nobody has fetched for a day
        for place in (folder.inbox, folder.incoming):
            _remove_old(place, ASIDE, now - ASIDE_DAYS * DAY_S)

    def _all_steps(self) -> Iterator[None]:
        now, rule = calendar.now(self._store), self._rule
        files = all_logs(self._store, self._folder)
        first = first_games(self._folder.logs / QUALIFYING, now - rule.days * DAY_S)
        total = removed = 0
        for number, size in enumerate(files.sizes()):
            total += size
            if number % 20 == 0:
                yield
        self.bytes = total
        ended = merge(self._store.played.ended(), first, key=lambda game: game.ended)
        for game in expired(ended, lambda game: files.size(game.game, game.seats), total, now, rule):
            if game is not None:
                self.bytes -= files.size(game.game, game.seats)
                files.remove(game.game, game.seats)
                removed += 1
            yield
        if removed:
            games = counted(removed, "game")
            self._tell(f"The logs of {games} were removed: their time is over, or there are too many")


def _remove_old(folder: Path, ending: str, oldest: float) -> None:
    """Removes the files of a folder that have an ending and are from before a moment."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.endswith(ending) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)
