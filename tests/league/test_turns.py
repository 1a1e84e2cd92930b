"""One worker is shared between games and what is submitted: neither waits for the other's end."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from arena.core.referee.job import Job
from arena.league.service import loop
from arena.league.service.loop import STEPS_SHARE, Turns
from arena.league.store.states import State
from arena.league.submissions import step_runner
from tests import league_kit, service_kit

GAME_S, STEP_S = 0.01, 0.05


@pytest.mark.parametrize("slow", ["build", "check", "qualify"])
def test_many_submissions_leave_games_their_part_of_the_only_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    monkeypatch.setattr(loop, "POLL_S", 0.001)
    monkeypatch.setattr(loop, "Turns", lambda: Turns(lambda: now))
    monkeypatch.setattr(step_runner, "_LOOK_S", 0.0)
    took: list[tuple[str, float]] = []
    now = 0.0  # only steps and games take time, so that a busy machine is none

    def outcome(kind: Any, script: str) -> Any:
        nonlocal now
        seconds = STEP_S if kind == slow else 0.001
        now += seconds
        took.append(("step", seconds))
        return service_kit.StepReport(kind=kind, verdict=service_kit.Verdict.PASSED, finding="", seconds=seconds)

    def play(job: Job) -> Any:
        nonlocal now
        now += GAME_S
        took.append(("game", GAME_S))
        return service_kit.play(job)

    monkeypatch.setattr(service_kit, "outcome", outcome)
    with service_kit.league(tmp_path, "fox", "owl") as store:
        for number in range(12):
            league_kit.submit(store, f"new{number}", author="of fox")
        service_kit.Running(store, play, workers=1).run(3)
        assert not store.versions.pending()
        assert all(version.state is State.ACTIVE for version in store.versions.all() if version.bot.startswith("new"))
    assert [kind for kind, _ in took[-3:]] == ["game"] * 3, "those that were asked for come when all are tried"
    last = max(number for number, (kind, _) in enumerate(took) if kind == "step")
    steps, games = (sum(seconds for kind, seconds in took[:last] if kind == each) for each in ("step", "game"))
    assert 0.5 * STEPS_SHARE <= games / (games + steps) <= 1.5 * STEPS_SHARE
    runs = [
        sum(seconds for _, seconds in run) for kind, run in groupby(took[:last], lambda one: one[0]) if kind == "step"
    ]
    assert max(runs) < 2.5 * STEP_S, "one after another"


def turns() -> tuple[Turns, list[float]]:
    now = [0.0]
    return Turns(lambda: now[0]), now


def test_whoever_waits_alone_takes_all_and_saves_nothing_up() -> None:
    both, now = turns()
    now[0] += 1_000
    both.spend(steps=False, games=True)
    assert both.is_of_steps(steps=True, games=True), "submissions that come are tried at once"
    assert not both.is_of_steps(steps=False, games=True)
    now[0] += 10
    both.spend(steps=True, games=False)
    for _ in range(9):
        assert not both.is_of_steps(steps=True, games=True), "they did not come by a thousand seconds in reserve"
        now[0] += 1
        both.spend(steps=False, games=True)
    now[0] += 1.1
    both.spend(steps=False, games=True)
    assert both.is_of_steps(steps=True, games=True)
    now[0] += 1_000
    both.spend(steps=True, games=False)
    assert both.is_of_steps(steps=True, games=False), "nobody else wants it"
    assert both.is_of_steps(steps=True, games=True), "and that is owed to nobody"


def test_a_long_step_is_paid_back_even_if_nobody_submits_meanwhile() -> None:
    both, now = turns()
    now[0] += 60
    both.spend(steps=True, games=False)
    assert not both.is_of_steps(steps=False, games=True)
    now[0] += 30
    both.spend(steps=False, games=True)
    assert not both.is_of_steps(steps=True, games=True)
    now[0] += 30
    both.spend(steps=False, games=True)
    assert both.is_of_steps(steps=True, games=True)
