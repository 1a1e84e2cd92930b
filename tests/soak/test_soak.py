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

from arena.errors import LevelError
from arena.link.sandbox.doctor import require
from arena.types import Level
from tests.soak import judge
from tests.soak.evidence import collect

ROOT = Path(__file__).parents[2]


def sql(statement: str) -> Callable[[Path], None]:
    """Returns what changes the database of a league."""

    def change(cup: Path) -> None:
        database = sqlite3.connect(cup / "league.db")
        with database:
            assert database.execute(statement).rowcount > 0
        database.close()

    return change


def first_log(cup: Path) -> Path:
    return min((cup / "logs").glob("cup-1/*-0*.jsonl*"))


def flip_a_byte(cup: Path) -> None:
    data = bytearray(first_log(cup).read_bytes())
    data[len(data) // 2] ^= 1
    first_log(cup).write_bytes(data)


def exchange_two_logs(cup: Path) -> None:
    one, other = sorted((cup / "logs").glob("cup-1/*-0*.jsonl*"))[:2]
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)


DOCTORED: dict[str, tuple[Callable[[Path], None], Callable[..., judge.Finding], str]] = {
    "a game that is counted twice": (
        sql("UPDATE tallies SET games = games + 1, wins = wins + 1 WHERE entrant = 0"), judge.counted_once,
        "wins stored",
    ),
    "a game that was lost": (
        sql("UPDATE games SET status = 'void', termination = NULL, play_digest = NULL, log_sha256 = NULL"
            " WHERE number = 0"), judge.counted_once, "is void, and has 2 seats of 2",
    ),
    "a rating that moved by itself": (
        sql("UPDATE ratings SET mu = mu + 0.001 WHERE entrant = 1"), judge.ratings, "greedy/1: "
    ),
    "a result that was changed": (
        sql("UPDATE seats SET rank = 3 - rank WHERE game IN (SELECT id FROM games WHERE number = 0)"), judge.logs,
        "the log has the ranks",
    ),
    "a log that is lost": (lambda cup: first_log(cup).unlink(), judge.logs, ": no log"),
    "a log that was altered": (flip_a_byte, judge.logs, "cup-1-000000: "),
    "two logs in each other's place": (exchange_two_logs, judge.logs, "it is that of game"),
    "an order that nobody has obeyed": (
        lambda cup: (cup / "inbox" / "a.json").write_text("{}") and None, judge.files, "inbox/a.json"
    ),
}  # fmt: skip
"""By what is wrong: what makes it so, whose business it is, and what is said."""


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_short_soak_passes_and_whatever_is_wrong_is_found(tmp_path: Path) -> None:
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
        evidence = collect(cup)
        checks = (judge.counted_once, judge.logs, judge.ratings, judge.files)
        assert [check(evidence).wrong for check in checks] == [()] * 4
        for what, (doctor, check, words) in DOCTORED.items():
            copy = tmp_path / "doctored"
            shutil.copytree(cup, copy)
            doctor(copy)
            finding = check(collect(copy))
            assert words in "\n".join(finding.wrong), f"{what}: {finding}"
            shutil.rmtree(copy)
    finally:
        shutil.rmtree(kept, ignore_errors=True)
