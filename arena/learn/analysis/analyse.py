"""Finds the decisions of a seat that cost most: those for which trials show that another action does better.

Laws:
1. The first trials of decisions only say which few are looked at closely. What is said of those rests on trials of
   their own, whose number follows from the time and not from what came of them: so their intervals are those of one
   look.
2. Of all decisions of a seat, one is marked by chance in 2 of 100 analyses at most, as far as the judge plays as the
   others would.
3. The time ends the analysis, and never a trial: what was begun counts. Where a game is so long or slow that the time
   is short, some of its decisions are not looked at, wherever they are in the game; how many is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack, contextmanager
from itertools import takewhile
from math import sqrt
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean, stdev
from typing import Final, TypeAlias, TypeVar

import msgspec

from arena.core.face import Payload, Seat, errors, log_records, processor_cores
from arena.learn.analysis.judges import judge_of
from arena.learn.analysis.trials import Trials, Worth

R = TypeVar("R")

BUDGET_S: Final = 8.0  # seconds that an analysis may take, unless something else is asked for
FIRST: Final = 8  # the number of trials that each decision has at first
AGAIN: Final = 8  # the number of decisions that have more of them, those that may have cost most;
MORE: Final = 16  # extra trials for each of those decisions
CLOSELY: Final = 3
"""The number of decisions that are looked at closely: those that may have cost most by all their first trials.
So many are marked at most."""
LEAST: Final = 16  # the number of trials that those have at least,
MOST: Final = 400  # and at most
BATCH: Final = 4  # the number of trials that are one task
SEARCH: Final = 0.3  # the part of the time in which actions are looked for where no judge names one;
OVERVIEW: Final = 0.6  # after this part no more first trials begin
SURE: Final = 0.95  # the share of intervals that hold the truth
BY_CHANCE: Final = 0.02  # the largest share of analyses in which something is marked that did not cost anything


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A decision, and what it was worth."""

    line: int
    """Its line in the log, from 1."""
    turn: int
    """The number of the turn; 0 is the set-up."""
    kind: str
    played: Payload
    other: Payload | None
    """The action that was tried beside it; None if the judge would have done the same."""
    chance_before: float
    """The chance to be first, from 0 to 1, with what was tried beside it."""
    chance_after: float
    """The same with what was played."""
    cost: float
    """The mean by which what was tried beside it did better, in the analysis's unit; below 0 if it did worse."""
    low: float
    """The lower end of the interval of `cost`, which holds the true one in 95 of 100 cases."""
    high: float
    trials: int
    proven: bool
    """Whether the action that was tried beside it is shown to be better."""


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """What the decisions of a seat were worth."""

    game: str
    seat: Seat
    bot: str
    judge: str
    unit: str | None
    """The unit of a cost; None means the chance to be first."""
    decisions: tuple[Judged, ...]
    """The decisions that had a choice, in their order."""
    skipped: int = 0
    """The number of others, for which there was no time."""

    @property
    def marks(self) -> list[Judged]:
        """The decisions that cost most, the most costly first: three at most, and only what is proven."""
        return sorted((one for one in self.decisions if one.proven), key=lambda one: -one.cost)[:CLOSELY]

    def document(self) -> Payload:
        """Returns the JSON document of `arena analyse --json`."""
        found: Payload = msgspec.to_builtins(self)
        return found | {"marks": [mark.line for mark in self.marks]}


Pair: TypeAlias = tuple[Worth, Worth]
"""The worth of the played action in a trial, and that of another one in the same."""


class _Case:
    """A decision while it is looked at."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.other: Payload | None = None
        self.first: list[Pair] = []
        self.closely: list[Pair] = []
        self.begun = FIRST
        """The number of trials that were begun, the first ones included."""

    def may_cost(self, *, by_lead: bool) -> float:
        """Returns what it may have cost by its first trials: the mean and its standard error."""
        gains = _gains(self.first, by_lead=by_lead)
        return fmean(gains) + _error(gains)


def analyse(
    log: log_records.Log,
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
        budget_s: How long it may take, in seconds, beside the trials that are begun when it is over.
        processes: How many processes play.
        tell: Called now and then with the number of decisions and of trials, and the seconds that have passed.

    Raises:
        ConfigError: There is no such judge, or it failed.
        ReplayMismatch: The log breaks the rules of its game.
    """
    begun = time.monotonic()
    judged_by = judge_of(log.header.settings.rules, judge)
    trials = Trials(log, seat, judged_by)
    by_lead = trials.margin is not None
    cases = [_Case(index) for index in range(len(trials.questions))]
    Random(len(cases)).shuffle(cases)

    def is_early(share: float) -> bool:
        return time.monotonic() - begun < share * budget_s

    def told() -> None:
        if tell is not None:
            tell(len(cases), sum(len(case.first) + len(case.closely) for case in cases), time.monotonic() - begun)

    def look(worker: Executor, case: _Case) -> Future[_First]:
        return worker.submit(_first, case.index, processes * SEARCH * budget_s / len(cases))

    def looked(case: _Case, found: _First) -> None:
        case.other, case.first = found.other, found.pairs
        told()

    def look_on(worker: Executor, case: _Case) -> Future[list[Pair]]:
        case.begun += BATCH
        return worker.submit(_pairs, case.index, case.other, range(case.begun - BATCH, case.begun))

    def looked_again(case: _Case, found: list[Pair]) -> None:
        case.first += found
        told()

    def looked_closely(case: _Case, found: list[Pair]) -> None:
        case.closely += found
        told()

    def most_costly(cases: Sequence[_Case], count: int) -> list[_Case]:
        costs = [(case.may_cost(by_lead=by_lead), case) for case in cases if case.other is not None]
        return [case for cost, case in sorted(costs, key=lambda one: -one[0])[:count] if cost > 0]

    with _workers(processes, log.source, seat, judge) as workers:
        wanted = (case for at, case in enumerate(cases) if at < CLOSELY or is_early(OVERVIEW))
        _work(workers, wanted, look, looked)
        cases = sorted((case for case in cases if case.first), key=lambda case: case.index)
        again = most_costly(cases, AGAIN)
        rounds = takewhile(lambda _: is_early(OVERVIEW), range(0, MORE, BATCH))
        _work(workers, (case for _ in rounds for case in again), look_on, looked_again)
        close = most_costly(again, CLOSELY)
        rounds = takewhile(lambda trials: trials < LEAST or is_early(1), range(0, MOST, BATCH))
        _work(workers, (case for _ in rounds for case in close), look_on, looked_closely)
    return Analysis(
        game=log.header.game, seat=seat, bot=log.header.bots[seat].name, judge=judged_by.name,
        unit=None if trials.margin is None else trials.margin.unit,
        decisions=tuple(_judged(trials, case, len(close)) for case in cases),
        skipped=len(trials.questions) - len(cases),
    )  # fmt: skip


def _work(
    workers: Sequence[Executor],
    wanted: Iterator[_Case],
    begin: Callable[[Executor, _Case], Future[R]],
    done: Callable[[_Case, R], None],
) -> None:
    """Has something done for each case that is wanted; a worker has one task, and the next one with it."""
    running: dict[Future[R], tuple[_Case, int]] = {}
    free = [*range(len(workers)), *range(len(workers))]
    while True:
        while free and (case := next(wanted, None)) is not None:
            at = free.pop(0)
            running[begin(workers[at], case)] = case, at
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED)[0]:
            case, at = running.pop(future)
            free.append(at)
            done(case, future.result())


def _gains(worths: Sequence[Pair], *, by_lead: bool) -> list[float]:
    """Returns by how much what was tried beside a decision did better in each of some trials."""
    return [b.lead - a.lead if by_lead else b.chance - a.chance for a, b in worths]


def _error(gains: Sequence[float]) -> float:
    return stdev(gains) / sqrt(len(gains))


def _judged(trials: Trials, case: _Case, looked_at: int) -> Judged:
    question, by_lead = trials.questions[case.index], trials.margin is not None
    pairs = case.closely or case.first
    gains = _gains(pairs, by_lead=by_lead)
    cost, error = fmean(gains), _error(gains)
    normal = NormalDist()
    half = normal.inv_cdf(0.5 + SURE / 2) * error
    enough = normal.inv_cdf(1 - BY_CHANCE / max(1, looked_at)) * error
    return Judged(
        line=question.line, turn=question.turn, kind=question.decision.kind,
        played=trials.rules.write_action(question.plays), other=case.other,
        chance_before=fmean(other.chance for _, other in pairs),
        chance_after=fmean(played.chance for played, _ in pairs), cost=cost, low=cost - half, high=cost + half,
        trials=len(pairs), proven=bool(case.closely) and cost > enough,
    )  # fmt: skip


# In the processes that play


class _First(msgspec.Struct, frozen=True):
    """The outcome of a first look at a decision."""

    other: Payload | None
    pairs: list[Pair]


_trials: Trials | None = None


@contextmanager
def _workers(number: int, source: str, seat: Seat, judge: str | None) -> Iterator[list[Executor]]:
    try:
        with ExitStack() as stack:
            workers = [stack.enter_context(processor_cores.local_worker()) for _ in range(number)]
            for ready in [worker.submit(_begin, source, seat, judge) for worker in workers]:
                ready.result()
            yield workers
    except BrokenExecutor:
        raise errors.MachineFault(
            "expected the processes that play to live, got: one was ended from outside; close what takes memory, "
            "and give the same command again"
        ) from None


def _begin(source: str, seat: Seat, judge: str | None) -> None:
    global _trials  # a process works for one analysis
    log = log_records.read_log(Path(source))
    _trials = Trials(log, seat, judge_of(log.header.settings.rules, judge))


def _first(index: int, search_s: float) -> _First:
    assert _trials is not None
    other = _trials.better(index, search_s)
    return _First(other, _pairs(index, other, range(FIRST)))


def _pairs(index: int, other: Payload | None, numbers: range) -> list[Pair]:
    assert _trials is not None
    return [_trials.pair(index, other, number) for number in numbers]
