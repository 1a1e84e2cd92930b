"""Plays and views as numbers, for programs that learn."""

from __future__ import annotations

from array import array
from functools import cache

from arena.core.face import Seat, game_kit
from arena.games.samurai.payloads import BY_SEAT, SHOWN_PHASES, sees_captured
from arena.games.samurai.state import (
    CASTES,
    FULL_SET,
    HAND_SIZE,
    KINDS,
    MOVE,
    SWITCH,
    Capture,
    ChooseHand,
    End,
    Move,
    Place,
    Settle,
    State,
    Switch,
    Tables,
    all_hands,
    owner_and_tile,
    tile_code,
)

_PHASES = ("hand", "setup", "turns", "over")
_UNSEEN = (-1 & 0xFF,) * len(CASTES)


def every_play(tables: Tables) -> game_kit.Legal:
    """Returns all plays at a table."""
    start, castes = tables.start, range(len(CASTES))
    tiles = [tile for tile in range(KINDS) if tile not in (SWITCH, MOVE)]
    settlements = sorted(tables.villages + tables.cities + start.pieces[0])
    return game_kit.Legal(
        [
            game_kit.Product.of(ChooseHand, all_hands()),
            game_kit.Product.of(Settle, castes, settlements),
            game_kit.Product.of(Place, tiles, sorted(start.land + start.sea)),
            game_kit.Product.of(Move, tables.land, tables.land),
            game_kit.Product.of(Switch, settlements, castes, settlements, castes),
            game_kit.Product.of(Capture, settlements, castes),
            game_kit.Product.of(End),
        ]
    )


@cache
def _turned(seats: int, own: Seat) -> bytes:
    """Returns what turns each code of a tile so that a seat comes first."""
    codes = [owner_and_tile(code) for code in range(1, seats * KINDS + 1)]
    return bytes([0, *(tile_code((owner - own) % seats, tile) for owner, tile in codes)]).ljust(256, b"\0")


def observe(tables: Tables, state: State, own: Seat) -> array[int]:
    """Returns what a seat sees as numbers; seats come in their order round the table, its own first, as seat 0.

    The phase (0 `hand` to 3 `over`), `turn`, 1 + the seat to move, whether only fast tiles may follow; the supply and
    what is set aside, by caste; how many tiles of each kind are in the own hand. For each seat: tiles in its hand and
    in its stack, whether its switch is used, whether it forfeited, and its captured pieces by caste, -1 where they are
    hidden. For each space: its tile (0 for none, else 1 + seat * kinds + kind), a 1 for each caste that has a piece
    there, and a 1 if its tile was put there in this turn.
    """
    seats, hand, gone = tables.seats, state.hands[own], [seat for seats in state.forfeited for seat in seats]
    phase = _PHASES.index(SHOWN_PHASES.get(state.phase, state.phase))
    to_move = 1 + (state.to_move - own) % seats if state.phase in BY_SEAT else 0
    # All are within -128 and 127 (`bounds`), and bytes are joined ten times as fast as numbers.
    found = bytearray((phase, state.turn, to_move, state.fast_only, *state.supply, *state.set_aside))
    found += bytes(map(hand.count, range(KINDS)))
    for turn in range(seats):
        seat = (own + turn) % seats
        seen = state.captured[seat] if sees_captured(tables, state, own, seat) else _UNSEEN
        found += bytes(
            (len(state.hands[seat]), len(state.stacks[seat]), seat in state.switch_used, seat in gone, *seen)
        )
    found += state.at.translate(_turned(seats, own))
    for spaces in (*state.pieces, state.placed):
        marked = bytearray(len(state.at))
        for space in spaces:
            marked[space] = 1
        found += marked
    return array("b", bytes(found))


def bounds(tables: Tables) -> game_kit.Bounds:
    """Returns the bounds of `numbers` and of what can happen: each in the order of `numbers`."""
    seats, supply, spaces, some = tables.seats, max(tables.start.supply), len(tables.start.at), len(FULL_SET)
    pieces = supply + 1  # of a caste, with that of Edo
    tiles = seats * some
    turns = seats * (tiles + 1)  # in each a tile is played, or all pass in succession
    own = [(0, HAND_SIZE), (0, some), (0, 1), (0, 1), *[(-1, pieces)] * len(CASTES)]
    found = [(0, len(_PHASES) - 1), (0, turns), (0, seats), (0, 1)]
    found += [(0, supply)] * len(CASTES) + [(0, pieces)] * len(CASTES)
    found += [(0, FULL_SET.count(kind)) for kind in range(KINDS)] + own * seats
    found += [(0, seats * KINDS)] * spaces + [(0, 1)] * ((len(CASTES) + 1) * spaces)
    plays = seats + tiles + turns + 2 * pieces * len(CASTES)  # hands, tiles, ends, and pieces put and captured
    return game_kit.Bounds(found, plays, max(some, supply * len(CASTES)), (-1.0, 1.0))
