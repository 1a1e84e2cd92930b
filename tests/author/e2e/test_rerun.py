"""`arena bot rerun`: a bot is asked again what a seat was asked in a logged game."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_kit import FAULTY, Run, arena


def faulty(script: str) -> str:
    return f"cmd:{shlex.join([sys.executable, str(FAULTY), script])}"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which greedy has played random, and a bot has sent an illegal action at its third turn."""
    folder = tmp_path_factory.mktemp("played")
    illegal = faulty("ok," * 12 + "illegal")
    arena(folder, "match", "greedy", "random", "--seed", "tea", "--logs", "fair")
    arena(folder, "match", "random", illegal, "--seed", "tea", "--logs", "lost")
    return folder


@pytest.fixture
def rerun(played: Path) -> Run:
    """Runs it on the first game of a match."""

    def run(match: str, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        log = min((played / match).rglob("*.jsonl"))
        return arena(played, "bot", "rerun", str(log), *arguments, code=code)

    return run


@pytest.mark.quick(1)
@pytest.mark.parametrize(("bot", "seat"), [("greedy", "0"), ("random", "1")])
def test_the_same_bot_answers_the_same(rerun: Run, bot: str, seat: str) -> None:
    done = rerun("fair", bot, "--seat", seat)
    assert done.stderr == ""
    first, *requests, last = done.stdout.splitlines()
    assert first == f"samurai standard, seat {seat} of 2: {bot} in place of {bot}"
    assert all(line.endswith("same") for line in requests)
    assert last == f"{len(requests)} requests: all answered the same"


@pytest.mark.long
def test_another_bot_shows_where_it_differs(rerun: Run) -> None:
    done = rerun("fair", "banzai", "--seat", "0", "--json")
    document = json.loads(done.stdout)
    others = [request for request in document["requests"] if not request["same"]]
    assert document["differ"] == len(others) > 0
    assert all(request["action"] != request["logged"] for request in others)
    assert all(request["fault"] is None for request in document["requests"])
    shown = rerun("fair", "banzai", "--seat", "0").stdout
    first = others[0]
    assert f"the first of them request {first['number']} (turn {first['turn']})" in shown
    assert f"     was    {json.dumps(first['logged'], separators=(',', ':'))}\n" in shown
    assert f"     now    {json.dumps(first['action'], separators=(',', ':'))}\n" in shown


@pytest.mark.long
def test_a_turn_is_shown_whole_and_is_the_last(rerun: Run) -> None:
    done = rerun("fair", "greedy", "--seat", "0", "--turn", "5")
    assert "  turn  5  turn " in done.stdout
    assert "  turn  7  turn " not in done.stdout
    whole = done.stdout[done.stdout.index("  turn  5") :]
    for name in ("clock", "view", "events", "legal", "was", "now"):
        assert f"\n     {name:<7}" in whole
    missing = rerun("fair", "greedy", "--seat", "0", "--turn", "6", code=2)
    assert "expected a turn in which seat 0 was asked, got: 6" in missing.stderr


@pytest.mark.long
def test_the_lost_request_is_asked_again(rerun: Run) -> None:
    again = rerun("lost", faulty("ok," * 12 + "illegal"), "--seat", "1", code=3)
    assert again.stdout.endswith(": all answered the same, and forfeited again\n")
    assert re.search(r"would forfeit: it sent an illegal action: .* \(§8\.6-5\)$", again.stdout, re.MULTILINE)
    fixed = rerun("lost", "greedy", "--seat", "1")
    assert "was    forfeited: seat 1 sent an illegal action: " in fixed.stdout


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("silent", "would forfeit: it did not answer within "),
        ("crash", "would forfeit: it exited with status 3"),
        ("garbage", "would forfeit: it sent a message that cannot be read: "),
    ],
)
def test_a_bot_that_fails_ends_it(rerun: Run, step: str, said: str) -> None:
    done = rerun("fair", faulty(f"ok,words,{step}"), "--seat", "1", "--time", "0.3/move", code=3)
    assert said in done.stdout
    assert "3 requests: " in done.stdout
    assert " 300.0 ms" not in done.stdout, "the time until it failed, not the time that it had"
    assert "printed: thinking" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("greedy", "--seat", "2"), "expected a seat of the game, 0 to 1, got: 2; use --seat"),
        (("planner", "--seat", "0"), "expected a bot that plays samurai, got: planner, which plays gardener"),
        ((faulty("hello:exit"), "--seat", "0"), "exited with status 0 before it said hello"),
        ((faulty("ready:crash"), "--seat", "0"), "exited with status 3"),
        (("greedy", "--seat", "0", "--time", "soon"), "10+0.1 or 2/move, got: 'soon'"),
    ],
)
def test_what_cannot_be_asked_is_said(rerun: Run, arguments: tuple[str, ...], said: str) -> None:
    assert said in rerun("fair", *arguments, code=2).stderr
