"""Keeps the games of a match, one deal in all seatings of a meeting, on one worker of a cluster. Pure.

Workers of different speed give bots different time to think. A match that is played on one of them is fair all the
same: each bot has had each seat of the deal there.
"""

from __future__ import annotations

from collections.abc import Collection

from arena.tournament.schedule import Schedule


class Homes:
    """Where each match that was begun is played, until all its games were claimed."""

    def __init__(self, schedule: Schedule) -> None:
        """Takes the games. More may be planned later."""
        self._schedule = schedule
        self._homes: dict[tuple[int, int], str] = {}
        """By meeting and deal."""
        self._claimed: dict[tuple[int, int], set[int]] = {}
        """Of these the seatings that were claimed."""

    def fits(self, number: int, worker: str, others: Collection[str]) -> bool:
        """Says whether a worker may claim a game: nobody has its match, or this worker, or one that is gone.

        Args:
            number: The game's.
            worker: Its name.
            others: The names of the other workers that play.
        """
        home = self._homes.get(self._match(number))
        return home is None or home == worker or home not in others

    def claim(self, number: int, worker: str) -> None:
        """Notes that a worker has claimed a game."""
        match = self._match(number)
        self._homes[match] = worker
        claimed = self._claimed.setdefault(match, set())
        claimed.add(self._schedule.game(number).rotation)
        if len(claimed) == self._schedule.seatings:
            del self._homes[match], self._claimed[match]

    def _match(self, number: int) -> tuple[int, int]:
        game = self._schedule.game(number)
        return game.block // self._schedule.seatings, game.deal
