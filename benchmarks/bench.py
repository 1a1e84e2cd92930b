"""What arena costs, as one table: something of ours in each row beside something else, measured turn about in this run.

Read the ratios: the speed of a machine drifts by a third within minutes, so that a figure of another run says little.
Each part runs in a process of its own, so that one that binds itself to a processor does not bind the next. Name parts
to measure only these.
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import os
import subprocess
import sys
from pathlib import Path

import msgspec
from rows import Row, spread

PARTS = ("decision", "peers", "waiting", "engine", "coordinator", "starting", "costs")
"""Modules with a function `rows`."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all of them if none is named")
    parser.add_argument("--json", action="store_true", help="print each row as a line of JSON, with all its figures")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"expected parts out of {', '.join(PARTS)}, got: {min(unknown)}")
    if chosen.json:
        for part in chosen.parts or PARTS:
            for row in importlib.import_module(part).rows():
                print(msgspec.json.encode(row).decode(), flush=True)
        return
    # What is installed is compiled. Where PYTHONDONTWRITEBYTECODE is set, each start would compile what was edited.
    for folder in ("arena", "bots"):
        compileall.compile_dir(Path(__file__).parents[1] / folder, quiet=1)
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} processors, load {load:.1f}; median (least to most)\n")
    print("| | ours | beside | its figure | ratio |\n|---|---|---|---|---|")
    for part in chosen.parts or PARTS:
        with subprocess.Popen([sys.executable, __file__, part, "--json"], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for line in process.stdout:
                print(cells(msgspec.json.decode(line, type=Row)), flush=True)
        if process.returncode:
            sys.exit(process.returncode)


def cells(row: Row) -> str:
    """A row of the table, in Markdown."""
    ours, other, ratio = (spread(figures) for figures in (row.ours, row.other, row.ratios))
    return f"| {row.what} | {ours} {row.unit} | {row.beside} | {other} | {ratio} |"


if __name__ == "__main__":
    main()
