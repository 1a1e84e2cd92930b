"""Shares the only worker of a league between games and the steps of submissions: fair queueing by seconds of work.

Laws:
1. While both wait, whoever has taken less of the worker, by its share, comes next. What has begun is finished.
2. Who did not wait saves nothing up by that. What somebody took beyond their share is not forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

STEPS: Final = 0.5
"""The part of the time that steps have while games wait; games have the rest while submissions wait."""


class Turns:
    """Who comes next.

    Args:
        clock: The time in seconds; it never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock()
        self._steps = self._games = 0.0
        """What each has taken, over its share."""

    def spend(self, *, steps: bool, games: bool) -> None:
        """Counts the time since the last call for what has run in it."""
        before, self._at = self._at, self._clock()
        self._steps += steps * (self._at - before) / STEPS
        self._games += games * (self._at - before) / (1 - STEPS)

    def is_of_steps(self, *, steps: bool, games: bool) -> bool:
        """Says whether the next turn is that of a step.

        Args:
            steps: Whether a step runs or waits.
            games: Whether a game runs or waits.
        """
        if not games:
            self._games = max(self._games, self._steps)
        if not steps:
            self._steps = max(self._steps, self._games)
        return steps and self._steps <= self._games
