"""The benches of statistics in short form: seeded, with bounds that chance alone does not reach."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arena.core.ratings.evidence import Evidence


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("players", "entrants", "styles", "luck"), [(2, 4, 1.0, 0.0), (3, 4, 0.5, 0.5), (4, 5, 1.0, 0.0), (5, 6, 0.5, 0.5)]
)
def test_intervals_hold_the_truth(
    benchmark_module: Callable[[str], Any], players: int, entrants: int, styles: float, luck: float
) -> None:
    coverage = benchmark_module("coverage")
    covered = coverage.simulated(coverage.World(players, entrants, 30, 1.0, styles=styles, luck=luck), leagues=60)
    assert 0.91 <= covered.ratings / covered.of_ratings <= 0.99
    assert 0.91 <= covered.differences / covered.of_differences <= 0.99
    assert covered.wrong <= 0.1 * covered.leagues


@pytest.mark.parametrize("name", ["lapsing-samurai-2", "lapsing-samurai-3", "lapsing-samurai-4", "lapsing-gardener-5"])
def test_intervals_hold_the_truth_in_real_games(benchmark_module: Callable[[str], Any], name: str) -> None:
    covered = benchmark_module("coverage").drawn_again(name, deals=30, leagues=40)
    assert covered.ratings / covered.of_ratings >= 0.89


def test_without_noise_of_deals_games_and_deals_say_the_same(benchmark_module: Callable[[str], Any]) -> None:
    """The truth that the simulation claims is the one it plays by: the mean of many leagues meets it."""
    coverage = benchmark_module("coverage")
    random = np.random.default_rng(3)
    errors = []
    for _ in range(30):
        pairs, truth = coverage.simulate(coverage.World(3, 4, 60, 1.0, styles=0.7, luck=0.7), random)
        fit = coverage.refit(pairs, 4, players=3)
        errors.append(np.polyfit(truth, fit.ratings, 1)[0])
    assert np.mean(errors) == pytest.approx(1, abs=0.06)


def test_evidence_is_seldom_wrong_between_equal_bots(benchmark_module: Callable[[str], Any]) -> None:
    evidence = benchmark_module("evidence")
    ran = evidence.run(evidence.real(), runs=400, deals=120)
    assert ran.better + ran.worse <= 0.05
    assert ran.peeking >= 0.2


def test_evidence_finds_the_better_bot(benchmark_module: Callable[[str], Any]) -> None:
    evidence = benchmark_module("evidence")
    shares = evidence.real().tilted(0.65)
    assert shares.mean == pytest.approx(0.65)
    ran = evidence.run(shares, runs=100, deals=400)
    assert ran.better >= 0.99
    assert 20 <= ran.deals <= 100


def test_the_bench_bets_as_the_evidence_does(benchmark_module: Callable[[str], Any]) -> None:
    """A single run ends on the deal on which `Evidence` says so."""
    evidence = benchmark_module("evidence")
    always = evidence.Shares((0.25, 1.0), (0.0, 1.0))
    ran = evidence.run(always, runs=1, deals=50)
    folded = Evidence()
    while folded.verdict() == "open":
        folded.add(1.0)
    assert ran.deals == folded.deals
    assert math.isclose(ran.better, 1)
