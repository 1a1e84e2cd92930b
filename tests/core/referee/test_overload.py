"""Time losses on a machine that gives a bot no core, and budgets of CPU time. Bots in memory, a clock that jumps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from referee_kit import first_legal, make_job, on_turn

from arena.core.catalogue import rules_of
from arena.core.record.log import ForfeitRecord, read_log
from arena.core.referee.clock import CpuClock, CpuShare, too_late
from arena.core.referee.game import Game
from arena.core.types import MARGIN_MS, NS_PER_MS, Forfeit, GameResult, Level, Termination
from arena.core.wire.messages import Request
from tests.memory_link import MemoryBot, MemoryLink, answer

SECOND = 1_000 * NS_PER_MS


def played(folder: Path, link: MemoryLink, cpu_ms: int | None = None) -> GameResult:
    """A game in which each decision has a second."""
    job = make_job(folder, 2, time="1/move")
    if cpu_ms is not None:
        settings = replace(job.settings, time=replace(job.settings.time, cpu_ms=cpu_ms))
        job = replace(job, settings=settings)
    return Game(job, rules_of(job.settings), link).play()


def silent(request: Request) -> list[Any]:
    return []


def loss(folder: Path, denied: Callable[[int], int], cpu: Callable[[int], int] = lambda now_ns: now_ns // 3) -> Forfeit:
    """What becomes of seat 0, which never answers. The two say at a moment what it was denied and has used by then."""
    link = MemoryLink([MemoryBot(silent), MemoryBot(first_legal)])
    link.denied = lambda seat, now_ns: denied(now_ns) if seat == 0 else 0
    link.cpu = lambda seat, now_ns: cpu(now_ns) if seat == 0 else 0
    forfeit = played(folder, link).seats[0].forfeit
    assert forfeit is not None
    assert forfeit.code is Termination.TIMEOUT
    return forfeit


def test_a_bot_that_was_given_no_core_has_an_excuse(tmp_path: Path) -> None:
    forfeit = loss(tmp_path, lambda now_ns: now_ns // 2)
    assert forfeit.overloaded
    assert 490 < forfeit.denied_ms <= 515
    assert forfeit.sentence.endswith(f"(the machine did not let it run for {forfeit.denied_ms} ms)")
    [record] = [r for r in read_log(tmp_path / "test-000000.jsonl").records if isinstance(r, ForfeitRecord)]
    assert (record.forfeits[0].overloaded, record.forfeits[0].denied_ms) == (True, forfeit.denied_ms)


def test_what_it_was_denied_before_the_decision_is_no_excuse(tmp_path: Path) -> None:
    forfeit = loss(tmp_path, lambda now_ns: 3_600 * SECOND)
    assert not forfeit.overloaded
    assert forfeit.denied_ms == 0
    assert "machine" not in forfeit.sentence


def test_a_bot_that_slept_has_no_excuse(tmp_path: Path) -> None:
    forfeit = loss(tmp_path, lambda now_ns: now_ns // 3, cpu=lambda now_ns: now_ns // 9)
    assert not forfeit.overloaded
    assert 300 < forfeit.denied_ms < 345


def test_a_little_is_no_excuse_and_is_recorded(tmp_path: Path) -> None:
    forfeit = loss(tmp_path, lambda now_ns: now_ns // 20)
    assert not forfeit.overloaded
    assert 0 < forfeit.denied_ms < 100
    assert "machine" not in forfeit.sentence


@pytest.mark.parametrize(
    ("denied_ms", "over_ms", "overloaded"),
    [
        (50, 40, True),
        (50, 60, False),  # without what it was denied it would have been late too
        (9, 1, False),  # any machine has such waits
        (10, 1, True),
        (99, None, False),  # a tenth of its time
        (100, None, True),
    ],
)
def test_who_would_have_been_in_time(denied_ms: int, over_ms: int | None, overloaded: bool) -> None:
    over_ns = None if over_ms is None else over_ms * NS_PER_MS
    share = CpuShare(denied_ms * NS_PER_MS, SECOND // 2)
    cause = too_late("was late", SECOND, share=share, late_ns=0, over_ns=over_ns)
    assert cause.overloaded is overloaded
    assert cause.denied_ms == denied_ms


@pytest.mark.parametrize(
    ("denied_ms", "over_ms", "overloaded"),
    [
        (0, None, False),  # it had longer than it should, and still did not answer
        (0, 5, True),  # its answer may have been there in time
        (None, None, True),  # nothing else is known
    ],
)
def test_a_referee_that_woke_late(denied_ms: int | None, over_ms: int | None, overloaded: bool) -> None:
    share = None if denied_ms is None else CpuShare(denied_ms * NS_PER_MS, SECOND // 2)
    over_ns = None if over_ms is None else over_ms * NS_PER_MS
    cause = too_late("was late", SECOND, share=share, late_ns=80 * NS_PER_MS, over_ns=over_ns)
    assert cause.overloaded is overloaded
    assert ("the referee itself ran late" in cause.excuse) is overloaded


@pytest.mark.parametrize(
    ("denied_ms", "late_ms", "crowd_ms", "over_ms", "overloaded"),
    [
        (0, 30, 0, 26, True),  # the answer had come when the referee was not let run
        (0, 25, 0, 26, False),
        (0, 4, 0, 1, True),  # a tenth of so short a time
        (0, 3, 0, 1, False),
        (4, 0, 0, 1, True),
        (15, 15, 0, 26, True),  # first it, then the referee
        (0, 30, 10, 26, False),  # threads of its own may have kept the referee from a core
        (0, 30, 4, 26, True),
    ],
)
def test_short_times_are_lost_by_short_waits_of_the_machine(
    denied_ms: int, late_ms: int, crowd_ms: int, over_ms: int, overloaded: bool
) -> None:
    share = CpuShare(denied_ms * NS_PER_MS, 20 * NS_PER_MS, crowd_ms * NS_PER_MS)
    late_ns, over_ns = late_ms * NS_PER_MS, over_ms * NS_PER_MS
    cause = too_late("was late", 36 * NS_PER_MS, share=share, late_ns=late_ns, over_ns=over_ns)
    assert cause.overloaded is overloaded


@pytest.mark.parametrize(("used_ms", "overloaded"), [(5, True), (75, False)])
def test_who_kept_the_referee_from_looking_at_it_has_no_excuse(tmp_path: Path, used_ms: int, overloaded: bool) -> None:
    """What a bot ran meanwhile is taken off, all of it: which of its threads ran nobody saw."""

    class Late(MemoryLink):
        def receive(self, until_ns: int) -> Any:
            self.lateness_ns = 80 * NS_PER_MS
            return super().receive(max(until_ns, self.now_ns() + 2 * SECOND))

    link = Late([MemoryBot(lambda r: [answer(r, first_legal(r), after_ms=1_040)]), MemoryBot(first_legal)])
    link.cpu = lambda seat, now_ns: used_ms * NS_PER_MS if now_ns > SECOND else 0
    job = replace(make_job(tmp_path, 2, time="1/move"), level=Level.FENCED)
    forfeit = Game(job, rules_of(job.settings), link).play().seats[0].forfeit
    assert forfeit is not None
    assert forfeit.overloaded is overloaded


def test_a_bot_that_was_first_looked_at_after_its_time_may_have_been_kept_from_a_core(tmp_path: Path) -> None:
    """The referee itself was: nobody knows anything else."""

    class Late(MemoryLink):
        def receive(self, until_ns: int) -> Any:
            self.lateness_ns = SECOND
            return super().receive(max(until_ns, self.now_ns() + 2 * SECOND))

    link = Late([MemoryBot(silent), MemoryBot(first_legal)])
    link.denied = lambda seat, now_ns: 0
    forfeit = played(tmp_path, link).seats[0].forfeit
    assert forfeit is not None
    assert forfeit.overloaded


def test_bots_that_answer_at_once_are_not_measured(tmp_path: Path) -> None:
    link = MemoryLink([MemoryBot(first_legal), MemoryBot(lambda r: [answer(r, first_legal(r), after_ms=15)])])
    measured = []
    link.denied = lambda seat, now_ns: measured.append(seat) or 0  # type: ignore[func-returns-value]
    assert played(tmp_path, link).termination is Termination.FINISHED
    assert measured == []


def test_a_slow_answer_that_is_in_time_is_an_answer(tmp_path: Path) -> None:
    slow = MemoryBot(lambda r: [answer(r, first_legal(r), after_ms=1_000 + MARGIN_MS)])
    result = played(tmp_path, MemoryLink([slow, MemoryBot(first_legal)]))
    assert result.termination is Termination.FINISHED
    assert result.seats[0].max_ms == 1_000 + MARGIN_MS


# CPU time


def test_a_cpu_clock_counts_from_its_beginning() -> None:
    clock = CpuClock(10_000)
    assert clock.excess(99 * SECOND) is None
    clock.begin(5 * SECOND)
    assert clock.left_ns(7 * SECOND) == 8 * SECOND
    assert clock.excess(15 * SECOND) is None, "the whole budget may be used"
    cause = clock.excess(round(15.2 * SECOND))
    assert cause is not None
    assert (cause.code, cause.cited) == (Termination.TIMEOUT, "used 10.2 s of CPU; its budget is 10 s (§9-10)")


def test_the_used_time_is_never_told_as_the_budget() -> None:
    clock = CpuClock(500)
    clock.begin(0)
    cause = clock.excess(SECOND // 2 + 1)
    assert cause is not None
    assert cause.detail == "used 0.51 s of CPU; its budget is 0.5 s"


def forfeited(result: GameResult) -> Forfeit:
    forfeit = result.seats[0].forfeit
    assert forfeit is not None
    assert result.seats[1].forfeit is None
    return forfeit


def test_who_computes_more_than_its_budget_forfeits_while_it_is_asked(tmp_path: Path) -> None:
    asked_ns = 0

    def think(request: Request) -> list[Any]:
        nonlocal asked_ns
        asked_ns = link.now_ns()
        return []

    link = MemoryLink([MemoryBot(on_turn(3, think)), MemoryBot(first_legal)])
    link.cpu = lambda seat, now_ns: (now_ns - asked_ns) * 2 if seat == 0 and asked_ns else 0
    # The clock stands while bots answer at once: time passes only when nobody does.
    link.advance(1)
    result = played(tmp_path, link, cpu_ms=500)
    forfeit = forfeited(result)
    assert forfeit.code is Termination.TIMEOUT
    assert forfeit.rule == "§9-10"
    assert not forfeit.overloaded
    assert forfeit.sentence.startswith("seat 0 used 0.5")
    assert link.now_ns() - asked_ns < 300 * NS_PER_MS, "it is ended when its budget is, not at the deadline"
    assert link.stopped == [0]
    assert link.reading_ms[0] == 0


def test_what_a_bot_computes_off_turn_counts_when_it_is_next_asked(tmp_path: Path) -> None:
    answers = 0

    def spin(request: Request) -> Any:
        nonlocal answers
        answers += 1
        return first_legal(request)

    link = MemoryLink([MemoryBot(spin), MemoryBot(first_legal)])
    link.cpu = lambda seat, now_ns: SECOND * answers if seat == 0 else 0
    assert forfeited(played(tmp_path, link, cpu_ms=3_000)).rule == "§9-10"
    assert answers == 4


def test_what_its_start_cost_is_not_charged(tmp_path: Path) -> None:
    link = MemoryLink([MemoryBot(first_legal), MemoryBot(first_legal)])
    link.cpu = lambda seat, now_ns: 60 * SECOND
    assert played(tmp_path, link, cpu_ms=1).termination is Termination.FINISHED


def test_without_a_budget_nobody_asks(tmp_path: Path) -> None:
    link = MemoryLink([MemoryBot(lambda r: [answer(r, first_legal(r), after_ms=50)]), MemoryBot(first_legal)])
    asked = []
    link.cpu = lambda seat, now_ns: asked.append(seat) or 0  # type: ignore[func-returns-value]
    assert played(tmp_path, link).termination is Termination.FINISHED
    assert asked == []
