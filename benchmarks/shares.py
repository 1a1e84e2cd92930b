"""What a share of wins tells: intervals for it, and how likely it is if all are equal."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

Z = statistics.NormalDist().inv_cdf(0.975)
"""So many standard errors on either side are an interval of 95 %."""


def wilson(share: float, games: int) -> tuple[float, float]:
    """The 95 % confidence interval of a share of wins over independent games (Wilson's score interval)."""
    middle = share + Z * Z / (2 * games)
    spread = Z * math.sqrt((share * (1 - share) + Z * Z / (4 * games)) / games)
    whole = 1 + Z * Z / games
    return max(0.0, (middle - spread) / whole), min(1.0, (middle + spread) / whole)


def mean_interval(shares: Sequence[float]) -> tuple[float, float]:
    """The 95 % confidence interval of the mean of independent shares, at least two (and many, to be worth anything)."""
    middle = statistics.fmean(shares)
    spread = Z * statistics.stdev(shares, middle) / math.sqrt(len(shares))
    return max(0.0, middle - spread), min(1.0, middle + spread)


def fair_coin_p(heads: int, throws: int) -> float:
    """How likely a fair coin falls at least so unevenly: the exact two-sided binomial test."""
    larger = max(heads, throws - heads)
    as_uneven = 2 * sum(math.comb(throws, k) for k in range(larger, throws + 1))
    return min(1.0, as_uneven / 2**throws)
