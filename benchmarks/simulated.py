"""What simulations of leagues share: games of bots whose skill is known, and the figures that are shown.

Games follow TrueSkill's model: each bot plays as well as its skill plus noise, and the better play wins. The figures:

- `correlation`: of the ranks by running rating with the true ranks, after 10, 20, 40 and all games a bot;
- `games`: the fewest and the most games of a bot;
- `wait`: the longest wait of anybody, in rounds of as many matches as seat everybody once;
- `again`: how many meetings repeat one of a bot's last 10 matches;
- `slope`, `error`: the ratings of the refit against the truth: how wide the scale came out, and the deviation of what
  is wrong. In brackets the same error of the running ratings.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence
from itertools import combinations
from random import Random

import msgspec

from arena.core.ratings.pairs import PairResult
from arena.core.ratings.running import BETA, Rating, rate

SPREAD = 6.0
"""The deviation of skills."""
MATCHES = 50
"""Matches a bot plays, on average."""
LOOKS = (10, 20, 40)
"""After how many games a bot, on average, the ranks are compared, and at the end."""
LATELY = 10
"""Meetings are repeated if one of so many last matches had them."""
HEADING = "correlation           games       wait    again   slope  error (running)"


class Figures(msgspec.Struct, frozen=True):
    """What came of one simulated league: a line of the table."""

    correlations: tuple[float, ...]
    fewest: int
    most: int
    wait: float
    again: float
    slope: float
    error: float
    running_error: float

    def line(self) -> str:
        """Returns the figures as they are printed."""
        correlations = " ".join(f"{value:.3f}"[1:] for value in self.correlations)
        return (
            f"{correlations}   {self.fewest:>3}-{self.most:<3}   {self.wait:5.1f}   {self.again:.3f}   "
            f"{self.slope:.2f}   {self.error:.2f} ({self.running_error:.2f})"
        )


class Waits:
    """Counts how long bots wait, and who meets again."""

    def __init__(self, bots: int) -> None:
        self._last = [0] * bots
        self._met: list[deque[Sequence[int]]] = [deque(maxlen=LATELY) for _ in range(bots)]
        self._number = 0
        self.longest = self.again = self.meetings = 0

    def join(self) -> None:
        """One more bot is there; its wait begins."""
        self._last.append(self._number)
        self._met.append(deque(maxlen=LATELY))

    def leave(self, entrant: int) -> None:
        """A bot is there no more; its wait ends."""
        self.longest = max(self.longest, self._number - self._last[entrant])

    def note(self, entrants: Sequence[int]) -> None:
        """A match is chosen."""
        self._number += 1
        for one, other in combinations(entrants, 2):
            self.meetings += 1
            self.again += any(other in table for table in self._met[one])
        for entrant in entrants:
            self.longest = max(self.longest, self._number - self._last[entrant])
            self._last[entrant] = self._number
            self._met[entrant].append(entrants)


def play(
    entrants: Sequence[int], deal: int, skills: Sequence[float], ratings: list[Rating], rng: Random
) -> list[PairResult]:
    """Plays a match of as many games as seats, and rates them. Returns the results of its pairs."""
    better = dict.fromkeys(combinations(sorted(entrants), 2), 0)
    for _ in entrants:
        played = {entrant: rng.gauss(skills[entrant], BETA) for entrant in entrants}
        order = sorted(entrants, key=played.__getitem__, reverse=True)
        moved = rate([ratings[entrant] for entrant in order], tuple(range(1, len(order) + 1)))
        for entrant, rating in zip(order, moved, strict=True):
            ratings[entrant] = rating
        for one, other in better:
            better[one, other] += played[one] > played[other]
    return [PairResult(deal, one, other, won, 0, len(entrants) - won) for (one, other), won in better.items()]


def rank_correlation(found: Sequence[float], truth: Sequence[float]) -> float:
    """Returns Spearman's correlation. Running ratings and skills are hardly ever equal; if they are, order decides."""

    def ranks(values: Sequence[float]) -> list[int]:
        order = sorted(range(len(values)), key=values.__getitem__)
        return [rank for _, rank in sorted(zip(order, range(len(order)), strict=True))]

    return statistics.correlation(ranks(found), ranks(truth))


def error_of(found: Sequence[float], truth: Sequence[float]) -> float:
    """Returns the deviation of what is wrong; how far all are off together does not count."""
    return statistics.pstdev(one - other for one, other in zip(found, truth, strict=True))
