"""Compare: two bots meet, deal after deal, until it is shown who is better."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from arena.core.errors import ConfigError
from arena.core.ratings.sprt import Sprt
from arena.core.tournament.formats.adaptive import check_chances, check_games, growing
from arena.core.tournament.formats.base import Director, Format, Lagging, Meeting, Round, RoundResult
from arena.core.tournament.formats.seating import orders

if TYPE_CHECKING:
    from arena.core.ratings.evidence import Evidence
    from arena.core.ratings.pairs import PairResult
    from arena.core.types import Payload


class Compare(Format, frozen=True, kw_only=True, tag="compare"):
    """The first two entrants meet on new deals until it is shown who is better, or that they are about level.

    At a table of three or more the other entrants take the remaining seats in turn.
    """

    deals: int = 4
    """Least number of deals that are played at once; later it is a tenth of those that were played."""
    max_deals: int = 5_000
    continues: str = ""
    """The comparison that ended open and is continued, if any."""
    before: tuple[tuple[float, int], ...] = ()
    """Evidence so far: mean shares of the first entrant, and how many deals had each."""
    alpha: float = 0.05
    """Probability of a wrong answer, at most."""
    delta: float = 0.05
    """The two are level if their mean share is shown to be within so much of a half."""
    margin: int | None = None
    """Judge by margins, in which one seat's lead over another counts at most so much (`Margin.most`); else by wins."""
    sprt: tuple[float, float] | None = None
    """For two players: stop by a sequential test of these two differences, in Elo points, and not by evidence."""

    def check(self, entrants: int, players: int) -> None:
        """Checks that every parameter is in its range.

        Raises:
            ConfigError: One is not. Show the message to the operator.
        """
        super().check(entrants, players)
        if players == 2 and entrants > 2:
            raise ConfigError(f"expected 2 bots to compare, got: {entrants}; name two")
        if self.max_deals < 1:
            raise ConfigError(f"expected at least 1 deal, got: {self.max_deals}; use --max-deals")
        check_chances(self.alpha, self.delta)
        if self.sprt is not None:
            if self.margin is not None:
                raise ConfigError("expected --sprt to be by wins, got: --by margin too; leave one of them out")
            if players > 2:
                raise ConfigError(f"expected --sprt with games of 2 players, got: {players}; leave it out")
            self.test()
        check_games(self.max_deals, len(orders(players, self.seatings)[0]), "--max-deals")

    @classmethod
    def words(cls, settings: Payload, refs: Sequence[str]) -> tuple[list[str], list[str]]:
        """Returns the command that compares them; parameters that it has no option for follow from what was before."""
        judged = ["--by", "margin"] if "margin" in settings else []
        given: Payload = {name: settings[name] for name in ("max_deals", "alpha", "delta", "sprt") if name in settings}
        others = [word for ref in refs[2:] for word in ("--others", ref)]
        return ["compare", *refs[:2], *others], [*cls.options(given), *judged]

    def parameters(self, players: int) -> Payload:
        """Returns them as the others do. `margin` is there only if it is judged by: so earlier documents stay."""
        parameters = super().parameters(players)
        if self.margin is None:
            del parameters["margin"]
        return parameters

    def shares(self, pairs: Iterable[PairResult], players: int) -> Iterator[float]:
        """Yields what of each deal of the two counts for the first, from 0 to 1, where that is known."""
        return shares(pairs, self.margin, players)

    def lead(self, share: float, players: int) -> float:
        """Returns a share by margins as a lead in a game: `PairResult.margin_share` turned round."""
        return (share - 0.5) * 4 * (self.margin or 0) * (players - 1) / players

    @property
    def deals_before(self) -> int:
        """How many deals the comparison had that is continued."""
        return sum(count for _, count in self.before)

    def test(self) -> Sprt | None:
        """Returns the sequential test, or None if there is none. Both its errors are `alpha`.

        Raises:
            ConfigError: Its parameters make no test. Show the message to the operator.
        """
        return None if self.sprt is None else Sprt(*self.sprt, alpha=self.alpha, beta=self.alpha)

    def director(self, entrants: int, players: int, draw: bytes) -> Director:
        """Returns the director. It draws nothing."""
        return _Comparison(self, entrants, players)


def shares(pairs: Iterable[PairResult], margin: int | None, players: int) -> Iterator[float]:
    """Yields entrant 0's share of each deal with entrant 1, where known: by margins up to `margin`, or by wins."""
    for pair in pairs:
        if (pair.one, pair.other) == (0, 1):
            share = pair.share if margin is None else pair.margin_share(margin, players)
            if share is not None:
                yield share


class _Comparison(Lagging):
    def __init__(self, format: Compare, entrants: int, players: int) -> None:
        super().__init__()
        self._format = format
        self._test = format.test()
        self._others = entrants - 2
        self._players = players
        self._seats = players - 2
        """Seats of a table that are left for the others."""
        self._rounds = 0
        self._deals = format.deals_before
        """Deals that are in rounds, or were played before. No deal comes twice."""
        self._turn = 0
        """Tables that are in rounds."""
        self._evidence: Evidence | None = None

    def next(self) -> Round | None:
        left = self._format.max_deals - self._deals
        if not left or self._is_shown():
            return None
        batch = min(left, growing(self._format.deals, self._deals))
        tables = min(batch, self._turns)
        batch //= tables
        return Round(
            title=f"round {self._rounds + 1}",
            deals=batch,
            meetings=[Meeting(self._table(self._turn + place), self._deals + place * batch) for place in range(tables)],
        )

    def plan(self, round: Round) -> None:
        self._rounds += 1
        self._turn += len(round.meetings)
        self._deals += round.deals * len(round.meetings)

    def note(self, result: RoundResult) -> None:
        from arena.core.ratings.evidence import Evidence

        if self._evidence is None:
            self._evidence = Evidence()
            for share, count in self._format.before:
                self._evidence.add(share, count)
        for meeting in result.meetings:
            for judged in self._format.shares(meeting.pairs, self._players):
                self._evidence.add(judged)

    def _is_shown(self) -> bool:
        if self._evidence is None:
            return False
        if self._test is not None:
            return self._test.verdict(self._evidence.counts) != "open"
        return self._evidence.verdict(self._format.alpha, self._format.delta) != "open"

    @property
    def _turns(self) -> int:
        """After how many tables the same others sit there again."""
        return self._others // math.gcd(self._others, self._seats) if self._seats else 1

    def _table(self, turn: int) -> tuple[int, ...]:
        first = turn * self._seats
        return (0, 1, *(2 + (first + seat) % self._others for seat in range(self._seats)))
