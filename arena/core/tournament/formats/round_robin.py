"""Round-robin: every choice of entrants meets on every deal."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, count
from typing import Final, overload

from arena.core.errors import ConfigError
from arena.core.tournament.formats.base import Director, Format, Meeting, Planning, Round
from arena.core.tournament.formats.seating import orders
from arena.core.types import Payload

FIRST_STAGE: Final = 5
"""Deals of the first stage; each of the next has twice as many as the one before."""
MIN_STAGE: Final = 30
"""Up to so many, at least, they grow: the cost of starting a block's processes is spread over so many games. By the
first two versions of planning all stages have so many."""
MOST_CIRCLES: Final = 50_000
"""Number of circles of pairings that are listed: 100 entrants at tables of 4 have 39,212, which take a second."""
MAX_STAGES: Final = 8
"""Stages of a tournament, at most, but for the small ones that it begins with."""


class RoundRobin(Format, frozen=True, kw_only=True, tag="round-robin"):
    """Every pairing of entrants plays every deal in every seating.

    The deals are divided into stages, small ones first. So soon everybody has met everybody, and wherever the
    tournament is stopped every entrant has played nearly as many games as every other.
    """

    deals: int = 30
    planning: Planning = 3

    def total(self, entrants: int, players: int) -> int:
        """Returns the number of games."""
        return self.deals * math.comb(entrants, players) * len(orders(players, self.seatings)[0])

    def deals_in_all(self, entrants: int, players: int) -> int | None:
        """Returns the number of deals: all pairings play the same."""
        return self.deals

    def director(self, entrants: int, players: int, draw: bytes) -> Director:
        """Returns the director. It draws nothing."""
        return Stages(
            stages_of(self.deals, math.comb(entrants, players), self.planning),
            lambda first_deal: Pairings(entrants, players, first_deal, self.planning),
        )

    def depends_on_planning(self, players: int) -> bool:
        """Returns whether the versions of planning differ: in the order of pairings, or in the stages."""
        return players > 2 or self.deals > FIRST_STAGE

    def document(self, entrants: int, players: int) -> Payload:
        """Returns the description, with what says how the order follows."""
        return {
            **super().document(entrants, players),
            **stages_document(self, math.comb(entrants, players), players),
            "stride": Pairings(entrants, players, 0, self.planning).stride if players > 2 else None,
        }


def stage_of(deals: int, pairings: int) -> int:
    """Returns the number of deals that a stage has at most, but for what is left over of the last one.

    A single pairing has only one stage.
    """
    return deals if pairings == 1 else max(MIN_STAGE, -(-deals // MAX_STAGES))


def stages_of(deals: int, pairings: int, planning: Planning) -> list[int]:
    """Returns of each stage the number of its deals.

    By the third version of planning they grow from `FIRST_STAGE` to `stage_of`, and a stage takes the rest if that
    would be less than half of it: a process serves no more games than its stage has deals.

    >>> stages_of(30, 3, 3), stages_of(36, 3, 3), stages_of(36, 3, 2)
    ([5, 10, 15], [5, 10, 21], [30, 6])
    """
    most = stage_of(deals, pairings)
    grows = planning == 3 and pairings > 1
    stages: list[int] = []
    size = min(FIRST_STAGE, most) if grows else most
    while left := deals - sum(stages):
        stages.append(left if left <= size or (grows and 2 * (left - size) < size) else size)
        size = min(2 * size, most)
    return stages


def stages_document(format: Format, pairings: int, players: int) -> Payload:
    """Returns what a description of a schedule says of its stages; where versions do not differ, as it always was."""
    if format.planning == 3 and format.depends_on_planning(players):
        return {"stages": stages_of(format.deals, pairings, format.planning)}
    return {"stage": stage_of(format.deals, pairings)}


class Stages(Director):
    """Gives all meetings on some of the deals, then on the next ones."""

    lag = None

    def __init__(self, stages: Sequence[int], meetings: Callable[[int], Sequence[Meeting]]) -> None:
        """Takes the deals of each stage, and what gives the meetings of a stage by the number of its first deal."""
        self._stages = stages
        self._meetings = meetings
        self._planned = 0
        """Stages that are rounds."""

    def next(self) -> Round | None:
        if self._planned == len(self._stages):
            return None
        return Round(
            title=f"stage {self._planned + 1}",
            deals=self._stages[self._planned],
            meetings=self._meetings(sum(self._stages[: self._planned])),
        )

    def add(self, round: Round) -> None:
        self._planned += 1


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

    Three or more: let the entrants stand in a circle. A choice that is turned round the circle, step by step, seats
    everybody equally often. So choices come circle by circle: those that are one another, turned. To list the circles
    takes time and memory. Beyond `MOST_CIRCLES` choices come in a long stride instead, which is less even.
    """

    def __init__(self, entrants: int, players: int, first_deal: int, planning: Planning = 3) -> None:
        self.entrants = entrants
        self.players = players
        self._first_deal = first_deal
        self._len = math.comb(entrants, players)
        self._in_circles = planning > 1 and self._len <= MOST_CIRCLES * entrants

    def __len__(self) -> int:
        return self._len

    def _at(self, place: int) -> Meeting:
        return Meeting(self._pair(place) if self.players == 2 else self._choice(place), self._first_deal)

    @property
    def stride(self) -> int:
        """How far apart two circles of three or more are that follow each other; without circles, two pairings in
        lexicographic order. So it was in the first version of planning, too."""
        return spread(len(circles(self.entrants, self.players)[0]) if self._in_circles else self._len)

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
        if not self._in_circles:
            return combination(self.entrants, self.players, place * self.stride % self._len)
        whole, short = circles(self.entrants, self.players)
        number, turn = divmod(place, self.entrants)
        if number < len(whole):
            gaps = whole[number * self.stride % len(whole)]
            turn = turn * spread(self.entrants) % self.entrants
        else:
            gaps, turn = short[place - self.entrants * len(whole)]
        return tuple(sorted((turn + step) % self.entrants for step in accumulate(gaps)))


@lru_cache(maxsize=8)
def circles(entrants: int, players: int) -> tuple[list[tuple[int, ...]], list[tuple[tuple[int, ...], int]]]:
    """Returns what the choices of entrants are by turning: how a choice goes on from its first entrant, step by step.

    First each of which every turn gives another choice. Then, each with its turn, those that come round sooner.
    """
    whole, short = [], []
    for gaps in necklaces(entrants, players):
        different = turns(gaps)
        if different == entrants:
            whole.append(gaps)
        else:
            short += [(gaps, turn) for turn in range(different)]
    return whole, short


@lru_cache(maxsize=32)
def spread(n: int) -> int:
    """Returns a stride with which all of `n` places come once, and a few in a row lie far from each other.

    It has no common divisor with `n`, and is near `n` times the fraction of the square root of two.
    """
    near = max(1, round(n * (math.sqrt(2) - 1)))
    return next(stride for stride in count(near) if math.gcd(stride, n) == 1)


def necklaces(entrants: int, players: int) -> Iterator[tuple[int, ...]]:
    """Yields every way to seat players in a circle of entrants, but for turns, by the steps from one to the next.

    >>> list(necklaces(6, 3))
    [(1, 1, 4), (1, 2, 3), (1, 3, 2), (2, 2, 2)]
    """
    for first in range(1, entrants // players + 1):
        for rest in compositions(entrants - first, players - 1, first):
            gaps = (first, *rest)
            if all(gaps <= gaps[at:] + gaps[:at] for at in range(1, players)):
                yield gaps


def compositions(total: int, parts: int, least: int) -> Iterator[tuple[int, ...]]:
    """Yields every way to write a number as a sum of so many parts, each of at least `least`, in order."""
    if parts == 1:
        yield (total,)
        return
    for first in range(least, total - (parts - 1) * least + 1):
        for rest in compositions(total - first, parts - 1, least):
            yield (first, *rest)


def turns(gaps: tuple[int, ...]) -> int:
    """Returns after how many turns by one a choice with these steps is the same again.

    >>> turns((1, 2, 3)), turns((2, 2, 2)), turns((1, 2, 1, 2))
    (6, 2, 3)
    """
    period = next(at for at in range(1, len(gaps) + 1) if gaps[at:] + gaps[:at] == gaps)
    return sum(gaps[:period])


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


class Gauntlet(Format, frozen=True, kw_only=True, tag="gauntlet"):
    """The first entrants are challengers. Each meets the others, the field; nobody else meets.

    At a table of three or more sits one challenger, with every choice of the field.
    """

    challengers: int = 1
    """Number of entrants, from the first on, that are challengers."""
    deals: int = 30
    planning: Planning = 3

    def check(self, entrants: int, players: int) -> None:
        """Checks that there are challengers, and enough others for them to meet.

        Raises:
            ConfigError: There are not. Show the message to the operator.
        """
        if self.challengers < 1:
            raise ConfigError(f"expected at least 1 challenger, got: {self.challengers}; use --challengers")
        if players >= 2 and entrants - self.challengers < players - 1:
            raise ConfigError(
                f"expected at least {players - 1} bots that are no challengers, got: "
                f"{max(0, entrants - self.challengers)}; use a smaller --challengers, or name more bots"
            )
        super().check(entrants, players)

    def total(self, entrants: int, players: int) -> int:
        """Returns the number of games."""
        meetings = self.challengers * math.comb(entrants - self.challengers, players - 1)
        return self.deals * meetings * len(orders(players, self.seatings)[0])

    def deals_in_all(self, entrants: int, players: int) -> int:
        """Returns the number of deals: all meetings play the same."""
        return self.deals

    def anchored(self, entrants: int) -> range:
        """Returns the field."""
        return range(self.challengers, entrants)

    def director(self, entrants: int, players: int, draw: bytes) -> Director:
        """Returns the director. It draws nothing."""
        return Stages(
            stages_of(self.deals, len(self._meetings(entrants, players, 0)), self.planning),
            lambda first_deal: self._meetings(entrants, players, first_deal),
        )

    def depends_on_planning(self, players: int) -> bool:
        """Returns whether the versions of planning differ: in the choices of the field's order, or in the stages."""
        return players > 3 or self.deals > FIRST_STAGE

    def _meetings(self, entrants: int, players: int, first_deal: int) -> Challenges:
        return Challenges(self.challengers, entrants, players, first_deal, self.planning)

    def document(self, entrants: int, players: int) -> Payload:
        """Returns the description, with what says how the order follows."""
        meetings = self._meetings(entrants, players, 0)
        return {
            **super().document(entrants, players),
            **stages_document(self, len(meetings), players),
            "stride": meetings.choices.stride if players > 3 else None,
        }


class Challenges(Computed):
    """Every challenger with every choice of the field.

    Wherever it is cut, the challengers have nearly the same number of games, and so have the bots of the field.
    """

    def __init__(self, challengers: int, entrants: int, players: int, first_deal: int, planning: Planning = 3) -> None:
        self.choices = Pairings(entrants - challengers, players - 1, first_deal, planning)
        self._challengers = challengers
        self._first_deal = first_deal

    def __len__(self) -> int:
        return self._challengers * len(self.choices)

    def _at(self, place: int) -> Meeting:
        # Both go round in step. After as many meetings as bring both to their beginnings again, one choice is skipped:
        # otherwise the same pairs would come again.
        challenger = place % self._challengers
        choice = (place + place // math.lcm(self._challengers, len(self.choices))) % len(self.choices)
        others = (choice,) if self.choices.players == 1 else self.choices[choice].entrants
        return Meeting((challenger, *(self._challengers + other for other in others)), self._first_deal)
