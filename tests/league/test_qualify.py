"""First games go on where they were: what was played before a kill is not played again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.core.catalogue import make_settings
from arena.core.errors import MachineFault
from arena.core.link.bots import BotSpec
from arena.core.referee.job import Job
from arena.core.types import GameResult, Level
from arena.league.submissions.steps import StepReport, Verdict, qualify
from tests import audit_kit

FOX = BotSpec(name="fox", version="1", command=("x",), folder="/", digest="0" * 64)
SETTINGS = make_settings("samurai", 2, ruleset="basic", time="5/move")


class Machine:
    """Plays in memory, until it is killed."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.left = 100
        """Games until it is killed."""
        self.played: list[str] = []

    def play(self, job: Job) -> GameResult:
        if not self.left:
            raise MachineFault("it is killed")
        self.left -= 1
        self.played.append(job.game.rpartition("-")[2])
        return audit_kit.play(job)

    def qualify(self, left: int = 100, *, bot: BotSpec = FOX, settings: object = SETTINGS) -> StepReport:
        """Returns the report of a step that has so many games until it is killed."""
        self.left, self.played = left, []
        assert isinstance(settings, type(SETTINGS))
        return qualify(bot, [settings], Level.TRUSTED, self.logs, "1-00")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    found = Machine(tmp_path)
    monkeypatch.setattr(sys.modules["arena.league.submissions.steps.qualify"].game_worker, "play", found.play)
    return found


def test_a_bot_gets_in_on_a_machine_that_is_killed_after_every_third_game(machine: Machine) -> None:
    assert machine.qualify(3).verdict is Verdict.MACHINE
    assert machine.qualify(3).verdict is Verdict.MACHINE
    report = machine.qualify(3)
    assert (report.verdict, machine.played) == (Verdict.PASSED, ["6", "7"])
    assert [game["seat"] for game in report.detail["games"]] == [0, 1] * 4
    assert len({game["log"] for game in report.detail["games"]}) == 8
    assert (machine.qualify().verdict, machine.played) == (Verdict.PASSED, [])


def test_games_of_other_files_or_with_other_settings_do_not_count(machine: Machine) -> None:
    machine.qualify(3)
    machine.qualify(4, bot=replace(FOX, digest="1" * 64))
    assert machine.played == ["0", "1", "2", "3"]
    machine.qualify(2, bot=replace(FOX, digest="1" * 64), settings=make_settings("samurai", 2, ruleset="basic"))
    assert machine.played == ["0", "1"]


def test_a_game_that_is_cut_off_or_not_ended_is_played_again_and_leaves_nothing(machine: Machine) -> None:
    machine.qualify(3)
    [log] = machine.logs.glob("*1-00-1.jsonl*")
    log.write_bytes(log.read_bytes()[:-40])
    beside = machine.logs / "qualify-1-00-1.seat0.output"
    beside.write_bytes(b"what the bot said")
    assert machine.qualify().verdict is Verdict.PASSED
    assert machine.played == ["1", *"34567"]
    assert not beside.exists()


def test_a_forfeit_whose_report_is_lost_is_found_again(machine: Machine) -> None:
    quitter = replace(FOX, name="zebra")  # who quits before `random` does
    for _ in range(2):
        assert machine.qualify(bot=quitter).verdict is Verdict.FAILED
        assert machine.played == ["0"]
