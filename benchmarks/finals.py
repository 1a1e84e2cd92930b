"""How long the final of a season takes, and how often the best wins it.

The best of a field of bots play it, whose skills are drawn with a deviation of 6 round 25. Of each line it prints how
many finals were settled within their deals, the median of the deals of these, in how many of all finals the best bot
came first, and in how many of those that were settled the winner is weaker than another finalist by more than what
counts as level: that may happen in one of twenty.

Draws come from a fixed seed: the same program prints the same figures. It takes some minutes.
"""

from __future__ import annotations

import argparse
import math
import statistics
from random import Random

import msgspec
from simulated import SPREAD

from arena.core.ratings.normal import normal_cdf
from arena.core.ratings.pairs import PairResult, add_up, pairs_of
from arena.core.ratings.running import BETA, MU
from arena.league.matches.finals import RULE, Design, stage, standings
from arena.league.store.records import FinalMatch

LINES = ((8, 2, 40, 2_000), (8, 2, 40, 5_000), (8, 2, 200, 2_000), (4, 2, 40, 2_000), (8, 4, 40, 2_000))
"""Finalists, players of a game, bots of the field, deals at most."""


class Outcome(msgspec.Struct, frozen=True):
    """What came of one final."""

    settled: bool
    deals: int
    best: bool
    """Whether the best came first."""
    wrong: bool
    """Whether it was settled for somebody who is clearly weaker than another."""


def simulate(finalists: int, players: int, field: int, deals: int, rng: Random) -> Outcome:
    """Plays one final."""
    skills = sorted((rng.gauss(MU, SPREAD) for _ in range(field)), reverse=True)[:finalists]
    design = Design(entrants=tuple(range(finalists)), begun_with=finalists, sizes=(players,), deals=deals)
    matches: list[FinalMatch] = []
    pairs: list[PairResult] = []
    while (found := stage(design, matches, pairs)).outcome is None:
        for table in found.tables:
            deal = len(matches)
            matches.append(FinalMatch(deal, table, over=True, whole=True))
            pairs += add_up(pair for _ in range(players) for pair in game(deal, table, skills, rng))
    first = standings(design, matches, pairs)[0].entrant
    share = normal_cdf((skills[first] - skills[0]) / (math.sqrt(2) * BETA))
    settled = found.outcome == "settled"
    return Outcome(settled, len(matches), first == 0, settled and share < 0.5 - RULE.delta)


def game(deal: int, table: tuple[int, ...], skills: list[float], rng: Random) -> list[PairResult]:
    """Plays one game."""
    performed = [rng.gauss(skills[entrant], BETA) for entrant in table]
    ranks = tuple(1 + sum(other > mine for other in performed) for mine in performed)
    return list(pairs_of(deal, table, ranks))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--finals", type=int, default=40, help="finals of a line (40)")
    arguments = parser.parse_args()
    print("finalists players  field    most   settled  deals   best first  wrong")
    for finalists, players, field, deals in LINES:
        rng = Random(5)
        found = [simulate(finalists, players, field, deals, rng) for _ in range(arguments.finals)]
        settled = [one.deals for one in found if one.settled]
        median = f"{statistics.median(settled):6,.0f}" if settled else "     -"
        shares = [sum(values) / len(found) for values in ([one.settled for one in found], [one.best for one in found])]
        print(
            f"{finalists:9} {players:7} {field:6} {deals:7,} {shares[0]:8.0%} {median} {shares[1]:11.0%}"
            f" {sum(one.wrong for one in found):6}",
            flush=True,
        )


if __name__ == "__main__":
    main()
