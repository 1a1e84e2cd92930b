"""Computes standings and cross-table from results and ratings. Pure; its memory grows only with the entrants.

In a game of three or four a *win* is rank 1 alone, a *draw* is rank 1 shared, and anything else is a *loss*. The
cross-table compares two entrants in the games that both played: better, equal or worse rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations

import msgspec

from arena.ratings.running import Rating
from arena.store.records import Entrant, SeatRow


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One entrant's row."""

    rank: int
    """By `conservative`, 1 is best; equal ones share."""
    bot: str
    version: str
    mu: float
    """TrueSkill's mean."""
    sigma: float
    """TrueSkill's standard deviation."""
    conservative: float
    """`mu - 3 * sigma`."""
    games: int
    wins: int
    """Games with rank 1 alone."""
    draws: int
    """Games with rank 1 shared."""
    losses: int
    """All other games."""
    forfeits: int
    """Games lost by its own doing."""
    mean_ms: float
    """Mean time per decision."""
    max_ms: float
    """Time of the slowest decision."""
    mean_score: float | None
    """Mean score of the games that had scores; None before any."""


class HeadToHead(msgspec.Struct, frozen=True, kw_only=True):
    """One entrant against another, over the games that both played."""

    bot: str
    """The other."""
    games: int
    better: int
    """Games in which it had the better rank."""
    equal: int
    """Games in which they shared a rank."""
    worse: int
    """Games in which the other had the better rank."""
    score: float
    """From 0 to 1: better counts 1, equal counts a half. It is a half before any game."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One entrant's row of the cross-table."""

    bot: str
    against: tuple[HeadToHead, ...]
    """In the order of the standings, itself left out."""


class Standings(msgspec.Struct, frozen=True, kw_only=True):
    """Standings and cross-table of a tournament."""

    standings: tuple[Standing, ...]
    crosstable: tuple[Row, ...]
    """In the same order."""


class _Tally:
    """Counts one entrant's results."""

    def __init__(self) -> None:
        self.games = self.wins = self.draws = self.forfeits = self.decisions = 0
        self.total_ms = self.max_ms = 0.0
        self.score = self.scored = 0
        """The sum of its scores, and of how many games."""


def tabulate(entrants: Sequence[Entrant], ratings: Sequence[Rating], results: Iterable[Sequence[SeatRow]]) -> Standings:
    """Counts the results and puts the entrants in order.

    Args:
        entrants: By number.
        ratings: By the entrants' numbers.
        results: The seats of each finished game; read once, one game at a time.
    """
    tallies = [_Tally() for _ in entrants]
    compared = [[[0, 0, 0] for _ in entrants] for _ in entrants]
    for seats in results:
        leaders = sum(seat.rank == 1 for seat in seats)
        for seat in seats:
            tally = tallies[seat.entrant]
            tally.games += 1
            tally.wins += seat.rank == 1 and leaders == 1
            tally.draws += seat.rank == 1 and leaders > 1
            tally.forfeits += seat.forfeit is not None
            tally.decisions += seat.decisions
            tally.total_ms += seat.total_ms
            tally.max_ms = max(tally.max_ms, seat.max_ms)
            if seat.score is not None:
                tally.score += seat.score
                tally.scored += 1
        for one, other in permutations(seats, 2):
            compared[one.entrant][other.entrant][_sign(one.rank - other.rank) + 1] += 1

    order = sorted(entrants, key=lambda entrant: (-ratings[entrant.number].conservative, entrant.number))
    best_first = [ratings[entrant.number].conservative for entrant in order]
    return Standings(
        standings=tuple(
            _standing(entrant, best_first.index(rating.conservative) + 1, rating, tallies[entrant.number])
            for entrant in order
            for rating in (ratings[entrant.number],)
        ),
        crosstable=tuple(
            Row(
                bot=one.name,
                against=tuple(
                    _score(other.name, *compared[one.number][other.number]) for other in order if other is not one
                ),
            )
            for one in order
        ),
    )


def _standing(entrant: Entrant, rank: int, rating: Rating, tally: _Tally) -> Standing:
    return Standing(
        rank=rank,
        bot=entrant.name,
        version=entrant.version,
        mu=round(rating.mu, 3),
        sigma=round(rating.sigma, 3),
        conservative=round(rating.conservative, 3),
        games=tally.games,
        wins=tally.wins,
        draws=tally.draws,
        losses=tally.games - tally.wins - tally.draws,
        forfeits=tally.forfeits,
        mean_ms=round(tally.total_ms / tally.decisions, 3) if tally.decisions else 0.0,
        max_ms=round(tally.max_ms, 3),
        mean_score=round(tally.score / tally.scored, 3) if tally.scored else None,
    )


def _score(other: str, better: int, equal: int, worse: int) -> HeadToHead:
    games = better + equal + worse
    score = (better + equal / 2) / games if games else 0.5
    return HeadToHead(bot=other, games=games, better=better, equal=equal, worse=worse, score=round(score, 4))


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
