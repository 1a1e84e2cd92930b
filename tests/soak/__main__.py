"""Runs a soak: `python -m tests.soak --minutes 10`. Exits 1 if a promise of the league does not hold.

With the same seed and length the same things happen at the same time; what the machine makes of it may differ.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.soak import report, room, soak
from tests.soak.scenario import draw

INSIDE: Final = "--inside"


def main() -> int:
    """Runs it."""
    words = arguments()
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    seed = words.seed if words.seed is not None else int.from_bytes(os.urandom(3), "big")
    command = [sys.executable, "-m", "tests.soak", *sys.argv[1:], "--seed", str(seed), "--folder", str(folder)]
    wrapped = room.wrap([*command, INSIDE])
    if wrapped is None:
        print("This machine gives no file system that could be filled: the disk is left alone.", file=sys.stderr)
    try:
        return subprocess.run(wrapped or command, check=False).returncode
    finally:
        if words.keep:
            print(f"Kept: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def inside(words: argparse.Namespace) -> int:
    """Runs it in the folder that is given."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that what it has started ends with it
    scenario = draw(words.seed, 60 * words.minutes, words.bots, words.hostile)
    print(f"Seed {words.seed}, {words.minutes:g} minutes and what the end takes", file=sys.stderr)
    outcome = soak.in_folder(
        scenario,
        words.folder,
        level=words.level,
        workers=words.workers,
        own_disk=words.inside,
        tell=lambda sentence: print(f"  {sentence}", file=sys.stderr, flush=True),
    )
    if words.keep:
        shutil.copytree(words.folder / "disk", words.folder / "kept", dirs_exist_ok=True)
    print(report.text(outcome))
    return 0 if all(finding.ok for finding in outcome.findings) else 1


def arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, help="to do the same again; the report names it")
    parser.add_argument("--bots", type=int, default=30)
    parser.add_argument("--hostile", type=int, default=10)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--level", default="isolated", choices=("isolated", "strict"), help="for hostile bots")
    parser.add_argument("--keep", action="store_true", help="keep the folder, with a copy of the disk")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument(INSIDE, action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    sys.exit(main() if given.folder is None else inside(given))
