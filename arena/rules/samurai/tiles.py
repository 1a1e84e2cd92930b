"""The castes and the tiles.

Inside the engine a caste is its index in `CASTES` and a tile its index in `TILES`; a set of tiles is `bytes` of such
indices in ascending order, so that it is immutable, hashable, small, and quick to copy. The wire knows names.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import msgspec

from arena.rules.base import Choose

CASTES = ("buddha", "rice", "castle")
CASTE_INDEX = {name: index for index, name in enumerate(CASTES)}
HAND_SIZE = 5


class Tile(msgspec.Struct, frozen=True):
    """One kind of tile."""

    name: str
    castes: tuple[int, ...]
    """The castes it influences."""
    value: int
    goes_on: str
    """`land`, `sea`, or `` for the switch, which is not placed."""
    fast: bool
    copies: int = 1
    """How many every player has."""


_EVERY = (0, 1, 2)
TILES = (
    *(
        Tile(f"{name}{value}", (caste,), value, "land", fast=False)
        for caste, name in enumerate(CASTES)
        for value in (2, 3, 4)
    ),
    Tile("samurai1", _EVERY, 1, "land", fast=False, copies=2),
    Tile("samurai2", _EVERY, 2, "land", fast=False, copies=2),
    Tile("samurai3", _EVERY, 3, "land", fast=False),
    Tile("ship1", _EVERY, 1, "sea", fast=True, copies=2),
    Tile("ship2", _EVERY, 2, "sea", fast=True),
    Tile("ronin1", _EVERY, 1, "land", fast=True),
    Tile("switch", (), 0, "", fast=True),
    Tile("move", (), 0, "land", fast=False),
)
"""Every kind, in tile order."""

KINDS = len(TILES)
TILE_INDEX = {tile.name: index for index, tile in enumerate(TILES)}
SWITCH = TILE_INDEX["switch"]
MOVE = TILE_INDEX["move"]
ONE = tuple(bytes([index]) for index in range(256))
"""`ONE[i]` is the set of `i` alone."""
EVERY_KIND = b"".join(ONE[:KINDS])
FAST_KINDS = bytes(index for index, tile in enumerate(TILES) if tile.fast)
FULL_SET = b"".join(ONE[index] * tile.copies for index, tile in enumerate(TILES))
"""The 20 tiles that every player has."""


def names(tiles: bytes) -> list[str]:
    """The names of some tiles, in the order given."""
    return list(_names(tiles))


@cache
def _names(tiles: bytes) -> tuple[str, ...]:
    return tuple(TILES[tile].name for tile in tiles)


class Playable(msgspec.Struct, frozen=True):
    """What may be played from a hand, by what the tiles need."""

    land: bytes
    sea: bytes
    switch: bool
    move: bool


@cache
def playable(hand: bytes, allowed: bytes) -> Playable:
    """The different tiles of a hand that may be played, where only the `allowed` kinds may.

    There are at most 21,700 hands, and a turn allows all kinds or the fast ones, so the cache is bounded by nature.
    """
    kinds = sorted(kind for kind in set(hand) if kind in allowed)
    return Playable(
        land=bytes(kind for kind in kinds if TILES[kind].goes_on == "land" and kind != MOVE),
        sea=bytes(kind for kind in kinds if TILES[kind].goes_on == "sea"),
        switch=SWITCH in kinds,
        move=MOVE in kinds,
    )


@cache
def all_hands() -> tuple[bytes, ...]:
    """Every different hand that can be chosen from the full set."""
    return tuple(sorted({bytes(hand) for hand in combinations(FULL_SET, HAND_SIZE)}))


def redeal(hand: bytes, stack: bytes, choose: Choose) -> tuple[bytes, bytes]:
    """Returns another hand of the same size and the stack that is left, every deal equally likely."""
    tiles = bytearray(hand + stack)
    size = len(hand)
    for at in range(size):
        other = at + choose(len(tiles) - at)
        tiles[at], tiles[other] = tiles[other], tiles[at]
    return bytes(sorted(tiles[:size])), bytes(sorted(tiles[size:]))
