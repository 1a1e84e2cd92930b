"""Numbers the plays of a table, for programs that learn: a number is the same play in every game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

import msgspec

from arena.core.errors import ConfigError
from arena.core.rules.legal import Legal


class Bounds(msgspec.Struct, frozen=True):
    """What programs that learn are told of a table before they play: nothing at it is ever beyond these."""

    numbers: Sequence[tuple[int, int]] | None = None
    """The least and the most of each of the numbers of a view; None if the game does not know."""
    steps: int = 10_000
    """Number of plays that a game can have. More, in any game, is against a law of the arena."""
    draws: int = 2**31 - 1
    """Largest number of outcomes of chance."""
    returns: tuple[float, float] = (-inf, inf)
    """The least and the most that a seat can get."""


class Numbering:
    """The plays of `Rules.every_play`, by their place in it."""

    def __init__(self, every: Legal) -> None:
        """Takes all plays. A ConfigError says that two of the products have the same `make`."""
        self._every = every
        self._places: dict[Any, tuple[int, list[tuple[Any, Mapping[Any, int]]]]] = {}
        """Number of the first play of a `make`, and for each choice its values, and what each adds to that."""
        first = 0
        for product in every.products:
            if product.make in self._places:
                raise ConfigError(
                    f"expected each product of `every_play` to have a `make` of its own, got two of "
                    f"{getattr(product.make, '__qualname__', product.make)}; write one product with the values of both"
                    ", or give one another `make`: a classmethod, in `legal` too"
                )
            step, places = product.size, list[tuple[Any, Mapping[Any, int]]]()
            for values in product.choices:
                step //= len(values)
                places.append((values, {value: step * at for at, value in enumerate(values)}))
            self._places[product.make] = first, places
            first += product.size

    def __len__(self) -> int:
        return len(self._every)

    def play(self, number: int) -> Any:
        """Returns the play of a number.

        Raises:
            IndexError: No play has it.
        """
        return self._every[number]

    def of(self, legal: Legal) -> list[int]:
        """Returns the numbers of some plays, in their order.

        Raises:
            KeyError: One of them is not among all plays.
        """
        found: list[int] = []
        for product in legal.products:
            first, places = self._places[product.make]
            numbers = [first]
            for values, (own, place) in zip(product.choices, places, strict=True):
                steps = place.values() if values is own else [place[value] for value in values]
                numbers = [number + step for number in numbers for step in steps]
            found += numbers
        return found


def counted(members: Iterable[int], count: int) -> list[int]:
    """Returns for each of so many numbers, from 0 on, how often it is among some."""
    counts = [0] * count
    for one in members:
        counts[one] += 1
    return counts
