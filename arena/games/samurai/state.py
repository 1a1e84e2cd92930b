"""What the rules of Samurai are about: castes and tiles, plays, the state of a game, and tables computed once.

Inside the engine a caste is its index in `CASTES` and a tile its index in `TILES`; the wire knows names. Sets of tiles
and of spaces are `bytes` of their numbers, ascending: immutable, hashable, small, and quick to copy and to search.
`a.translate(None, b)` is the set a without the members of b.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import Literal, TypeAlias

import msgspec

from arena.core.face import Seat, game_kit, value_types
from arena.games.samurai.board import PIECES, Board

# Castes and tiles

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
    """Returns the names of some tiles, in the order given."""
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
    """Returns the different tiles of a hand that may be played, where only the `allowed` kinds may.

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
    """Returns every different hand that can be chosen from the full set."""
    return tuple(sorted({bytes(hand) for hand in combinations(FULL_SET, HAND_SIZE)}))


def redeal(hand: bytes, stack: bytes, choose: game_kit.Choose) -> tuple[bytes, bytes]:
    """Returns another hand of the same size and the stack that is left, every deal equally likely."""
    tiles = bytearray(sorted(hand + stack))  # so that a deal does not depend on how the tiles lay
    size = len(hand)
    for at in range(size):
        other = at + choose(len(tiles) - at)
        tiles[at], tiles[other] = tiles[other], tiles[at]
    return bytes(sorted(tiles[:size])), bytes(sorted(tiles[size:]))


# Plays: the steps of the engine. Spaces, castes and tiles are numbers, as the engine counts them


class ChooseHand(msgspec.Struct, frozen=True):
    """Chooses the first hand."""

    tiles: bytes


class Settle(msgspec.Struct, frozen=True):
    """Puts a piece of the supply on a settlement, in the set-up."""

    caste: int
    space: int


class Place(msgspec.Struct, frozen=True):
    """Puts a tile on an empty space."""

    tile: int
    space: int


class Switch(msgspec.Struct, frozen=True):
    """Exchanges two pieces. With two alike or two of one settlement nothing changes but that the tile is gone.

    Written one way only: the smaller caste first, of two alike the smaller space.
    """

    space: int
    caste: int
    with_space: int
    with_caste: int

    @classmethod
    def of(cls, space: int, caste: int, with_space: int, with_caste: int) -> Switch:
        """Makes the exchange, whichever piece is named first."""
        if (caste, space) <= (with_caste, with_space):
            return cls(space, caste, with_space, with_caste)
        return cls(with_space, with_caste, space, caste)


class Move(msgspec.Struct, frozen=True):
    """Moves one of the seat's own tiles; the move tile takes its place."""

    source: int
    target: int


class End(msgspec.Struct, frozen=True):
    """Plays no more tiles in this turn. Needed only where more could be played."""


class Capture(msgspec.Struct, frozen=True):
    """Resolves a piece of a surrounded settlement next, where several are captured and their order is chosen."""

    space: int
    caste: int


Play: TypeAlias = ChooseHand | Settle | Place | Switch | Move | End | Capture


# The state

Phase: TypeAlias = Literal["hand", "deal", "setup", "scatter", "turns", "captures", "refill", "over"]
Triple: TypeAlias = tuple[int, int, int]


class State(msgspec.Struct, frozen=True):
    """Everything about a position, secrets included."""

    phase: Phase
    """`hand`: hands are chosen; `deal`: chance deals them; `setup`: pieces are put by the seats; `scatter`: by chance;
    `turns`: tiles are played; `captures`: the seat to move chooses which piece is captured next; `refill`: chance
    draws tiles at the end of a turn; `over`."""
    turn: int
    to_move: Seat
    """Whose turn it is, in `setup`, `turns`, `captures` and `refill`."""
    land: bytes
    sea: bytes
    at: bytes
    """Content of each space: 0 for no tile, else 1 + owner * KINDS + tile."""
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
    """Number of seats that passed in succession."""
    switch_used: bytes = b""
    """The seats whose switch tile has left the game."""
    forfeited: tuple[tuple[Seat, ...], ...] = ()
    """The seats that forfeited, in order; those of one moment together."""
    ranks: value_types.Ranks = ()
    """Set when the game is over."""


def tile_code(seat: Seat, tile: int) -> int:
    """Returns what `State.at` holds for a seat's tile."""
    return 1 + seat * KINDS + tile


def owner_and_tile(code: int) -> tuple[Seat, int]:
    """Returns the owner and the tile of a code that is not 0; the inverse of `tile_code`."""
    return divmod(code - 1, KINDS)


# Tables

PLACED = [[ONE[tile_code(seat, tile)] for tile in range(KINDS)] for seat in range(4)]
"""Value of `State.at` for a tile of a seat, as one byte to splice in."""
MOVABLE = [
    frozenset(tile_code(seat, index) for index, tile in enumerate(TILES) if not tile.fast and index != MOVE)
    for seat in range(4)
]
"""Values of `State.at` for those tiles of each seat that a move may take from the board."""
_STRENGTHS = [tuple(tile.value * (caste in tile.castes) for caste in range(len(CASTES))) for tile in TILES]
INFLUENCE = [(0, (0, 0, 0))] + [(seat, strength) for seat in range(4) for strength in _STRENGTHS]
"""Owner of a tile, and its influence on each caste, by the value of `State.at`."""


class Tables:
    """The board as the rules read it, and the objects that would otherwise be made again at every step."""

    def __init__(self, board: Board, seats: int, options: Mapping[str, str]) -> None:
        self.seats = seats
        self.options = dict(options)
        self.instant = options["captures"] == "instant"
        self.chosen_order = options["capture_order"] == "chosen"
        self.must_follow = options["fast"] != "optional"
        self.near_pieces = options["placement"] != "anywhere"
        """Whether tiles on land must be next to pieces."""
        self.ships_near_pieces = options["placement"] == "near_pieces"
        self.must_place = options["placement"] == "near_or_pass"
        """Whether a seat passes that can place no tile."""
        self.ends_with_a_caste = options.get("ends", "caste") == "caste"
        specials = options["fast"] == "specials"
        self.fast = ONE[SWITCH] if specials else FAST_KINDS
        """The kinds of tiles that are fast."""
        if specials or options["move_is_fast"] == "yes":
            self.fast += ONE[MOVE]
        self.allowed = (EVERY_KIND, b"" if specials else self.fast)
        """The kinds of tiles that may be played, by `State.fast_only`."""
        self.following = (EVERY_KIND.translate(None, self.fast), b"") if specials else self.allowed
        """The kinds of tiles that a fast one must be followed by, if any of them can be played; in the same way."""
        kinds = [space.kind for space in board.spaces]
        by_kind = {kind: bytes(i for i, k in enumerate(kinds) if k == kind) for kind in ("land", "sea", *PIECES)}
        self.land, self.villages, self.cities = by_kind["land"], by_kind["village"], by_kind["city"]
        edos = by_kind["edo"]
        self.around = [tuple(n for n in space.neighbours if kinds[n] in ("land", "sea")) for space in board.spaces]
        """Neighbours of each space that can hold tiles."""
        self.land_around = [tuple(n for n in space.neighbours if kinds[n] == "land") for space in board.spaces]
        """Spaces that must be full for a settlement to be surrounded, by settlement. The sea need not be."""
        self.settlements_near = [
            tuple(n for n in space.neighbours if kinds[n] in PIECES) if space.kind == "land" else ()
            for space in board.spaces
        ]
        """Settlements that a land space helps to surround, by space."""
        self.everyone = tuple(range(seats))
        self.others = [tuple(other for other in range(seats) if other != seat) for seat in range(seats)]
        self.draws = [[game_kit.Draw(f"stack/{seat}", n) for n in range(len(FULL_SET) + 1)] for seat in range(seats)]
        """Draw of a tile, by seat and size of its stack."""
        self.decisions = {
            kind: [(game_kit.Decision(seat, kind),) for seat in range(seats)] for kind in ("setup", "turn")
        }
        per_caste = sum(PIECES.get(kind, 0) for kind in kinds) // len(CASTES) - len(edos)
        self.start = State(
            phase="hand" if self.options["hand"] == "chosen" else "deal", turn=0, to_move=0, land=self.land,
            sea=by_kind["sea"], at=bytes(len(kinds)), pieces=(edos, edos, edos),
            supply=(per_caste, per_caste, per_caste), hands=(b"",) * seats, stacks=(FULL_SET,) * seats,
            captured=((0, 0, 0),) * seats, set_aside=(0, 0, 0),
        )  # fmt: skip
        """Every piece in the supply but those of Edo, every tile in its owner's stack."""
