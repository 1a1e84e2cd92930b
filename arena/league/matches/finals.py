"""The rule of a season's final: who meets, and when it is settled who has won.

Laws:
1. It is a pure function of who plays, of the matches so far and of their results. So a final goes on after any kill,
   and its matches are the same at any number of workers.
2. In a round every table of one size that the finalists can form plays one deal in all its seatings. So after each
   round everybody has met everybody equally often, whoever leads. The next round has the size that a finalist has
   played least. From round to round the circle of seats changes.
3. It is settled when evidence shows of the leader that they are better than each of the others, or about level with
   them. That is the rule of the format `adaptive`: it holds whenever one looks, for all pairs together.
4. It is asked of whole rounds, and of all but the last, which is played meanwhile: no worker waits. If they settle it,
   it is asked of all.
5. Who leaves is out of it. Their tables are not played any more, and their results count for nobody's place.
6. Only matches count that have all their games: half of a deal is not fair. One that could not be played is played
   again on another deal, a few times.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from arena.core.face import formats, pentanomial
from arena.league.store.records import FinalMatch

if TYPE_CHECKING:
    from arena.core.face import refit

RULE: Final = formats.Adaptive()
"""Whose `alpha` and `delta` hold here, too: how often any verdict may be wrong, and what is level."""
MOST_AGAIN: Final = 3
"""How often matches of a table are played again that could not be played."""

Table: TypeAlias = tuple[int, ...]
"""Entrants who meet, in rising order."""


class Design(msgspec.Struct, frozen=True, kw_only=True):
    """What a final is planned from."""

    entrants: tuple[int, ...]
    """Who is still in it, the best of the season first."""
    begun_with: int
    sizes: tuple[int, ...]
    """The numbers of players that matches may have."""
    deals: int
    """The most deals that it may take. No round begins that would need more."""

    def rounds(self) -> Iterator[FinalRound]:
        """Yields the rounds, without end; none if there are too few finalists for a table."""
        possible = sorted(size for size in set(self.sizes) if size <= len(self.entrants))
        matches = dict.fromkeys(possible, 0)
        turns: Counter[int] = Counter()
        while possible:
            size = min(possible, key=lambda size: (matches[size], size))
            yield FinalRound(size, turns[size], tuple(combinations(sorted(self.entrants), size)))
            turns[size] += 1
            matches[size] += math.comb(len(self.entrants) - 1, size - 1)


class FinalRound(msgspec.Struct, frozen=True):
    """Every table of one size, once."""

    players: int
    turn: int
    """How many rounds of that size there were before."""
    tables: tuple[Table, ...]


class FinalStage(msgspec.Struct, frozen=True, kw_only=True):
    """How far a final is."""

    round: int
    """The round that is being played, counted from 1; 0 before the first."""
    turn: int = 0
    """How many rounds of its size there were before."""
    tables: tuple[Table, ...] = ()
    """What is to be planned now: the rest of a round."""
    outcome: Literal["settled", "not settled"] | None = None
    """None while it goes on."""
    reason: str = ""
    """Why it ended so, for people."""


class Finalist(msgspec.Struct, frozen=True, kw_only=True):
    """How a finalist stands."""

    entrant: int
    rank: int
    """Shared where the order is not settled."""
    points: float | None
    """Its mean share against the others, from 0 to 1; None without a deal."""
    deals: int
    rating: float | None
    """Rating by the refit of the final alone."""
    half_width: float | None
    """Half of its confidence interval, 95 %."""


def stage(design: Design, matches: Sequence[FinalMatch], pairs: Collection[pentanomial.PairResult]) -> FinalStage:
    """Returns how far a final is, and what is to be planned now.

    Args:
        matches: Its matches so far, in order.
        pairs: The results of its matches, of each deal and pair.
    """
    by_table = _by_table(matches)
    complete: list[bool] = []
    """Whether each match is over, by round that was begun."""
    deals: list[set[int]] = []
    """Deals that count, by round."""
    for round in design.rounds():
        played = [by_table[table][round.turn] for table in round.tables if len(by_table[table]) > round.turn]
        left = tuple(table for table in round.tables if len(by_table[table]) <= round.turn)
        if not played:
            return _next(design, round, matches, pairs, complete, deals)
        if left:
            return FinalStage(round=len(complete) + 1, turn=round.turn, tables=left)
        complete.append(all(match.over for match in played))
        deals.append({match.deal for match in played if match.whole})
    reason = f"too few finalists are left for a game: {len(design.entrants)}"
    return FinalStage(round=len(complete), outcome="not settled", reason=reason)


def _next(
    design: Design,
    round: FinalRound,
    matches: Sequence[FinalMatch],
    pairs: Collection[pentanomial.PairResult],
    complete: Sequence[bool],
    deals: Sequence[set[int]],
) -> FinalStage:
    """Decides about a round that was not begun: by the rounds before the last one, even if that is over already."""
    begun = len(complete)
    waiting = FinalStage(round=begun)
    if not all(complete[:-1]):
        return waiting
    fits = len(matches) + len(round.tables) <= design.deals
    further = FinalStage(round=begun + 1, turn=round.turn, tables=round.tables)
    if fits and not is_settled(design, pairs, set().union(*deals[:-1])):
        return further
    if not all(complete):
        return waiting
    if is_settled(design, pairs, set().union(*deals)):
        return FinalStage(round=begun, outcome="settled", reason="the winner is settled")
    if fits:
        return further
    reason = f"another round would need more than {design.deals:,} deals"
    return FinalStage(round=begun, outcome="not settled", reason=reason)


def _by_table(matches: Iterable[FinalMatch]) -> Mapping[Table, Sequence[FinalMatch]]:
    """Returns by table its matches, without those that are played again."""
    found: defaultdict[Table, list[FinalMatch]] = defaultdict(list)
    again: Counter[Table] = Counter()
    for match in matches:
        if match.over and not match.whole and again[match.table] < MOST_AGAIN:
            again[match.table] += 1
        else:
            found[match.table].append(match)
    return found


def is_settled(design: Design, pairs: Iterable[pentanomial.PairResult], deals: Collection[int]) -> bool:
    """Says whether it is shown of the leader that they are better than each other finalist, or about level with them.

    Args:
        deals: Those that count.
    """
    from arena.core.face import Evidence

    counted = _among(design.entrants, (pair for pair in pairs if pair.deal in deals))
    if not counted:
        return False
    leader, *others = _refit(design, counted).order()
    evidence = {place: Evidence() for place in others}  # the closest first, who is open the longest
    for pair in counted:
        if leader in (pair.one, pair.other):
            evidence[pair.other if pair.one == leader else pair.one].add(pair.share_of(leader))
    comparisons = math.comb(design.begun_with, 2)
    return all(known.verdict(RULE.alpha, RULE.delta, comparisons) != "open" for known in evidence.values())


def standings(design: Design, matches: Iterable[FinalMatch], pairs: Iterable[pentanomial.PairResult]) -> list[Finalist]:
    """Returns how the finalists stand who are still in it, the best first."""
    whole = {match.deal for match in matches if match.whole}
    counted = _among(design.entrants, (pair for pair in pairs if pair.deal in whole))
    if not counted:
        return [
            Finalist(entrant=entrant, rank=1, points=None, deals=0, rating=None, half_width=None)
            for entrant in design.entrants
        ]
    fit = _refit(design, counted)
    ranks = fit.ranks()
    shares: defaultdict[int, list[float]] = defaultdict(list)
    for pair in counted:
        shares[pair.one].append(pair.share)
        shares[pair.other].append(1 - pair.share)
    entrants = sorted(design.entrants)
    return [
        Finalist(
            entrant=entrants[place],
            rank=ranks[place],
            points=sum(shares[place]) / len(shares[place]) if shares[place] else None,
            deals=fit.deals[place],
            rating=fit.ratings[place],
            half_width=fit.half_width[place],
        )
        for place in fit.order()
    ]


def _refit(design: Design, counted: Iterable[pentanomial.PairResult]) -> refit.Fit:
    from arena.core.face import refit

    return refit.refit(counted, len(design.entrants), players=max(design.sizes))


def _among(entrants: Collection[int], pairs: Iterable[pentanomial.PairResult]) -> list[pentanomial.PairResult]:
    """Returns the results of these entrants among themselves, with their places in rising order as numbers."""
    place = {entrant: place for place, entrant in enumerate(sorted(entrants))}
    return [
        pentanomial.PairResult(pair.deal, place[pair.one], place[pair.other], pair.better, pair.equal, pair.worse)
        for pair in pairs
        if pair.one in place and pair.other in place
    ]
