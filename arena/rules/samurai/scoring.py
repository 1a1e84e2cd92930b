"""Who won: the comparison of captured pieces, and the ranks that come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from arena.rules.samurai.state import Triple
from arena.types import Ranks, Seat

Score: TypeAlias = Callable[[Sequence[Triple], Seat], Triple]
"""What a seat is compared by, given all captured pieces; larger is better."""


def score(captured: Sequence[Triple], seat: Seat) -> Triple:
    """What a seat is compared by, larger is better: castes led, pieces of the castes not led by it, all its pieces.

    A caste is led by who has strictly more pieces of it than everyone else.
    """
    own = captured[seat]
    others = [pieces for other, pieces in enumerate(captured) if other != seat]
    led = [caste for caste in range(3) if all(own[caste] > pieces[caste] for pieces in others)]
    return len(led), sum(own) - sum(own[caste] for caste in led), sum(own)


def majority_score(captured: Sequence[Triple], seat: Seat) -> Triple:
    """The same, but of the castes led it only counts whether they are two or more (`scoring=two_majorities`)."""
    led, others, everything = score(captured, seat)
    return int(led >= 2), others, everything


SCORES: Mapping[str, Score] = {"leaders": score, "two_majorities": majority_score}
"""By the value of the option `scoring`."""


def rank(captured: Sequence[Triple], forfeited: Sequence[Sequence[Seat]], score: Score) -> Ranks:
    """The ranks: those who finished by score, then those who forfeited, the latest to forfeit first.

    Who did not finish still counts in the comparison of captured pieces: they are his.
    """
    order: dict[Seat, tuple[int, ...]] = {seat: (1, *score(captured, seat)) for seat in range(len(captured))}
    for moment, seats in enumerate(forfeited):
        order.update(dict.fromkeys(seats, (0, moment)))
    return tuple(1 + sum(order[other] > order[seat] for other in order) for seat in range(len(captured)))
