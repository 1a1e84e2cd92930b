"""Adds up the seats of all games of a tournament that may be shown, in one pass: what each bot's page tells."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from heapq import nlargest
from typing import Final

import msgspec

from arena.pages.exhibits import Outcome, ShownSeat
from arena.pages.site.figures import histogram

MOST_SLOW: Final = 5
"""How many slowest decisions are named."""
MOST_GAMES: Final = 20
"""The number of last games that are named, of those that were won, drawn and lost each."""


class SeatTally(msgspec.Struct):
    """What a bot did in one seat."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    forfeits: int = 0
    decisions: int = 0
    total_ms: float = 0.0
    max_ms: float = 0.0

    def add(self, seat: ShownSeat) -> None:
        """Adds a game."""
        self.games += 1
        self.wins += seat.outcome == "won"
        self.draws += seat.outcome == "drawn"
        self.forfeits += seat.forfeit is not None
        self.decisions += seat.decisions
        self.total_ms += seat.total_ms
        self.max_ms = max(self.max_ms, seat.max_ms)

    @property
    def mean_ms(self) -> float:
        """Mean time of a decision."""
        return self.total_ms / self.decisions if self.decisions else 0.0


class BotTally:
    """What a bot did in all its games."""

    def __init__(self) -> None:
        self.seats: dict[int, SeatTally] = {}
        self.codes: Counter[str] = Counter()
        self._last: dict[Outcome, deque[int]] = {}
        """The numbers of the last games that were won, drawn and lost."""
        self._means: list[float] = []
        self._slow: list[tuple[float, int]] = []

    def add(self, seat: ShownSeat) -> None:
        """Adds a game."""
        self.seats.setdefault(seat.seat, SeatTally()).add(seat)
        self._last.setdefault(seat.outcome, deque(maxlen=MOST_GAMES)).append(seat.number)
        if seat.forfeit is not None:
            self.codes[seat.forfeit] += 1
        if seat.decisions:
            self._means.append(seat.total_ms / seat.decisions)
        self._slow.append((seat.max_ms, -seat.number))
        if len(self._slow) > 20 * MOST_SLOW:
            self._slow = nlargest(MOST_SLOW, self._slow)

    @property
    def games(self) -> int:
        """How many games it played."""
        return sum(seat.games for seat in self.seats.values())

    def last(self) -> list[int]:
        """Returns the numbers of its last games, in order: of those that were won, drawn and lost so many each."""
        return sorted(number for numbers in self._last.values() for number in numbers)

    def slowest(self) -> list[tuple[int, float]]:
        """Returns the games with its slowest decisions, and how long these took."""
        return [(-number, ms) for ms, number in nlargest(MOST_SLOW, self._slow)]

    def times(self) -> list[int]:
        """Returns the histogram of its mean time per decision, by game."""
        return histogram(self._means)


def add_up(seats: Iterable[ShownSeat]) -> dict[int, BotTally]:
    """Returns the sums by entrant."""
    bots: dict[int, BotTally] = {}
    for seat in seats:
        bots.setdefault(seat.entrant, BotTally()).add(seat)
    return bots
