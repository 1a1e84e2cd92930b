"""Finds all strengths at once from all results, with intervals: the refit.

Laws:
1. The ratings are a pure function of the results. The order of games, rounds, seats and entrants does not matter.
2. The model is TrueSkill's: each bot plays as well as its strength plus normal noise with deviation `BETA`, and the
   better play wins. So one bot is before another with probability Phi(difference / (sqrt(2) BETA)), whoever else sits
   at the table. A result of three or more is split into its pairs.
3. Games of one deal are not independent: luck and styles reach all of them. So the intervals come from how much the
   deals disagree (a sandwich estimate, clustered by deal), not from the number of games.
4. Only differences mean something. Without anchors, those that played have the mean rating `MU`.

Importing this module imports numpy. Import it where a refit is asked for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from itertools import combinations

import numpy as np

from arena.core.ratings.likelihood import Likelihood, Matrix, compare
from arena.core.ratings.normal import EXACT, normal_cdf, quantile
from arena.core.ratings.pairs import PairResult
from arena.core.ratings.running import MU
from arena.core.ratings.spread import Spread, spread

ENOUGH_DEALS = 10
"""With fewer deals it cannot be estimated how much deals disagree."""
FEW_SURPRISES = 8
"""With so few deals on which a bot did better than expected, or worse, their disagreement is not to be relied on."""
ALPHA = 0.05
"""Probability that a confidence interval misses the truth, or an order is called settled that is not, at most."""


def refit(
    pairs: Iterable[PairResult],
    entrants: int,
    *,
    players: int,
    anchors: Mapping[int, float] | None = None,
    predecessors: Mapping[int, int] | None = None,
) -> Fit:
    """Returns the ratings that explain all results best.

    Args:
        pairs: The results, in any order. Several rows of the same deal and pair are added.
        entrants: How many entrants there are; they have the numbers 0, 1, ... Some may not have played.
        players: How many sit at a table. From 3 on, the games' own number says less about how sure a result is.
        anchors: Ratings that are given, by entrant. They fix the scale; the others are rated relative to them.
        predecessors: By entrant the earlier one of which it is a new version. It is expected to be about as strong.
    """
    results = compare(pairs)
    played = results.entrants.tolist()
    anchors = anchors or {}
    free = np.array([who not in anchors for who in played], dtype=bool)
    start = np.array([anchors.get(who, MU) - MU for who in played])
    if not free.all():
        start[free] = start[~free].mean()
    likelihood = Likelihood(results, free, predecessors or {})
    strengths = likelihood.maximise(start)
    if free.all() and likelihood.prior.is_linked:
        strengths -= strengths.mean()
    ratings = [anchors.get(who, MU) for who in range(entrants)]
    for who, strength in zip(played, strengths.tolist(), strict=True):
        ratings[who] = anchors.get(who, MU + strength)
    return Fit(ratings, set(anchors), played, spread(likelihood, strengths), players)


class Fit:
    """Ratings of entrants 0, 1, ..., and what is known about their differences."""

    ratings: tuple[float, ...]
    """The rating of each entrant; `MU` for one without games."""
    half_width: tuple[float | None, ...]
    """Half of each rating's 95 % interval, relative to the mean of those that played, or to the anchors' scale.

    It is 0 for an anchor and None for an entrant without games.
    """
    deals: tuple[int, ...]
    enough: bool
    """Whether there are enough deals to see how much they disagree. If not, intervals are rough."""

    def __init__(
        self, ratings: Sequence[float], anchors: Set[int], played: Sequence[int], spread: Spread, players: int
    ) -> None:
        """Begins with a result of `refit`; call that. `played` has the order of the rows of `spread`."""
        self.ratings = tuple(ratings)
        self._players = players
        self._anchors = anchors
        self._spread = spread
        self._row = {who: row for row, who in enumerate(played)}
        everybody = range(len(ratings))
        self.deals = tuple(spread.deals[self._row[who]] if who in self._row else 0 for who in everybody)
        self.enough = spread.total >= ENOUGH_DEALS
        scaled = any(who in anchors for who in played)
        middle = [0.0 if scaled else 1 / max(1, len(played))] * len(played)
        self._middle = tuple(np.asarray(middle) @ root for root in spread.roots)
        self._least_surprising = min(spread.surprises, default=0)
        self._better = lru_cache(maxsize=2)(self._find_better)  # ranks, and the line below a table, ask for the same
        self.half_width = tuple(self._half_width(who) for who in everybody)

    def difference(self, one: int, other: int) -> tuple[float, float]:
        """Returns by how much the first is rated above the second, and the standard error of that.

        The error is infinite if one of them has no games, and 0 between anchors.
        """
        distance = self.ratings[one] - self.ratings[other]
        if one == other or {one, other} <= self._anchors:
            return distance, 0.0
        if one not in self._row or other not in self._row:
            return distance, math.inf
        return distance, self._error(one, other)

    def ahead(self, one: int, other: int) -> float:
        """Returns the likelihood, from 0 to 1, that the first is the stronger (often called LOS)."""
        distance, error = self.difference(one, other)
        if error == 0:
            return 0.5 if distance == 0 else float(distance > 0)
        return normal_cdf(distance / error)

    def order(self, among: Collection[int] | None = None) -> list[int]:
        """Returns the entrants (of `among`), the best first; equal ones by number, and those without games last."""
        everybody = range(len(self.ratings)) if among is None else among
        return sorted(everybody, key=lambda who: (self._unknown(who), -round(self.ratings[who], 6), who))

    def better(self, alpha: float = ALPHA, among: Collection[int] | None = None) -> frozenset[tuple[int, int]]:
        """Returns the pairs of whom the first is shown to be the better one.

        They are shown together: with probability `alpha` at most any of them is wrong (Holm's method over all pairs of
        those that played). `among` is that of `order`.
        """
        return self._better(alpha, tuple(self.order(among)))

    def _find_better(self, alpha: float, entrants: Sequence[int]) -> frozenset[tuple[int, int]]:
        given = combinations((who for who in entrants if who in self._anchors), 2)
        shown = {(one, other) for one, other in given if self.ratings[one] > self.ratings[other]}
        played = [who for who in entrants if who in self._row]
        upper, lower = np.triu_indices(len(played), 1)
        chances = self._by_chance(played)[upper, lower]
        order = np.argsort(chances, kind="stable")
        limits = alpha / np.arange(len(order), 0, -1)
        above = chances[order] > limits
        shown |= {(played[upper[at]], played[lower[at]]) for at in order[: np.argmax(above) if above.any() else None]}
        return frozenset(shown)

    def ranks(self, alpha: float = ALPHA, among: Collection[int] | None = None) -> list[int]:
        """Returns each entrant's rank: 1, and 1 for each entrant that is shown to be better.

        Those without games share the rank after all others. `among` is that of `order`; all others have the rank 0.
        """
        ahead = Counter(lower for _, lower in self.better(alpha, among))
        order = self.order(among)
        known = sum(not self._unknown(who) for who in order)
        ranks = [0] * len(self.ratings)
        for who in order:
            ranks[who] = 1 + (known if self._unknown(who) else ahead[who])
        return ranks

    def worst_ranks(self, alpha: float = ALPHA, among: Collection[int] | None = None) -> dict[int, int]:
        """Returns the last rank that is open for each entrant with games: one less for each that is shown to be worse.

        With probability `1 - alpha` at least, all true ranks lie between those of `ranks` and these.
        """
        behind = Counter(upper for upper, _ in self.better(alpha, among))
        known = [who for who in self.order(among) if not self._unknown(who)]
        return {who: len(known) - behind[who] for who in known}

    def _unknown(self, who: int) -> bool:
        return who not in self._row and who not in self._anchors

    def _half_width(self, who: int) -> float | None:
        if who in self._anchors:
            return 0.0
        if who not in self._row:
            return None
        return self._error(who) * quantile(ALPHA, self._freedom(who))

    def _error(self, *entrants: int) -> float:
        """Returns the standard error of a rating, or of the difference of two."""
        rows = [[root[self._row[who]] for root in self._spread.roots] for who in entrants]
        pairs = zip(rows[0], rows[1] if len(entrants) == 2 else self._middle, strict=True)
        naive, clustered = (float(np.linalg.norm(row - other)) for row, other in pairs)
        if self._fewest(entrants) < ENOUGH_DEALS:
            return naive if self._players == 2 else 2 * naive
        # Where a bot wins nearly always, or each deal is level, deals hardly disagree: that may be chance.
        surprises = self._least_surprising
        if len(entrants) == 2:
            surprises = min(self._spread.surprises[self._row[who]] for who in entrants)
        return max(clustered, naive * math.sqrt(min(1.0, FEW_SURPRISES / max(1, surprises))))

    def _by_chance(self, played: Sequence[int]) -> Matrix:
        """Returns how likely a distance like theirs is, on either side, between equal bots, for all pairs."""
        rows = [self._row[who] for who in played]
        ratings = np.array([self.ratings[who] for who in played])
        distance = np.abs(ratings[:, None] - ratings)
        naive, clustered = (_distances(root[rows]) for root in self._spread.roots)
        surprises = np.array([self._spread.surprises[row] for row in rows], dtype=float)
        doubt = np.sqrt(np.minimum(1.0, FEW_SURPRISES / np.maximum(1, np.minimum.outer(surprises, surprises))))
        deals = np.array([math.inf if who in self._anchors else self.deals[who] for who in played])
        fewest = np.minimum.outer(deals, deals)
        few = fewest < ENOUGH_DEALS
        error = np.where(few, naive if self._players == 2 else 2 * naive, np.maximum(clustered, naive * doubt))
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.where(error > 0, distance / error, np.where(distance > 0, math.inf, 0.0))
        return two_sided_all(apart, np.where(few, math.inf, fewest - 1))

    def _freedom(self, *entrants: int) -> int | None:
        """Returns the degrees of freedom of Student's distribution; None means the normal one."""
        deals = self._fewest(entrants)
        return None if deals < ENOUGH_DEALS else deals - 1

    def _fewest(self, entrants: Iterable[int]) -> int:
        """Returns the deals that a difference rests on: the fewest of those that are not anchors."""
        return min(self.deals[who] for who in entrants if who not in self._anchors)


def _distances(points: Matrix) -> Matrix:
    products = points @ points.T
    squares = np.diag(products)
    return np.sqrt(np.maximum(0.0, squares[:, None] + squares - 2 * products))


def two_sided_all(t: Matrix, freedom: Matrix) -> Matrix:
    """Returns `two_sided` of many distances, each with its degrees of freedom; infinity means the normal distribution.

    Student's distribution is near the normal one with very many degrees of freedom, as there (Abramowitz and Stegun
    26.7.3, 26.7.4 and 26.7.8).
    """
    with np.errstate(invalid="ignore"):
        narrowed = np.where(np.isinf(freedom), t, t * (1 - 1 / (4 * freedom)) / np.sqrt(1 + t * t / (2 * freedom)))
    chances = np.array([math.erfc(each / math.sqrt(2)) for each in narrowed.ravel()]).reshape(t.shape)
    exact = (freedom <= EXACT) & np.isfinite(t)
    if not exact.any():
        return chances
    n, angle = freedom[exact].astype(int), np.arctan(t[exact] / np.sqrt(freedom[exact]))
    odd, square = n % 2, np.cos(angle) ** 2
    term, total = np.where(odd, np.cos(angle), 1.0), np.zeros_like(angle)
    for k in range(int(n.max()) // 2):
        total += np.where(k < n // 2, term, 0.0)
        term = term * square * (2 * k + 1 + odd) / (2 * k + 2 + odd)
    central = np.where(odd, (angle + np.sin(angle) * total) * 2 / math.pi, np.sin(angle) * total)
    chances[exact] = np.maximum(0.0, 1 - central)
    return chances
