"""`arena verify FOLDER` on a tournament that was really played, beside its database, and on forged ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.core.record.log import read_log, write_log
from arena.core.types import TimeControl
from tests.command_kit import arena
from tests.conformance.logs import checker

WORDS = ("random", "greedy", "--deals", "2", "--seed", "audit", "--json")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    arena(folder, "tournament", *WORDS)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "copy"
    shutil.copytree(played, copy)
    return copy


def verify(folder: Path, *words: str, code: int = 0) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(arena(folder, "verify", "logs", *words, "--json", code=code).stdout)
    return document


def test_every_promise_is_kept(folder: Path) -> None:
    document = verify(folder, "--complete", "--db", "arena.db")
    [audit] = document["folders"]
    assert (document["failed"], document["faults"], audit["faults"]) == (0, 0, [])
    assert (audit["logs"], audit["games"], audit["complete"]) == (4, 4, True)
    assert audit["checked"] == ["log", "commitment", "deals", "schedule", "bots", "time", "secret", "database"]
    assert all(row["ok"] and row["draws_checked"] for row in document["logs"])
    told = arena(folder, "verify", "logs", "--complete", "--db", "arena.db").stdout
    assert told.count("  ok      ") == 8
    [log] = (folder / "logs").glob("*/*-000000.jsonl")
    commitment = log.with_name("commitment.json")
    commitment.write_text(commitment.read_text().replace(log.parent.name, "another", 1))
    alone = arena(folder, "verify", str(log)).stdout
    assert f"of tournament {log.parent.name}, not of the commitment.json beside it, by which it was not" in alone


def lose_a_log(folder: Path) -> None:
    next((folder / "logs").glob("*/*-000002.jsonl")).unlink()


def write_again(folder: Path) -> None:
    """A log with the same game in it, that is not the file which was written."""
    log = next((folder / "logs").glob("*/*-000000.jsonl"))
    read = read_log(log)
    write_log(log, [replace(read.header, arena="another"), *read.records])


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("forge", "says"),
    [
        (write_again, "expected log_sha256 "),
        (lose_a_log, "-000002 is done, and its log is not there"),
    ],
)
def test_a_database_that_says_something_else_is_found(folder: Path, forge: Callable[[Path], None], says: str) -> None:
    forge(folder)
    [audit] = verify(folder, "--db", "arena.db", code=4)["folders"]
    assert any(fault["check"] == "database" and says in fault["reason"] for fault in audit["faults"]), audit


def test_a_commitment_that_was_noted_before_is_compared(folder: Path) -> None:
    [commitment] = (folder / "logs").glob("*/commitment.json")
    noted = folder / "noted.json"
    shutil.copy(commitment, noted)
    verify(folder, "--noted", "noted.json")
    told = json.loads(noted.read_bytes())
    noted.write_text(json.dumps(told | {"commitment": "0" * 64}), encoding="utf-8")
    done = arena(folder, "verify", "logs", "--noted", "noted.json", code=4)
    assert "FAILED  commitment: " in done.stdout
    assert "expected the commitment of noted.json, 000" in done.stdout


def test_a_database_is_not_passed_over_where_the_commitment_is_gone(folder: Path) -> None:
    next((folder / "logs").glob("*/commitment.json")).unlink()
    assert [fault["check"] for fault in verify(folder, "--db", "arena.db", code=4)["folders"][0]["faults"]] == [
        "commitment"
    ]


def test_one_that_is_not_finished_is_no_fault_unless_all_is_demanded(folder: Path) -> None:
    next((folder / "logs").glob("*/secret.json")).unlink()
    lose_a_log(folder)
    document = verify(folder)
    assert document["folders"][0]["complete"] is False
    faults = verify(folder, "--complete", code=4)["folders"][0]["faults"]
    assert [fault["check"] for fault in faults] == ["schedule", "secret"]
    assert "1 of 4 games of the schedule are missing: number 2" in faults[0]["reason"]


def test_many_logs_are_examined_by_several_processes(folder: Path) -> None:
    """More logs than one process examines alone: copies of one, each of which but the first is a game twice."""
    [first, *_] = sorted((folder / "logs").glob("*/*.jsonl"))
    for number in range(60):
        shutil.copy(first, first.with_name(f"copy-{number}.jsonl"))
    document = verify(folder, code=4)
    assert len(document["logs"]) == 64
    assert [row["log"] for row in document["logs"]] == sorted(row["log"] for row in document["logs"])
    assert sum("is there twice" in fault["reason"] for fault in document["folders"][0]["faults"]) == 60


def test_the_clock_of_an_entrant_is_its_own_in_every_log(tmp_path: Path) -> None:
    words = ("tournament", "fast=random", "random", "--deals", "1")
    assert "expected a time control" in arena(tmp_path, *words, "--time", "fast=5s,cpu", code=2).stderr
    assert "expected a clock" in arena(tmp_path, *words, "--time", "fast=off", code=2).stderr
    assert "one of fast, random, got: 'quick'" in arena(tmp_path, *words, "--time", "quick=5s", code=2).stderr
    (tmp_path / "arena.toml").write_text('[defaults]\ntime = ["10s", "fast=0.3/move"]\n')
    told = arena(tmp_path, *words).stderr
    assert "fast at 0.3/move, time 10+0" in told
    assert "--time 10+0 --time fast=0.3/move" in arena(tmp_path, "tournaments", "show", "latest").stdout
    for path in (tmp_path / "logs").glob("*/*-00000?.jsonl"):
        log = read_log(path)
        assert {bot.name: str(log.header.time(seat)) for seat, bot in enumerate(log.header.bots)} == {
            "random": "10+0",
            "fast": "0.3/move",
        }
        checker["check"](path.read_bytes())
    assert arena(tmp_path, "verify", "logs", "--db", "arena.db").stdout.count("  ok      ") == 7
    for forged in (None, TimeControl(bank_ms=9000), TimeControl(limit_ms=10**9)):
        bots = [replace(bot, time=forged) if bot.name == "fast" else bot for bot in log.header.bots]
        write_log(path, [replace(log.header, bots=bots), *log.records])
        told = arena(tmp_path, "verify", "logs", code=4).stdout
        assert f"with {forged or '10+0'}; by the schedule it is fast 1.0" in told
