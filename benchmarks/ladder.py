"""Which bot is the better: matches of the bundled bots against each other, as many games as that takes.

The real thing: processes, the referee, the clock. For each step of a ladder and each number of players one of the upper
bot sits down with several of the lower, and they play deal after deal, each deal once per rotation of the seats, so
that its luck cancels. On a deal the upper bot is ahead if the sum of its ranks is less than the mean of the others'. A
step is shown when the deals on which it was ahead and those on which it was behind could come from equal bots in one
case of a hundred at most: a test that may be looked at after every deal (`shares.evidence`). A step ends when it is
shown, or after `--deals`.

`shogun@0.05` is shogun that thinks for a twentieth of its time: what more time is worth, under one clock for all.

How it stands goes to standard error every ten deals. Any forfeit is printed: a bot that loses on time is none that
keeps its time. Takes an hour and more.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
import tempfile
from collections.abc import Sequence
from itertools import groupby, pairwise
from pathlib import Path

import msgspec
from shares import evidence

from arena.games import game, make_settings
from arena.link.bots import find_bot
from arena.tournament.match import begin_match, play_match
from arena.tournament.runner import Played
from arena.tournament.settings import set_up

ENOUGH = 100.0
"""Evidence that is wrong in one case of a hundred."""
LADDERS = (
    ("samurai", "standard", ("shogun", "daimyo", "greedy", "random")),
    ("samurai", "standard", ("shogun", "shogun@0.05")),
    *(("gardener", ruleset, ("planner", "greedy", "random")) for ruleset in ("draft", "race", "young")),
)
"""Rules, ruleset, and bots, the best first."""


class Step(msgspec.Struct, frozen=True):
    """Two neighbours of a ladder at one table."""

    rules: str
    ruleset: str
    upper: str
    lower: str
    players: int
    time: str

    def __str__(self) -> str:
        return f"{self.rules} {self.ruleset}, {self.players} players, {self.time}: {self.upper} > {self.lower}"


class Tally(msgspec.Struct):
    """Deals on which the upper bot was ahead, behind, and neither."""

    ahead: int = 0
    behind: int = 0
    level: int = 0

    @property
    def deals(self) -> int:
        return self.ahead + self.behind + self.level

    @property
    def evidence(self) -> float:
        return evidence(self.ahead, self.behind)

    def count(self, upper: int, lower: float) -> None:
        """A deal is over: the sum of the upper bot's ranks, and the mean of the others'."""
        if upper < lower:
            self.ahead += 1
        elif upper > lower:
            self.behind += 1
        else:
            self.level += 1

    def __str__(self) -> str:
        confidence = max(0.0, 1 - 1 / self.evidence)
        deals = f"ahead on {self.ahead} deals, behind on {self.behind}, level on {self.level}"
        return f"{deals}: {f'{confidence:.2%}' if confidence < 0.9999 else 'over 99.99%'}"


def climb(step: Step, deals: int, seed: str, logs: Path) -> Tally:
    """Play until the step is shown, or all deals are played."""
    setup = set_up(
        [entrant(step.upper), *[entrant(step.lower)] * (step.players - 1)],
        make_settings(step.rules, step.players, ruleset=step.ruleset, time=step.time),
        deals=deals,
        seed=seed,
    )
    tally = Tally()
    games = play_match(setup, begin_match(setup.settings, logs))
    for _, played in groupby(games, key=lambda played: played.game.deal):
        upper, *lower = sums(list(played), step.players)
        tally.count(upper, statistics.fmean(lower))
        if tally.deals % 10 == 0:
            print(f"  {tally}", file=sys.stderr, flush=True)
        if tally.evidence >= ENOUGH:
            break
    games.close()
    return tally


def entrant(bot: str) -> str:
    """How a tournament finds a bot that is `NAME`, or `NAME@SHARE` if it shall think for a share of its time."""
    name, _, share = bot.partition("@")
    return f"cmd:{{python}} {shlex.quote(str(find_bot(name) / 'bot.py'))} {share}" if share else name


def sums(played: Sequence[Played], bots: int) -> list[int]:
    """Each bot's ranks on a deal, added up."""
    total = [0] * bots
    for one in played:
        for entrant, seat in zip(one.game.entrants, one.result.seats, strict=True):
            total[entrant] += seat.rank
            if seat.forfeit is not None:
                print(f"  forfeit: {seat.forfeit.sentence} ({one.result.log})", flush=True)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description="Which bot is the better, with 99 % confidence.")
    parser.add_argument("bots", nargs="*", help="a ladder, the best first (all of the bundled bots)")
    parser.add_argument("--rules", default="samurai", help="for a ladder of your own (samurai)")
    parser.add_argument("--ruleset", help="for a ladder of your own (the game's first)")
    parser.add_argument("--time", default="0.1/move", help="the time control (0.1/move)")
    parser.add_argument("--players", type=int, help="only tables of so many")
    parser.add_argument("--seed", default="ladder", help="of the deals (ladder)")
    parser.add_argument("--deals", type=int, default=400, help="at most so many deals a table (400)")
    options = parser.parse_args()
    ladders: Sequence[tuple[str, str, tuple[str, ...]]] = LADDERS
    if options.bots:
        ruleset = options.ruleset or next(iter(game(options.rules).rulesets))
        ladders = [(options.rules, ruleset, tuple(options.bots))]
    failed = False
    with tempfile.TemporaryDirectory(prefix="ladder-") as logs:
        for rules, ruleset, bots in ladders:
            for players in [options.players] if options.players else game(rules).seat_counts:
                for upper, lower in pairwise(bots):
                    step = Step(rules, ruleset, upper, lower, players, options.time)
                    tally = climb(step, options.deals, options.seed, Path(logs))
                    print(f"{step}: {tally}", flush=True)
                    failed = failed or tally.evidence < ENOUGH
    sys.exit("a step was not shown" if failed else 0)


if __name__ == "__main__":
    main()
