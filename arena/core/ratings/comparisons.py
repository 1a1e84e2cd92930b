"""Results of pairs as arrays: which rows belong to one deal, one pair, one entrant."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from arena.core.ratings.pairs import PairResult

Vector: TypeAlias = npt.NDArray[np.float64]
Matrix: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]


def sums(places: Indices, values: Vector, size: int) -> Vector:
    """Returns for each place the sum of the values that have it."""
    return np.bincount(places, values, size).astype(np.float64, copy=False)


class Comparisons(msgspec.Struct, frozen=True):
    """Who met whom with which result. Entrants are counted among those that played: 0, 1, ..."""

    entrants: Indices
    """The numbers that the entrants have outside."""
    deals: int
    """How many different deals there are."""
    deal: Indices
    """Of each row: which deal, from 0."""
    pair: Indices
    """Of each row: which pair."""
    points: Vector
    """Of each row: the games that `one` won, a drawn one as a half."""
    against: Vector
    """Of each row: the games that `other` won, a drawn one as a half."""
    one: Indices
    """Of each pair: the first entrant."""
    other: Indices
    """Of each pair: the second entrant."""

    @property
    def size(self) -> int:
        """How many entrants played."""
        return len(self.entrants)

    def by_pair(self) -> tuple[Vector, Vector]:
        """Returns of each pair the points of `one` and of `other`, over all deals."""
        pairs = len(self.one)
        return sums(self.pair, self.points, pairs), sums(self.pair, self.against, pairs)

    def by_entrant(self, signed: Vector) -> Vector:
        """Returns of each entrant the sum over its pairs, with a plus where it is `one` and a minus where `other`."""
        return sums(self.one, signed, self.size) - sums(self.other, signed, self.size)

    def seats(self) -> tuple[Indices, Indices, Indices]:
        """Returns which deal and entrant belong together: deals, entrants, and of each row the two places in them."""
        rows = np.concatenate([self.deal, self.deal])
        who = np.concatenate([self.one[self.pair], self.other[self.pair]])
        keys, place = np.unique(rows * self.size + who, return_inverse=True)
        return keys // self.size, keys % self.size, place.reshape(2, -1)


def compare(pairs: Iterable[PairResult]) -> Comparisons:
    """Returns the results as arrays."""
    flat = chain.from_iterable((p.deal, p.one, p.other, p.better, p.equal, p.worse) for p in pairs)
    table = np.fromiter(flat, np.int64).reshape(-1, 6)
    table = table[table[:, 3:].sum(axis=1) > 0]
    deals, deal = np.unique(table[:, 0], return_inverse=True)
    entrants, place = np.unique(table[:, 1:3], return_inverse=True)
    place = place.reshape(-1, 2)
    keys, pair = np.unique(place[:, 0] * len(entrants) + place[:, 1], return_inverse=True)
    return Comparisons(
        entrants=entrants,
        deals=len(deals),
        deal=deal,
        pair=pair,
        points=table[:, 3] + table[:, 4] / 2,
        against=table[:, 5] + table[:, 4] / 2,
        one=keys // max(1, len(entrants)),
        other=keys % max(1, len(entrants)),
    )
