"""How the rating that a league shows goes on when a bot gets a new version.

Leagues of 32 bots whose skills are known. Each bot has played 60 matches of two games when the best gets a new version,
of which nothing is known but whose it is. Figures: the rating shown of the new version, less that of its predecessor
before, after some matches of the new one; the mean over leagues, with what the predecessor is expected to say
(`refit of versions`) and without. Others play meanwhile as they did before.

The second table is about a stranger's first bot, of average strength: in how many leagues the rating shown puts it
among the best 8, who play the final, after some matches against opponents that matchmaking would draw.
"""

from __future__ import annotations

import argparse
from random import Random
from statistics import fmean

from simulated import SPREAD, play

from arena.core.ratings.pairs import PairResult
from arena.core.ratings.refit import refit
from arena.core.ratings.running import MU, Rating
from arena.core.tournament.formats.closeness import draw_place, weights

BOTS = 32
MATCHES = 60
"""Matches of each bot before."""
LOOKS = (1, 3, 10, 40)
"""After how many matches of the new version the ratings are compared."""
CHANGES = (0.5, 0.0, -3.0, -8.0)
"""By how much the new version is stronger."""


FIRST_LOOKS = (1, 3, 5, 10, 20)
"""After how many matches of a newcomer its row is looked at."""
FINALISTS = 8


def rows_of_newcomer(rng: Random) -> list[int]:
    """Returns for each look the row, from 1, in which an average newcomer stands among all bots."""
    skills = [rng.gauss(MU, SPREAD) for _ in range(BOTS)] + [MU]
    ratings = [Rating()] * (BOTS + 1)
    pairs: list[PairResult] = []
    for _ in range(MATCHES):
        order = rng.sample(range(BOTS), BOTS)
        for place in range(0, BOTS, 2):
            pairs += play(order[place : place + 2], len(pairs), skills, ratings, rng)
    found = []
    for match in range(1, FIRST_LOOKS[-1] + 1):
        likely = weights(ratings[BOTS].mu, [one.mu for one in ratings[:BOTS]], [False] * BOTS)
        pairs += play((draw_place(rng, likely), BOTS), len(pairs), skills, ratings, rng)
        if match in FIRST_LOOKS:
            shown = refit(pairs, BOTS + 1, players=2).ratings
            found.append(1 + sum(other > shown[BOTS] for other in shown))
    return found


def changes(change: float, rng: Random) -> list[tuple[float, float]]:
    """Returns for each look by how much the rating shown has changed: without the prior of versions, and with it."""
    skills = [rng.gauss(MU, SPREAD) for _ in range(BOTS)]
    best = max(range(BOTS), key=skills.__getitem__)
    skills.append(skills[best] + change)
    ratings = [Rating()] * (BOTS + 1)
    pairs: list[PairResult] = []
    for _ in range(MATCHES):
        order = rng.sample(range(BOTS), BOTS)
        for place in range(0, BOTS, 2):
            pairs += play(order[place : place + 2], len(pairs), skills, ratings, rng)
    before = refit(pairs, BOTS, players=2)
    others = sorted((one for one in range(BOTS) if one != best), key=lambda one: -before.ratings[one])[: BOTS // 2]
    found = []
    for match in range(1, LOOKS[-1] + 1):
        pairs += play((rng.choice(others), BOTS), len(pairs), skills, ratings, rng)
        if match in LOOKS:
            plain = refit(pairs, BOTS + 1, players=2)
            linked = refit(pairs, BOTS + 1, players=2, predecessors={BOTS: best})
            # Against bots that go on playing: the mean of all moves when one more bot is in it.
            level = [fmean(fit.ratings[one] for one in others) for fit in (before, plain, linked)]
            old = before.ratings[best] - level[0]
            found.append((plain.ratings[BOTS] - level[1] - old, linked.ratings[BOTS] - level[2] - old))
    return found


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leagues", type=int, default=20, help="how many of each kind")
    leagues = parser.parse_args().leagues
    print(
        f"A new version of the best of {BOTS} bots: change of the rating shown after so many matches, without and with"
    )
    print("true change" + "".join(f"{look:>16}" for look in LOOKS))
    for change in CHANGES:
        rng = Random(1)
        found = [changes(change, rng) for _ in range(leagues)]
        means = [[fmean(one[at][way] for one in found) for way in (0, 1)] for at in range(len(LOOKS))]
        cells = [f"{plain:+.1f} {linked:+.1f}" for plain, linked in means]
        print(f"{change:+11.1f}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
    rng = Random(1)
    rows = [rows_of_newcomer(rng) for _ in range(10 * leagues)]
    print(f"\nAn average newcomer stands among the best {FINALISTS} of {BOTS + 1} after so many matches")
    for at, look in enumerate(FIRST_LOOKS):
        print(f"{look:11}{fmean(one[at] <= FINALISTS for one in rows):8.1%}", flush=True)


if __name__ == "__main__":
    main()
