"""What decides who wins: the comparison of captured pieces.

Who forfeited still counts in it: the pieces are his.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from arena.rules.samurai.state import Triple
from arena.types import Seat

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
