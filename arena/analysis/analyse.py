"""Finds the decisions of a seat that cost most: those for which trials show that another action does better.

Laws:
1. The first trials of each decision only say which few decisions are looked at closely. What is said of those rests on
   trials of their own, whose number follows from the time and not from what came of them: so their intervals are those
   of one look.
2. Of all decisions of a seat, one is marked by chance in 2 of 100 analyses at most, as far as the judge plays as the
   others would.
3. The time ends the analysis, and never a trial: what was begun counts.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from math import sqrt
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import Final

import msgspec

from arena.analysis.judges import judge_of
from arena.analysis.trials import Question, Trials, Worth
from arena.record.log import Log, read_log
from arena.types import Payload, Seat

BUDGET_S: Final = 8.0
"""Seconds that an analysis may take, unless something else is asked for."""
FIRST: Final = 8
"""So many trials each decision has at first."""
CLOSELY: Final = 4
"""How many decisions are looked at closely: those that may have cost most by their first trials."""
LEAST: Final = 16
"""How many trials those have at least, ..."""
MOST: Final = 400
"""... and at most."""
BATCH: Final = 4
"""How many trials are made at a time."""
MARKS: Final = 3
"""How many decisions are marked at most."""
SURE: Final = 0.95
"""How often an interval holds the truth."""
BY_CHANCE: Final = 0.02
"""In how many analyses something is marked at most that did not cost anything."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A decision, and what it was worth."""

    line: int
    """Its line in the log, from 1."""
    turn: int
    """The number of the turn; 0 is the set-up."""
    kind: str
    """Which decision."""
    played: Payload
    """What the seat did."""
    other: Payload | None
    """What was tried beside it; None if the judge would have done the same."""
    chance_before: float
    """The chance to be first, from 0 to 1, with what was tried beside it."""
    chance_after: float
    """The same with what was played."""
    cost: float
    """The mean by which what was tried beside it did better, in the analysis's unit; below 0 if it did worse."""
    low: float
    """The lower end of the interval of `cost`, which holds the true one in 95 of 100 cases."""
    high: float
    """Its upper end."""
    trials: int
    """How many trials that is."""
    proven: bool
    """Whether what was tried beside it is better for certain."""


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """What the decisions of a seat were worth."""

    game: str
    """The game's identifier."""
    seat: Seat
    bot: str
    """The name of its bot."""
    judge: str
    """Who said what should have been played."""
    unit: str | None
    """What a cost counts; None means the chance to be first."""
    decisions: tuple[Judged, ...]
    """Those that had a choice, in their order."""

    @property
    def marks(self) -> list[Judged]:
        """The decisions that cost most, the most costly first: three at most, and only what is proven."""
        return sorted((one for one in self.decisions if one.proven), key=lambda one: -one.cost)[:MARKS]

    def document(self) -> Payload:
        """Returns the JSON document of `arena analyse --json`."""
        found: Payload = msgspec.to_builtins(self)
        return found | {"marks": [mark.line for mark in self.marks]}


class _Case:
    """A decision while it is looked at."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.other: Payload | None = None
        self.asked = 0
        """How many trials were begun."""
        self.worths: dict[int, tuple[Worth, Worth]] = {}
        """The trials by their number: what was played, and what was tried beside it."""

    @property
    def closely(self) -> list[tuple[Worth, Worth]]:
        """The trials after the first ones."""
        return [worth for number, worth in self.worths.items() if number >= FIRST]

    def gains(self, worths: Sequence[tuple[Worth, Worth]], *, by_lead: bool) -> list[float]:
        """Returns by how much what was tried beside it did better in each of some trials."""
        return [b.lead - a.lead if by_lead else b.chance - a.chance for a, b in worths]


def analyse(
    log: Log,
    seat: Seat,
    *,
    judge: str | None = None,
    budget_s: float = BUDGET_S,
    processes: int = 1,
    tell: Callable[[int, int, float], None] | None = None,
) -> Analysis:
    """Returns what the decisions of a seat were worth.

    Args:
        log: The log of the game; other processes read its file again.
        seat: Whose decisions.
        judge: See `judge_of`.
        budget_s: How long it may take, in seconds; each decision has some trials in any case.
        processes: How many processes play.
        tell: Called now and then with the number of decisions and of trials, and the seconds that have passed.

    Raises:
        ConfigError: There is no such judge, or it failed.
        ReplayMismatch: The log breaks the rules of its game.
    """
    ends = time.monotonic() + budget_s
    judged_by = judge_of(log.header.settings.rules, judge)
    trials = Trials(log, seat, judged_by)
    by_lead = trials.margin is not None
    cases = [_Case(index) for index in range(len(trials.questions))]

    def told() -> None:
        if tell is not None:
            tell(len(cases), sum(len(case.worths) for case in cases), time.monotonic() - ends + budget_s)

    with _processes(processes, log.source, seat, judge) as pool:
        for case, future in [(case, pool.submit(_better, case.index)) for case in cases]:
            case.other = future.result()
            told()
        _try(pool, cases, lambda case: case.asked < FIRST, processes, told)
        may_cost = {case.index: _may_cost(case.gains([*case.worths.values()], by_lead=by_lead)) for case in cases}
        close = [case for case in cases if case.other is not None and may_cost[case.index] > 0]
        close = sorted(close, key=lambda case: -may_cost[case.index])[:CLOSELY]
        for case in close:
            case.asked = FIRST

        def wanted(case: _Case) -> bool:
            more = case.asked - FIRST
            return more < LEAST or (more < MOST and time.monotonic() < ends)

        _try(pool, close, wanted, processes, told)
    return Analysis(
        game=log.header.game,
        seat=seat,
        bot=log.header.bots[seat].name,
        judge=judged_by.name,
        unit=None if trials.margin is None else trials.margin.unit,
        decisions=tuple(
            _judged(question, trials.rules.write_action(question.plays), case, len(close), by_lead=by_lead)
            for question, case in zip(trials.questions, cases, strict=True)
        ),
    )


def _try(
    pool: Executor, cases: Sequence[_Case], wanted: Callable[[_Case], bool], processes: int, told: Callable[[], None]
) -> None:
    """Makes trials of cases in turn, as long as they are wanted."""
    running: dict[Future[list[tuple[Worth, Worth]]], tuple[_Case, int]] = {}
    while True:
        while len(running) < 2 * processes:
            case = min(filter(wanted, cases), key=lambda case: case.asked, default=None)
            if case is None:
                break
            running[pool.submit(_pairs, case.index, case.other, case.asked)] = case, case.asked
            case.asked += BATCH
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED)[0]:
            case, number = running.pop(future)
            case.worths.update(enumerate(future.result(), start=number))
        told()


def _may_cost(gains: Sequence[float]) -> float:
    return fmean(gains) + _error(gains)


def _error(gains: Sequence[float]) -> float:
    """Returns the standard error of the mean."""
    return stdev(gains) / sqrt(len(gains))


def _judged(question: Question, played: Payload, case: _Case, looked_at: int, *, by_lead: bool) -> Judged:
    worths = case.closely or [*case.worths.values()]
    gains = case.gains(worths, by_lead=by_lead)
    cost, error = fmean(gains), _error(gains)
    normal = NormalDist()
    half = normal.inv_cdf(0.5 + SURE / 2) * error
    enough = normal.inv_cdf(1 - BY_CHANCE / max(1, looked_at)) * error
    return Judged(
        line=question.line,
        turn=question.turn,
        kind=question.decision.kind,
        played=played,
        other=case.other,
        chance_before=fmean(other.chance for _, other in worths),
        chance_after=fmean(played.chance for played, _ in worths),
        cost=cost,
        low=cost - half,
        high=cost + half,
        trials=len(worths),
        proven=bool(case.closely) and cost > enough,
    )


# In the processes that play


_trials: Trials | None = None


@contextmanager
def _processes(count: int, source: str, seat: Seat, judge: str | None) -> Iterator[Executor]:
    with ProcessPoolExecutor(
        count, mp_context=multiprocessing.get_context("spawn"), initializer=_begin, initargs=(source, seat, judge)
    ) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


def _begin(source: str, seat: Seat, judge: str | None) -> None:
    global _trials  # a process works for one analysis
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = read_log(Path(source))
    _trials = Trials(log, seat, judge_of(log.header.settings.rules, judge))


def _better(index: int) -> Payload | None:
    assert _trials is not None
    return _trials.better(index)


def _pairs(index: int, other: Payload | None, first: int) -> list[tuple[Worth, Worth]]:
    assert _trials is not None
    return [_trials.pair(index, other, number) for number in range(first, first + BATCH)]
