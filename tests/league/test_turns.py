"""The workers of steps and games: neither waits for the other's end, and the death of one is told."""

from __future__ import annotations

import os
import signal
import time
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from arena.core.referee.job import Job
from arena.core.tournament.workers import local_worker
from arena.league.keeping.clearing import Lost
from arena.league.service import loop
from arena.league.service.loop import STEPS_SHARE, Turns
from arena.league.store.records import Verdict
from arena.league.store.states import State
from arena.league.submissions import step_runner
from arena.league.submissions.step_runner import StepRunner, StepWorker
from tests import instant, league_kit, service_kit
from tests.service_kit import Running

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


def outcome(step_worker: StepWorker) -> Any:
    """Waits for what runs."""
    while (found := step_worker.fetch()) is None:
        time.sleep(0.01)
    return found


def test_it_gives_way_and_goes_on_after_its_workers_death() -> None:
    with StepWorker(local_worker, 3) as step_worker:
        step_worker.start("check", os.nice, 0)
        assert outcome(step_worker) == os.nice(0) + 3
        step_worker.start("check", signal.raise_signal, signal.SIGKILL)
        assert "the worker of a step ended" in outcome(step_worker).finding
        assert not step_worker.busy
        step_worker.start("check", os.getpid)
        first = outcome(step_worker)
        step_worker.rest()
        step_worker.start("check", os.getpid)
        assert outcome(step_worker) != first, "it rested"


def test_what_is_not_over_has_no_outcome() -> None:
    with StepWorker(instant.inline) as step_worker:
        assert step_worker.fetch() is None
        step_worker.start("check", abs, -3)
        assert step_worker.busy
        assert step_worker.fetch() == 3
        assert not step_worker.busy


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyError("x")])
def test_an_error_is_a_fault_of_the_machine(error: Exception) -> None:
    def fail() -> None:
        raise error

    with StepWorker(instant.inline) as step_worker:
        step_worker.start("check", fail)
        report = step_worker.fetch()
    assert report is not None
    assert (report.kind, report.verdict) == ("check", Verdict.MACHINE)
    assert str(error.args[-1]) in report.finding


def test_a_step_that_does_not_end_is_ended_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_runner, "LONGEST_S", 0.2)
    with league_kit.league(tmp_path, "anna") as store, StepWorker(local_worker) as step_worker:
        league_kit.submit(store, "fox")
        running = Running(store, lambda job: pytest.fail("no game is played"))
        monkeypatch.setattr(running.tools, "work", lambda version, kind: (time.sleep, (60,)))
        runner = StepRunner(store, step_worker, running.tools, Lost(store, running.tools.is_built), running.said.append)
        runner.look()
        assert step_worker.busy
        until = time.monotonic() + 20
        while runner.machine_faults == 0 and time.monotonic() < until:
            runner.look()
            time.sleep(0.05)
        assert not step_worker.busy
        assert store.versions.named("fox/1").attempts == 1
    assert "expected the step to end within 0.2 s" in " ".join(running.said)
