"""Schedules a tournament: its games in their order. Pure: every game is computed from its number.

The deals are divided into stages. The order is stage by stage, within a stage pairing by pairing, then seating by
seating, then deal by deal. The games of one stage, pairing and seating are a *block*: no deal comes twice in it, so
that bot processes which serve one block only meet no deal again. Within a stage the pairings come in an order that
gives every entrant nearly as many games as every other, wherever the tournament is stopped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from itertools import count, permutations
from typing import Final, Literal, TypeAlias

import msgspec

from arena.errors import ConfigError
from arena.store.records import PlannedGame
from arena.types import Payload

MAX_GAMES: Final = 10**9
"""The most games of a tournament. At 25 games a second they take more than a year: the operator typed a digit too
many. Below it every number in the database, a pairing's too, is far from SQLite's 2**63."""

MIN_STAGE: Final = 30
"""Deals of a stage, at least: the cost of starting a block's processes is spread over so many games."""
MAX_STAGES: Final = 8
"""Stages of a tournament, at most."""

Seatings: TypeAlias = Literal["cyclic", "all"]
"""How the entrants of a pairing are seated: rotated, or in every order."""


class ScheduledGame(PlannedGame, frozen=True, kw_only=True):
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

    @cached_property
    def stage(self) -> int:
        """Number of deals of a stage. The last stage may have fewer; with a single pairing there is only one."""
        return self.deals if self.pairings == 1 else max(MIN_STAGE, -(-self.deals // MAX_STAGES))

    @cached_property
    def stride(self) -> int:
        """How far apart, in lexicographic order, two pairings of three or more are that follow each other in a stage.

        It has no common divisor with the number of pairings, so that each comes once. It is near that number times the
        fraction of the square root of two, so that a few pairings in a row are spread over all entrants.
        """
        near = max(1, round(self.pairings * (math.sqrt(2) - 1)))
        return next(stride for stride in count(near) if math.gcd(stride, self.pairings) == 1)

    def document(self) -> Payload:
        """Returns a description from which the whole schedule can be computed, as plain values."""
        return {
            "format": "round-robin",
            "entrants": self.entrants,
            "players": self.players,
            "deals": self.deals,
            "seatings": self.seatings,
            "stage": self.stage,
            "stride": self.stride if self.players > 2 else None,
            "circles": [list(orders[0]) for orders in self.orders],
            "games": self.total(),
        }

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
        blocks_of_a_stage = self.pairings * self.seatings_of_a_deal
        stage, rest = divmod(number, blocks_of_a_stage * self.stage)
        first_deal = stage * self.stage
        block, deal = divmod(rest, min(self.stage, self.deals - first_deal))
        place, rotation = divmod(block, self.seatings_of_a_deal)
        deal += first_deal
        pairing = self.pairing(place)
        chosen = combination(self.entrants, self.players, pairing)
        order = self.orders[deal % len(self.orders)][rotation]
        return ScheduledGame(
            number=number,
            block=stage * blocks_of_a_stage + block,
            pairing=pairing,
            deal=deal,
            rotation=rotation,
            entrants=tuple(chosen[i] for i in order),
        )

    def pairing(self, place: int) -> int:
        """Returns the number of the pairing that has a place, from 0, in the order of every stage.

        Games of two follow the circle method of tournaments: each round gives every entrant one game, or, if their
        number is odd, every entrant but one.
        """
        if self.players > 2:
            return place * self.stride % self.pairings
        round, match = divmod(place, self.entrants // 2)
        if self.entrants % 2:
            one, other = (round + match) % self.entrants, (round - match - 2) % self.entrants
        else:
            circle = self.entrants - 1
            one = (round + match) % circle
            other = (round - match) % circle if match else circle
        return number_of_pair(self.entrants, min(one, other), max(one, other))

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


def number_of_pair(n: int, first: int, second: int) -> int:
    """Returns the place of a pair, the smaller number first, among those of numbers below `n` (lexicographic)."""
    return first * (2 * n - first - 1) // 2 + second - first - 1
