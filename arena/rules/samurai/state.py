"""The state of a game of Samurai: immutable plain data.

Sets of spaces and of tiles are `bytes` of their numbers, ascending: immutable, small, quick to copy and to search.
`a.translate(None, b)` is the set a without the members of b.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from arena.rules.samurai.tiles import KINDS
from arena.types import Ranks, Seat

Phase: TypeAlias = Literal["hand", "deal", "setup", "scatter", "turns", "captures", "refill", "over"]
Triple: TypeAlias = tuple[int, int, int]
"""A number for each caste."""


class State(msgspec.Struct, frozen=True):
    """Everything about a position, secrets included."""

    phase: Phase
    """`hand`: hands are chosen; `deal`: chance deals them; `setup`: pieces are put by the seats; `scatter`: by chance;
    `turns`: tiles are played; `captures`: the seat to move chooses which piece is captured next; `refill`: chance
    draws tiles at the end of a turn; `over`."""
    turn: int
    """How many turns were begun."""
    to_move: Seat
    """Whose turn it is, in `setup`, `turns`, `captures` and `refill`."""
    land: bytes
    """The empty land spaces."""
    sea: bytes
    """The empty sea spaces."""
    at: bytes
    """What lies on each space: 0 for no tile, else 1 + owner * KINDS + tile."""
    pieces: tuple[bytes, bytes, bytes]
    """The settlements that hold a piece of each caste."""
    supply: Triple
    """Pieces not yet on the board."""
    hands: tuple[bytes, ...]
    """Tiles in hand, by seat."""
    stacks: tuple[bytes, ...]
    """Tiles in the stack, by seat: which ones, not in which order; the order comes about as chance draws."""
    captured: tuple[Triple, ...]
    """Captured pieces, by seat."""
    set_aside: Triple
    """Pieces that belong to nobody."""
    placed: bytes = b""
    """The spaces on which a tile was put in this turn, in the order of the plays."""
    fast_only: bool = False
    """Whether a tile that is not fast was played in this turn."""
    played: bool = False
    """Whether any tile was played in this turn."""
    must_follow: bool = False
    """Whether the turn may not end yet, because the tile played last is fast (`fast=must_follow`)."""
    passes: int = 0
    """How many seats passed in succession."""
    switch_used: bytes = b""
    """The seats whose switch tile has left the game."""
    forfeited: tuple[tuple[Seat, ...], ...] = ()
    """The seats that forfeited, in order; those of one moment together."""
    ranks: Ranks = ()
    """Set when the game is over."""


def tile_code(seat: Seat, tile: int) -> int:
    """What `State.at` holds for a seat's tile."""
    return 1 + seat * KINDS + tile


def owner_and_tile(code: int) -> tuple[Seat, int]:
    """The inverse of `tile_code`, for a code that is not 0."""
    return divmod(code - 1, KINDS)
