"""Ratings do not depend on any order or numbering, and evidence neither."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.ratings.evidence import Evidence
from arena.core.ratings.pairs import PairResult
from arena.core.ratings.refit import refit

ENTRANTS = 5

counts = st.integers(0, 4)
rows = st.builds(
    lambda deal, pair, better, equal, worse: PairResult(deal, *sorted(pair), better, equal, worse),
    st.integers(0, 14),
    st.lists(st.integers(0, ENTRANTS - 1), min_size=2, max_size=2, unique=True),
    counts,
    counts,
    counts,
)
leagues = st.lists(rows, max_size=40)
shares = st.lists(st.sampled_from([0, 1 / 6, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1]), max_size=60)
players = st.integers(2, 5)


def renamed(pair: PairResult, names: list[int]) -> PairResult:
    """The result with other numbers of the entrants."""
    one, other = names[pair.one], names[pair.other]
    if one < other:
        return PairResult(pair.deal, one, other, pair.better, pair.equal, pair.worse)
    return PairResult(pair.deal, other, one, pair.worse, pair.equal, pair.better)


@given(leagues, players, st.randoms(use_true_random=False))
def test_the_order_of_results_does_not_matter(pairs: list[PairResult], players: int, random: object) -> None:
    fit = refit(pairs, ENTRANTS, players=players)
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = refit(shuffled, ENTRANTS, players=players)
    assert again.ratings == pytest.approx(fit.ratings, abs=1e-8)
    assert again.half_width == pytest.approx(fit.half_width, abs=1e-7)


@given(leagues, players, st.permutations(range(ENTRANTS)), st.permutations(range(15)))
def test_the_numbering_of_entrants_and_deals_does_not_matter(
    pairs: list[PairResult], players: int, names: list[int], deals: list[int]
) -> None:
    fit = refit(pairs, ENTRANTS, players=players)
    moved = [PairResult(deals[p.deal] * 10**9, p.one, p.other, p.better, p.equal, p.worse) for p in pairs]
    again = refit([renamed(pair, names) for pair in moved], ENTRANTS, players=players)
    assert [again.ratings[names[who]] for who in range(ENTRANTS)] == pytest.approx(fit.ratings, abs=1e-8)
    assert [again.half_width[names[who]] for who in range(ENTRANTS)] == pytest.approx(fit.half_width, abs=1e-7)
    assert again.difference(names[0], names[1]) == pytest.approx(fit.difference(0, 1), abs=1e-7)


@given(leagues, players)
def test_a_fit_is_consistent(pairs: list[PairResult], players: int) -> None:
    fit = refit(pairs, ENTRANTS, players=players)
    order, ranks = fit.order(), fit.ranks()
    played = [who for who in range(ENTRANTS) if fit.deals[who]]
    if played:
        assert sum(fit.ratings[who] for who in played) / len(played) == pytest.approx(25)
    assert sorted(order) == list(range(ENTRANTS))
    better = fit.better()
    for who in played:
        assert ranks[who] == 1 + sum((other, who) in better for other in played)
    assert all(ranks[who] == 1 + len(played) for who in set(order) - {*played})
    assert all(order.index(one) < order.index(other) for one, other in better)
    for one, other in pairwise(order):
        if fit.deals[other]:
            assert fit.ratings[one] >= fit.ratings[other] - 1e-6
    assert [width is None for width in fit.half_width] == [not count for count in fit.deals]


@given(shares, st.randoms(use_true_random=False))
def test_the_order_of_deals_does_not_matter_to_evidence(deals: list[float], random: object) -> None:
    shuffled = list(deals)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Evidence.of(shuffled).log_plus == pytest.approx(Evidence.of(deals).log_plus)


@given(shares)
def test_exchanging_the_bots_exchanges_the_answers(deals: list[float]) -> None:
    evidence, swapped = Evidence.of(deals), Evidence.of(1 - share for share in deals)
    low, high = evidence.interval()
    assert swapped.interval() == pytest.approx((1 - high, 1 - low), abs=1e-8)
    assert swapped.log_plus == pytest.approx(evidence.log_minus)
    names = {"better": "worse", "worse": "better"}
    assert swapped.verdict() == names.get(evidence.verdict(), evidence.verdict())
    assert swapped.p == pytest.approx(evidence.p)


@given(shares)
def test_evidence_is_consistent(deals: list[float]) -> None:
    evidence = Evidence.of(deals)
    low, high = evidence.interval()
    assert 0 <= low <= evidence.score <= high <= 1
    assert evidence.log_plus <= 0 or evidence.log_minus <= 0
    wider = evidence.interval(0.01)
    assert wider[0] <= low
    assert high <= wider[1]
    if low > 0.5 + 1e-6:
        assert evidence.verdict() == "better"
    if high < 0.5 - 1e-6:
        assert evidence.verdict() == "worse"
