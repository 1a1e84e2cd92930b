"""The plays of Samurai: the steps of the engine. Spaces, castes and tiles are numbers, as the engine counts them."""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class Choose(msgspec.Struct, frozen=True):
    """Choose the first hand."""

    tiles: bytes


class Settle(msgspec.Struct, frozen=True):
    """Put a piece of the supply on a settlement, in the set-up."""

    caste: int
    space: int


class Place(msgspec.Struct, frozen=True):
    """Put a tile on an empty space."""

    tile: int
    space: int


class Switch(msgspec.Struct, frozen=True):
    """Exchange two pieces of different settlements.

    Written one way only: the smaller caste first, of two alike the smaller space.
    """

    space: int
    caste: int
    with_space: int
    with_caste: int

    @classmethod
    def of(cls, space: int, caste: int, with_space: int, with_caste: int) -> Switch:
        """The exchange, whichever piece is named first."""
        if (caste, space) <= (with_caste, with_space):
            return cls(space, caste, with_space, with_caste)
        return cls(with_space, with_caste, space, caste)


class Move(msgspec.Struct, frozen=True):
    """Move one of one's own tiles; the move tile takes its place."""

    source: int
    target: int


class End(msgspec.Struct, frozen=True):
    """Play no more tiles in this turn. Needed only where more could be played."""


class Capture(msgspec.Struct, frozen=True):
    """Resolve a piece of a surrounded settlement next, where several are captured and their order is chosen."""

    space: int
    caste: int


Play: TypeAlias = Choose | Settle | Place | Switch | Move | End | Capture
