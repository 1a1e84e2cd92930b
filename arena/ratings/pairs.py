"""Results of pairs: what all statistics are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, starmap

import msgspec

from arena.types import Ranks


class PairResult(msgspec.Struct, frozen=True):
    """How one entrant did against another on one deal, over the games that both played there."""

    deal: int
    """The deal's number. Results of one deal are not independent of each other."""
    one: int
    """The smaller number of the two entrants."""
    other: int
    """The larger one."""
    better: int
    """Games in which `one` had the better rank."""
    equal: int
    """Games in which they shared a rank."""
    worse: int
    """Games in which `other` had the better rank."""

    @property
    def games(self) -> int:
        """Games that both played on the deal; at least 1."""
        return self.better + self.equal + self.worse

    @property
    def share(self) -> float:
        """The share of `one`, from 0 to 1: a better rank counts 1, an equal one a half."""
        return (self.better + self.equal / 2) / self.games

    def share_of(self, entrant: int) -> float:
        """Returns the share of `one` or of `other`."""
        return self.share if entrant == self.one else 1 - self.share


def pairs_of(deal: int, entrants: Sequence[int], ranks: Ranks) -> Iterator[PairResult]:
    """Yields what one game says of each pair of its players, who are given by seat."""
    ranked = sorted(zip(entrants, ranks, strict=True))
    for (one, rank), (other, others) in combinations(ranked, 2):
        yield PairResult(deal, one, other, int(rank < others), int(rank == others), int(rank > others))


def add_up(pairs: Iterable[PairResult]) -> list[PairResult]:
    """Returns one result for each deal and pair, in order."""
    sums: dict[tuple[int, int, int], tuple[int, int, int]] = {}
    for pair in pairs:
        key = (pair.deal, pair.one, pair.other)
        better, equal, worse = sums.get(key, (0, 0, 0))
        sums[key] = (better + pair.better, equal + pair.equal, worse + pair.worse)
    return list(starmap(PairResult, (key + sums[key] for key in sorted(sums))))
