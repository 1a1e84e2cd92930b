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
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from itertools import pairwise

import numpy as np

from arena.ratings.comparisons import compare
from arena.ratings.likelihood import Likelihood
from arena.ratings.normal import normal_cdf, quantile, two_sided
from arena.ratings.pairs import PairResult
from arena.ratings.running import MU
from arena.ratings.spread import Spread, spread

ENOUGH_DEALS = 10
"""With fewer deals it cannot be estimated how much deals disagree."""
FEW_SURPRISES = 8
"""With so few deals on which a bot did better than expected, or worse, their disagreement is not to be relied on."""
ALPHA = 0.05
"""How often an interval may miss the truth, and how often an order may be called settled that is not."""


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
    """On how many different deals each entrant played."""
    enough: bool
    """Whether there are enough deals to see how much they disagree. If not, intervals are rough."""

    def __init__(
        self, ratings: Sequence[float], anchors: Set[int], played: Sequence[int], spread: Spread, players: int
    ) -> None:
        """Begins with a result of `refit`; call that.

        Args:
            ratings: One for each entrant.
            anchors: Whose rating was given.
            played: The entrants with games, in the order of the rows of `spread`.
            spread: How sure the ratings are.
            players: How many sit at a table.
        """
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
        """Returns the entrants, the best first; equal ones by number, and those without games last.

        Args:
            among: Only these; None means all. They are rated by all results all the same.
        """
        everybody = range(len(self.ratings)) if among is None else among
        return sorted(everybody, key=lambda who: (self._unknown(who), -round(self.ratings[who], 6), who))

    def open_pairs(self, alpha: float = ALPHA, among: Collection[int] | None = None) -> list[tuple[int, int]]:
        """Returns the neighbours in the order of which it is not settled who is better, from the top down.

        All that are not listed are settled together: with probability `alpha` at most any of them is wrong (Holm's
        method over the neighbours that played). `among` is that of `order`.
        """
        neighbours = [(one, other) for one, other in pairwise(self.order(among)) if not self._unknown(other)]
        likely = sorted((self._by_chance(one, other), (one, other)) for one, other in neighbours)
        settled = set()
        for left, (chance, pair) in zip(range(len(likely), 0, -1), likely, strict=True):
            if chance > alpha / left:
                break
            settled.add(pair)
        return [pair for pair in neighbours if pair not in settled]

    def settled(self, alpha: float = ALPHA) -> bool:
        """Returns whether the whole order of those that played is settled."""
        return not self.open_pairs(alpha)

    def ranks(self, alpha: float = ALPHA, among: Collection[int] | None = None) -> list[int]:
        """Returns each entrant's rank, from 1. Neighbours share a rank where their order is not settled.

        Those without games share the last rank. `among` is that of `order`; all others have the rank 0.
        """
        shared = {other for _, other in self.open_pairs(alpha, among)}
        ranks = [0] * len(self.ratings)
        rank, last = 0, None
        for place, who in enumerate(self.order(among), start=1):
            together = who in shared or (last is not None and self._unknown(last) and self._unknown(who))
            rank = rank if together else place
            ranks[who], last = rank, who
        return ranks

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

    def _by_chance(self, one: int, other: int) -> float:
        """Returns how likely a distance like this is, on either side, between equal bots."""
        distance, error = self.difference(one, other)
        if error == 0:
            return float(distance == 0)
        return two_sided(distance / error, self._freedom(one, other))

    def _freedom(self, *entrants: int) -> int | None:
        """Returns the degrees of freedom of Student's distribution; None means the normal one."""
        deals = self._fewest(entrants)
        return None if deals < ENOUGH_DEALS else deals - 1

    def _fewest(self, entrants: Iterable[int]) -> int:
        """Returns the deals that a difference rests on: the fewest of those that are not anchors."""
        return min(self.deals[who] for who in entrants if who not in self._anchors)
