"""Directs with a lag of one round: while a round is played, the next one is known already."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque

from arena.core.tournament.formats.base import Director, Round, RoundResult


class Lagging(Director):
    """A director whose rounds depend on all results but those of the round in front, even if these are there already.

    So the rounds are the same however fast the games are played.
    """

    lag = 1

    def __init__(self) -> None:
        self._added = 0
        self._noted = 0
        self._early: deque[RoundResult] = deque()
        """Results on which the next round must not depend yet."""

    def add(self, round: Round) -> None:
        self._added += 1
        self.plan(round)
        self._note()

    def take(self, result: RoundResult) -> None:
        self._early.append(result)
        self._note()

    def _note(self) -> None:
        while self._early and self._noted < self._added - 1:
            self.note(self._early.popleft())
            self._noted += 1

    @abstractmethod
    def plan(self, round: Round) -> None:
        """Takes note that a round will be played."""

    @abstractmethod
    def note(self, result: RoundResult) -> None:
        """Takes note of the results of the earliest round that has none yet."""
