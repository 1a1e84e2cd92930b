"""Schedules a tournament: its games in their order. Pure: every game is computed from its number.

The order is deal by deal; within a deal pairing by pairing; within a pairing seating by seating. So whenever a
tournament is stopped, every entrant has played nearly as many games as every other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from itertools import permutations
from typing import Final, Literal, TypeAlias

import msgspec

from arena.errors import ConfigError
from arena.store.records import PlannedGame
from arena.types import Payload

MAX_GAMES: Final = 10**9
"""The most games of a tournament. At 25 games a second they take more than a year: the operator typed a digit too
many. Below it every number in the database, a pairing's too, is far from SQLite's 2**63."""

Seatings: TypeAlias = Literal["cyclic", "all"]
"""How the entrants of a pairing are seated: rotated, or in every order."""


class ScheduledGame(PlannedGame, frozen=True):
    """One game of a schedule, with those who play it."""

    entrants: tuple[int, ...]
    """The numbers of the entrants, by seat."""


class RoundRobin(msgspec.Struct, frozen=True, dict=True):
    """Every pairing of `players` out of `entrants` plays every deal in every seating."""

    entrants: int
    players: int
    deals: int
    seatings: Seatings = "cyclic"

    def __post_init__(self) -> None:
        """Raises ConfigError if there can be no such tournament."""
        if self.players < 2:
            raise ConfigError(f"expected at least 2 players, got: {self.players}; use --players")
        if self.entrants < self.players:
            raise ConfigError(
                f"expected at least {self.players} bots for games of {self.players} players, got: {self.entrants}; "
                "name more (the same bot may enter twice), or use a smaller --players"
            )
        if self.deals < 1:
            raise ConfigError(f"expected at least 1 deal, got: {self.deals}; use --deals")
        if self.total() > MAX_GAMES:
            raise ConfigError(
                f"expected at most {MAX_GAMES:,} games, got: {self.total():,} ({self.pairings:,} pairings, each with "
                f"{self.deals:,} deals in {self.seatings_of_a_deal} seatings); use a smaller --deals, or fewer bots"
            )

    @cached_property
    def pairings(self) -> int:
        """Number of pairings."""
        return math.comb(self.entrants, self.players)

    @cached_property
    def seatings_of_a_deal(self) -> int:
        """Number of seatings in which a pairing plays each deal."""
        return math.factorial(self.players) if self.seatings == "all" else self.players

    @cached_property
    def orders(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The seatings of a deal, for one deal after another, and then from the beginning again.

        A seating holds, by seat, which of the pairing's entrants sits there. Rotation alone would leave every entrant
        behind the same neighbour, and with three players or more it matters whom one plays after. So the circle that
        is rotated changes from deal to deal, through all circles (one for two players, two for three, six for four).
        """
        places = tuple(range(self.players))
        if self.seatings == "all":
            return (tuple(permutations(places)),)
        circles = ((0, *rest) for rest in permutations(places[1:]))
        return tuple(tuple(circle[shift:] + circle[:shift] for shift in places) for circle in circles)

    def document(self) -> Payload:
        """Returns all that the games follow from, as plain values."""
        return {"format": "round-robin", **msgspec.structs.asdict(self)}

    def total(self) -> int:
        """Returns the number of games."""
        return self.deals * self.pairings * self.seatings_of_a_deal

    def game(self, number: int) -> ScheduledGame:
        """Returns the game at a place in the order.

        Raises:
            IndexError: There is no game at that place.
        """
        if not 0 <= number < self.total():
            raise IndexError(number)
        rest, rotation = divmod(number, self.seatings_of_a_deal)
        deal, pairing = divmod(rest, self.pairings)
        chosen = combination(self.entrants, self.players, pairing)
        order = self.orders[deal % len(self.orders)][rotation]
        return ScheduledGame(number, pairing, deal, rotation, tuple(chosen[i] for i in order))

    def __iter__(self) -> Iterator[ScheduledGame]:
        return map(self.game, range(self.total()))


def combination(n: int, k: int, index: int) -> tuple[int, ...]:
    """Returns the `index`-th choice, in lexicographic order, of `k` of the numbers below `n`."""
    chosen = []
    for value in range(n):
        if k == 0:
            break
        beginning_with_value = math.comb(n - value - 1, k - 1)
        if index < beginning_with_value:
            chosen.append(value)
            k -= 1
        else:
            index -= beginning_with_value
    return tuple(chosen)
