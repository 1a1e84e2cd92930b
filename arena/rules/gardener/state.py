"""The state of a game of Samurai Gardener: immutable plain data.

The deck is `bytes` of the numbers of its cards, ascending; a set of kinds is a number with a bit for each kind.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from arena.rules.gardener.geometry import Row
from arena.types import Ranks, Seat

Phase: TypeAlias = Literal["deal", "turn_up", "seize", "plant", "score", "over"]
Planted: TypeAlias = tuple[int, int, int, bool]
"""A card of a garden: its number, x, y, and whether it is turned."""
Garden: TypeAlias = tuple[Planted, ...]
"""The cards of a garden in the order in which they were put."""

ALL_KINDS = 0b1111
"""The set of all kinds."""


class State(msgspec.Struct, frozen=True):
    """Everything about a position, secrets included."""

    phase: Phase
    """`deal`: chance deals the first cards; `turn_up`: it turns up those of a round; `seize`; `plant`; `score`;
    `over`."""
    round: int
    """How many rounds were begun."""
    starter: Seat
    """The starting player of the round."""
    deck: bytes
    """The cards left: which ones, not in which order; the order comes about as chance draws."""
    offer: tuple[int, ...]
    """The cards turned up in this round and not taken, ascending."""
    taken: tuple[int | None, ...]
    """By seat: the card that it seized and has not planted."""
    gardens: tuple[Garden, ...]
    """By seat."""
    rows: tuple[tuple[Row, ...], ...]
    """By seat: its new rows of this round that it has not scored."""
    scored: tuple[int, ...]
    """By seat: the kinds of rows that it scored in this round."""
    features: tuple[int, ...]
    """By seat: the kinds whose feature cards are face up."""
    scores: tuple[int, ...]
    """By seat."""
    due: tuple[Seat, ...] = ()
    """The seats that still owe the decision of this phase, ascending; those of a draft in its order."""
    forfeited: tuple[tuple[Seat, ...], ...] = ()
    """The seats that forfeited, in order; those of one moment together."""
    ranks: Ranks = ()
    """Set when the game is over."""
