"""Student's distribution against printed tables."""

from __future__ import annotations

import pytest

from arena.core.ratings.normal import normal_cdf, quantile, two_sided


@pytest.mark.parametrize(
    ("alpha", "freedom", "printed"),
    [
        (0.05, 1, 12.706), (0.05, 2, 4.303), (0.05, 9, 2.262), (0.05, 10, 2.228), (0.05, 29, 2.045), (0.05, 100, 1.984),
        (0.05, 1000, 1.962), (0.01, 5, 4.032), (0.01, 30, 2.750), (0.001, 20, 3.850), (0.05, None, 1.960),
        (0.01, None, 2.576),
    ],
)  # fmt: skip
def test_quantiles_are_those_of_the_tables(alpha: float, freedom: int | None, printed: float) -> None:
    assert quantile(alpha, freedom) == pytest.approx(printed, abs=0.0005)


def test_many_degrees_of_freedom_follow_on_smoothly() -> None:
    for t in (0.5, 2.0, 4.0):
        assert two_sided(t, 1001) == pytest.approx(two_sided(t, 1000), rel=2e-3)
        assert two_sided(t, 10**9) == pytest.approx(two_sided(t), rel=1e-6)


def test_both_sides_together() -> None:
    assert two_sided(-2.228, 10) == two_sided(2.228, 10) == pytest.approx(0.05, abs=1e-4)
    assert two_sided(0.0, 7) == 1
    assert two_sided(float("inf"), 7) == 0


def test_the_normal_distribution() -> None:
    assert normal_cdf(0) == 0.5
    assert normal_cdf(1) == pytest.approx(0.841345, abs=1e-6)
    assert normal_cdf(-1.959964) == pytest.approx(0.025, abs=1e-7)
