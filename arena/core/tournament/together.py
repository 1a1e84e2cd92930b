"""Keeps the games of a match, one deal in all seatings of a meeting, on one worker of a cluster. It does no I/O.

Workers of different speed give bots different time to think. A match that is played on one of them is fair all the
same: each bot has had each seat of the deal there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeAlias

from arena.core.store.records import Claim
from arena.core.tournament.schedule import Schedule

MOST: Final = 100_000  # Matches that are remembered. Of one that was taken out of a league not all games are ever over.
Match: TypeAlias = Hashable
"""Key of a match."""


class Claimer(Protocol):
    """What claims the next games of a store, all arguments but one being given."""

    def __call__(self, *, fits: Callable[[int], bool] = ...) -> Sequence[Claim]:
        """Claims the first games that fit."""


@dataclass(slots=True)
class _Begun:
    """What is known of a match that is not over."""

    home: str = ""  # the worker that had a game of it last; empty if none had
    over: int = 0


class MatchWorkers:
    """Where each match that was begun is played, until all its games are over.

    Args:
        match_of: Returns by the number of a game what its match is known by, and how many games it has.
        begun: The games that were begun before, in order: the number of each, the worker that played it (empty if it
            was none of a cluster), and whether it is over.
    """

    def __init__(
        self, match_of: Callable[[int], tuple[Match, int]], begun: Iterable[tuple[int, str, bool]] = ()
    ) -> None:
        self._match_of = match_of
        self._begun: dict[Match, _Begun] = {}
        for number, worker, is_over in begun:
            if worker:
                self.claim(number, worker)
            if is_over:
                self.end(number)

    def fits(self, number: int, worker: str, others: Collection[str]) -> bool:
        """Says whether a worker may claim a game: nobody has its match, or this worker, or one that is gone.

        Args:
            others: The names of the other workers that play.
        """
        begun = self._begun.get(self._match_of(number)[0])
        return begun is None or begun.home in ("", worker) or begun.home not in others

    def claim(self, number: int, worker: str) -> None:
        """Notes that a worker has claimed a game."""
        self._get(self._match_of(number)[0]).home = worker

    def end(self, number: int) -> None:
        """Notes that a game is over: it will not be claimed again."""
        match, games = self._match_of(number)
        begun = self._get(match)
        begun.over += 1
        if begun.over == games:
            del self._begun[match]

    def _get(self, match: Match) -> _Begun:
        begun = self._begun.setdefault(match, _Begun())
        if len(self._begun) > MOST:
            del self._begun[next(iter(self._begun))]
        return begun


def claim_at_home(
    homes: MatchWorkers | None, claimer: Claimer, worker: str, others: Collection[str]
) -> Sequence[Claim]:
    """Claims games for a worker: where matches stay on one, only those that it may have."""
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
