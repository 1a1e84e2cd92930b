"""Swiss: in each round those meet who have about equal points and have not met."""

from __future__ import annotations

import math
from collections import Counter, deque
from typing import ClassVar

from arena.core.errors import ConfigError
from arena.core.tournament.formats.base import Director, Format, Meeting, MeetingResult, Round, RoundResult
from arena.core.tournament.formats.matching import pairs, tables
from arena.core.tournament.formats.seating import orders

BYE = 1.0
"""Points of a bye where two meet: those of a won match."""
BYE_AT_TABLES = 0.5
"""Points of a bye at tables of three and more: the mean of a table."""


class Swiss(Format, frozen=True, kw_only=True, tag="swiss"):
    """In each round entrants of about equal points meet, and nobody meets somebody again if it can be avoided.

    A match won gives a point, a level one half a point; at a table of three or more an entrant's share is its points.
    The lowest who had no bye yet rest if the tables do not come out even, and get a point, or half a point at tables of
    three or more, where that is the mean. There are no colours to balance: each deal is played in all its seatings.
    """

    text: ClassVar[str] = "arena.core.show.rounds:swiss_text"

    rounds: int | None = None
    """Number of rounds. None: the logarithm of the entrants to base 2, rounded up, and 2 more."""
    deals: int = 6

    def check(self, entrants: int, players: int) -> None:
        """Checks that there is a round.

        Raises:
            ConfigError: There is none, or there cannot be such a tournament. Show the message to the operator.
        """
        if self.rounds is not None and self.rounds < 1:
            raise ConfigError(f"expected at least 1 round, got: {self.rounds}; use --rounds")
        super().check(entrants, players)

    def rounds_of(self, entrants: int) -> int:
        """Returns how many rounds there are."""
        return math.ceil(math.log2(entrants)) + 2 if self.rounds is None else self.rounds

    def total(self, entrants: int, players: int) -> int:
        """Returns the number of games."""
        games = self.deals * len(orders(players, self.seatings)[0])
        return self.rounds_of(entrants) * (entrants // players) * games

    def deals_in_all(self, entrants: int, players: int) -> int:
        """Returns the number of deals: all tables of a round play the same, and each round has new ones."""
        return self.rounds_of(entrants) * self.deals

    def director(self, entrants: int, players: int, draw: bytes) -> Director:
        """Returns the director. It draws nothing."""
        bye = BYE_AT_TABLES if self.depends_on_planning(players) and self.planning == 2 else BYE
        return _Rounds(self.rounds_of(entrants), self.deals, entrants, players, bye)

    def depends_on_planning(self, players: int) -> bool:
        """Returns whether the versions of planning differ: in the points of a bye."""
        return players > 2


class _Rounds(Director):
    def __init__(self, rounds: int, deals: int, entrants: int, players: int, bye: float) -> None:
        self._rounds = rounds
        self._bye = bye
        self._deals = deals
        self._entrants = entrants
        self._players = players
        self._added = 0
        self._points = [0.0] * entrants
        self._met: list[Counter[int]] = [Counter() for _ in range(entrants)]
        self._byes = [0] * entrants
        self._resting: deque[tuple[int, ...]] = deque()
        """Entrants who rest in the rounds that have no results yet."""
        self._next: Round | None = None
        """Kept until something changes: the pairing of 200 entrants takes a second."""

    def next(self) -> Round | None:
        if self._added == self._rounds:
            return None
        if self._next is None:
            self._next = self._pair()
        return self._next

    def add(self, round: Round) -> None:
        self._next = None
        self._added += 1
        self._resting.append(round.byes)

    def take(self, result: RoundResult) -> None:
        self._next = None
        for entrant in self._resting.popleft():
            self._byes[entrant] += 1
            self._points[entrant] += self._bye
        for meeting in result.meetings:
            entrants = meeting.meeting.entrants
            for entrant in entrants:
                # Rounded, because points that are equal must be found equal.
                self._points[entrant] = round(self._points[entrant] + self._score(meeting, entrant), 9)
                self._met[entrant].update(other for other in entrants if other != entrant)

    def points(self) -> dict[int, float]:
        return dict(enumerate(self._points))

    def _score(self, meeting: MeetingResult, entrant: int) -> float:
        share = round(meeting.share(entrant), 9)
        if self._players > 2 or share == 0.5:
            return share
        return float(share > 0.5)

    def _pair(self) -> Round:
        order = sorted(range(self._entrants), key=lambda entrant: (-self._points[entrant], entrant))
        rest = self._entrants % self._players
        lowest = sorted(order, key=lambda entrant: (self._byes[entrant], self._points[entrant], -entrant))
        byes = lowest[:rest]
        playing = [entrant for entrant in order if entrant not in byes]
        if self._players == 2:
            found: list[tuple[int, ...]] = [*pairs(playing, self._points, self._met)]
        else:
            found = tables(playing, self._players, self._points, self._met)
        return Round(
            title=f"round {self._added + 1}",
            deals=self._deals,
            meetings=[Meeting(tuple(sorted(table)), self._added * self._deals) for table in found],
            byes=tuple(byes),
        )
