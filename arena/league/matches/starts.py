"""Counts how long rated games wait for bots to start, against a quota of their authors.

A game's clocks run once all its bots are ready, so nothing else makes an author pay for a slow start. The quota fills
up evenly: `start_s` of `[limits]` in an hour, of which `_KEPT_S` are kept at most. Games that are planned already may
exceed it; then the author's bots rest until that is made up for. It is kept in memory: full when the service starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from arena.core.face import GameResult, game_rows
from arena.league.keeping.retention import DAY_S
from arena.league.settings import Limits
from arena.league.store import LeagueStore
from arena.league.store.records import Version

FREE_S: Final = 1.0
"""Seconds of each start that nobody pays for: runtimes need some of it."""
_HOUR_S: Final = 3_600.0
_KEPT_S: Final = 300.0
"""The quota of this time can be used at once."""


class Starts:
    """Seconds that the authors of a league have left for starts: a token bucket each.

    Args:
        limits: What authors may have, but for those who have limits of their own.
    """

    def __init__(self, store: LeagueStore, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._limits = limits
        self._clock = clock
        self._levels: dict[str, tuple[float, float]] = {}
        """Token bucket of each author who has used some: the seconds that were left, and when."""
        self._told: dict[str, float] = {}
        """Time at which each author was told that it is used up: once a day."""

    def count(self, game: game_rows.PlannedGame, result: GameResult) -> list[str]:
        """Counts the starts of a game. Returns what the operator is told, and tells authors who have used up theirs."""
        sentences = []
        for entrant, start_ms in zip(game.entrants, result.starts_ms, strict=False):  # other machines may tell none
            excess = start_ms / 1_000 - FREE_S
            version = self._store.versions.of_entrant(entrant) if excess > 0 else None
            if version is None or version.is_of_house:
                continue
            left, now = self.left(version.author) - excess, self._clock()
            self._levels[version.author] = left, now
            if left < 0 and now >= self._told.get(version.author, -DAY_S) + DAY_S:
                self._told[version.author] = now
                sentences.append(self._tell(version, start_ms / 1_000))
        return sentences

    def left(self, author: str) -> float:
        """Returns how many seconds an author has left; below 0 if they have used more."""
        rate = self._of(author) / _HOUR_S
        full = rate * _KEPT_S
        left, at = self._levels.get(author, (full, 0.0))
        return min(full, left + rate * (self._clock() - at))

    def resting(self) -> frozenset[str]:
        """Returns the authors whose quota is used up."""
        return frozenset(author for author in self._levels if self.left(author) < 0)

    def _of(self, author: str) -> int:
        return self._limits.of_author(self._store.authors.quotas(author))["start_s"]

    def _tell(self, version: Version, seconds: float) -> str:
        quota = self._of(version.author)
        text = (
            f"the bots of {version.author} rest: expected games to wait {quota} s in an hour for them to start, beyond "
            f"the first second of each start, got: more, at last {seconds:.1f} s for {version.name}; let them start "
            "faster. They play again when it is made up for"
        )
        self._store.notices.add(version.author, "slow", text, version.id)
        return text
