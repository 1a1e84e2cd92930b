"""Which bundled bot is better, and by how much: each is compared with the next on its ladder, by `arena compare`.

A step is two neighbours, and a number of players. They play deal after deal until it is shown who is better, or that
they are level, or until `--deals`. A deal counts once: its score is the mean over its games of 1, 1/2 or 0 for the
upper bot before, level with or behind the lower one. At tables of three and more, copies of both take the remaining
seats. An answer is wrong in one step of a hundred at most, and the intervals hold with 99 % (docs/ratings.md says why).

Deals are drawn anew by the system; `--seed` is for trying things out. Results go to stdout, as a table in Markdown,
and progress to stderr. Ctrl-C keeps all games in `--folder`, and the same command goes on. What is there is not played
again: for other deals, name another folder. Takes an hour and more.

`shogun@0.05` is shogun that thinks for a twentieth of its time: what more time is worth, under one clock for both.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from arena.core.catalogue import game
from arena.core.link.bots import find_bot

ROOT = Path(__file__).parent.parent
ALPHA = 0.01
"""How likely an answer may be wrong."""
LADDERS = (
    ("samurai", "standard", ("shogun", "daimyo", "greedy", "random")),
    ("samurai", "standard", ("shogun", "shogun@0.05")),
    *(("gardener", ruleset, ("planner", "greedy", "random")) for ruleset in ("draft", "race", "young")),
)
"""Rules, ruleset, and bots, the best first."""
HEAD = (
    f"| game | players | bots | score a deal | {100 - 100 * ALPHA:g} % interval | deals | verdict |",
    "|---|---|---|---|---|---|---|",
)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """Two neighbours of a ladder at one table."""

    rules: str
    ruleset: str
    players: int
    upper: str
    lower: str

    def command(self, time: str, deals: int, folder: Path, seed: str | None) -> list[str]:
        """Returns the command that compares the two."""
        return [
            *(sys.executable, "-m", "arena", "compare", entrant(self.upper), entrant(self.lower)),
            *("--rules", self.rules, "--ruleset", self.ruleset, "--players", str(self.players), "--time", time),
            *("--alpha", str(ALPHA), "--max-deals", str(deals), "--json"),
            *("--db", str(folder / "arena.db"), "--logs", str(folder / "logs")),
            *([] if seed is None else ["--seed", seed]),
        ]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What the command says about the upper bot, as far as it is shown here."""

    score: float
    interval: tuple[float, float]
    deals: int
    verdict: str
    forfeits: tuple[int, int]


def steps(
    bots: Sequence[str] = (), rules: str = "samurai", ruleset: str | None = None, players: int | None = None
) -> Iterator[Step]:
    """Yields the steps of a ladder, or those of all bundled bots if none is named."""
    ladders: Sequence[tuple[str, str, Sequence[str]]] = LADDERS
    if bots:
        ladders = [(rules, ruleset or next(iter(game(rules).rulesets)), bots)]
    for name, played, best_first in ladders:
        for seats in [players] if players else game(name).seat_counts:
            for upper, lower in pairwise(best_first):
                yield Step(rules=name, ruleset=played, players=seats, upper=upper, lower=lower)


def entrant(bot: str) -> str:
    """Returns how a command names a bot that is `NAME`, or `NAME@SHARE` if it shall think for a share of its time."""
    name, _, share = bot.partition("@")
    return f"cmd:{{python}} {shlex.quote(str(find_bot(name) / 'bot.py'))} {share}" if share else name


def climb(command: Sequence[str]) -> Found:
    """Plays a step, or reads what was played of it before.

    Raises:
        SystemExit: The command failed and has said why, or Ctrl-C stopped it.
    """
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return msgspec.json.decode(done.stdout, type=Found)


def row(step: Step, found: Found) -> str:
    """Returns a line of the table."""
    low, high = found.interval
    verdict = found.verdict
    for bot, count in zip((step.upper, step.lower), found.forfeits, strict=True):
        verdict += f", {bot} forfeited {count}" if count else ""
    cells = (
        f"{step.rules} {step.ruleset}",
        f"{step.players}",
        f"`{step.upper}` > `{step.lower}`",
        f"{100 * found.score:.1f} %",
        f"{100 * low:.1f} to {100 * high:.1f} %",
        f"{found.deals}",
        verdict,
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Which bundled bot is better, and by how much.")
    parser.add_argument("bots", nargs="*", help="a ladder, the best first (those of all bundled bots)")
    parser.add_argument("--rules", default="samurai", help="for a ladder of your own (samurai)")
    parser.add_argument("--ruleset", help="for a ladder of your own (the game's first)")
    parser.add_argument("--time", default="0.1/move", help="the time control (0.1/move)")
    parser.add_argument("--players", type=int, help="only tables of so many")
    parser.add_argument("--deals", type=int, default=400, help="at most so many deals a step (400)")
    parser.add_argument("--seed", help="of the deals (drawn by the system)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "ladder", help="of the games (build/ladder)")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    print("\n".join(HEAD), flush=True)
    shown = True
    for step in steps(options.bots, options.rules, options.ruleset, options.players):
        found = climb(step.command(options.time, options.deals, folder, options.seed))
        print(row(step, found), flush=True)
        shown = shown and found.verdict == "better"
    sys.exit(None if shown else "a step was not shown")


if __name__ == "__main__":
    main()
