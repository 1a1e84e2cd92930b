"""Bots that misbehave, as real processes over the real socket, through a whole game and a whole tournament."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
import time
from pathlib import Path

import pytest
from referee_kit import revealed

from arena.core.catalogue import make_settings
from arena.core.link.bots import BotSpec
from arena.core.link.pool import worker_pool
from arena.core.record.log import ForfeitRecord, Header, Record, read_log
from arena.core.referee.job import Job
from arena.core.referee.verify import verify
from arena.core.referee.worker import play
from arena.core.types import Termination
from tests.command_kit import arena
from tests.processes import is_alive

FAULTY = Path(__file__).parents[2] / "faulty" / "bot.py"
SECRET = b"f" * 32
BEGINNING = "ok," * 12  # enough answers to be in the middle of the game


@pytest.fixture(autouse=True, scope="module")
def _pool_is_shut() -> object:
    yield
    worker_pool().shutdown()


def bot(script: str, *, memory_mib: int = 2048, start_ms: int = 10_000) -> BotSpec:
    return BotSpec(
        name="faulty",
        version="1",
        command=(sys.executable, str(FAULTY), script),
        folder=str(FAULTY.parent),
        digest=hashlib.sha256(f"{script}{memory_mib}{start_ms}".encode()).hexdigest(),
        memory_mib=memory_mib,
        start_ms=start_ms,
    )


def job(folder: Path, *bots: BotSpec) -> Job:
    return Job(
        game="faults-000000",
        tournament="faults",
        settings=make_settings("samurai", len(bots), time="2/move"),
        bots=bots,
        deal=0,
        rotation=0,
        secret=SECRET,
        logs=str(folder),
    )


@pytest.mark.quick(3, 5)
@pytest.mark.parametrize(
    ("number", "script", "code"),
    [
        (number, script, Termination(code))
        for number, (script, code) in enumerate(
            {
                "crash": "crashed",
                "exit": "crashed",
                "segfault": "crashed",
                "killed": "out_of_memory",
                "memory:400": "out_of_memory",
                "silent": "timeout",
                "spin": "timeout",
                "late:20000": "timeout",
                "garbage": "malformed",
                "list": "malformed",
                "malformed": "malformed",
                "illegal": "illegal_action",
                "wrong_id": "protocol_violation",
                "twice": "protocol_violation",
                "oversized": "protocol_violation",
                "multipart": "protocol_violation",
                "disconnect": "disconnected",
                "close_exit:500": "crashed",
            }.items()
        )
    ],
)
def test_a_fault_in_mid_turn_is_a_forfeit_and_the_others_play_on(
    tmp_path: Path, number: int, script: str, code: Termination
) -> None:
    guilty = number % 3
    specs = [bot("ok")] * 3
    specs[guilty] = bot(f"words,{BEGINNING}{script}", memory_mib=200 if script.startswith("memory") else 2048)
    result = play(job(tmp_path, *specs))
    forfeits = {seat: entry.forfeit for seat, entry in enumerate(result.seats) if entry.forfeit}
    assert list(forfeits) == [guilty]
    assert forfeits[guilty].code == code
    assert forfeits[guilty].turn > 0
    assert forfeits[guilty].stderr, "its last words are kept"
    assert result.termination == "finished"
    assert result.ranks[guilty] == 3
    assert verify(tmp_path / result.log, revealed(SECRET, "faults")).draws_checked
    transcript = (tmp_path / result.transcripts[0]).read_text().splitlines()
    assert [json.loads(line)["from"] for line in transcript][:2] == ["referee", "bot"]


@pytest.mark.quick(1)
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, which only Linux has")
@pytest.mark.parametrize("script", ["illegal_spin", "spin", "ready:spin"])
def test_a_bot_that_forfeited_dies_though_its_game_goes_on_and_the_referee_is_busy(tmp_path: Path, script: str) -> None:
    pids: list[int] = []

    def watch(record: Header | Record) -> None:
        # As long as this runs, so does the game, and the referee does nothing.
        if isinstance(record, ForfeitRecord):
            pids.extend(entry.process.pid for entry in worker_pool()._bots if entry.spec.command[-1] == script)
            deadline = time.monotonic() + 20
            while any(map(is_alive, pids)) and time.monotonic() < deadline:
                time.sleep(0.005)
            assert not any(map(is_alive, pids))

    limit = {"start_ms": 1_000} if script.startswith("ready") else {}
    result = play(job(tmp_path, bot(script, **limit), bot("ok"), bot("ok")), watch)
    assert pids
    assert result.termination == "finished"


def test_what_nobody_knows_in_an_action_is_neither_logged_nor_counted(tmp_path: Path) -> None:
    """Log and digest hold an action as the rules read it: not what else is in its maps, nor the order of the keys."""
    results, logs = [], []
    for name, script in (("plain", "ok"), ("padded", "padded," * 40)):
        folder = tmp_path / name
        folder.mkdir()
        results.append(play(job(folder, bot(script), bot("ok"))))
        assert results[-1].termination == "finished"
        logs.append((folder / results[-1].log).read_text())
    assert results[0].play_digest == results[1].play_digest
    assert "unknown" not in logs[1]
    actions = [[line for line in log.splitlines() if '"action"' in line] for log in logs]
    assert len(actions[0]) == len(actions[1]) > 20


@pytest.mark.quick(3, 2)
@pytest.mark.parametrize("script", ["hello:crash", "hello:silent", "ready:silent", "hello:bad_token", "hello:garbage"])
@pytest.mark.parametrize("guilty", [0, 1])
def test_a_bot_that_does_not_start_forfeits_before_the_first_turn(tmp_path: Path, script: str, guilty: int) -> None:
    specs = [bot("ok")] * 2
    specs[guilty] = bot(script, start_ms=700)
    result = play(job(tmp_path, *specs))
    forfeit = result.seats[guilty].forfeit
    assert forfeit is not None
    assert (forfeit.code, forfeit.turn) == (Termination.START_FAILED, 0)
    assert result.ranks[guilty] == 2
    assert result.termination == "start_failed"


def test_the_author_of_a_bot_that_crashes_finds_all_he_needs(tmp_path: Path) -> None:
    """In the summary, in the database, and beside the log."""
    for name, script in (("good", "ok"), ("bad", f"words,{BEGINNING}crash")):
        folder = tmp_path / name
        folder.mkdir()
        command = json.dumps(["{python}", str(FAULTY), script])
        (folder / "bot.toml").write_text(f'name = "{name}"\nversion = "2"\ncommand = {command}\nrules = ["samurai"]\n')
    done = arena(tmp_path, "tournament", "./good", "./bad", "--deals", "1", "--seed", "s", "--json")
    document = json.loads(done.stdout)
    assert {row["bot"]: row["forfeits"] for row in document["standings"]} == {"good": 0, "bad": 2}
    assert "exited with status 3" in done.stderr
    assert "crashed" in done.stderr
    database = sqlite3.connect(tmp_path / "arena.db")
    rows = database.execute(
        "SELECT * FROM seats WHERE stderr IS NOT NULL AND stderr != '' AND stderr != '[]'"
    ).fetchall()
    database.close()
    assert len(rows) == 2
    logs = tmp_path / document["logs"]
    assert len(list(logs.glob("*.transcript"))) == 2
    log = read_log(sorted(logs.glob("*.jsonl"))[0])
    assert log.outcome.termination == "crashed"
