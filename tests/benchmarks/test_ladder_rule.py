"""The simulation of the ladder's rule, in short form: what it must give for few bots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from arena.core.tournament.formats.ladder import Ladder


@pytest.fixture
def ladder_rule(benchmark_module: Callable[[str], Any]) -> Any:
    return benchmark_module("ladder_rule")


@pytest.fixture
def simulated(benchmark_module: Callable[[str], Any]) -> Any:
    return benchmark_module("simulated")


@pytest.mark.quick(1)
@pytest.mark.parametrize(("seats", "most_again"), [(2, 0.06), (4, 0.4)])
def test_a_small_league_gets_the_right_scale_and_everybody_plays(
    ladder_rule: Any, seats: int, most_again: float
) -> None:
    league = ladder_rule.simulate(50, seats, Ladder(matches=50 * 20 // seats), 1)
    assert league.wait < 2.5  # the bound is above 4; among 500 bots it is 1.6 for two seats, 2.3 for four
    assert 0.5 * league.most < league.fewest
    assert league.again < most_again
    assert 0.85 < league.slope < 1.15
    assert league.error < 2.5
    assert league.correlations[-1] > 0.9
    assert league == ladder_rule.simulate(50, seats, Ladder(matches=50 * 20 // seats), 1)


def test_ranks_are_compared_and_not_ratings(simulated: Any) -> None:
    assert simulated.rank_correlation([1, 2, 4, 1000], [-3, 0, 1, 2]) == pytest.approx(1)
    assert simulated.rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # Two neighbours of four exchanged: 1 - 6 * 2 / (4 * 15).
    assert simulated.rank_correlation([2, 1, 3, 4], [1, 2, 3, 4]) == pytest.approx(0.8)


def test_the_figures_of_waiting_and_meeting_again(simulated: Any) -> None:
    waits = simulated.Waits(4)
    for table in [(0, 1), (2, 3), (0, 1), (0, 2)]:
        waits.note(table)
    assert waits.meetings == 4
    assert waits.again == 1
    assert waits.longest == 2
