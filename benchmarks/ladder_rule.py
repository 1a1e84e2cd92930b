"""What the ladder's rule does to a league: how long bots wait, who meets again, and what ratings come out.

Bots have known skills, drawn with a deviation of 6 round 25, and games follow TrueSkill's model: each plays as well as
its skill plus noise. The ladder chooses who meets, by running ratings as in a tournament. The
second line draws the others of a match evenly from all. `simulated.py` says what the figures of a
line are.

Draws come from a fixed seed: the same program prints the same figures. 500 bots take a minute a line.
"""

from __future__ import annotations

import argparse
import statistics
from collections import deque
from random import Random
from typing import Any

from simulated import HEADING, LOOKS, MATCHES, SPREAD, Figures, Waits, error_of, play, rank_correlation

from arena.core.ratings.pairs import PairResult
from arena.core.ratings.refit import refit
from arena.core.ratings.running import Rating
from arena.core.tournament.formats.base import MeetingResult, RoundResult
from arena.core.tournament.formats.ladder import Ladder


def simulate(bots: int, seats: int, format: Ladder, seed: int) -> Figures:
    """Plays a league and returns its figures."""
    rng = Random(seed)
    skills = [rng.gauss(25, SPREAD) for _ in range(bots)]
    ratings = [Rating()] * bots
    games = [0] * bots
    pairs: list[PairResult] = []
    correlations = []
    looks = deque(LOOKS)
    waits = Waits(bots)
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
            found = play(meeting.entrants, meeting.first_deal, skills, ratings, rng)
            pairs += found
            results.append(MeetingResult(meeting, tuple(found)))
            for entrant in meeting.entrants:
                games[entrant] += seats
            if looks and sum(games) >= looks[0] * bots:
                correlations.append(rank_correlation([one.mu for one in ratings], skills))
                looks.popleft()
        met = {entrant for result in results for entrant in result.meeting.entrants}
        director.take(RoundResult(results, {entrant: ratings[entrant].mu for entrant in met}))
    fitted = refit(pairs, bots, players=seats).ratings
    correlations.append(rank_correlation([one.mu for one in ratings], skills))
    return Figures(
        tuple(correlations),
        min(games),
        max(games),
        waits.longest * seats / bots,
        waits.again / waits.meetings,
        statistics.linear_regression(skills, fitted).slope,
        error_of(fitted, skills),
        error_of([one.mu for one in ratings], skills),
    )


def main() -> None:
    """Prints a line for each number of seats and each rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bots", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{arguments.bots} bots{'':12}{HEADING}")
    for seats in (2, 4):
        matches = MATCHES * arguments.bots // seats
        for name, format in (("the rule", Ladder(matches=matches)), ("by chance", Ladder(matches=matches, random=1))):
            figures = simulate(arguments.bots, seats, format, arguments.seed)
            print(f"{seats} seats: {name:9}   {figures.line()}", flush=True)


if __name__ == "__main__":
    main()
