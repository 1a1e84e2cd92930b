"""How often the refit's intervals hold the truth: leagues of known strengths, and real ones drawn again.

Simulated leagues: every choice of entrants meets on every deal, rotated, as in a tournament. A bot plays as well as its
strength, plus noise of each game, plus what the deal does to it: `styles` suit a bot on all games of a deal, `luck`
helps a seat on all games of a deal. Both come from normal distributions, so the true ratings are known: strengths,
shrunk by as much as deals make results less certain.

Real leagues: five copies of `greedy` with more or fewer lapses (`record_leagues.py`). The truth is the refit of all
deals; leagues of fewer deals are drawn from them with replacement.

Four figures a row. `rating`: how many of the intervals of ratings hold the truth. `difference`: the same of
differences of two bots. Both should be 95 %. `wrong`: in how many leagues any two bots are called settled in the wrong
order, or that are equal; at most 5 %. `apart`: in how many it would be so if two bots whose intervals do not touch were
called settled. Then the time that a refit takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import combinations, permutations

import msgspec
import numpy as np
from record_leagues import load

from arena.core.ratings.normal import quantile
from arena.core.ratings.pairs import PairResult
from arena.core.ratings.refit import ALPHA, ENOUGH_DEALS, Fit, refit
from arena.core.ratings.running import BETA, MU

REAL = ("lapsing-samurai-2", "lapsing-samurai-3", "lapsing-samurai-4", "lapsing-gardener-5")


class World(msgspec.Struct, frozen=True):
    """What leagues are drawn from. Distances are in units of `BETA`."""

    players: int
    entrants: int
    deals: int
    spread: float
    """The deviation of the strengths."""
    styles: float = 0.0
    """The deviation of what a deal does to a bot."""
    luck: float = 0.0
    """The deviation of what a deal does to a seat."""

    def __str__(self) -> str:
        tables = f"{self.players} players, {self.entrants} bots, {self.deals:3} deals"
        return f"{tables}, spread {self.spread:.1f}, styles {self.styles:.1f}, luck {self.luck:.1f}"


class Covered(msgspec.Struct):
    """Counts over leagues."""

    ratings: int = 0
    of_ratings: int = 0
    differences: int = 0
    of_differences: int = 0
    wrong: int = 0
    apart: int = 0
    leagues: int = 0
    width: float = 0.0

    def count(self, fit: Fit, truth: Sequence[float]) -> None:
        """Compares a fit with the true ratings."""
        for rating, true, half in zip(fit.ratings, truth, fit.half_width, strict=True):
            assert half is not None
            self.ratings += abs(rating - true) <= half
            self.of_ratings += 1
            self.width += half
        for one, other in combinations(range(len(truth)), 2):
            distance, error = fit.difference(one, other)
            freedom = fit.deals[one] - 1 if fit.deals[one] >= ENOUGH_DEALS else None
            self.differences += abs(distance - truth[one] + truth[other]) <= error * quantile(ALPHA, freedom)
            self.of_differences += 1
        self.wrong += any(truth[a] <= truth[b] for a, b in fit.better())
        ends = [
            (rating - (half or 0), rating + (half or 0))
            for rating, half in zip(fit.ratings, fit.half_width, strict=True)
        ]
        self.apart += any(
            ends[a][0] > ends[b][1] and truth[a] <= truth[b] for a, b in permutations(range(len(truth)), 2)
        )
        self.leagues += 1

    def __str__(self) -> str:
        rating, difference = self.ratings / self.of_ratings, self.differences / self.of_differences
        wrong, apart, width = self.wrong / self.leagues, self.apart / self.leagues, self.width / self.of_ratings
        figures = f"wrong {wrong:5.1%}   apart {apart:5.1%}   half width {width:5.2f}"
        return f"rating {rating:6.1%}   difference {difference:6.1%}   {figures}"


def simulate(world: World, random: np.random.Generator) -> tuple[list[PairResult], list[float]]:
    """Returns the results of a league, and the true ratings."""
    strengths = random.normal(0, world.spread, world.entrants)
    strengths -= strengths.mean()
    tables = np.array(list(combinations(range(world.entrants), world.players)))
    styles = random.normal(0, world.styles, (world.deals, world.entrants)) + strengths
    luck = random.normal(0, world.luck, (world.deals, world.players))
    better, worse = np.zeros((2, world.deals, world.entrants, world.entrants), dtype=int)
    for rotation in range(world.players):
        seats = (np.arange(world.players) + rotation) % world.players
        plays = styles[:, tables] + luck[:, None, seats]
        plays += random.normal(0, 1, plays.shape)
        for one, other in combinations(range(world.players), 2):
            won = plays[:, :, one] > plays[:, :, other]
            for deal in range(world.deals):
                np.add.at(better[deal], (tables[:, one], tables[:, other]), won[deal])
                np.add.at(worse[deal], (tables[:, one], tables[:, other]), ~won[deal])
    pairs = [
        PairResult(deal, one, other, int(better[deal, one, other]), 0, int(worse[deal, one, other]))
        for deal in range(world.deals)
        for one, other in combinations(range(world.entrants), 2)
    ]
    shrunk = (1 + world.styles**2 + world.luck**2) ** -0.5
    return pairs, (MU + BETA * shrunk * strengths).tolist()


WORLDS = (
    *(World(2, 4, deals, 1.0) for deals in (5, 10, 30, 100)),
    *(World(2, 4, deals, 1.0, styles=1.0) for deals in (5, 30)),
    World(2, 4, 30, 1.0, luck=1.0),
    *(World(2, bots, 30, 0.0) for bots in (4, 8, 12)),
    World(2, 8, 30, 0.0, styles=0.5, luck=0.5),
    World(2, 8, 30, 1.0, styles=0.5, luck=0.5),
    World(2, 8, 30, 2.0),
    *(World(3, 5, deals, 1.0, styles=0.5, luck=0.5) for deals in (5, 10, 30)),
    World(4, 5, 30, 1.0),
    *(World(4, 5, deals, 1.0, styles=1.0) for deals in (5, 30)),
    World(4, 5, 30, 1.0, luck=1.0),
    World(4, 5, 30, 2.0),
    World(5, 6, 30, 1.0, styles=0.5, luck=0.5),
    World(2, 4, 30, 3.0),
)
"""From the usual to the hard: in the last, most bots beat each other in all games."""


def simulated(world: World, leagues: int, seed: int = 1) -> Covered:
    """Returns how often intervals hold the truth in leagues drawn from a world."""
    random = np.random.default_rng(seed)
    covered = Covered()
    for _ in range(leagues):
        pairs, truth = simulate(world, random)
        covered.count(refit(pairs, world.entrants, players=world.players), truth)
    return covered


def drawn_again(name: str, deals: int, leagues: int, seed: int = 1) -> Covered:
    """Returns how often intervals hold the ratings of all deals, for leagues of deals drawn with replacement."""
    league = load(name)
    by_deal: dict[int, list[PairResult]] = {}
    for pair in league.pairs:
        by_deal.setdefault(pair.deal, []).append(pair)
    truth = refit(league.pairs, len(league.bots), players=league.players).ratings
    random = np.random.default_rng(seed)
    covered = Covered()
    for _ in range(leagues):
        drawn = random.choice(list(by_deal), deals).tolist()
        pairs = [msgspec.structs.replace(pair, deal=new) for new, old in enumerate(drawn) for pair in by_deal[old]]
        covered.count(refit(pairs, len(league.bots), players=league.players), truth)
    return covered


def seconds(entrants: int, rows: int, deals: int) -> float:
    """Returns the processor time of a refit of so many rows of two games each, between entrants drawn at random."""
    random = np.random.default_rng(1)
    strengths = random.normal(0, 1, entrants)
    one = random.integers(0, entrants, rows)
    other = (one + random.integers(1, entrants, rows)) % entrants
    one, other = np.minimum(one, other), np.maximum(one, other)
    won = np.sum(strengths[one] - strengths[other] + random.normal(0, 2**0.5, (2, rows)) > 0, axis=0)
    columns = (np.arange(rows) % deals, one, other, won, np.zeros(rows, int), 2 - won)
    pairs = [PairResult(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
    start = time.process_time()
    refit(pairs, entrants, players=2)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description="How often the refit's intervals hold the truth.")
    parser.add_argument("--leagues", type=int, default=400, help="leagues a row (400)")
    options = parser.parse_args()
    print(f"Intervals of 95 %, over {options.leagues} leagues a row")
    for world in WORLDS:
        print(f"{world!s:70}  {simulated(world, options.leagues)}", flush=True)
    for name in REAL:
        for deals in (10, 30, 60):
            row = f"real games: {name}, {deals} deals"
            print(f"{row:70}  {drawn_again(name, deals, options.leagues)}", flush=True)
    refit([PairResult(0, 0, 1, 1, 0, 1)], 2, players=2)
    for entrants, rows, deals in ((4, 300, 50), (1000, 1_000_000, 1_000_000), (10_000, 1_000_000, 1_000_000)):
        print(f"{entrants:6,} bots, {2 * rows:9,} games: {seconds(entrants, rows, deals):7.3f} s of processor time")


if __name__ == "__main__":
    main()
