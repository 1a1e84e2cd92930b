"""Plays the hostile cases and prints a table: `python tests/hostile --level isolated [CASE ...]`.

Exit 1 if the outcome of a case is not the one that is expected at that level, 3 if the machine cannot give the level.
"""

from __future__ import annotations

import argparse
import compileall
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile.cases import CASES, LEVELS, Case, unaffected
from hostile.judge import Verdict, judge, skipped
from hostile.scenes import SCENES
from hostile.stage import Outcome, Stage, be_subreaper, compiler

HONEST = Case("honest", "is honest", unaffected(), unaffected(), unaffected(), attack="honest")
"""What the others' memory is compared with."""
TRIES = 2  # how often a case may be tried alone: other programs of the machine take part in what it measures


def main() -> int:
    words = arguments()
    if words.one:
        print(json.dumps(play(find(words.one), words.level)))
        return 0
    if sys.platform != "linux":
        print("The hostile suite needs /proc and prctl, which only Linux has.", file=sys.stderr)
        return 3
    refusal = lacking(words.level)
    if refusal:
        print(f"{words.level}: skipped: {refusal}", file=sys.stderr)
        return 3
    cases = [find(name) for name in words.cases] or [
        case for case in CASES if not words.short or case.is_short(words.level)
    ]
    began = time.monotonic()
    compileall.compile_dir(Path(__file__).parent / "attacks", quiet=1)  # a third of a case, if each bot did it
    honest = Outcome(*started(HONEST, words.level))
    verdicts = []
    if honest.harm or honest.left:
        print(f"Two honest bots cannot play here: {'; '.join(honest.harm + honest.left)}", file=sys.stderr)
        return 1
    alone = [case for case in cases if case.alone]
    together = [case for case in cases if not case.alone]
    with ThreadPoolExecutor(words.jobs) as pool:
        for verdict in pool.map(lambda case: tried(case, words.level, honest), together):
            print(row(verdict), flush=True)
            if verdict.ok or not verdict.may_differ:
                verdicts.append(verdict)
            else:
                alone.append(verdict.case)
    for case in alone:
        for _ in range(TRIES):
            verdict = tried(case, words.level, honest, alone=True)
            print(row(verdict), flush=True)
            if verdict.ok or not verdict.may_differ:
                break
        verdicts.append(verdict)
    bad = [verdict for verdict in verdicts if not verdict.ok]
    print(
        f"\n{words.level}: {len(verdicts)} cases in {time.monotonic() - began:.0f} s, {len(bad)} not as expected",
        end=":\n" if bad else ".\n",
    )
    for verdict in bad:
        print(row(verdict))
    if words.json:
        Path(words.json).write_text(json.dumps([verdict.as_json() for verdict in verdicts], indent=1) + "\n")
    return 1 if bad else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/hostile", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="such as P3; all of them if none is named")
    parser.add_argument("--level", choices=LEVELS, default="trusted")
    parser.add_argument("--short", action="store_true", help="only the cases that CI runs at each level")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), help="cases at a time")
    parser.add_argument("--json", metavar="FILE", help="also write the outcomes to a file")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def find(name: str) -> Case:
    found = [case for case in (*CASES, HONEST) if case.id == name]
    if not found:
        raise SystemExit(f"expected a case such as {CASES[0].id}, got: {name}")
    return found[0]


def lacking(level: str) -> str:
    """Why the machine cannot give a level, or nothing if it can."""
    if level == "trusted":
        return ""
    command = [sys.executable, "-m", "arena", "doctor", "--level", level, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode == 0:
        return ""
    try:
        return "; ".join(json.loads(done.stdout)["levels"][level]["missing"])
    except (ValueError, KeyError):
        return done.stderr.strip()[-300:] or f"arena doctor ended with status {done.returncode}"


@contextmanager
def turn(*, alone: bool) -> Iterator[None]:
    """Waits until a case may be played: one that measures time has the machine to itself, also among other levels.

    Levels may be tried side by side, as CI does. Whoever waits for all others to end keeps new ones from beginning.
    """
    folder = Path(__file__).parent
    gate, room = (os.open(path, os.O_RDONLY) for path in (folder / "attacks", folder))
    try:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        if not alone:
            fcntl.flock(gate, fcntl.LOCK_UN)
        yield
    finally:
        os.close(room)
        os.close(gate)


def tried(case: Case, level: str, honest: Outcome, *, alone: bool = False) -> Verdict:
    """Plays a case, if this machine can."""
    if case.shown_by:
        return judge(case, level, None, honest)
    if case.compiled and not compiler():
        return skipped(case, level, "there is no C compiler")
    with turn(alone=alone):
        return judge(case, level, Outcome(*started(case, level)), honest)


def started(case: Case, level: str) -> list[object]:
    """Plays a case in a process of its own, which inherits all that the referee leaves."""
    command = [sys.executable, __file__, "--one", case.id, "--level", level]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{case.id}: the stage itself failed:\n{done.stderr}")
    found: list[object] = json.loads(done.stdout)
    return found


def play(case: Case, level: str) -> Outcome:
    """Plays a case here."""
    be_subreaper()
    stage = Stage(case, level)
    scene = SCENES[case.scene]()
    began = time.monotonic()
    try:
        scene.prepare(stage)
        stage.run(scene.during)
        stage.read_results()
        seconds = time.monotonic() - began
        scene.after(stage)
        return stage.outcome(seconds)
    finally:
        stage.remove()


def row(verdict: Verdict) -> str:
    growth = f"{verdict.growth_mib:+.0f} MiB" if verdict.growth_mib is not None else ""
    seconds = f"{verdict.seconds:.1f} s" if verdict.seconds is not None else ""
    words = f"{'ok ' if verdict.ok else 'BAD'} {verdict.case.id:12} {verdict.expected:32} {verdict.happened:60}"
    return f"{words} {growth:>8} {seconds:>6}  {verdict.left}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
