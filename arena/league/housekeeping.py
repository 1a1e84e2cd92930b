"""Removes logs whose time is over, and knows how large all of them are."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from typing import Final

from arena.league.folder import Folder
from arena.league.retention import Expired, Logged, Retention, Shelf, expired, recent_since
from arena.league.tools import QUALIFYING
from arena.store.league import LeagueReader, LeagueStore
from arena.store.league.played import Ended
from arena.store.league.records import HOUSE
from arena.text import counted

TIDY_S: Final = 3600.0
"""How often logs are looked through."""
AT_ONCE: Final = 100
"""How many logs are removed before the service looks at everything else."""
QUALIFYING_DAYS: Final = 30
"""How long the logs of first games are kept."""
SIZED_S: Final = 10.0
"""How often the size of all logs is measured at most ..."""
SIZING: Final = 0.01
"""... and the largest part of the time that this may take."""
_MOST_ENTRANTS: Final = 10**6


def logged(game: Ended) -> Logged:
    """Returns a game as the rule takes it. Entrants of different seasons have different numbers there."""
    return Logged(
        game=game.game,
        ended=datetime.fromisoformat(game.finished).timestamp(),
        entrants=tuple(game.season * _MOST_ENTRANTS + entrant for entrant in game.entrants),
        forfeit=game.forfeit,
    )


def all_logs(store: LeagueReader, folder: Folder) -> Shelf:
    """Returns all logs that count towards the limit: the originals of all seasons, and what is published of them."""
    published = folder.published
    own = [published / "own" / author.name for author in store.authors.all() if author.name != HOUSE]
    return Shelf([*(folder.logs / season.tournament for season in store.seasons.all()), published / "logs", *own])


class LogSize:
    """Knows how large all logs are. To look at each takes long, so that it is done now and then.

    Args:
        store: The league.
        folder: Its folder.
    """

    def __init__(self, store: LeagueReader, folder: Folder) -> None:
        self._store = store
        self._folder = folder
        self._due = 0.0
        self._bytes = 0

    def bytes(self) -> int:
        """Returns the size of all logs as it was measured last."""
        began = time.monotonic()
        if began >= self._due:
            self._bytes = all_logs(self._store, self._folder).total()
            ended = time.monotonic()
            self._due = ended + max(SIZED_S, (ended - began) / SIZING)
        return self._bytes


class Tidy:
    """Removes the logs of a league that the rule does not keep.

    Args:
        store: The league.
        folder: Its folder.
        rule: How long logs are kept.
        tell: Called with a sentence when some were removed.
    """

    def __init__(self, store: LeagueStore, folder: Folder, rule: Retention, tell: Callable[[str], object]) -> None:
        self._store = store
        self._folder = folder
        self._rule = rule
        self._tell = tell
        self._due = time.monotonic()
        self._shelf = Shelf([])
        self._removing: Iterator[Expired] = iter(())
        self._removed = 0

    def look(self) -> None:
        """Removes some logs, if it is time for that."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + TIDY_S
            self._begin()
        some = list(islice(self._removing, AT_ONCE))
        for one in some:
            seats = len(one.game.entrants)
            self._removed += self._shelf.size(one.game.game, seats) > 0
            self._shelf.remove(one.game.game, seats)
        if self._removed and len(some) < AT_ONCE:
            games = counted(self._removed, "game")
            self._tell(f"The logs of {games} were removed: their time is over, or there are too many")
            self._removed = 0

    def _begin(self) -> None:
        self._shelf = all_logs(self._store, self._folder)
        latest = (logged(one) for one in self._store.played.ended(newest_first=True))
        since = recent_since(((one.ended, one.entrants) for one in latest), self._rule.last_games)
        self._removing = expired(
            lambda: (logged(one) for one in self._store.played.ended()),
            lambda game: self._shelf.size(game.game, len(game.entrants)),
            self._shelf.total(),
            since,
            time.time(),
            self._rule,
        )
        self._tidy_first_games()

    def _tidy_first_games(self) -> None:
        folder = self._folder.logs / QUALIFYING
        if folder.is_dir():
            oldest = time.time() - QUALIFYING_DAYS * 86_400
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                        os.unlink(entry.path)
