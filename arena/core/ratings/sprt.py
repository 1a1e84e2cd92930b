"""The sequential probability ratio test (GSPRT) of chess engines: is the first bot better by `elo0` or by `elo1`?

It is the exact generalised test over the shares of deals ("pentanomial" for two games a deal), as fishtest and
fastchess compute it. Both hypotheses are fitted as well as their mean share allows, and the likelihoods compared.
Unlike the evidence of `evidence`, it answers only this question, and its `alpha` and `beta` hold only roughly: a test
that ends after few deals overshoots its bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from arena.core.errors import ConfigError

Verdict: TypeAlias = Literal["H0", "H1", "open"]
"""`H0`: the difference is rather `elo0`. `H1`: it is rather `elo1`."""

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The shares that a deal of two games may have."""
UNSEEN = 1e-3
"""Weight of a share that no deal had, as in fishtest: so that no result is impossible."""
LEAST = 2
"""With fewer deals that were not level there is nothing to compare; `UNSEEN` alone would decide."""


def score_of(elo: float) -> float:
    """Returns the mean share that is expected of a bot so many Elo points ahead."""
    return 1 / (1 + 10 ** (-elo / 400))


class Sprt(msgspec.Struct, frozen=True):
    """A sequential test of `elo0` against `elo1`."""

    elo0: float
    """The difference under the first hypothesis, in Elo points."""
    elo1: float
    """The difference under the second one; larger."""
    alpha: float = 0.05
    """Probability that `H1` is accepted where `elo0` is true, at most."""
    beta: float = 0.05
    """Probability that `H0` is accepted where `elo1` is true, at most."""

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise ConfigError(
                f"expected the first number of Elo points to be the smaller, got: {self.elo0:g} {self.elo1:g}"
                " - at --sprt; exchange them"
            )
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise ConfigError(f"expected {name} to be above 0 and below 0.5, got: {value:g} - at --sprt; try 0.05")

    @property
    def bounds(self) -> tuple[float, float]:
        """At or below the first `H0` is accepted, at or above the second `H1`."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def log_ratio(self, counts: Mapping[float, float]) -> float | None:
        """Returns the LLR: the log-likelihood ratio of `elo1` to `elo0`, given `Evidence.counts`.

        It is None while fewer than two deals were not level.
        """
        if sum(count for share, count in counts.items() if share != 0.5) < LEAST:
            return None
        shares = sorted({*SHARES, *counts})
        seen = [counts.get(share, 0) or UNSEEN for share in shares]
        under = [_tilt(shares, seen, score_of(elo)) for elo in (self.elo0, self.elo1)]
        return math.fsum(count * math.log(zero / one) for count, zero, one in zip(seen, *under, strict=True))

    def verdict(self, counts: Mapping[float, float]) -> Verdict:
        """Returns which hypothesis is accepted; `open` if none is yet."""
        ratio = self.log_ratio(counts)
        low, high = self.bounds
        if ratio is None or low < ratio < high:
            return "open"
        return "H1" if ratio >= high else "H0"


def _tilt(shares: list[float], seen: list[float], mean: float) -> list[float]:
    """Returns by what each share's frequency must be divided so that the most likely distribution has this mean.

    Each is 1 + t (share - mean), with the t for which the mean comes out.
    """
    low, high = -1 / (shares[-1] - mean), 1 / (mean - shares[0])
    for _ in range(60):
        t = (low + high) / 2
        distance = sum(
            count * (share - mean) / (1 + t * (share - mean)) for share, count in zip(shares, seen, strict=True)
        )
        low, high = (t, high) if distance > 0 else (low, t)
    return [1 + t * (share - mean) for share in shares]
