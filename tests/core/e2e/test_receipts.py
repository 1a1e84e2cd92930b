"""Receipts of real bots: the client keeps them where it is asked to, and they find what was changed since."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.core.record.log import ActionRecord, ForfeitRecord, Log, OutcomeRecord, play_digest, read_log, write_log
from arena.core.record.receipts import receipts_of
from arena.core.referee.replay import _Player
from arena.core.types import LoggedForfeit, Termination
from tests.command_kit import arena

BOT = """
import random
from arena_bot import Bot, run

class Talker(Bot):
    want = ("legal", "events")
    receipts = ".kept.jsonl"

    def decide(self, request):
        product = random.choice(request["legal"])
        play = {key: self.one(values) for key, values in product.items()}
        return {"plays": [play]}, "„" + request["kind"] + "“"

    def one(self, values):
        return values["of"][: values["choose"]] if isinstance(values, dict) else random.choice(values)

run(Talker())
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A tournament of a bot that keeps receipts; its receipts are `kept.jsonl`, its logs `logs`."""
    folder = tmp_path_factory.mktemp("kept")
    bot = folder / "talker"
    bot.mkdir()
    shutil.copy(root / "bots/python/arena_bot.py", bot)
    (bot / "bot.py").write_text(BOT)
    (bot / "bot.toml").write_text('name = "talker"\ncommand = ["python3", "bot.py"]\n')
    words = ["tournament", str(bot), "random", "--deals", "2", "--ruleset", "basic", "--json", "--concurrency", "1"]
    logs = Path(json.loads(arena(folder, *words).stdout)["logs"])
    shutil.copytree(folder / logs, folder / "copy")
    shutil.copy(bot / ".kept.jsonl", folder / "kept.jsonl")
    return folder


def verify(folder: Path, logs: Path, *words: str, code: int = 0) -> str:
    done = arena(folder, "verify", str(logs), "--receipts", "kept.jsonl", *words, code=code)
    return done.stdout + done.stderr


def test_kept_receipts_are_those_of_the_logs(played: Path) -> None:
    lines = [json.loads(line) for line in (played / "kept.jsonl").read_text().splitlines()]
    assert len(lines) == 4
    assert all(line["own"] == line["told"] and line["notes"] for line in lines)
    assert "4 receipts compared, 0 differences" in verify(played, played / "copy", "--complete")


def invented_crash(log: Log, records: list[Any], seat: int) -> None:
    """The seat's last actions did not happen: it crashed instead, as the rules have it."""
    at = max(at for at, one in enumerate(records) if isinstance(one, ActionRecord) and one.seat == seat)
    player = _Player(log, None)
    for line, record in enumerate(records[:at], start=2):
        player.play(line, record)
    course, ms = player.course, records[-1].ms
    course.ask()
    course.fail(seat, Termination.CRASHED)
    turn = course.turn
    forfeits = [LoggedForfeit(seat, Termination.CRASHED, "it crashed")]
    record = ForfeitRecord(forfeits=forfeits, turn=turn, events=course.forfeit(), ms=ms)
    outcome = course.outcome
    assert outcome is not None
    over = OutcomeRecord(
        termination=course.termination,
        ranks=list(outcome.ranks),
        turns=course.turn,
        actions=course.accepted,
        play_digest="",
        ms=ms,
    )
    records[at:] = [record, over]


def edited_note(log: Log, records: list[Any], seat: int) -> None:
    at = next(at for at, one in enumerate(records) if isinstance(one, ActionRecord) and one.seat == seat)
    records[at] = replace(records[at], note="I give up")


def moved_time(log: Log, records: list[Any], seat: int) -> None:
    at = next(at for at, one in enumerate(records) if isinstance(one, ActionRecord) and one.seat == seat)
    records[at] = replace(records[at], used_ns=1)


@pytest.mark.parametrize(
    ("forge", "reason"),
    [
        (invented_crash, "the log says that it forfeited before"),
        (edited_note, "the log has other notes than it sent"),
        (moved_time, "the log has another course of the game than its own messages"),
    ],
)
def test_what_was_changed_since_is_found_though_the_log_is_whole(
    played: Path, tmp_path: Path, forge: Any, reason: str
) -> None:
    """The forger makes every digest of the log again: by itself it verifies, and only the receipt shows it."""
    logs = tmp_path / "logs"
    logs.mkdir()
    path = logs / Path(shutil.copy(sorted((played / "copy").glob("*.jsonl"))[0], logs)).name
    log = read_log(path)
    seat = next(seat for seat, bot in enumerate(log.header.bots) if bot.name == "talker")
    records: list[Any] = list(log.records)
    forge(log, records, seat)
    outcome: OutcomeRecord = records[-1]
    found = receipts_of(log.header, records, outcome.termination, outcome.ranks, outcome.scores)
    records[-1] = replace(
        outcome,
        play_digest=play_digest([log.header, *records]),
        receipts=[receipt.logged for receipt in found if receipt is not None],
    )
    write_log(path, [log.header, *records])
    arena(played, "verify", str(path), code=0)
    text = verify(played, path, code=4)
    assert f"game {log.header.game}, seat {seat}: " in text
    assert reason in text


def test_receipts_of_other_games_are_no_proof(played: Path, tmp_path: Path) -> None:
    path = shutil.copy(sorted((played / "copy").glob("*.jsonl"))[0], tmp_path)
    text = verify(played, Path(path), code=0)
    assert "1 receipt compared, 0 differences; of 3 receipts there is no log here" in text
    verify(played, Path(path), "--complete", code=4)
    lines = [json.loads(line) for line in (played / "kept.jsonl").read_text().splitlines()]
    (tmp_path / "kept").write_text("".join(json.dumps(line | {"bot_seed": 1}) + "\n" for line in lines))
    arena(played, "verify", path, "--receipts", str(tmp_path / "kept"), code=4)
