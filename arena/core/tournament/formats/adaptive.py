"""Adaptive: games are played where the order is still open, until it is settled or a budget is spent.

Laws:
1. A refit of all results gives the order, and so says which pairs are neighbours. It only chooses who meets.
2. Whether a pair is settled is said by the evidence of the deals that both of them played, which holds without any
   model and whenever one looks. Because results choose the pairs, the evidence must hold for all pairs together.
3. It is decided before a deal who plays it. So each pair's evidence stays a fair bet, whatever made it be chosen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from arena.core.errors import ConfigError
from arena.core.progress import Neighbour, Progress
from arena.core.ratings.pairs import PairResult
from arena.core.tournament.formats.base import MAX_GAMES, Director, Format, Lagging, Meeting, Round, RoundResult
from arena.core.tournament.formats.seating import orders

if TYPE_CHECKING:
    from arena.core.ratings.evidence import Evidence, Verdict
    from arena.core.store.reader import Reader
    from arena.core.store.records import Tournament

Pair: TypeAlias = tuple[int, int]
"""Two entrants, the smaller number first."""

OPENING: Final = 2
"""Rounds in which every pair meets, before results choose."""
GROWTH: Final = 10
"""A batch of deals is this part of those that were played, so that processes are not started for a few deals."""


class Adaptive(Format, frozen=True, kw_only=True, tag="adaptive"):
    """Neighbours in the order meet until it is shown who is better, or that they are about level.

    First every pair meets twice. Then those neighbours meet whose order is open, and of these the pairs that have the
    fewest deals. At a table of three or more others join who are about as strong.
    """

    text: ClassVar[str] = "arena.core.show.rounds:adaptive_text"

    deals: int = 4
    """Least number of deals that a pair plays at once; later it is a tenth of those that it has played."""
    budget: int = 5_000
    """Largest number of deals that are played in all. A deal of each table counts."""
    alpha: float = 0.05
    """Probability that any pair is called settled wrongly, at most."""
    delta: float = 0.1
    """A pair is level if its mean share is shown to be within so much of a half."""

    def progress(self, reader: Reader, row: Tournament, names: Sequence[str], order: Sequence[int]) -> Progress:
        """Returns what is known about each bot and the next one."""
        from arena.core.ratings.evidence import Evidence

        wanted = {(min(pair), max(pair)) for pair in pairwise(order)}
        evidence = {pair: Evidence() for pair in wanted}
        for pair in reader.pairs(row.id):
            if (pair.one, pair.other) in wanted:
                evidence[pair.one, pair.other].add(pair.share)
        comparisons = len(names) * (len(names) - 1) // 2
        neighbours = []
        for one, other in pairwise(order):
            known = evidence[min(one, other), max(one, other)]
            verdict = known.verdict(self.alpha, self.delta, comparisons)
            if one > other:
                verdict = {"better": "worse", "worse": "better"}.get(verdict, verdict)  # type: ignore[assignment]
            score = known.score if one < other else 1 - known.score
            neighbours.append(
                Neighbour(
                    bot=names[one],
                    deals=known.deals,
                    share=round(score, 4) if known.deals else None,
                    evidence=max(known.e_plus, known.e_minus),
                    verdict=verdict,
                )
            )
        return Progress(
            format="adaptive",
            neighbours=(*neighbours, *(Neighbour(bot=names[entrant]) for entrant in order[-1:])),
            needed=2 * comparisons / self.alpha,
        )

    def check(self, entrants: int, players: int) -> None:
        """Checks that every parameter is in its range, and that the budget is enough for each pair to meet.

        Raises:
            ConfigError: Something is not. Show the message to the operator.
        """
        super().check(entrants, players)
        check_chances(self.alpha, self.delta)
        least = OPENING * self.deals * -(-math.comb(entrants, 2) // math.comb(players, 2))
        if self.budget < least:
            raise ConfigError(
                f"expected a budget of at least {least:,} deals, in which every pair can meet twice, "
                f"got: {self.budget:,}; use a larger --budget, or a smaller --deals"
            )
        check_games(self.budget, len(orders(players, self.seatings)[0]), "--budget")

    def director(self, entrants: int, players: int, draw: bytes) -> Director:
        """Returns the director. It draws nothing."""
        return _Settler(self, entrants, players)


def check_chances(alpha: float, delta: float) -> None:
    """Checks the parameters of a verdict.

    Raises:
        ConfigError: One is out of its range. Show the message to the operator.
    """
    if not 0 < alpha < 1:
        raise ConfigError(f"expected alpha to be above 0 and below 1, got: {alpha}; use --alpha 0.05")
    if not 0 <= delta < 0.5:
        raise ConfigError(f"expected delta to be from 0 to below 0.5, got: {delta}; use --delta 0.05")


def check_games(deals: int, seatings: int, option: str) -> None:
    """Checks that a tournament of so many deals, each in so many seatings, is not too long.

    Raises:
        ConfigError: It is. Show the message to the operator.
    """
    if deals * seatings > MAX_GAMES:
        raise ConfigError(
            f"expected at most {MAX_GAMES:,} games, got: {deals * seatings:,} with {option} {deals}; use a smaller one"
        )


def growing(deals: int, played: int) -> int:
    """Returns how many deals to play at once: a tenth of those played, but at least the number given."""
    return max(deals, played // GROWTH)


class _Settler(Lagging):
    def __init__(self, format: Adaptive, entrants: int, players: int) -> None:
        super().__init__()
        self._format = format
        self._entrants = entrants
        self._players = players
        self._rounds = 0
        self._deals = 0
        self._planned: Counter[Pair] = Counter()
        """Deals that are in rounds, by pair."""
        self._sums: dict[Pair, PairResult] = {}
        """Results by pair, all of them. Only the refit needs them, for which their sum is enough."""
        self._evidence: dict[Pair, Evidence] = {}
        self._verdicts: dict[Pair, Verdict] = {}
        """Verdicts that were asked for and hold still."""

    def next(self) -> Round | None:
        left = self._format.budget - self._deals
        if self._rounds < OPENING:
            tables = cover(self._entrants, self._players)
            batch = self._format.deals
        else:
            ratings = self._ratings()
            open_pairs = self._open_neighbours(ratings)
            if not open_pairs:
                return None
            fewest = min(self._planned[pair] for pair in open_pairs)
            batch = growing(self._format.deals, fewest)
            tables = self._tables([pair for pair in open_pairs if self._planned[pair] < fewest + batch], ratings)
        tables = tables[:left]
        if not tables:
            return None
        batch = min(batch, left // len(tables))
        meetings = [Meeting(table, self._deals + place * batch) for place, table in enumerate(tables)]
        return Round(title=f"round {self._rounds + 1}", deals=batch, meetings=meetings)

    def plan(self, round: Round) -> None:
        self._rounds += 1
        for meeting in round.meetings:
            self._deals += round.deals
            for pair in combinations(meeting.entrants, 2):
                self._planned[pair] += round.deals

    def note(self, result: RoundResult) -> None:
        from arena.core.ratings.evidence import Evidence

        for found in (pair for meeting in result.meetings for pair in meeting.pairs):
            pair = found.one, found.other
            self._evidence.setdefault(pair, Evidence()).add(found.share)
            self._verdicts.pop(pair, None)
            self._sums[pair] = self._sums.get(pair, PairResult(0, *pair, 0, 0, 0)).with_games_of(found)

    def _ratings(self) -> Sequence[float]:
        from arena.core.ratings.refit import refit

        ratings = refit(self._sums.values(), self._entrants, players=self._players).ratings
        return [round(rating, 6) for rating in ratings]  # the same order on any machine, whatever its last digits

    def _open_neighbours(self, ratings: Sequence[float]) -> list[Pair]:
        """Returns the neighbours in the order of which it is not settled who is better."""
        order = sorted(range(self._entrants), key=lambda entrant: (-ratings[entrant], entrant))
        return [pair for one, other in pairwise(order) if self._is_open(pair := (min(one, other), max(one, other)))]

    def _is_open(self, pair: Pair) -> bool:
        if pair not in self._evidence:
            return True
        if pair not in self._verdicts:
            format, comparisons = self._format, math.comb(self._entrants, 2)
            self._verdicts[pair] = self._evidence[pair].verdict(format.alpha, format.delta, comparisons)
        return self._verdicts[pair] == "open"

    def _tables(self, chosen: Sequence[Pair], ratings: Sequence[float]) -> list[tuple[int, ...]]:
        """Returns tables at which all these pairs meet."""
        tables: list[tuple[int, ...]] = []
        for pair in chosen:
            if not any(set(pair) <= set(table) for table in tables):
                others = [entrant for entrant in range(self._entrants) if entrant not in pair]
                if self._players > 2:
                    others.sort(key=lambda entrant: self._company(entrant, pair, ratings))
                tables.append(tuple(sorted([*pair, *others[: self._players - 2]])))
        return tables

    def _company(self, entrant: int, pair: Pair, ratings: Sequence[float]) -> tuple[bool, float, int]:
        """Returns what is less for an entrant that makes better company for a pair."""
        settled = not any(self._is_open((min(entrant, one), max(entrant, one))) for one in pair)
        distance = min(abs(ratings[entrant] - ratings[one]) for one in pair)
        return settled, distance, entrant


def cover(entrants: int, players: int) -> list[tuple[int, ...]]:
    """Returns tables at which every pair of entrants meets at least once, and few meet again."""
    if players == 2:
        return list(combinations(range(entrants), 2))
    met: set[Pair] = set()
    tables = []
    for pair in combinations(range(entrants), 2):
        if pair in met:
            continue
        table = list(pair)
        while len(table) < players:
            table.append(
                min(
                    (entrant for entrant in range(entrants) if entrant not in table),
                    key=lambda entrant: sum((min(entrant, one), max(entrant, one)) in met for one in table),
                )
            )
        table.sort()
        met.update(combinations(table, 2))
        tables.append(tuple(table))
    return tables
