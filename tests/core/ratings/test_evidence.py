"""The evidence: known answers, verdicts, and forecasts."""

from __future__ import annotations

import math

import pytest

from arena.core.ratings.evidence import Evidence

REAL = {0.0: 11, 0.25: 2, 0.5: 73, 0.75: 5, 1.0: 29}  # 120 deals of two real bots


def folded(counts: dict[float, int]) -> Evidence:
    evidence = Evidence()
    for share, deals in counts.items():
        evidence.add(share, deals)
    return evidence


def robbins(wins: int, losses: int) -> float:
    """The logarithm of the same bet on a coin, in closed form: a sum of binomials over one of them."""

    def log_choose(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    games = wins + losses
    logs = [log_choose(games + 1, k) for k in range(wins + 1)]
    most = max(logs)
    total = most + math.log(math.fsum(math.exp(log - most) for log in logs))
    return total - math.log(games + 1) - log_choose(games, wins)


@pytest.mark.parametrize(
    ("wins", "losses"), [(1, 0), (0, 1), (9, 1), (5, 5), (60, 40), (0, 60), (1100, 900), (5000, 5000), (5200, 4800)]
)
def test_the_bet_on_a_coin_equals_its_closed_form(wins: int, losses: int) -> None:
    evidence = folded({1.0: wins, 0.0: losses})
    assert evidence.log_plus == pytest.approx(robbins(wins, losses), abs=1e-4)
    assert evidence.log_minus == pytest.approx(robbins(losses, wins), abs=1e-4)


def test_a_known_answer() -> None:
    evidence = folded(REAL)
    assert evidence.deals == 120
    assert evidence.score == pytest.approx(0.58125)
    assert evidence.e_plus == pytest.approx(37.4, abs=0.05)
    assert evidence.p == pytest.approx(2 / 37.4, abs=1e-4)
    assert evidence.interval() == pytest.approx((0.499, 0.664), abs=0.001)
    assert evidence.verdict() == "open"


def test_level_deals_narrow_the_interval_and_speak_for_nobody() -> None:
    evidence = folded({0.5: 200})
    assert (evidence.e_plus, evidence.e_minus, evidence.p) == (pytest.approx(1), pytest.approx(1), 1)
    assert evidence.interval() == pytest.approx((0.4868, 0.5132), abs=1e-4)
    assert evidence.verdict() == "level"
    assert evidence.verdict(delta=0.01) == "open"


def test_nothing_is_known_without_deals() -> None:
    evidence = Evidence()
    assert (evidence.deals, evidence.score, evidence.e_plus, evidence.p) == (0, 0.5, 1, 1)
    assert evidence.interval() == pytest.approx((0, 1), abs=1e-8)
    assert evidence.verdict() == "open"
    assert evidence.more_deals() is None


def test_a_verdict_falls_when_the_evidence_reaches_two_in_alpha() -> None:
    """Nine straight wins: (2**10 - 1) / 10 is over 100, and eight are under 60."""
    assert Evidence.of([1.0] * 9).e_plus == pytest.approx(102.3)
    assert Evidence.of([1.0] * 9).verdict(alpha=0.02) == "better"
    assert Evidence.of([0.0] * 9).verdict(alpha=0.02) == "worse"
    assert Evidence.of([1.0] * 8).verdict(alpha=0.02) == "open"


def test_several_questions_need_more_evidence_each() -> None:
    nine = Evidence.of([1.0] * 9)
    assert nine.verdict(alpha=0.05, comparisons=2) == "better"
    assert nine.verdict(alpha=0.05, comparisons=3) == "open"


def test_the_interval_leaves_one_half_when_the_evidence_is_enough() -> None:
    for wins in range(3, 14):
        evidence = Evidence.of([1.0] * wins + [0.0])
        assert (evidence.interval()[0] > 0.5) == (evidence.verdict() == "better")


def test_evidence_beyond_the_largest_number_is_still_a_number() -> None:
    evidence = folded({1.0: 5000})
    assert math.isfinite(evidence.e_plus)
    assert evidence.log_plus == pytest.approx(robbins(5000, 0), abs=1e-3)
    assert evidence.interval()[0] > 0.99
    assert evidence.p == 0


def test_the_forecast_comes_true() -> None:
    evidence = folded(REAL)
    more = evidence.more_deals()
    assert more is not None
    assert 1 <= more <= 20
    scaled = Evidence()
    for share, deals in REAL.items():
        scaled.add(share, deals * (1 + more / 120))
    assert scaled.verdict() == "better"


def test_the_forecast_says_now_or_never() -> None:
    assert folded({1.0: 20}).more_deals() == 0
    assert folded({0.0: 499_999, 1.0: 500_001}).more_deals(delta=1e-6) is None


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_a_share_is_from_0_to_1(share: float) -> None:
    with pytest.raises(ValueError, match="expected a share from 0 to 1"):
        Evidence().add(share)
