"""What the check of a bot sees of a process that fails: the same as the referee's link does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.author.conform.dialogue import Dialogue
from arena.author.conform.findings import Budget, Finding
from arena.core.link import watch
from arena.core.link.bots import BotSpec
from arena.core.link.custody import Custody
from arena.core.wire.messages import GameStart, Time

FAULTY = Path(__file__).parents[2] / "faulty" / "bot.py"
START = GameStart(
    game=1,
    rules="samurai",
    rules_version=1,
    ruleset="standard",
    options={},
    seat=0,
    seats=2,
    board={},
    time=Time(bank_ms=None, increment_ms=0, limit_ms=1000, margin_ms=30, window_us=None),
    commitment="0" * 64,
    bot_seed=0,
)
Start = Callable[[str], Dialogue]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a dialogue; its process is ended afterwards."""
    custody = Custody()
    begun = []

    def start(script: str) -> Dialogue:
        command = (sys.executable, str(FAULTY), script)
        spec = BotSpec(name="", version="", command=command, folder=str(tmp_path), digest="", start_ms=20_000)
        begun.append(Dialogue(spec, custody, custody.directory, Budget(patience_ms=1_000), {"samurai": 1}, set()))
        return begun[0]

    yield start
    for dialogue in begun:
        dialogue.close()
    custody.close()


def failure(dialogue: Dialogue) -> str:
    """What is found when the bot is told of a game and has a second to be ready."""
    dialogue.greet()
    dialogue.welcome()
    dialogue.send(START)
    with pytest.raises(Finding) as raised:
        dialogue.ready("samurai")
    return str(raised.value)


def test_who_closes_first_and_ends_after_the_deadline_has_ended(start: Start) -> None:
    assert "exited with status 3" in failure(start("ready:close_exit:1500"))


def test_a_child_that_holds_the_connection_open_hides_no_end(start: Start) -> None:
    assert "exited with status 3" in failure(start("ready:hold_crash"))


def test_who_closes_and_lives_on_has_closed(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "SETTLE_MS", 300)
    assert "expected a connection that stays open" in failure(start("ready:disconnect"))


def test_the_end_before_a_greeting(start: Start) -> None:
    with pytest.raises(Finding, match="expected hello, got: a process that exited with status 3"):
        start("hello:crash").greet()
