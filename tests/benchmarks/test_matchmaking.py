"""The simulation of a league's matchmaking in short form: a small league comes near the figures of the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.core.ratings.running import SIGMA, Rating, inherit
from arena.league.settings import MatchRule

PAGE = (Path(__file__).parents[2] / "docs" / "matchmaking.md").read_text(encoding="utf-8")


@pytest.fixture
def matchmaking(benchmark_module: Callable[[str], Any]) -> Any:
    return benchmark_module("matchmaking")


def row(name: str) -> tuple[list[float], float, float]:
    """Correlations, slope and error of a row of the page."""
    found = re.search(rf"^\| \**{re.escape(name)}\** \| (.*) \|$", PAGE, re.MULTILINE)
    assert found is not None, name
    correlations, _, _, _, slope, error = found[1].split(" | ")
    return [float(value) for value in correlations.split()], float(slope), float(error.split()[0])


@pytest.mark.long
@pytest.mark.parametrize(("seats", "most_again"), [(2, 0.06), (4, 0.35)])
def test_a_small_league_comes_near_the_page(matchmaking: Any, seats: int, most_again: float) -> None:
    figures = matchmaking.simulate(60, seats, matchmaking.by_league(), 1)
    correlations, slope, error = row(f"{seats} seats: this rule")
    assert figures.correlations[0] == pytest.approx(correlations[0], rel=0.2)  # after 10 games it is much by chance
    assert list(figures.correlations[1:]) == pytest.approx(correlations[1:], rel=0.1)
    assert figures.slope == pytest.approx(slope, rel=0.1)
    assert figures.error < 1.5 * error
    assert figures.wait < 2.5
    assert figures.again < most_again
    assert figures.fewest > 0.6 * figures.most


@pytest.mark.long
def test_where_versions_come_and_go_nobody_waits_long_either(matchmaking: Any) -> None:
    ours = matchmaking.simulate(60, 2, matchmaking.by_league(), 1, moving=True, matches=40)
    fewest = matchmaking.simulate(60, 2, matchmaking.by_league(fewest=True), 1, moving=True, matches=40)
    assert ours.wait < 2.5 < fewest.wait
    assert ours.slope == pytest.approx(row("2 seats, moving: this rule")[1], rel=0.1)
    assert ours.correlations[-1] > 0.9


def test_other_rules_have_the_faults_that_the_page_says(matchmaking: Any) -> None:
    nearest = matchmaking.simulate(60, 2, matchmaking.by_nearest, 1, matches=20)
    chance = matchmaking.simulate(60, 2, matchmaking.by_chance, 1, matches=20)
    ours = matchmaking.simulate(60, 2, matchmaking.by_league(), 1, matches=20)
    assert nearest.again > 3 * ours.again
    assert chance.wait > 2 * ours.wait


@pytest.mark.long
def test_a_new_versions_rating_follows_a_collapse_and_stays_near_a_small_change(matchmaking: Any) -> None:
    def errors(change: str, added: float | None) -> Any:
        return matchmaking.new_version(matchmaking.CHANGES[change], added, 15)

    small = {added: errors("better by N(0.5, 1.5)", added) for added in (3, None)}
    assert small[3].error[0] < small[None].error[0]
    collapse = {added: errors("8 worse", added) for added in (0, 3)}
    assert collapse[3].error[-1] < collapse[0].error[-1] / 2
    assert collapse[3].within[-1] > 0.9


def test_a_new_version_inherits_the_mean_and_never_gets_more_than_a_strangers_sigma() -> None:
    assert inherit(Rating(31.0, 4.0)) == Rating(31.0, 5.0)
    assert inherit(Rating(31.0, 8.0)).sigma == SIGMA


def test_the_page_has_every_parameter_with_its_default() -> None:
    for field in msgspec.structs.fields(MatchRule):
        default = field.default[0] if field.name == "players" else field.default
        assert f"| `{field.name}` | {default} | " in PAGE
