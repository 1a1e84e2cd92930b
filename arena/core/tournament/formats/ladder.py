"""Ladder: match after match, without end if one likes. Who waits longest plays, against somebody about as strong.

Laws:
1. Every second match belongs to who has waited longest. So nobody waits more than 2 (n + r) matches, of n entrants and
   r matches that are running.
2. The others of a match come from all entrants, with a preference for close ratings. From neighbours alone, thousands
   of entrants would form groups that hardly ever meet, and nothing would say how far the groups are apart.
3. How uncertain a rating is never matters: who has an odd strength stays uncertain, and would play all the time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from itertools import chain
from typing import Final

from arena.core.errors import ConfigError
from arena.core.ratings.running import MU
from arena.core.tournament.formats.base import Director, Format, Lagging, Meeting, Round, RoundResult
from arena.core.tournament.formats.closeness import Generator, draw_place, generator, weights
from arena.core.tournament.formats.seating import orders
from arena.core.types import Payload

BATCH: Final = 16
"""Matches of a round, at most."""


class Ladder(Format, frozen=True, kw_only=True, tag="ladder"):
    """Match after match, each on a deal of its own: who has waited longest plays, with others about as strong.

    Every second match is for an entrant that has played few so far, if there is one. The others are drawn from a sample
    of all entrants, by how close their ratings are; some matches draw them without regard to ratings.
    """

    deals: int = 1
    matches: int | None = None
    """Number of matches. None: until it is stopped."""
    sample: int = 64
    """From how many, drawn evenly, the others of a match are chosen."""
    random: float = 0.1
    """The part of the matches whose others are chosen without regard to ratings."""
    placement: int = 20
    """An entrant with fewer matches is new: it comes first in every second match."""
    repeat: int = 10
    """The number of last matches whose opponents are less likely to be chosen again."""

    def check(self, entrants: int, players: int) -> None:
        """Checks that every parameter is in its range.

        Raises:
            ConfigError: One is not. Show the message to the operator.
        """
        if self.matches is not None and self.matches < 1:
            raise ConfigError(f"expected at least 1 match, got: {self.matches}; use --matches")
        if self.sample < players - 1:
            raise ConfigError(
                f"expected a sample of at least {players - 1} for games of {players} players, got: {self.sample}; "
                "use a larger sample"
            )
        if not 0 <= self.random <= 1:
            raise ConfigError(f"expected a part of random matches from 0 to 1, got: {self.random}; use 0.1")
        for name, value in (("placement", self.placement), ("repeat", self.repeat)):
            if value < 0:
                raise ConfigError(f"expected {name} to be a number of matches from 0 on, got: {value}; use 0 or more")
        super().check(entrants, players)

    def total(self, entrants: int, players: int) -> int | None:
        """Returns the number of games, or None if there is no end."""
        return None if self.matches is None else self.matches * self.deals * len(orders(players, self.seatings)[0])

    def deals_in_all(self, entrants: int, players: int) -> int | None:
        """Returns the number of deals, or None if there is no end: each match has its own."""
        return None if self.matches is None else self.matches * self.deals

    def director(self, entrants: int, players: int, draw: bytes) -> Director:
        """Returns the director."""
        return _Matchmaker(self, entrants, players, draw)

    def document(self, entrants: int, players: int) -> Payload:
        """Returns the description, with the number of matches of a round."""
        return {**super().document(entrants, players), "batch": batch_of(entrants, players)}


def batch_of(entrants: int, players: int) -> int:
    """Returns the number of matches of a round. At most half of the entrants play in it, so that there is a choice."""
    return max(1, min(BATCH, entrants // (2 * players)))


class _Matchmaker(Lagging):
    def __init__(self, format: Ladder, entrants: int, players: int, draw: bytes) -> None:
        super().__init__()
        self._format = format
        self._entrants = entrants
        self._players = players
        self._draw = draw
        self._matches = 0
        """Matches that are in rounds. They count as played."""
        self._waiting = dict.fromkeys(range(entrants))
        """All entrants; who has waited longest is the first."""
        self._new: list[dict[int, None]] = [{} for _ in range(format.placement)]
        """Entrants by the number of matches that they have played, as long as they are new."""
        if self._new:
            self._new[0] = dict.fromkeys(range(entrants))
        self._count = [0] * entrants
        self._met: list[deque[tuple[int, ...]]] = [deque(maxlen=format.repeat) for _ in range(entrants)]
        self._mu = [MU] * entrants

    def next(self) -> Round | None:
        first, last = self._matches, self._matches + batch_of(self._entrants, self._players)
        if self._format.matches is not None:
            last = min(last, self._format.matches)
        if first == last:
            return None
        busy: set[int] = set()
        meetings = []
        for number in range(first, last):
            meeting = Meeting(self._table(number, busy), number * self._format.deals)
            busy.update(meeting.entrants)
            meetings.append(meeting)
        return Round(title=f"matches {first + 1} to {last}", deals=self._format.deals, meetings=meetings)

    def plan(self, round: Round) -> None:
        for meeting in round.meetings:
            self._matches += 1
            for entrant in meeting.entrants:
                self._met[entrant].append(tuple(other for other in meeting.entrants if other != entrant))
                del self._waiting[entrant]
                self._waiting[entrant] = None
                self._count[entrant] += 1
                if self._count[entrant] <= len(self._new):
                    del self._new[self._count[entrant] - 1][entrant]
                if self._count[entrant] < len(self._new):
                    self._new[self._count[entrant]][entrant] = None

    def note(self, result: RoundResult) -> None:
        for entrant, mu in result.mu.items():
            self._mu[entrant] = mu

    def _table(self, number: int, busy: Collection[int]) -> tuple[int, ...]:
        """Returns who plays a match, given who plays another one of the round."""
        rng = generator(self._draw, number)
        in_turn: Iterable[int] = self._waiting
        if number % 2 == 0:
            in_turn = chain(*self._new, self._waiting)
        who = next(entrant for entrant in in_turn if entrant not in busy)
        others = self._sample(rng, {who, *busy})
        likely = [1.0] * len(others) if rng.random() < self._format.random else self._weights(who, others)
        table = [who]
        while len(table) < self._players:
            place = draw_place(rng, likely)
            del likely[place]
            table.append(others.pop(place))
        return tuple(table)

    def _sample(self, rng: Generator, busy: Collection[int]) -> list[int]:
        if self._entrants - len(busy) <= self._format.sample:
            return [entrant for entrant in range(self._entrants) if entrant not in busy]
        drawn: dict[int, None] = {}
        while len(drawn) < self._format.sample:
            entrant = int(rng.random() * self._entrants)
            if entrant not in busy:
                drawn[entrant] = None
        return list(drawn)

    def _weights(self, who: int, others: list[int]) -> list[float]:
        lately = set(chain(*self._met[who]))
        return weights(self._mu[who], [self._mu[other] for other in others], [other in lately for other in others])
