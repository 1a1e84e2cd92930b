"""Removes what a league need not keep: logs, ratings of days that are past, old orders and notices.

Laws:
1. What would take long is done a little at a time, here and in the ratings that are made again, so that games go on.
2. An order is not forgotten while its file is there: it would be obeyed once more.
3. The notices that a status shows stay: those that the operator has not read, and the last ones of each author.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from heapq import merge
from typing import Final

from msgspec.structs import replace

from arena.core.face import counted, errors
from arena.league.folder import Folder
from arena.league.keeping import calendar
from arena.league.keeping.calendar import SignsOfLife
from arena.league.keeping.clearing import Clearing
from arena.league.keeping.first_games import QUALIFYING, FirstGames
from arena.league.keeping.retention import Expired, ExpiredFiles, GameFiles, Logged
from arena.league.settings import Logs, Settings
from arena.league.store import LeagueReader, LeagueStore, open_league
from arena.league.store.notices import NOTICES
from arena.league.store.played import Ended
from arena.league.store.records import HOUSE

TIDY_S: Final = 3600.0
"""How often logs are looked through."""
AT_ONCE: Final = 500
"""How many games or files are looked at before the service looks at everything else."""
MOST_REMOVED: Final = 50
"""How many games' files, about, are removed before that."""
_STEP: Final = 50
MARK_S: Final = 600.0
"""Seconds between two looks whether a day has ended."""
MOST_ROWS: Final = 500
"""How many ratings are removed before the service looks at everything else."""
REMADE_S: Final = 0.25
"""How long ratings are made again, about, before the service looks at everything else."""
SIZED_S: Final = 10.0
"""How often the size of all logs is measured at most ..."""
SIZING: Final = 0.01
"""... and the largest part of the time that this may take."""
ORDER_DAYS: Final = 7
"""Days for which an answered order is known, with its answer."""
NOTICE_DAYS: Final = 30
"""Days for which a notice stays that no status shows."""
FORGET_S: Final = 3600.0
"""Seconds between two searches for rows to forget."""


def logged(game: Ended) -> Logged:
    """Returns a game as the rule takes it."""
    ended = datetime.fromisoformat(game.finished).timestamp()
    return Logged(game=game.game, ended=ended, seats=game.seats, forfeit=game.forfeit, final=game.final)


def _in_order(games: Iterable[Ended]) -> Iterator[Logged]:
    """Yields games as the rule takes them, none of which ended before those that were planned before it.

    So what was played while the clock was back does not go as soon as that is right again.
    """
    latest = 0.0
    for game in map(logged, games):
        latest = max(latest, game.ended)
        yield replace(game, ended=latest)


def all_logs(store: LeagueReader, folder: Folder) -> GameFiles:
    """Returns all logs that count towards the limit: first games, the originals of all seasons, what is published."""
    published = folder.published
    own = [published / "own" / author.name for author in store.authors.all() if author.name != HOUSE]
    originals = [folder.logs / season.tournament for season in store.seasons.all()]
    return GameFiles([*originals, folder.logs / QUALIFYING, published / "logs", *own])


class LogSize:
    """Knows how large all logs are. To look at each takes long, so that it is done now and then."""

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


class Thin:
    """Keeps of each version one rating a day, and all of today."""

    def __init__(self, store: LeagueStore) -> None:
        self._store = store
        self._due = 0.0
        self._more = True
        """Whether rows may be left that are not needed."""

    def look(self) -> None:
        """Removes some rows, if there are such."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + MARK_S
            self._more |= self._store.thinning.mark(calendar.days_ago(self._store, 0)) > 0
        if self._more:
            self._more = self._store.thinning.step(MOST_ROWS)


class Remake:
    """Makes ratings again after a match was struck, as far as the time of a look allows.

    Args:
        tell: Called with a sentence when it begins and when it is done.
    """

    def __init__(self, store: LeagueStore, tell: Callable[[str], object]) -> None:
        self._store = store
        self._tell = tell
        self._told = False

    def look(self) -> None:
        """Rates some games again, if there are such."""
        state = self._store.remaking.state()
        if state is None:
            return
        if not self._told:
            self._tell(f"Running ratings are being made again: {counted(state.left, 'game')} to go")
            self._told = True
        end = time.monotonic() + REMADE_S
        while more := self._store.remaking.step():
            if time.monotonic() >= end:
                break
        if not more:
            self._tell("All running ratings are made again")
            self._told = False


def remake_here(folder: Folder) -> None:
    """Makes all ratings again in this process, as long as no service runs and no other command writes the database."""
    while not folder.is_running:
        try:
            with open_league(folder.database) as store:
                end = time.monotonic() + REMADE_S
                while store.remaking.step():
                    if time.monotonic() >= end:  # others may have their turn
                        break
                else:
                    return
        except errors.StoreError:
            return


class Tidy:
    """Removes the logs of a league that the rule does not keep, a few at a time: there may be millions.

    Args:
        rule: How long logs are kept.
        tell: Called with a sentence when some were removed.
    """

    def __init__(self, store: LeagueStore, folder: Folder, rule: Logs, tell: Callable[[str], object]) -> None:
        self._store = store
        self._folder = folder
        self._rule = rule
        self._tell = tell
        self._due = time.monotonic()
        self._game_files = GameFiles([])
        self._expired: ExpiredFiles | None = None
        """What looks through the games; None while nothing is due."""
        self._removed = 0

    def look(self) -> None:
        """Looks at some games, and removes the logs of those whose time is over, if it is time for that."""
        now = time.monotonic()
        if self._expired is None and now >= self._due:
            self._due = now + TIDY_S
            self._begin()
        if self._expired is None:
            return
        gone = 0
        for _ in range(AT_ONCE // _STEP):
            gone += self._remove(self._expired.step(_STEP))
            if self._expired.is_done or gone >= MOST_REMOVED:
                break
        if self._expired.is_done:
            self._expired = None
            if self._removed:
                games = counted(self._removed, "game")
                self._tell(f"The logs of {games} were removed: their time is over, or there are too many")
            self._removed = 0

    def _remove(self, expired: Sequence[Expired]) -> int:
        """Removes the files of these games, and returns of how many there were some."""
        found = 0
        for one in expired:
            found += self._game_files.size(one.game.game, one.game.seats) > 0
            self._game_files.remove(one.game.game, one.game.seats)
        self._removed += found
        return found

    def _begin(self) -> None:
        self._game_files = all_logs(self._store, self._folder)
        now = calendar.now(self._store)
        first = FirstGames(self._folder.logs / QUALIFYING, now, self._rule)
        self._expired = ExpiredFiles(
            lambda: merge(_in_order(self._store.played.ended()), first.oldest_first(), key=lambda game: game.ended),
            self._game_files,
            now,
            self._rule,
            before=first.find(),
        )


class Forget:
    """Forgets orders that were answered long ago, and old notices."""

    def __init__(self, store: LeagueStore, folder: Folder) -> None:
        self._store = store
        self._folder = folder
        self._due = 0.0
        self._order: int | None = None
        """After which row orders are looked at next; None once all were."""
        self._notice: int | None = None
        """The same for notices."""

    def look(self) -> None:
        """Looks at some rows, if it is time for that, and forgets what is old of them."""
        now = time.monotonic()
        if self._order is None and self._notice is None:
            if now < self._due:
                return
            self._due = now + FORGET_S
            self._order = self._notice = 0
        ago = partial(calendar.days_ago, self._store)
        if self._order is not None:
            waiting = [path.stem for path in self._folder.orders() if path.stem.isascii()]
            self._order = self._store.commands.forget(ago(ORDER_DAYS), waiting, self._order, MOST_ROWS)
        if self._notice is not None:
            self._notice = self._store.notices.forget(ago(NOTICE_DAYS), NOTICES, self._notice, MOST_ROWS)


def duties(
    store: LeagueStore, folder: Folder, settings: Settings, tell: Callable[[str], object]
) -> tuple[SignsOfLife, Tidy, Thin, Remake, Forget, Clearing]:
    """Returns what the service does again and again, so that the league keeps what it should and no more."""
    return (
        SignsOfLife(store, folder, tell),
        Tidy(store, folder, settings.logs, tell),
        Thin(store),
        Remake(store, tell),
        Forget(store, folder),
        Clearing(store, folder, tell),
    )
