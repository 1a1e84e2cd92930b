"""What is made of trials: costs, intervals, marks."""

from __future__ import annotations

import random

import pytest

from arena.analysis import analyse as analysing
from arena.analysis.analyse import CLOSELY, FIRST, MARKS, Analysis, Judged, _Case, _judged, _may_cost
from arena.analysis.trials import Question, Worth
from arena.rules.base import Decision

QUESTION = Question(7, 3, Decision(0, "turn"), None, (), frozenset(), ())


def case(gains: list[float], *, closely: bool = True) -> _Case:
    """A decision with trials in which what was tried beside it did better by so much."""
    made = _Case(0)
    made.other = {"plays": []}
    first = FIRST if closely else 0
    made.worths = {first + number: (Worth(0.25, 1.0), Worth(0.75, 1.0 + gain)) for number, gain in enumerate(gains)}
    return made


def judged(gains: list[float], *, closely: bool = True, looked_at: int = CLOSELY) -> Judged:
    return _judged(QUESTION, {"plays": [1]}, case(gains, closely=closely), looked_at, by_lead=True)


def test_a_cost_has_its_interval() -> None:
    found = judged([1.0, 3.0] * 18)
    assert found.cost == 2.0
    assert found.low == pytest.approx(2 - 1.96 * 1.0142 / 6, abs=1e-3)
    assert found.high == pytest.approx(2 + 1.96 * 1.0142 / 6, abs=1e-3)
    assert (found.chance_before, found.chance_after, found.trials) == (0.75, 0.25, 36)
    assert found.proven


def test_without_a_margin_a_cost_is_a_chance() -> None:
    found = _judged(QUESTION, {"plays": [1]}, case([0.0] * 20), 1, by_lead=False)
    assert found.cost == 0.5


def test_the_first_trials_do_not_count_where_later_ones_were_made() -> None:
    looked_at = case([2.0, 2.1] * 10)
    looked_at.worths |= {number: (Worth(0, 0.0), Worth(0, -50.0)) for number in range(FIRST)}
    assert _judged(QUESTION, {"plays": [1]}, looked_at, 1, by_lead=True).cost == pytest.approx(2.05)


def test_what_only_first_trials_show_is_not_proven() -> None:
    assert not judged([5.0, 6.0] * 4, closely=False).proven


@pytest.mark.parametrize("looked_at", [1, CLOSELY])
def test_nothing_is_proven_by_chance_more_often_than_promised(looked_at: int) -> None:
    chance = random.Random(looked_at)
    analyses = 400
    wrong = sum(
        any(judged([chance.gauss(0, 3) for _ in range(40)], looked_at=looked_at).proven for _ in range(looked_at))
        for _ in range(analyses)
    )
    assert wrong <= 2 * analyses * analysing.BY_CHANCE


def test_a_decision_that_may_have_cost_something_is_looked_at_before_one_that_surely_did_not() -> None:
    assert _may_cost([-1.0, 4.0, -2.0, 3.0]) > _may_cost([0.5, 0.5, 0.5, 0.5]) > _may_cost([-1.0, -1.2]) < 0


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
    assert [mark.cost for mark in found.marks] == [3.0, 2.0, 1.0][:MARKS]
    assert found.document()["marks"] == [1, 3, 2]
