"""Tells a command or a web address of what the operator wants to hear of: `[notify]`.

Law: how far it has told is noted after it has. So a kill loses no event, and one may be told twice. One that fails is
said, and not told again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.core.face import Payload, standings_reports
from arena.league.folder import Folder
from arena.league.settings import Notify
from arena.league.store import LeagueStore
from arena.league.store.controls import ToldUpTo

LIMIT_S: Final = 60.0
"""Seconds that a command may take."""
_LOOK_S: Final = 1.0


def told(store: LeagueStore) -> ToldUpTo:
    """Returns how far the operator was told. What was before the first time that it is asked is told to nobody."""
    known = store.controls.told
    if known is None:
        season = store.seasons.current()
        known = ToldUpTo(change=store.versions.mark(), season=season.number if season else 0)
        store.set_control("told", known)
    return known


class Telling(msgspec.Struct, eq=False):
    """Tells one event after another, beside the service's loop."""

    store: LeagueStore
    folder: Folder
    notify: Notify
    tell: Callable[[str], object]
    _due: float = 0.0
    _thread: Thread | None = None
    _after: ToldUpTo = ToldUpTo()
    """How far it has told when the thread has ended."""
    _said: list[str] = []

    def look(self) -> None:
        """Sees whether an event was told, and begins to tell the next."""
        now = time.monotonic()
        if now >= self._due and (self._thread is None or not self._thread.is_alive()):
            self._due = now + _LOOK_S
            self._go_on()

    def finish(self) -> None:
        """Tells all that is to be told, and waits for it."""
        self._go_on()
        while self._thread is not None:
            self._thread.join()
            self._go_on()

    def _go_on(self) -> None:
        if self._thread is not None:
            self.store.set_control("told", self._after)
            while self._said:
                self.tell(self._said.pop(0))
            self._thread = None
        known = told(self.store)
        while (found := self._next(known)) is not None:
            event, id, result, known = found
            if self.notify.command and event in self.notify.of:
                self._after = known
                given = (self.notify.command, event, id, self.folder.database, result, self._said.append)
                self._thread = Thread(
                    target=standings_reports.notify, args=given, kwargs={"limit_s": LIMIT_S}, daemon=True
                )
                self._thread.start()
                return
            self.store.set_control("told", known)

    def _next(self, known: ToldUpTo) -> tuple[str, str, Payload, ToldUpTo] | None:
        """Returns the next event, what came of it, and how far it is told after it; None if there is none."""
        season = self.store.seasons.current()
        if season is not None and season.number > known.season > 0:
            closed = next(one for one in self.store.seasons.all() if one.number == known.season)
            return "season", closed.name, dict(closed.standings or {}), replace(known, season=known.season + 1)
        found = self.store.versions.ended(known.change)
        if found is None:
            return None
        number, change = found
        return change.new, change.version, msgspec.to_builtins(change), replace(known, change=number)
