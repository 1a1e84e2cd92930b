"""The worker for steps: one thing at a time, and its death is told."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from arena.core.errors import InternalError, MachineFault
from arena.core.tournament.workers import local_worker
from arena.league.submissions import step_runner
from arena.league.submissions.step_runner import NICENESS, StepRunner, StepWorker
from tests import instant, league_kit
from tests.service_kit import Running


def outcome(step_worker: StepWorker) -> Any:
    """Waits for what runs."""
    while (found := step_worker.fetch()) is None:
        time.sleep(0.01)
    return found


def test_it_gives_way_to_games_and_goes_on_after_its_workers_death() -> None:
    with StepWorker(local_worker) as step_worker:
        step_worker.start(os.nice, 0)
        assert outcome(step_worker) == os.nice(0) + NICENESS
        step_worker.start(signal.raise_signal, signal.SIGKILL)
        with pytest.raises(MachineFault, match="the worker of a step ended"):
            outcome(step_worker)
        assert not step_worker.busy
        step_worker.start(os.getpid)
        first = outcome(step_worker)
        step_worker.rest()
        step_worker.start(os.getpid)
        assert outcome(step_worker) != first, "it rested"


def test_what_is_not_over_has_no_outcome() -> None:
    with StepWorker(instant.inline) as step_worker:
        assert step_worker.fetch() is None
        step_worker.start(abs, -3)
        assert step_worker.busy
        assert step_worker.fetch() == 3
        assert not step_worker.busy


@pytest.mark.parametrize(
    ("error", "becomes"), [(OSError(28, "No space left on device"), MachineFault), (KeyError("x"), InternalError)]
)
def test_errors_say_whose_fault_it_is(error: Exception, becomes: type[Exception]) -> None:
    def fail() -> None:
        raise error

    with StepWorker(instant.inline) as step_worker:
        step_worker.start(fail)
        with pytest.raises(becomes):
            step_worker.fetch()


def test_a_step_that_does_not_end_is_ended_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_runner, "LONGEST_S", 0.2)
    with league_kit.league(tmp_path, "anna") as store, StepWorker(local_worker) as step_worker:
        league_kit.submit(store, "fox")
        running = Running(store, lambda job: pytest.fail("no game is played"))
        monkeypatch.setattr(running.tools, "work", lambda version, kind: (time.sleep, (60,)))
        runner = StepRunner(store, step_worker, running.tools, running.said.append)
        runner.look()
        assert step_worker.busy
        until = time.monotonic() + 20
        while runner.machine_faults == 0 and time.monotonic() < until:
            runner.look()
            time.sleep(0.05)
        assert not step_worker.busy
        assert store.versions.named("fox/1").attempts == 1
    assert "expected the step to end within 0.2 s" in " ".join(running.said)
