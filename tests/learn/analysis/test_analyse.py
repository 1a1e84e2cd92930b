"""What is made of trials: costs, intervals, marks."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from arena.core.record.log import Log
from arena.learn.analysis import analyse as analysing
from arena.learn.analysis.analyse import CLOSELY, Analysis, Judged, _Case, _judged
from arena.learn.analysis.judges import Judge
from arena.learn.analysis.trials import Trials, Worth


def case(gains: list[float], *, closely: bool = True) -> _Case:
    """A decision with trials in which what was tried beside it did better by so much."""
    made = _Case(0)
    made.other = {"plays": []}
    pairs = [(Worth(0.25, 1.0), Worth(0.75, 1.0 + gain)) for gain in gains]
    made.first, made.closely = (pairs[:2], pairs) if closely else (pairs, [])
    return made


@pytest.fixture(scope="module")
def trials(samurai: Log) -> Trials:
    return Trials(samurai, 1, Judge(name="random"))


@pytest.fixture
def judged(trials: Trials) -> Callable[..., Judged]:
    """Judges a decision by its trials."""

    def judge(gains: list[float], *, closely: bool = True, looked_at: int = CLOSELY) -> Judged:
        return _judged(trials, case(gains, closely=closely), looked_at)

    return judge


Judging = Callable[..., Judged]


def test_a_cost_has_its_interval(judged: Judging) -> None:
    found = judged([1.0, 3.0] * 18)
    assert found.cost == 2.0
    assert found.low == pytest.approx(2 - 1.96 * 1.0142 / 6, abs=1e-3)
    assert found.high == pytest.approx(2 + 1.96 * 1.0142 / 6, abs=1e-3)
    assert (found.chance_before, found.chance_after, found.trials) == (0.75, 0.25, 36)
    assert found.proven


def test_without_a_margin_a_cost_is_a_chance(samurai: Log, judged: Judging) -> None:
    without = Trials(samurai, 1, Judge(name="random"))
    without.margin = None
    assert _judged(without, case([0.0] * 20), 1).cost == 0.5
    assert judged([0.0] * 20).cost == 0


def test_the_first_trials_do_not_count_where_later_ones_were_made(trials: Trials) -> None:
    looked_at = case([2.0, 2.1] * 10)
    looked_at.first = [(Worth(0, 0.0), Worth(0, -50.0))] * 8
    assert _judged(trials, looked_at, 1).cost == pytest.approx(2.05)


def test_what_only_first_trials_show_is_not_proven(judged: Judging) -> None:
    assert not judged([5.0, 6.0] * 4, closely=False).proven


@pytest.mark.parametrize("looked_at", [1, CLOSELY])
def test_nothing_is_proven_by_chance_more_often_than_promised(judged: Judging, looked_at: int) -> None:
    chance = random.Random(looked_at)
    analyses = 400
    wrong = sum(
        any(judged([chance.gauss(0, 3) for _ in range(40)], looked_at=looked_at).proven for _ in range(looked_at))
        for _ in range(analyses)
    )
    assert wrong <= 2 * analyses * analysing.BY_CHANCE


def test_a_decision_that_may_have_cost_something_is_looked_at_before_one_that_surely_did_not() -> None:
    unsure, small, none = (
        case(gains, closely=False).may_cost(by_lead=True) for gains in ([-1.0, 4.0, -2.0, 3.0], [0.5] * 4, [-1.0, -1.2])
    )
    assert unsure > small > 0 > none


def test_three_decisions_are_marked_at_most_the_most_costly_first() -> None:
    costs = [0.5, 3.0, 1.0, 2.0, 4.0]
    decisions = tuple(
        Judged(
            line=line, turn=1, kind="turn", played={}, other={}, chance_before=0.5, chance_after=0.4, cost=cost, low=0,
            high=5.0, trials=40, proven=cost < 4,
        )
        for line, cost in enumerate(costs)
    )  # fmt: skip
    found = Analysis(game="g", seat=0, bot="b", judge="j", unit="points", decisions=decisions)
    assert [mark.cost for mark in found.marks] == [3.0, 2.0, 1.0][:CLOSELY]
    assert found.document()["marks"] == [1, 3, 2]
