"""The worker for steps: one thing at a time, and its death is told."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

from arena.errors import InternalError, MachineFault
from arena.league.bench import NICENESS, Bench
from arena.tournament.workers import local_worker
from tests import instant


def outcome(bench: Bench[Any]) -> Any:
    """Waits for what runs."""
    while (found := bench.fetch()) is None:
        time.sleep(0.01)
    return found


def test_it_gives_way_to_games_and_goes_on_after_its_workers_death() -> None:
    with Bench[Any](local_worker) as bench:
        bench.start(os.nice, 0)
        assert outcome(bench) == os.nice(0) + NICENESS
        bench.start(signal.raise_signal, signal.SIGKILL)
        with pytest.raises(MachineFault, match="the worker of a step ended"):
            outcome(bench)
        assert not bench.busy
        bench.start(os.getpid)
        first = outcome(bench)
        bench.rest()
        bench.start(os.getpid)
        assert outcome(bench) != first, "it rested"


def test_what_is_not_over_has_no_outcome() -> None:
    with Bench[int](instant.inline) as bench:
        assert bench.fetch() is None
        bench.start(abs, -3)
        assert bench.busy
        assert bench.fetch() == 3
        assert not bench.busy


@pytest.mark.parametrize(
    ("error", "becomes"), [(OSError(28, "No space left on device"), MachineFault), (KeyError("x"), InternalError)]
)
def test_errors_say_whose_fault_it_is(error: Exception, becomes: type[Exception]) -> None:
    def fail() -> None:
        raise error

    with Bench[Any](instant.inline) as bench:
        bench.start(fail)
        with pytest.raises(becomes):
            bench.fetch()
