"""Round-robin: every choice of entrants meets on every deal."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import count
from typing import Final, overload

from arena.tournament.formats.base import Director, Format, Meeting, Round
from arena.tournament.formats.seating import orders
from arena.types import Payload

MIN_STAGE: Final = 30
"""Deals of a stage, at least: the cost of starting a block's processes is spread over so many games."""
MAX_STAGES: Final = 8
"""Stages of a tournament, at most."""


class RoundRobin(Format, frozen=True, kw_only=True, tag="round-robin"):
    """Every pairing of entrants plays every deal in every seating.

    The deals are divided into stages, so that wherever the tournament is stopped every entrant has played nearly as
    many games as every other.
    """

    deals: int = 30

    def total(self, entrants: int, players: int) -> int:
        """Returns the number of games."""
        return self.deals * math.comb(entrants, players) * len(orders(players, self.seatings)[0])

    def deals_in_all(self, entrants: int, players: int) -> int | None:
        """Returns the number of deals: all pairings play the same."""
        return self.deals

    def director(self, entrants: int, players: int, draw: bytes) -> Director:
        """Returns the director. It draws nothing."""
        return Stages(self.deals, lambda first_deal: Pairings(entrants, players, first_deal))

    def document(self, entrants: int, players: int) -> Payload:
        """Returns the description, with what says how the order follows."""
        return {
            **super().document(entrants, players),
            "stage": stage_of(self.deals, math.comb(entrants, players)),
            "stride": Pairings(entrants, players, 0).stride if players > 2 else None,
        }


def stage_of(deals: int, pairings: int) -> int:
    """Returns the number of deals of a stage. The last stage may have fewer; a single pairing has only one stage."""
    return deals if pairings == 1 else max(MIN_STAGE, -(-deals // MAX_STAGES))


class Stages(Director):
    """Gives all meetings on some of the deals, then on the next ones."""

    lag = None

    def __init__(self, deals: int, meetings: Callable[[int], Sequence[Meeting]]) -> None:
        """Takes the number of deals, and what gives the meetings of a stage by the number of its first deal."""
        self._deals = deals
        self._meetings = meetings
        self._stage = stage_of(deals, len(meetings(0)))
        self._planned = 0
        """Deals that are in rounds."""

    def next(self) -> Round | None:
        if self._planned == self._deals:
            return None
        return Round(
            title=f"stage {self._planned // self._stage + 1}",
            deals=min(self._stage, self._deals - self._planned),
            meetings=self._meetings(self._planned),
        )

    def add(self, round: Round) -> None:
        self._planned += round.deals


class Computed(Sequence[Meeting]):
    """Meetings that are computed one at a time: there may be millions. `_at` gives the one at a place in the range."""

    @overload
    def __getitem__(self, place: int) -> Meeting: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Meeting]: ...
    def __getitem__(self, place: int | slice) -> Meeting | Sequence[Meeting]:
        if isinstance(place, slice):
            return [self._at(one) for one in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        return self._at(place)

    def __iter__(self) -> Iterator[Meeting]:
        return map(self._at, range(len(self)))

    @abstractmethod
    def _at(self, place: int) -> Meeting: ...


class Pairings(Computed):
    """Every choice of entrants, in the order of a stage.

    In this order all entrants have nearly the same number of games wherever it is cut.
    """

    def __init__(self, entrants: int, players: int, first_deal: int) -> None:
        self.entrants = entrants
        self.players = players
        self._first_deal = first_deal
        self._len = math.comb(entrants, players)

    def __len__(self) -> int:
        return self._len

    def _at(self, place: int) -> Meeting:
        return Meeting(self._pair(place) if self.players == 2 else self._choice(place), self._first_deal)

    @cached_property
    def stride(self) -> int:
        """How far apart, in lexicographic order, two pairings of three or more are that follow each other.

        It has no common divisor with the number of pairings, so that each comes once. It is near that number times the
        fraction of the square root of two, so that a few pairings in a row are spread over all entrants.
        """
        near = max(1, round(self._len * (math.sqrt(2) - 1)))
        return next(stride for stride in count(near) if math.gcd(stride, self._len) == 1)

    def _pair(self, place: int) -> tuple[int, ...]:
        """Returns a pair by the circle method: each round of it gives every entrant (or all but one) a game."""
        round, match = divmod(place, self.entrants // 2)
        if self.entrants % 2:
            one, other = (round + match) % self.entrants, (round - match - 2) % self.entrants
        else:
            circle = self.entrants - 1
            one = (round + match) % circle
            other = (round - match) % circle if match else circle
        return min(one, other), max(one, other)

    def _choice(self, place: int) -> tuple[int, ...]:
        return combination(self.entrants, self.players, place * self.stride % self._len)


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
