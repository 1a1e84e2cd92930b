"""Times `arena compare` from its start to its verdict, by wins and by margins, on the cores of this machine.

The bundled `greedy` against copies of it that take some of their decisions at random, as real processes. A row is the
mean over a few seeds of deals.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from arena.core import resources
from arena.core.tournament.workers import available_cores

SEEDS = tuple(f"deals {number}" for number in range(12))
ROWS = (("samurai", 0.05), ("samurai", 0.1), ("samurai", 0.2), ("gardener", 0.1), ("gardener", 0.2))
"""Games, and how often the second bot decides at random."""

MANIFEST = 'name = "lapsing"\nversion = "1"\nlanguage = "python"\ncommand = ["{python}", "bot.py"]\n'
BOT = """
import sys
from importlib.util import module_from_spec, spec_from_file_location

BOTS, SHARE = {bots!r}, {share}


def load(name):
    spec = spec_from_file_location(name, f"{{BOTS}}/{{name}}/bot.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


greedy, chance = load("greedy"), load("random")


class Lapsing(greedy.Greedy):
    name = "lapsing"

    def start(self, game):
        super().start(game)
        self.other = chance.RandomBot()
        self.other.start(game)

    def decide(self, request):
        lapses = self.other.random.random() < SHARE
        return self.other.decide(request) if lapses else super().decide(request)


greedy.run(Lapsing())
"""


def measured(rules: str, share: float, by: str, seed: str) -> tuple[int, float, str]:
    """Returns after how many deals and seconds a comparison had its verdict, and which."""
    with TemporaryDirectory(prefix="verdicts-") as folder:
        bot = Path(folder) / "lapsing"
        bot.mkdir()
        (bot / "bot.toml").write_text(MANIFEST, encoding="utf-8")
        source = BOT.format(bots=str(resources.bots_folder() / "python"), share=share)
        (bot / "bot.py").write_text(source, encoding="utf-8")
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "arena", "compare", "greedy", "./lapsing", "--rules", rules, "--by", by,
             "--seed", seed, "--concurrency", str(available_cores()), "--json"],
            cwd=folder, capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = json.loads(done.stdout)
        return found["deals"], time.monotonic() - begun, found["verdict"]


def main() -> None:
    """Prints the table."""
    print(f"{available_cores()} cores, {len(SEEDS)} seeds")
    print("| game, blunders of the second | by wins: deals, seconds | by margins: deals, seconds |")
    print("|---|---|---|", flush=True)
    for rules, share in ROWS:
        cells = []
        for by in ("wins", "margin"):
            runs = [measured(rules, share, by, seed) for seed in SEEDS]
            wrong = sum(verdict != "better" for *_, verdict in runs)
            told = f"{fmean(deals for deals, *_ in runs):.0f}, {fmean(seconds for _, seconds, _ in runs):.1f}"
            cells.append(told + f" ({wrong} not shown)" * bool(wrong))
        print(f"| {rules}, {share:.0%} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
