"""What a watch makes of a process, moment by moment. No process is started."""

from __future__ import annotations

from typing import cast

import pytest

from arena.core.link.base import Cause
from arena.core.link.process import BotProcess, Exit
from arena.core.link.watch import GREETING_MS, LOOK_MS, SETTLE_MS, Watch
from arena.core.types import Termination

MS = 10**6
CRASHED = Cause(Termination.CRASHED, "exited with status 3")


class Process:
    """A process of which a test tells what can be seen."""

    def __init__(self) -> None:
        self.ended = False
        self.killed = False
        self.fence = self
        self.too_much: str | None = None

    def end(self) -> Exit | None:
        return Exit(CRASHED.code, CRASHED.detail) if self.ended else None

    def excess(self) -> str | None:
        return self.too_much

    def kill(self) -> None:
        self.killed = True


@pytest.fixture
def process() -> Process:
    return Process()


@pytest.fixture
def watch(process: Process) -> Watch:
    """A watch of a process that has greeted."""
    watch = Watch(cast(BotProcess, process))
    watch.connect()
    return watch


def seen(watch: Watch, ms: int) -> Cause | None:
    watch.look(ms * MS)
    return watch.failure(ms * MS)


def test_a_process_that_lives_has_no_failure(watch: Watch) -> None:
    assert seen(watch, 10**6) is None
    assert not watch.is_failing


def test_who_closes_and_then_ends_has_crashed(watch: Watch, process: Process) -> None:
    watch.disconnect(0)
    assert watch.is_failing
    assert seen(watch, SETTLE_MS - 1) is None
    process.ended = True
    assert seen(watch, SETTLE_MS - 1) == CRASHED


def test_who_closes_and_lives_on_is_disconnected(watch: Watch) -> None:
    watch.disconnect(0)
    watch.disconnect(1000 * MS)  # what is known already
    failure = seen(watch, SETTLE_MS)
    assert failure is not None
    assert failure.code is Termination.DISCONNECTED


def test_who_ends_has_crashed_once_its_connection_has_closed(watch: Watch, process: Process) -> None:
    process.ended = True
    assert seen(watch, 0) is None, "what it sent may be on its way"
    assert watch.is_failing
    watch.disconnect(10 * MS)
    assert seen(watch, 10) == CRASHED


def test_a_connection_that_outlives_its_process_is_not_waited_for_for_ever(watch: Watch, process: Process) -> None:
    process.ended = True
    assert seen(watch, 0) is None
    assert process.killed, "children that hold it are killed"
    assert seen(watch, SETTLE_MS - 1) is None
    assert seen(watch, SETTLE_MS) == CRASHED


def test_the_end_of_a_process_that_never_greeted(process: Process) -> None:
    watch = Watch(cast(BotProcess, process))
    process.ended = True
    assert seen(watch, 0) is None, "its greeting may be on its way"
    assert seen(watch, GREETING_MS) == CRASHED


BIG = "used 101 MiB of memory; its limit is 100 MiB"


def test_memory_is_looked_at_from_time_to_time(watch: Watch, process: Process) -> None:
    assert seen(watch, 0) is None
    process.too_much = BIG
    assert seen(watch, LOOK_MS - 1) is None
    failure = seen(watch, LOOK_MS)
    assert failure == Cause(Termination.OUT_OF_MEMORY, BIG)
    assert watch.is_failing
    process.too_much = None
    assert seen(watch, 2 * LOOK_MS) == failure, "it stays"


def test_who_was_ended_for_its_memory_has_not_crashed(watch: Watch, process: Process) -> None:
    assert seen(watch, 0) is None
    process.ended, process.too_much = True, BIG
    assert seen(watch, 1) == Cause(Termination.OUT_OF_MEMORY, BIG), "whatever its exit status says"
