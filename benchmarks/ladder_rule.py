"""What the ladder's rule does to a league: how long bots wait, who meets again, and what ratings come out.

Bots have known skills, drawn with a deviation of 6 round 25, and games follow TrueSkill's model: each plays as well as
its skill plus noise. The ladder chooses who meets, by running ratings as in a tournament. The
second line draws the others of a match evenly from all. A line says:

- `correlation`: of the ranks by running rating with the true ranks, after 10, 20, 40 and all games a bot;
- `games`: the fewest and the most games of a bot;
- `wait`: the longest wait of anybody, in rounds of as many matches as seat everybody once;
- `again`: how many meetings repeat one of a bot's last 10 matches;
- `slope`, `error`: the ratings of the refit against the truth: how wide the scale came out, and the deviation of what
  is wrong. In brackets the same error of the running ratings.

Draws come from a fixed seed: the same program prints the same figures. 500 bots take a minute a line.
"""

from __future__ import annotations

import argparse
import statistics
from collections import deque
from collections.abc import Sequence
from itertools import combinations
from random import Random
from typing import Any

import msgspec

from arena.ratings.pairs import PairResult
from arena.ratings.refit import refit
from arena.ratings.running import BETA, Rating, rate
from arena.tournament.formats.base import MeetingResult, RoundResult
from arena.tournament.formats.ladder import Ladder

SPREAD = 6.0
"""The deviation of skills."""
MATCHES = 50
"""Matches a bot plays, on average."""
LOOKS = (10, 20, 40)
"""After how many games a bot, on average, the ranks are compared, and at the end."""
LATELY = 10
"""Meetings are repeated if one of so many last matches had them."""


class League(msgspec.Struct, frozen=True):
    """What came of one simulated league."""

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


def simulate(bots: int, seats: int, format: Ladder, seed: int) -> League:
    """Plays a league and returns its figures."""
    rng = Random(seed)
    skills = [rng.gauss(25, SPREAD) for _ in range(bots)]
    ratings = [Rating()] * bots
    games = [0] * bots
    pairs: list[PairResult] = []
    correlations = []
    looks = deque(LOOKS)
    waits = _Waits(bots)
    director = format.director(bots, seats, seed.to_bytes(8))
    rounds: deque[Any] = deque()
    while True:
        planned = director.next()
        if planned is not None:
            director.add(planned)
            rounds.append(planned)
        elif not rounds:
            break
        if planned is not None and len(rounds) < 2:
            continue
        results = []
        for meeting in rounds.popleft().meetings:
            waits.note(meeting.entrants)
            found = _play(meeting.entrants, meeting.first_deal, skills, ratings, rng)
            pairs += found
            results.append(MeetingResult(meeting, tuple(found)))
            for entrant in meeting.entrants:
                games[entrant] += seats
            if looks and sum(games) >= looks[0] * bots:
                correlations.append(_rank_correlation([one.mu for one in ratings], skills))
                looks.popleft()
        met = {entrant for result in results for entrant in result.meeting.entrants}
        director.take(RoundResult(results, {entrant: ratings[entrant].mu for entrant in met}))
    fitted = refit(pairs, bots, players=seats).ratings
    correlations.append(_rank_correlation([one.mu for one in ratings], skills))
    return League(
        tuple(correlations),
        min(games),
        max(games),
        waits.longest * seats / bots,
        waits.again / waits.meetings,
        statistics.linear_regression(skills, fitted).slope,
        _error(fitted, skills),
        _error([one.mu for one in ratings], skills),
    )


class _Waits:
    """Counts how long bots wait, and who meets again."""

    def __init__(self, bots: int) -> None:
        self._last = [0] * bots
        self._met: list[deque[Sequence[int]]] = [deque(maxlen=LATELY) for _ in range(bots)]
        self._number = 0
        self.longest = self.again = self.meetings = 0

    def note(self, entrants: Sequence[int]) -> None:
        self._number += 1
        for one, other in combinations(entrants, 2):
            self.meetings += 1
            self.again += any(other in table for table in self._met[one])
        for entrant in entrants:
            self.longest = max(self.longest, self._number - self._last[entrant])
            self._last[entrant] = self._number
            self._met[entrant].append(entrants)


def _play(
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


def _rank_correlation(found: Sequence[float], truth: Sequence[float]) -> float:
    """Returns Spearman's correlation. Running ratings and skills are hardly ever equal; if they are, order decides."""

    def ranks(values: Sequence[float]) -> list[int]:
        order = sorted(range(len(values)), key=values.__getitem__)
        return [rank for _, rank in sorted(zip(order, range(len(order)), strict=True))]

    return statistics.correlation(ranks(found), ranks(truth))


def _error(found: Sequence[float], truth: Sequence[float]) -> float:
    return statistics.pstdev(one - other for one, other in zip(found, truth, strict=True))


def main() -> None:
    """Prints a line for each number of seats and each rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bots", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{arguments.bots} bots{'':12}correlation           games       wait    again   slope  error (running)")
    for seats in (2, 4):
        matches = MATCHES * arguments.bots // seats
        for name, format in (("the rule", Ladder(matches=matches)), ("by chance", Ladder(matches=matches, random=1))):
            figures = simulate(arguments.bots, seats, format, arguments.seed)
            print(f"{seats} seats: {name:9}   {figures.line()}", flush=True)


if __name__ == "__main__":
    main()
