"""The normal distribution and Student's, as far as the statistics here need them. Needs no numpy."""

from __future__ import annotations

import math
from functools import cache

EXACT = 1000
"""Degrees of freedom up to which Student's distribution is computed by its finite sum; above, by a normal one."""


def normal_cdf(z: float) -> float:
    """Returns the probability that a standard normal variable is below `z`."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def two_sided(t: float, freedom: int | None = None) -> float:
    """Returns how likely a variable is at least `t` standard errors from 0, on either side.

    `freedom` is that of Student's distribution, at least 1; None means the normal distribution.
    """
    t = abs(t)
    if freedom is None or math.isinf(t):
        return math.erfc(t / math.sqrt(2))
    if freedom > EXACT:
        # Abramowitz and Stegun 26.7.8: off by less than 0.0001 of the result at these sizes and usual distances.
        return math.erfc(t * (1 - 1 / (4 * freedom)) / math.sqrt(1 + t * t / (2 * freedom)) / math.sqrt(2))
    return max(0.0, 1 - _central(t, freedom))


def _central(t: float, freedom: int) -> float:
    """Returns the probability between -t and t (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(freedom // 2):
        total += term
        term *= square * (2 * k + 1 + odd) / (2 * k + 2 + odd)
    if odd:
        return (angle + math.sin(angle) * total) * 2 / math.pi
    return math.sin(angle) * total


@cache
def quantile(alpha: float, freedom: int | None = None) -> float:
    """Returns how many standard errors leave `alpha` (above 1e-12, below 1) outside, both sides together.

    `freedom` is as for `two_sided`.
    """
    low, high = 0.0, 1.0
    while two_sided(high, freedom) > alpha:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if two_sided(middle, freedom) > alpha:
            low = middle
        else:
            high = middle
    return (low + high) / 2
