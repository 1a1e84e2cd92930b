"""The refit: small leagues solved by hand, other libraries' answers, anchors, intervals, ranks."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from itertools import chain, combinations, pairwise
from pathlib import Path
from statistics import NormalDist
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.ratings import likelihood, spread
from arena.core.ratings.likelihood import both_sides
from arena.core.ratings.normal import two_sided
from arena.core.ratings.pairs import PairResult
from arena.core.ratings.refit import Fit, refit, two_sided_all
from arena.core.ratings.running import BETA, MU, SIGMA

LEAGUES = sorted((Path(__file__).parents[2] / "data" / "leagues").glob("*.json"))


def league(path: Path) -> tuple[dict[str, Any], list[PairResult]]:
    read = json.loads(path.read_text(encoding="utf-8"))
    return read, [PairResult(*row) for row in read["results"]]


def deals(one: int, other: int, *shares: tuple[int, int, int], first: int = 0) -> list[PairResult]:
    return [PairResult(deal, one, other, *share) for deal, share in enumerate(shares, first)]


def round_robin(*strengths: float, count: int, seed: int = 1) -> list[PairResult]:
    """Deals of two independent games between all pairs; strengths in units of BETA."""
    random = np.random.default_rng(seed)
    rows = []
    for deal in range(count):
        for one in range(len(strengths)):
            for other in range(one + 1, len(strengths)):
                won = int(np.sum(random.normal(strengths[one] - strengths[other], 2**0.5, 2) > 0))
                rows.append(PairResult(deal, one, other, won, 0, 2 - won))
    return rows


def solve_two(points: float, against: float) -> float:
    """The distance of two bots, found by halving: where the slope of likelihood and prior is 0."""
    normal = NormalDist()
    noise = math.sqrt(2) * BETA

    def slope(distance: float) -> float:
        eta = distance / noise
        density = normal.pdf(eta)
        likelihood = points * density / normal.cdf(eta) - against * density / normal.cdf(-eta)
        return likelihood / noise - distance / 2 / SIGMA**2

    low, high = -40.0, 40.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low


@pytest.mark.parametrize(("points", "against"), [(15, 5), (5, 15), (10, 10), (20, 0), (300, 200)])
def test_two_bots_are_as_far_apart_as_a_scalar_solution_says(points: int, against: int) -> None:
    fit = refit([PairResult(0, 0, 1, points, 0, against)], 2, players=2)
    distance = solve_two(points, against)
    assert fit.difference(0, 1)[0] == pytest.approx(distance, abs=1e-8)
    assert fit.ratings == pytest.approx((MU + distance / 2, MU - distance / 2), abs=1e-8)


def test_a_shared_rank_counts_as_half_a_win() -> None:
    shared = refit([PairResult(0, 0, 1, 14, 2, 4)], 2, players=2)
    assert shared.difference(0, 1)[0] == pytest.approx(solve_two(15, 5), abs=1e-8)


def test_rows_of_one_deal_and_pair_are_added() -> None:
    whole = refit(deals(0, 1, *[(2, 0, 2)] * 6, *[(3, 0, 1)] * 6), 2, players=2)
    split = refit([*deals(0, 1, *[(1, 0, 1)] * 12), *deals(0, 1, *[(1, 0, 1)] * 6, *[(2, 0, 0)] * 6)], 2, players=2)
    assert split.ratings == pytest.approx(whole.ratings)
    assert split.half_width == pytest.approx(whole.half_width)


@pytest.mark.parametrize("library", ["trueskillthroughtime", "choix"])
@pytest.mark.parametrize("path", LEAGUES, ids=lambda path: path.stem)
def test_other_libraries_agree_on_recorded_leagues(path: Path, library: str) -> None:
    """They know no shared ranks and no deals, so only the ratings of the other games are compared.

    Among bundled bots some win all their games. There the libraries differ, from each other too: they return the mean
    of what is likely, and the refit what is likeliest.
    """
    read, pairs = league(path)
    pairs = [
        PairResult(pair.deal, pair.one, pair.other, pair.better, 0, pair.worse)
        for pair in pairs
        if pair.deal < read["oracle_deals"]
    ]
    fit = refit(pairs, len(read["bots"]), players=read["players"])
    close = {"trueskillthroughtime": 0.1, "choix": 0.05}[library]
    for rating, half_width, theirs in zip(fit.ratings, fit.half_width, read["oracles"][library], strict=True):
        assert half_width is not None
        most = half_width / 2 if path.stem.startswith("bundled") else close
        assert rating == pytest.approx(theirs, abs=most)


def test_the_likelihood_is_exact_far_out() -> None:
    """The series of the lower tail of the normal distribution, on both sides of the change of methods."""
    eta = np.array([-40.0, -30.5, -29.5, 0.0, 29.5, 30.5, 40.0])
    log_up, log_down, up, down = both_sides(eta)

    def series(x: float) -> float:
        return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi)) + math.log1p(-(x**-2) + 3 * x**-4 - 15 * x**-6)

    assert log_up[:3] == pytest.approx([series(40), series(30.5), series(29.5)], rel=1e-8)
    assert log_up[3] == pytest.approx(math.log(0.5))
    assert log_up[4:] == pytest.approx([0, 0, 0], abs=1e-12)
    assert log_down == pytest.approx(log_up[::-1])
    assert up[:2] == pytest.approx([40 + 1 / 40, 30.5 + 1 / 30.5], rel=1e-5)
    assert down == pytest.approx(up[::-1])


def test_a_bot_that_wins_every_game_has_a_finite_rating_and_a_wide_interval() -> None:
    fit = refit(round_robin(0, 0, 50, count=40), 3, players=2)
    assert 30 < fit.ratings[2] < 60
    assert fit.half_width[2] > 3 * fit.half_width[0] / 2  # type: ignore[operator]


def test_anchors_far_apart_do_not_upset_the_fit() -> None:
    fit = refit(
        [*deals(0, 1, *[(1, 0, 1)] * 20), *deals(1, 2, *[(1, 0, 1)] * 20)], 3, players=2, anchors={0: 0, 2: 2000}
    )
    assert fit.ratings[1] == pytest.approx(1000, abs=1)


def test_one_anchor_moves_the_scale_and_nothing_else() -> None:
    pairs = round_robin(0.0, 0.5, 1.0, -0.5, count=25)
    free, anchored = refit(pairs, 4, players=2), refit(pairs, 4, players=2, anchors={2: 10.0})
    shift = 10 - free.ratings[2]
    assert anchored.ratings == pytest.approx([rating + shift for rating in free.ratings], abs=1e-7)
    assert anchored.difference(0, 3) == pytest.approx(free.difference(0, 3))
    assert anchored.half_width[2] == 0
    assert anchored.difference(0, 2)[1] == pytest.approx(free.difference(0, 2)[1])


def test_games_between_anchors_say_nothing() -> None:
    pairs = round_robin(0.0, 0.5, 1.0, count=25)
    anchors = {0: 20.0, 1: 30.0}
    more = [*pairs, *deals(0, 1, *[(2, 0, 0)] * 25)]
    fit, again = refit(pairs, 3, players=2, anchors=anchors), refit(more, 3, players=2, anchors=anchors)
    assert fit.ratings[:2] == again.ratings[:2] == (20, 30)
    assert again.ratings[2] == pytest.approx(fit.ratings[2])
    assert again.half_width == pytest.approx(fit.half_width)
    assert fit.difference(0, 1) == (-10, 0)
    assert fit.ahead(1, 0) == 1


def test_gauntlets_against_the_same_field_do_not_depend_on_each_other() -> None:
    """A challenger's rating is its own, whoever else challenges."""
    field = {0: 20.0, 1: 27.0}
    first = [*deals(0, 2, *[(1, 0, 1)] * 15), *deals(1, 2, *[(2, 0, 0), (1, 0, 1)] * 10)]
    second = [*deals(0, 3, *[(0, 0, 2), (1, 0, 1)] * 8), *deals(1, 3, *[(1, 0, 1)] * 15)]
    alone, both = refit(first, 4, players=2, anchors=field), refit([*first, *second], 4, players=2, anchors=field)
    assert both.ratings[2] == pytest.approx(alone.ratings[2], abs=0.1)
    assert alone.half_width[3] is None


def test_an_interval_comes_from_the_deals_and_not_from_the_games() -> None:
    """Ten games that all repeat their deal's first one teach nothing; as many deals do."""
    pairs = deals(0, 1, *[(2, 0, 0)] * 24, *[(0, 0, 2)] * 16)
    repeated = [PairResult(p.deal, 0, 1, 10 * p.better, 0, 10 * p.worse) for p in pairs]
    spread_out = [PairResult(40 * k + p.deal, 0, 1, p.better, 0, p.worse) for k in range(10) for p in pairs]
    once, again, more = (refit(rows, 2, players=2).half_width[0] for rows in (pairs, repeated, spread_out))
    assert once is not None
    assert again == pytest.approx(once, rel=0.03)
    assert more == pytest.approx(once / math.sqrt(10), rel=0.06)


def test_an_interval_of_two_bots_is_what_a_t_test_on_the_deals_says() -> None:
    """Near level the rating is a straight line of the mean share: noise / phi(0) for each part of it."""
    shares = [1.0, 0.0, 1.0, 0.5, 0.0, 1.0, 0.5, 0.0, 1.0, 0.0, 1.0, 0.0, 0.5, 0.5, 1.0, 0.0]
    pairs = [PairResult(deal, 0, 1, round(2 * share), 0, round(2 - 2 * share)) for deal, share in enumerate(shares)]
    error = float(np.std(shares, ddof=1)) / math.sqrt(16) * math.sqrt(2) * BETA * math.sqrt(2 * math.pi)
    assert refit(pairs, 2, players=2).difference(0, 1)[1] == pytest.approx(error, rel=0.03)


def test_few_deals_are_said_to_be_few() -> None:
    nine, ten = (refit(deals(0, 1, *[(1, 0, 1)] * count), 2, players=2) for count in (9, 10))
    assert (nine.enough, ten.enough) == (False, True)


def test_with_few_deals_only_the_games_count_and_doubly_at_larger_tables() -> None:
    pairs = deals(0, 1, *[(2, 0, 0), (0, 0, 2)] * 4)
    two, three = refit(pairs, 2, players=2), refit(pairs, 2, players=3)
    naive = math.sqrt(2) * BETA * math.sqrt(math.pi / 2 / 16)
    assert two.difference(0, 1)[1] == pytest.approx(naive, rel=0.02)
    assert three.difference(0, 1)[1] == pytest.approx(2 * two.difference(0, 1)[1])


def test_an_entrant_with_few_deals_has_a_rough_interval_among_others_with_many() -> None:
    pairs = [*round_robin(0, 0, count=40), *deals(0, 2, *[(1, 0, 1)] * 3)]
    fit = refit(pairs, 3, players=2)
    assert fit.deals == (40, 40, 3)
    assert fit.difference(0, 2)[1] == pytest.approx(fit.difference(0, 1)[1] * math.sqrt(80 / 6), rel=0.3)


def test_the_likelihood_of_being_better_is_the_normal_one() -> None:
    fit = refit(round_robin(0.3, 0, count=30), 2, players=2)
    distance, error = fit.difference(0, 1)
    assert fit.ahead(0, 1) == pytest.approx(NormalDist().cdf(distance / error))
    assert fit.ahead(0, 1) + fit.ahead(1, 0) == pytest.approx(1)
    assert fit.ahead(0, 0) == 0.5


def test_who_has_not_played_is_unknown_and_last() -> None:
    fit = refit(round_robin(0, -3, count=30), 4, players=2)
    assert fit.ratings[2:] == (MU, MU)
    assert fit.half_width[2:] == (None, None)
    assert fit.difference(0, 2)[1] == math.inf
    assert fit.ahead(0, 2) == 0.5
    assert fit.order() == [0, 1, 2, 3]
    assert fit.ranks() == [1, 2, 3, 3]


def test_copies_share_a_rank_and_others_do_not() -> None:
    fit = refit(round_robin(-2, 0, 0, 2, count=40), 4, players=2)
    assert fit.ranks() == [4, 2, 2, 1]
    assert fit.order()[0] == 3


def test_a_rank_counts_who_is_shown_to_be_better_and_chains_nobody() -> None:
    """Each is close to its neighbours, and the first is far from the last: they share no rank."""
    fit = refit(round_robin(0.45, 0.3, 0.15, 0.0, count=60), 4, players=2)
    assert fit.ranks()[0] == 1
    assert fit.ranks()[3] > 1
    assert len({*pairwise(fit.order())} - fit.better()) >= 2
    by_hand = sorted(
        (two_sided(fit.difference(one, other)[0] / fit.difference(one, other)[1], fit.deals[0] - 1), (one, other))
        for one, other in combinations(fit.order(), 2)
    )
    shown = set()
    for left, (chance, pair) in zip(range(6, 0, -1), by_hand, strict=True):
        if chance > 0.05 / left:
            break
        shown.add(pair)
    assert fit.better() == shown


@given(st.floats(0, 40), st.sampled_from([1, 2, 3, 9, 10, 31, 998, 999, 1000, 1001, 5000, math.inf]))
def test_chances_of_many_are_those_of_each(t: float, freedom: float) -> None:
    [chance] = two_sided_all(np.array([t]), np.array([freedom]))
    assert chance == pytest.approx(two_sided(t, None if math.isinf(freedom) else int(freedom)), abs=1e-12)


def test_bots_with_the_same_results_keep_their_order() -> None:
    """Their ratings differ by rounding only, and so the last digit must not decide who comes first."""
    random = np.random.default_rng(5)
    for _ in range(20):
        won = random.integers(0, 3, 12).tolist()
        pairs = [PairResult(deal, 0, who, wins, 0, 2 - wins) for deal, wins in enumerate(won) for who in (1, 2, 3)]
        assert [who for who in refit(pairs, 4, players=2).order() if who] == [1, 2, 3]


def test_deals_that_never_surprise_leave_doubt() -> None:
    """Thirty level deals: they do not disagree at all, and still a difference may be hidden in the next one."""
    level = refit(deals(0, 1, *[(1, 0, 1)] * 30), 2, players=2)
    naive = math.sqrt(2) * BETA * math.sqrt(math.pi / 2 / 60)
    assert level.difference(0, 1) == (pytest.approx(0), pytest.approx(naive, rel=0.02))
    noisy = refit(deals(0, 1, *[(1, 0, 1)] * 10, *[(2, 0, 0), (0, 0, 2)] * 10), 2, players=2)
    assert noisy.difference(0, 1)[1] == pytest.approx(naive * math.sqrt(2 * 20 / 30 * 30 / 29), rel=0.02)
    calm = refit(deals(0, 1, *[(1, 0, 1)] * 160, *[(2, 0, 0), (0, 0, 2)] * 20), 2, players=2)
    assert calm.difference(0, 1)[1] < 0.7 * math.sqrt(2) * BETA * math.sqrt(math.pi / 2 / 400)


def test_many_neighbours_at_once_need_more_than_one_alone() -> None:
    """Holm's method: what settles a pair alone leaves two pairs open."""
    shares = [(2, 0, 0)] * 11, [(1, 0, 1)] * 16, [(0, 0, 2)] * 3
    upper, lower = deals(0, 1, *chain(*shares)), deals(1, 2, *chain(*shares), first=30)
    alone, both = refit(upper, 2, players=2), refit([*upper, *lower], 3, players=2)
    assert alone.better() == {(0, 1)}
    assert not both.better(alpha=0.05) & {(0, 1), (1, 2)}
    assert both.better(alpha=0.10) >= {(0, 1), (1, 2)}


def test_nothing_at_all() -> None:
    fit = refit([], 3, players=2)
    assert fit.ratings == (MU, MU, MU)
    assert fit.ranks() == [1, 1, 1]
    assert not fit.enough
    assert refit([], 2, players=2, anchors={1: 30.0}).half_width == (None, 0.0)


def test_all_anchored() -> None:
    fit = refit(round_robin(0, 0, count=12), 2, players=2, anchors={0: 20.0, 1: 30.0})
    assert fit.ratings == (20, 30)
    assert fit.half_width == (0, 0)
    assert fit.ranks() == [2, 1]


@pytest.fixture(scope="module")
def ladder() -> list[PairResult]:
    """Sixty entrants, every deal between two of them, as a ladder plays."""
    random = np.random.default_rng(7)
    strengths = random.normal(0, 1, 60)
    rows = []
    for deal in range(2400):
        one, other = sorted(random.choice(60, 2, replace=False).tolist())
        won = int(np.sum(random.normal(strengths[one] - strengths[other], 2**0.5, 2) > 0))
        rows.append(PairResult(deal, one, other, won, 0, 2 - won))
    return rows


@pytest.mark.parametrize("anchors", [{}, {3: 20.0, 17: 30.0}])
def test_large_pools_are_solved_without_matrices(
    ladder: list[PairResult], anchors: dict[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = refit(ladder, 60, players=2, anchors=anchors)
    monkeypatch.setattr(likelihood, "DENSE", 10)
    monkeypatch.setattr(likelihood, "CELLS", 500)
    monkeypatch.setattr(spread, "DENSE", 10)
    sampled = refit(ladder, 60, players=2, anchors=anchors)
    assert sampled.ratings == pytest.approx(whole.ratings, abs=1e-6)
    assert sampled.half_width == pytest.approx(whole.half_width, rel=0.35)
    ratios = [a / b for a, b in zip(sampled.half_width, whole.half_width, strict=True) if a and b]
    assert np.mean(ratios) == pytest.approx(1, abs=0.05)


def test_disagreement_is_the_same_however_it_is_added(
    ladder: list[PairResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    def widths() -> Fit:
        return refit(ladder, 60, players=2)

    whole = widths()
    monkeypatch.setattr(spread, "CELLS", 0)
    assert widths().half_width == pytest.approx(whole.half_width)


def test_nobody_loads_numpy_who_asks_for_no_refit() -> None:
    modules = ", ".join(
        ["arena.cli", *(f"arena.core.ratings.{name}" for name in ("pairs", "running", "normal", "sprt"))]
    )
    code = f"import {modules}, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_some_are_ranked_among_themselves_by_all_results() -> None:
    pairs = [PairResult(deal, one, one + 1, 2, 0, 0) for deal in range(40) for one in (0, 1)]
    fit = refit(pairs, 4, players=2)
    assert fit.ranks() == [1, 2, 3, 4]
    assert (fit.order([3, 2, 0]), fit.ranks(among=[3, 2, 0])) == ([0, 2, 3], [1, 0, 2, 3])
    assert fit.better(among=[0, 2]) == {(0, 2)}
    assert (fit.order([]), fit.ranks(among=[])) == ([], [0, 0, 0, 0])


def new_version(change: float, matches: int, *, seed: int) -> tuple[list[PairResult], int]:
    """A league of five in which the first is strong and gets a new version, number 5, that has played few matches."""
    random = np.random.default_rng(seed)
    pairs = round_robin(2.0, 0.0, 0.0, 0.0, 0.0, count=40, seed=seed)
    for deal in range(40, 40 + matches):
        won = int(np.sum(random.normal(2.0 + change, 2**0.5, 2) > 0))
        pairs.append(PairResult(deal, 1 + deal % 4, 5, 2 - won, 0, won))
    return pairs, 6


def fall(change: float, matches: int, predecessors: dict[int, int]) -> float:
    """By how much a new version is rated below its predecessor, the mean over leagues."""
    fits = (refit(*new_version(change, matches, seed=seed), players=2, predecessors=predecessors) for seed in range(20))
    return float(np.mean([fit.ratings[0] - fit.ratings[5] for fit in fits]))


def test_a_new_version_is_rated_as_its_predecessor_until_its_games_say_otherwise() -> None:
    assert fall(0.1, 1, {}) > 1.5  # without: towards the mean of all
    assert abs(fall(0.1, 1, {5: 0})) < 0.6
    assert fall(-3.0, 1, {5: 0}) > 0.8
    assert fall(-3.0, 20, {5: 0}) > 2.4 * BETA


def test_of_its_predecessors_the_nearest_that_played_counts_less_the_farther_it_is() -> None:
    pairs, _ = new_version(0.0, 1, seed=2)

    def width(predecessors: dict[int, int]) -> float:
        moved = [msgspec.structs.replace(pair, other=6 if pair.other == 5 else pair.other) for pair in pairs]
        fit = refit(moved, 7, players=2, predecessors=predecessors)
        assert np.mean([*fit.ratings[:5], fit.ratings[6]]) == pytest.approx(MU)
        assert fit.half_width[6] is not None
        return fit.half_width[6]

    assert width({6: 0}) < width({6: 5, 5: 0}) < width({6: 5}) == width({})


def test_beyond_dense_the_prior_of_versions_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, entrants = new_version(-1.0, 12, seed=3)
    exact = refit(pairs, entrants, players=2, predecessors={5: 0})
    for module in (likelihood, spread):
        monkeypatch.setattr(module, "DENSE", 1)
    sampled = refit(pairs, entrants, players=2, predecessors={5: 0})
    assert sampled.ratings == pytest.approx(exact.ratings, abs=1e-4)
    assert sampled.half_width == pytest.approx(exact.half_width, rel=0.35)
