"""Says which of two bots is better, and by how much, with answers that hold whenever one looks.

Laws:
1. A deal counts once: its share is the mean over its games of 1, 1/2 or 0, for being before, level with or behind the
   other. Between equal bots a share of 1/2 is expected, whatever seats are worth, because every seating is played.
2. The evidence that a bot is better is a bet that is fair between equal bots: a stake of 1 is bet on shares above 1/2,
   deal after deal, a fixed fraction of what is there each time, with all fractions from 0 to 1 side by side. Between
   equal bots it ever reaches 1/p with probability p at most (Ville's inequality; Robbins 1970; Waudby-Smith and Ramdas
   2024). So one may look after each deal, and stop at any time for any reason.
3. The interval has all means of shares that the same bet does not refute. It holds at all looks together.
4. The order of deals does not matter.

Importing this module imports numpy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Verdict: TypeAlias = Literal["better", "worse", "level", "open"]
"""Verdict about the first bot; `level` means that the difference is small for certain."""

ALPHA = 0.05
"""Probability of a wrong answer, at most."""
DELTA = 0.05
"""Means of shares so close to 1/2 count as level."""
POINTS = 256
"""The fractions that are bet side by side: enough for four decimals of the logarithm up to 10,000 deals."""
LARGEST = 700.0
"""The logarithm of about the largest float."""
FARTHEST = 10_000_000
"""The forecast looks no farther than so many deals."""


@cache
def fractions() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Returns the points of Gauss-Legendre between 0 and 1, as a column, and the logarithms of their weights."""
    points, weights = np.polynomial.legendre.leggauss(POINTS)
    return (points[:, None] + 1) / 2, np.log(weights / 2)


class Evidence:
    """What the deals between two bots show. Deals are added one by one or many at once."""

    def __init__(self) -> None:
        self._counts: dict[float, float] = {}

    @classmethod
    def of(cls, shares: Iterable[float]) -> Evidence:
        """Returns what deals with these shares of the first bot show."""
        evidence = cls()
        for share in shares:
            evidence.add(share)
        return evidence

    def add(self, share: float, deals: float = 1) -> None:
        """Adds deals with a share of the first bot, from 0 to 1.

        Raises:
            ValueError: The share is outside.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"expected a share from 0 to 1, got: {share!r}")
        share = round(share, 12)
        self._counts[share] = self._counts.get(share, 0) + deals

    @property
    def counts(self) -> dict[float, float]:
        """How many deals there are of each share, in rising order."""
        return dict(sorted(self._counts.items()))

    @property
    def deals(self) -> int:
        """How many deals there are."""
        return round(sum(self._counts.values()))

    @property
    def score(self) -> float:
        """The mean share of the first bot; 1/2 without any deal."""
        deals = sum(self._counts.values())
        return sum(share * count for share, count in self._counts.items()) / deals if deals else 0.5

    @property
    def log_plus(self) -> float:
        """The natural logarithm of `e_plus`, which does not overflow."""
        return self._bet_above(0.5)

    @property
    def log_minus(self) -> float:
        """The natural logarithm of `e_minus`, which does not overflow."""
        return self._swapped()._bet_above(0.5)

    @property
    def e_plus(self) -> float:
        """What a stake of 1 has become that was bet on the first bot; 20 says 20 : 1. At most the largest float."""
        return math.exp(min(self.log_plus, LARGEST))

    @property
    def e_minus(self) -> float:
        """What a stake of 1 has become that was bet on the second bot."""
        return math.exp(min(self.log_minus, LARGEST))

    @property
    def p(self) -> float:
        """How likely equal bots ever get as much evidence for one of them: a p-value that holds at any time."""
        return min(1.0, 2 * math.exp(-max(self.log_plus, self.log_minus)))

    def interval(self, alpha: float = ALPHA) -> tuple[float, float]:
        """Returns the means of shares that are not refuted. At all looks together it misses with `alpha` at most."""
        return self._lower_end(alpha), 1 - self._swapped()._lower_end(alpha)

    def verdict(self, alpha: float = ALPHA, delta: float = DELTA, comparisons: int = 1) -> Verdict:
        """Returns what is shown of the first bot.

        Args:
            delta: `level` means that the mean share is within so much of 1/2.
            comparisons: Of how many such questions none may be answered wrongly. Each then gets its part of `alpha`.
        """
        each = alpha / comparisons
        enough = math.log(2 / each)
        if self.log_plus >= enough:
            return "better"
        if self.log_minus >= enough:
            return "worse"
        low, high = self.interval(each)
        return "level" if 0.5 - delta <= low and high <= 0.5 + delta else "open"

    def more_deals(self, alpha: float = ALPHA, delta: float = DELTA, comparisons: int = 1) -> int | None:
        """Returns roughly how many more deals like these bring a verdict; None if that is too far away to say."""

        def is_open(more: int) -> bool:
            scaled = Evidence()
            scaled._counts = {share: count * (1 + more / self.deals) for share, count in self._counts.items()}
            return scaled.verdict(alpha, delta, comparisons) == "open"

        if not self.deals:
            return None
        low, high = 0, 1
        if not is_open(low):
            return 0
        while is_open(high):
            low, high = high, 2 * high
            if high > FARTHEST:
                return None
        while high - low > max(1, low // 100):
            middle = (low + high) // 2
            low, high = (middle, high) if is_open(middle) else (low, middle)
        return high

    def _bet_above(self, mean: float) -> float:
        """Returns the logarithm of what betting on shares above a mean has made of 1; fair if that is the mean."""
        if not self._counts:
            return 0.0
        stakes, weights = fractions()
        shares = np.array(list(self._counts))
        counts = np.array(list(self._counts.values()))
        gains = np.log1p(stakes * (shares / mean - 1)) @ counts + weights
        best = float(gains.max())
        return best + math.log(float(np.exp(gains - best).sum()))

    def _lower_end(self, alpha: float) -> float:
        """Returns the smallest mean that betting on shares above it does not refute with `alpha` / 2."""
        low, high = 0.0, self.score
        enough = math.log(2 / alpha)
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (middle, high) if self._bet_above(middle) >= enough else (low, middle)
        return low

    def _swapped(self) -> Evidence:
        """Returns the evidence as the second bot sees it."""
        swapped = Evidence()
        swapped._counts = {1 - share: count for share, count in self._counts.items()}
        return swapped
