"""Results of pairs: what all statistics are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import msgspec

from arena.core.types import Ranks, Teams, sides


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
    margin: int | None = None
    """Excess of the leads of `one` over all at its tables beyond those of `other`, added up; None if none are known of
    a game."""

    @property
    def games(self) -> int:
        """Games that both played on the deal; at least 1."""
        return self.better + self.equal + self.worse

    @property
    def share(self) -> float:
        """The share of `one`, from 0 to 1: a better rank counts 1, an equal one a half."""
        return (self.better + self.equal / 2) / self.games

    def margin_share(self, most: int, players: int) -> float | None:
        """Returns the share of `one` by margins, from 0 to 1: 1 if it led all by `most` (the largest lead) always."""
        if self.margin is None:
            return None
        return min(1.0, max(0.0, 0.5 + self.margin / (self.games * 4 * most * (players - 1))))

    def with_games_of(self, more: PairResult) -> PairResult:
        """Returns the result over the games of both."""
        margin = None if self.margin is None or more.margin is None else self.margin + more.margin
        better, equal, worse = self.better + more.better, self.equal + more.equal, self.worse + more.worse
        return PairResult(self.deal, self.one, self.other, better, equal, worse, margin)

    def share_of(self, entrant: int) -> float:
        """Returns the share of `one` or of `other`."""
        return self.share if entrant == self.one else 1 - self.share


def pairs_of(
    deal: int, entrants: Sequence[int], ranks: Ranks, margins: Sequence[int | None] = (), teams: Teams | None = None
) -> Iterator[PairResult]:
    """Yields what one game says of each pair of its players, who are given by seat: nothing of those of one team."""
    seats = zip(entrants, ranks, margins or (None,) * len(ranks), sides(teams, len(ranks)), strict=True)
    for (one, rank, lead, team), (other, others, their_lead, their_team) in combinations(sorted(seats), 2):
        if team == their_team:
            continue
        margin = None if lead is None or their_lead is None else lead - their_lead
        yield PairResult(deal, one, other, int(rank < others), int(rank == others), int(rank > others), margin)


def add_up(pairs: Iterable[PairResult]) -> list[PairResult]:
    """Returns one result for each deal and pair, in order."""
    sums: dict[tuple[int, int, int], PairResult] = {}
    for pair in pairs:
        key = (pair.deal, pair.one, pair.other)
        sums[key] = pair if key not in sums else sums[key].with_games_of(pair)
    return [sums[key] for key in sorted(sums)]
