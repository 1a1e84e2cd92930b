"""Checks every game against the laws of the arena, and writes LAWS.md: `python -m arena_openspiel.laws [GAME ...]`.

Each game is checked by `arena rules check`, its first ruleset at every number of players. It takes ten minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import msgspec

from arena_openspiel.family import FAMILY, Entry, OpenSpiel

GAMES: Final = 2
"""Games that each check plays at each table."""
LONGEST_S: Final = 3_600.0
"""How long a game may take."""
_HEAD: Final = f"""# OpenSpiel's games and the laws of the arena

Written by `python -m arena_openspiel.laws`: `arena rules check NAME --games {GAMES}` has checked each game, its first
ruleset at every number of players.

| game | players | steps | all laws |
|---|---|---|---|
"""


def row(name: str, entry: Entry) -> str:
    """Returns a game's row of the table."""
    players = str(entry.least) if entry.least == entry.most else f"{entry.least} to {entry.most}"
    head = f"| `{name}` {entry.about} | {players} |"
    if entry.refused:
        return f"{head} | refused: {entry.refused} |"
    ruleset = "played" if entry.changed else "standard"
    command = [sys.executable, "-m", "arena", "rules", "check", f"{FAMILY}:{name}", "--ruleset", ruleset,
               "--games", str(GAMES), "--json"]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        return f"{head} | not finished in {LONGEST_S / 60:.0f} minutes |"
    if not done.stdout:
        return f"{head} | **{done.stderr.strip().splitlines()[-1][:200]}** |"
    found = msgspec.json.decode(done.stdout)
    steps = sum(table["steps"] or 0 for table in found["tables"])
    broken = filter(None, [found["fault"], *(table["fault"] for table in found["tables"])])
    faults = "; ".join(f"**{fault['law']}**: {fault['expected']}, got: {fault['got']}"[:300] for fault in broken)
    return f"{head} {steps:,} | {faults.replace('|', '/') or 'ok'} |"


def main() -> None:
    known = OpenSpiel().catalogue
    names = sys.argv[1:] or list(known)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = []
        for line in pool.map(lambda name: row(name, known[name]), names):
            print(line, file=sys.stderr, flush=True)  # noqa: T201
            rows.append(line)
    if not sys.argv[1:]:
        Path(__file__).parents[1].joinpath("LAWS.md").write_text(_HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
