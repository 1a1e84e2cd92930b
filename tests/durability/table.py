"""Tries every row of `tests.durability.trials` at all places, and writes docs/durability.md: `make durability`."""

from __future__ import annotations

import platform
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from arena.cli.output import counted
from tests.durability.trials import ROWS, Result, Row

PAGE = Path(__file__).parents[2] / "docs" / "durability.md"
HEAD = """\
# What was tried to lose a result

Written by `make durability`, which tries all of it; do not edit. The ordinary tests try a few places of most rows.

The promise: a game that was announced is in the database, once, whatever happened in between; and the same command goes
on to the end that an undisturbed run has: the same games, plays, ratings and standings. Logs and results belong to each
other, and no process or folder is left.

In each row the tournament is disturbed, what it announced is compared with the database, then it goes on, and its end
is compared with that of an undisturbed run. Rows about calls count every write, sync, truncation and unlink of a small
tournament whose games take no time (`tests/durability/inject.c` makes the n-th fail). The others play 40 real games of
two bots on two workers. A mutant is the program with an error, which must be found.

Not promised: a disk that says it has synced and has not; a database that another program changes, or that somebody
deletes (the tournament says so at its next result, and stops).

## What was ever shown can be checked

Every release reads what all before it wrote: logs, compressed or not, the files beside them, what leagues publish,
receipts, databases, and the `league.toml` of a league in mid-season. The corpus of `tests/data/releases` is verified
with each change. Each document carries the version of its form (`format`; a database lists the versions of arena that
wrote to it). "Not checked", with exit code 5 of `arena verify`, and never forged, is what a later version wrote, games
by rules of a version that arena has no more (`rules_version`), and games and formats of packages that are not
installed. A command that only reads changes no database: an older arena can go on. It refuses a database of later
tables, and names the version that wrote it.

Not covered: beacons without the package that checks them; forfeits of arena 0.2.0 and before, whose marks `overloaded`
no receipt proves (`arena verify` says so); a database of later tables, which nothing brings back, so keep a copy
(`arena league backup`) before an upgrade; and arena 0.2.0 and before, which know no `format` and call documents of
later versions unreadable.

## What was tried
"""


def row_text(row: Row, result: Result, seconds: float) -> str:
    ends = ", ".join(f"{count} {end}" for end, count in sorted(result.ends.items()))
    if row.is_mutant:
        verdict = f"caught at {counted(len(result.wrong), 'place')}" if result.wrong else "**not caught**"
    else:
        verdict = "as it must be" if not result.wrong else f"**{len(result.wrong)} wrong**"
    return f"| {row.name} | {row.must} | {result.places} | {ends} | {verdict} | {seconds:.0f} s |\n"


def main(beginnings: tuple[str, ...]) -> int:
    """Tries all, and returns how many rows are not as they must be.

    With `beginnings` of names, only those rows are tried, and the page keeps its other lines.
    """
    failed = 0
    before = PAGE.read_text(encoding="utf-8").splitlines() if beginnings else []
    system = f"{platform.system()} {platform.release()}, SQLite {sqlite3.sqlite_version}"
    text = f"{HEAD}\nThe last run, on {system}:\n\n"
    text += "| what happens | what must come of it | tried | how the disturbed runs ended | found | took |\n"
    text += "|---|---|---|---|---|---|\n"
    for row in ROWS:
        kept = [line for line in before if line.startswith(f"| {row.name} |")]
        if kept and not row.name.startswith(beginnings):
            text += f"{kept[0]}\n"
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            result = row.run(Path(folder), True)
        text += row_text(row, result, time.monotonic() - began)
        print(text.splitlines()[-1], file=sys.stderr, flush=True)
        if bool(result.wrong) != row.is_mutant:
            failed += 1
            print(*result.wrong, sep="\n", file=sys.stderr)
        PAGE.write_text(text, encoding="utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(min(main(tuple(sys.argv[1:])), 1))
