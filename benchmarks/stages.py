"""What stages do to the order of a round-robin that is stopped early, and how many processes they start.

Simulated round-robins of bots whose strengths are known, by the second version of planning (blocks of 30 deals) and by
the third (stages that grow). After a part of the games, in schedule order, it is counted how many pairs of bots are in
the wrong order: by the running rating, and by the refit of the results so far. The last columns are starts: of a
process for each seat of a block, for 100 games; and that times 150 ms, what a bot in Python with pyzmq takes to start,
as a part of all games of a second each. Deal by deal is what blocks of one game would give: as good an order as there
can be.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations, groupby
from random import Random
from statistics import fmean

from arena.core.ratings.pairs import PairResult, pairs_of
from arena.core.ratings.refit import refit
from arena.core.ratings.running import BETA, MU, Rating, rate
from arena.core.store.records import PlannedGame
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.schedule import Schedule

PARTS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
"""How far the tournament is when it is looked at."""
SPREAD = BETA / 2
"""The deviation of strengths."""
START_S = 0.15
GAME_S = 1.0
SIZES = ((6, 2, 30), (6, 2, 100), (6, 4, 30))
"""Bots, players, deals."""


def planned(entrants: int, players: int, deals: int) -> dict[str, list[PlannedGame]]:
    """Returns by name the games in their order."""
    blocks = list(Schedule(RoundRobin(deals=deals, planning=2), entrants, players))
    stages = list(Schedule(RoundRobin(deals=deals), entrants, players))
    return {"blocks": blocks, "stages": stages, "deal by deal": sorted(blocks, key=lambda game: game.deal)}


def starts(games: Sequence[PlannedGame]) -> float:
    """Returns how many processes are started for a game, on average."""
    return len(games[0].entrants) * sum(1 for _ in groupby(games, key=lambda game: game.block)) / len(games)


def wrong(found: Sequence[float], truth: Sequence[float]) -> int:
    """Returns how many pairs are in the wrong order; those that are level count, too."""
    pairs = combinations(range(len(truth)), 2)
    return sum((found[one] - found[other]) * (truth[one] - truth[other]) <= 0 for one, other in pairs)


def look(games: Sequence[PlannedGame], skills: Sequence[float], players: int, rng: Random) -> list[tuple[int, int]]:
    """Plays the games. Returns for each part the pairs in the wrong order, by running rating and by refit."""
    ratings = [Rating()] * len(skills)
    pairs: list[PairResult] = []
    ends = {round(part * len(games)) for part in PARTS}
    found = []
    for count, game in enumerate(games, start=1):
        plays = [rng.gauss(skills[entrant], BETA) for entrant in game.entrants]
        ranks = tuple(1 + sum(other > play for other in plays) for play in plays)
        for entrant, rating in zip(game.entrants, rate([ratings[one] for one in game.entrants], ranks), strict=True):
            ratings[entrant] = rating
        pairs += pairs_of(game.deal, game.entrants, ranks)
        if count in ends:
            fit = refit(pairs, len(skills), players=players).ratings
            found.append((wrong([rating.mu for rating in ratings], skills), wrong(fit, skills)))
    return found


def main() -> None:
    """Prints a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leagues", type=int, default=60, help="how many of each kind")
    leagues = parser.parse_args().leagues
    for entrants, players, deals in SIZES:
        print(f"{entrants} bots, {players} players, {deals} deals: pairs of {entrants * (entrants - 1) // 2} in the")
        print("wrong order by running rating, and by refit, after a part of the games; starts a 100 games, their cost")
        print(" " * 13 + "".join(f"{part:>12.0%}" for part in PARTS) + "   starts    cost")
        for name, games in planned(entrants, players, deals).items():
            rng = Random(1)
            found = []
            for _ in range(leagues):
                skills = [rng.gauss(MU, SPREAD) for _ in range(entrants)]
                found.append(look(games, skills, players, rng))
            means = [[fmean(one[at][way] for one in found) for way in (0, 1)] for at in range(len(PARTS))]
            cells = "".join(f"{f'{running:.2f} {fit:.2f}':>12}" for running, fit in means)
            each = starts(games)
            print(f"{name:13}{cells}{100 * each:9.0f}{each * START_S / GAME_S:8.1%}", flush=True)


if __name__ == "__main__":
    main()
