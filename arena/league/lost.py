"""Knows what is to be built again: versions that play, or are being tried, and whose built files are not there.

After a restore that is all of them. Later it is one that comes back after its files were removed.

Laws:
1. It is found out again whenever a version's state has changed, so that no match is planned before its bots are there.
2. One that the machine cannot build rests, longer each time, and holds up nobody else.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from arena.store.league import LeagueStore
from arena.store.league.records import Version
from arena.store.league.states import State

LONGEST_REST_S: Final = 600.0
"""How long at most a step is not tried again after faults of the machine."""
_LOOK_S: Final = 10.0
"""How often it is looked without a change: somebody may have removed files by hand."""


class Lost:
    """The versions that are to be built again.

    Args:
        store: The league.
        is_built: Says whether what a version is started from is there.
    """

    def __init__(self, store: LeagueStore, is_built: Callable[[Version], bool]) -> None:
        self._store = store
        self._is_built = is_built
        self._found: dict[int, Version] = {}
        self._tries: Counter[int] = Counter()
        """By version how often it was tried to build it again."""
        self._rests: dict[int, float] = {}
        """By version until when that is not tried again."""
        self._mark = -1
        self._due = 0.0
        self._look()
        self._at_first = set(self._found)

    @property
    def names(self) -> frozenset[str]:
        """The names of those that play but for their files: no game of theirs should be planned."""
        self._look()
        return frozenset(version.name for version in self._found.values() if version.state is State.ACTIVE)

    @property
    def untried(self) -> bool:
        """Whether one was not tried yet to build again."""
        self._look()
        return any(not self._tries[id] for id in self._found)

    @property
    def untried_at_first(self) -> bool:
        """Whether one of those that were lost at the start was not tried yet: no game should begin."""
        self._look()
        return any(not self._tries[id] for id in self._at_first & self._found.keys())

    def __contains__(self, id: int) -> bool:
        self._look()
        return id in self._found

    def next(self, now: float) -> Version | None:
        """Returns the one to build now, those first that were tried least."""
        self._look()
        ready = [version for id, version in self._found.items() if self._rests.get(id, now) <= now]
        return min(ready, key=lambda version: self._tries[version.id], default=None)

    def tried(self, version: Version, *, again: bool) -> None:
        """Notes that it was tried to build one.

        Args:
            version: Which.
            again: Whether it has to be tried again, after a while: the machine could not do it.
        """
        self._tries[version.id] += 1
        if again:
            self._rests[version.id] = time.monotonic() + min(2.0 ** self._tries[version.id], LONGEST_REST_S)
        self._mark = -1  # something may be built now: it is looked anew

    def _look(self) -> None:
        """Finds out which there are, if that may have changed."""
        mark, now = self._store.versions.mark(), time.monotonic()
        if mark == self._mark and now < self._due:
            return
        self._mark, self._due = mark, now + _LOOK_S
        needed = [
            *self._store.versions.active(),
            *(one for one in self._store.versions.pending() if one.state in (State.CHECKING, State.QUALIFYING)),
        ]
        self._found = {version.id: version for version in needed if not self._is_built(version)}
        self._tries = Counter({id: self._tries[id] for id in self._found})
        self._rests = {id: until for id, until in self._rests.items() if id in self._found}
