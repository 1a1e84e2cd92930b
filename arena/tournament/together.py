"""Keeps the games of a match, one deal in all seatings of a meeting, on one worker of a cluster. It does no I/O.

Workers of different speed give bots different time to think. A match that is played on one of them is fair all the
same: each bot has had each seat of the deal there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import partial
from typing import Final, Protocol, TypeAlias

from arena.store.records import Claim
from arena.tournament.schedule import Schedule

MOST: Final = 10_000
"""Matches that are remembered. Of one that was taken out of a league not all games are claimed."""
Match: TypeAlias = Hashable
"""What a match is known by."""


class Claimer(Protocol):
    """What claims the next games of a store, all arguments but one being given."""

    def __call__(self, *, fits: Callable[[int], bool] = ...) -> Sequence[Claim]:
        """Claims the first games that fit."""


class Homes:
    """Where each match that was begun is played, until all its games were claimed.

    Args:
        match_of: Returns by the number of a game what its match is known by, and how many games it has.
    """

    def __init__(self, match_of: Callable[[int], tuple[Match, int]]) -> None:
        self._match_of = match_of
        self._homes: dict[Match, str] = {}
        self._claimed: dict[Match, set[int]] = {}
        """By match, the numbers of the games that were claimed."""

    def fits(self, number: int, worker: str, others: Collection[str]) -> bool:
        """Says whether a worker may claim a game: nobody has its match, or this worker, or one that is gone.

        Args:
            number: The game's.
            worker: Its name.
            others: The names of the other workers that play.
        """
        home = self._homes.get(self._match_of(number)[0])
        return home is None or home == worker or home not in others

    def claim(self, number: int, worker: str) -> None:
        """Notes that a worker has claimed a game."""
        match, games = self._match_of(number)
        self._homes[match] = worker
        claimed = self._claimed.setdefault(match, set())
        claimed.add(number)
        if len(claimed) == games:
            self._forget(match)
        elif len(self._homes) > MOST:
            self._forget(next(iter(self._homes)))

    def _forget(self, match: Match) -> None:
        del self._homes[match], self._claimed[match]


def claim_at_home(homes: Homes | None, claimer: Claimer, worker: str, others: Collection[str]) -> Sequence[Claim]:
    """Claims games for a worker: where matches stay on one, only those that it may have.

    Args:
        homes: Where matches are played; None if that is all the same.
        claimer: Claims games.
        worker: The worker's name.
        others: The names of the other workers that play.
    """
    if homes is None:
        return claimer()
    claims = claimer(fits=partial(homes.fits, worker=worker, others=others))
    for claim in claims:
        homes.claim(claim.number, worker)
    return claims


def of_schedule(schedule: Schedule) -> Callable[[int], tuple[Match, int]]:
    """Returns what tells the matches of a tournament: meeting and deal. More games may be planned later."""

    def match_of(number: int) -> tuple[Match, int]:
        game = schedule.game(number)
        return (game.block // schedule.seatings, game.deal), schedule.seatings

    return match_of
