"""The plays of Samurai Gardener: the steps of the engine."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from arena.rules.gardener.geometry import Row, point


class Seize(msgspec.Struct, frozen=True):
    """Take a card that is turned up."""

    card: int


class Plant(msgspec.Struct, frozen=True):
    """Put the card that was taken into one's garden."""

    x: int
    y: int
    turned: bool

    @classmethod
    def at(cls, position: int, turned: bool) -> Plant:
        """At a position of the garden's geometry."""
        return cls(*point(position), turned)


class Score(msgspec.Struct, frozen=True):
    """Score a new row, named by where it begins and how it runs."""

    x: int
    y: int
    down: bool

    @classmethod
    def of(cls, row: Row) -> Score:
        """That row."""
        return cls(row.x, row.y, row.down)


class Done(msgspec.Struct, frozen=True):
    """Score no more rows. Needed only where more could be scored."""


Play: TypeAlias = Seize | Plant | Score | Done
