"""Which bot is the better: matches of the bundled bots against each other, as many games as that takes.

The real thing: processes, the referee, the clock. For each number of players the bots of a ladder sit down together,
or two by two, and play deal after deal, each deal once per rotation of the seats, so that its luck cancels. On a deal
the bot with the better ranks is ahead. A step of the ladder is shown when the deals on which one bot was ahead and
those on which the other was could come from equal bots in one case of a hundred at most: a test that may be looked at
after every deal (`shares.evidence`). A ladder ends when all its steps are shown, or after `--deals`.

Any forfeit is printed: a bot that loses on time is none that keeps its time. Takes an hour and more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path

import msgspec
from shares import evidence

from arena.tournament.match import begin_match, play_match
from arena.tournament.runner import Played
from arena.tournament.setup import set_up

ENOUGH = 100.0
"""Evidence that is wrong in one case of a hundred."""
SAMURAI = ("shogun", "daimyo", "greedy", "random")
GARDENER = ("planner", "greedy", "random")


class Ladder(msgspec.Struct, frozen=True):
    """Bots at one table, the best first."""

    rules: str
    ruleset: str | None
    """None for the game's first."""
    bots: tuple[str, ...]
    time: str


class Step:
    """Two neighbours of a ladder."""

    def __init__(self, upper: str, lower: str) -> None:
        self.upper, self.lower = upper, lower
        self.ahead = self.behind = self.level = 0
        """Deals."""

    @property
    def evidence(self) -> float:
        return evidence(self.ahead, self.behind)

    def count(self, upper: int, lower: int) -> None:
        """A deal is over: the sums of the two bots' ranks."""
        if upper < lower:
            self.ahead += 1
        elif upper > lower:
            self.behind += 1
        else:
            self.level += 1

    def __str__(self) -> str:
        confidence = max(0.0, 1 - 1 / self.evidence)
        deals = f"ahead on {self.ahead} deals, behind on {self.behind}, level on {self.level}"
        return f"{self.upper} > {self.lower}: {deals}: {f'{confidence:.2%}' if confidence < 0.9999 else 'over 99.99%'}"


def climb(ladder: Ladder, deals: int, logs: Path) -> list[Step]:
    """Play until every step is shown, or all deals are played."""
    setup = set_up(
        ladder.bots,
        rules=ladder.rules,
        ruleset=ladder.ruleset,
        options={},
        board=None,
        players=len(ladder.bots),
        deals=deals,
        seatings="cyclic",
        time=ladder.time,
        race_window_ms=1.0,
        seed="ladder",
    )
    print(f"{ladder.rules} {setup.settings.ruleset}, {len(ladder.bots)} players, {ladder.time}", flush=True)
    steps = [Step(upper, lower) for upper, lower in pairwise(bot.name for bot in setup.settings.bots)]
    games = play_match(setup, begin_match(setup.settings, logs))
    for _, played in groupby(games, key=lambda played: played.game.deal):
        ranks = sums(list(played), len(ladder.bots))
        for step, (upper, lower) in zip(steps, pairwise(ranks), strict=True):
            step.count(upper, lower)
        if all(step.evidence >= ENOUGH for step in steps):
            break
    games.close()
    return steps


def sums(played: Sequence[Played], bots: int) -> list[int]:
    """Each bot's ranks on a deal, added up."""
    total = [0] * bots
    for one in played:
        for entrant, seat in zip(one.game.entrants, one.result.seats, strict=True):
            total[entrant] += seat.rank
            if seat.forfeit is not None:
                print(f"  forfeit: {seat.forfeit.sentence} ({one.result.log})", flush=True)
    return total


def ladders(rules: str, ruleset: str | None, bots: Sequence[str], time: str) -> Iterator[Ladder]:
    """Two by two, then three neighbours at a table, and so on up to all that can sit there."""
    for players in range(2, len(bots) + 1):
        for first in range(len(bots) - players + 1):
            yield Ladder(rules, ruleset, tuple(bots[first : first + players]), time)


def main() -> None:
    parser = argparse.ArgumentParser(description="Which bot is the better, with 99 % confidence.")
    parser.add_argument("bots", nargs="*", help="a ladder, the best first (all ladders of the bundled bots)")
    parser.add_argument("--rules", default="samurai", help="for a ladder of your own (samurai)")
    parser.add_argument("--ruleset", help="for a ladder of your own (the game's first)")
    parser.add_argument("--time", default="0.1/move", help="the time control (0.1/move)")
    parser.add_argument("--players", type=int, help="only tables of so many")
    parser.add_argument("--deals", type=int, default=400, help="at most so many deals a table (400)")
    options = parser.parse_args()
    if options.bots:
        chosen = [(options.rules, options.ruleset, options.bots)]
    else:
        chosen = [("samurai", "standard", SAMURAI), *(("gardener", name, GARDENER) for name in ("draft", "race"))]
    failed = False
    with tempfile.TemporaryDirectory(prefix="ladder-") as logs:
        for rules, ruleset, bots in chosen:
            for ladder in ladders(rules, ruleset, bots, options.time):
                if options.players in (None, len(ladder.bots)):
                    for step in climb(ladder, options.deals, Path(logs)):
                        print(f"  {step}", flush=True)
                        failed = failed or step.evidence < ENOUGH
    sys.exit("a step was not shown" if failed else 0)


if __name__ == "__main__":
    main()
