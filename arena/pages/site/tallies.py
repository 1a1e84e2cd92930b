"""Adds up the seats of all games of a tournament that may be shown, in one pass: what each bot's page tells."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from heapq import nlargest
from typing import Final

from arena.core.face import game_rows, value_types
from arena.pages.exhibits import ShownGame
from arena.pages.site.figures import histogram

MOST_SLOW: Final = 5
MOST_GAMES: Final = 20
"""The number of last games that are named, of those that were won, drawn and lost each."""


class BotTally:
    """What a bot did in all its games."""

    def __init__(self) -> None:
        self.seats: dict[int, game_rows.Tally] = {}
        self.codes: Counter[str] = Counter()
        self._last: dict[value_types.Outcome, deque[int]] = {}
        """The numbers of the last games that were won, drawn and lost."""
        self._means: list[float] = []
        self._slow: list[tuple[float, int]] = []

    def add(self, number: int, seat: int, did: value_types.SeatResult, tally: game_rows.Tally) -> None:
        """Adds a game: its number, the bot's seat, what it did there, and the sums of that."""
        self.seats[seat] = self.seats[seat].plus(tally) if seat in self.seats else tally
        outcome: value_types.Outcome = "won" if tally.wins else "drawn" if tally.draws else "lost"
        self._last.setdefault(outcome, deque(maxlen=MOST_GAMES)).append(number)
        if did.forfeit is not None:
            self.codes[did.forfeit.code] += 1
        if did.decisions:
            self._means.append(did.total_ms / did.decisions)
        self._slow.append((did.max_ms, -number))
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


def add_up(games: Iterable[ShownGame]) -> dict[int, BotTally]:
    """Returns the sums by entrant."""
    bots: dict[int, BotTally] = {}
    for game in games:
        sums = game_rows.Tally.of_game(game.entrants, game.seats)
        for seat, (did, tally) in enumerate(zip(game.seats, sums, strict=True)):
            bots.setdefault(tally.entrant, BotTally()).add(game.number, seat, did, tally)
    return bots
