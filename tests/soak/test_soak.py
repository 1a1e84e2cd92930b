"""A short soak of a real league; and what it has left, doctored in several ways, which the judge must find."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.core.errors import LevelError
from arena.core.link.confinement import require
from arena.core.types import Level
from tests.soak import judge
from tests.soak.evidence import Evidence, collect

ROOT = Path(__file__).parents[2]


def sql(statement: str) -> Callable[[Path], None]:
    """Returns what changes the database of a league."""

    def change(cup: Path) -> None:
        database = sqlite3.connect(cup / "league.db")
        with database:
            assert database.execute(statement).rowcount > 0
        database.close()

    return change


def log(cup: Path, game: int) -> Path:
    [found] = (cup / "logs").glob(f"cup-1/cup-1-{game:06}.jsonl*")
    return found


def flip_a_byte(cup: Path) -> None:
    data = bytearray(log(cup, 1).read_bytes())
    data[len(data) // 2] ^= 1
    log(cup, 1).write_bytes(data)


def exchange_two_logs(cup: Path) -> None:
    one, other = log(cup, 2), log(cup, 3)
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)


DOCTORED: tuple[tuple[Callable[[Path], object], Callable[[Evidence], judge.Finding], str], ...] = (
    # A game is counted twice; one has lost its result; a result and a rating are changed.
    (sql("UPDATE tallies SET games = games + 1 WHERE entrant = 0"), judge.counted_once, "random/1: "),
    (
        sql("UPDATE games SET status = 'void', termination = NULL, play_digest = NULL, log_sha256 = NULL"
            " WHERE number = 5"),
        judge.counted_once, "cup-1-000005 is void, and has 2 seats of 2",
    ),
    (
        sql("UPDATE seats SET figures = json_set(figures, '$.rank', 3 - rank) WHERE game = 'cup-1-000004'"), judge.logs,
        "cup-1-000004: the log has the ranks",
    ),
    (sql("UPDATE ratings SET mu = mu + 0.001 WHERE entrant = 1"), judge.ratings, "greedy/1: "),
    # A log is lost; one was altered; two were exchanged.
    (lambda cup: log(cup, 0).unlink(), judge.logs, "cup-1-000000: no log"),
    (flip_a_byte, judge.logs, "cup-1-000001: "),
    (exchange_two_logs, judge.logs, "cup-1-000002: it is that of game cup-1-000003"),
    (lambda cup: (cup / "inbox" / "a.json").write_text("{}"), judge.files, "inbox/a.json"),
)  # fmt: skip
"""What is done to a league, whose business it is, and what is said."""


@pytest.mark.thorough
@pytest.mark.timeout(1200)
def test_a_short_soak_passes_and_whatever_is_wrong_is_found() -> None:
    try:
        require(Level.ISOLATED, (), ())
    except LevelError as error:
        pytest.skip(f"this machine does not give isolated seats: {error}")
    command = [sys.executable, "-m", "tests.soak", "--minutes", "0.4", "--seed", "7", "--keep"]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*command, "--bots", "5", "--hostile", "2", "--workers", "2"], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": path}, check=False, timeout=900,
    )  # fmt: skip
    kept = Path(done.stderr.rpartition("Kept: ")[2].strip())
    try:
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.splitlines()[-1] == "Passed: all 17 hold; again with SEED=7"
        cup = kept / "kept" / "cup"
        sound = collect(cup)
        checks = {check for _, check, _ in DOCTORED}
        assert [check(sound).wrong for check in checks] == [()] * len(checks)
        for doctor, _, _ in DOCTORED:
            doctor(cup)
        doctored = collect(cup)
        for _, check, words in DOCTORED:
            assert words in "\n".join(check(doctored).wrong)
    finally:
        shutil.rmtree(kept, ignore_errors=True)
