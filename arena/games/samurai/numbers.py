"""Plays and views as numbers, for programs that learn."""

from __future__ import annotations

from arena.core.rules.base import Legal, Product
from arena.core.rules.numbering import counted
from arena.core.types import Payload
from arena.games.samurai.state import (
    CASTES,
    KINDS,
    MOVE,
    SWITCH,
    TILE_INDEX,
    Capture,
    ChooseHand,
    End,
    Move,
    Place,
    Settle,
    Switch,
    Tables,
    all_hands,
    tile_code,
)

_PHASES = ("hand", "setup", "turns", "over")


def every_play(tables: Tables) -> Legal:
    """Returns all plays at a table."""
    start, castes = tables.start, range(len(CASTES))
    tiles = [tile for tile in range(KINDS) if tile not in (SWITCH, MOVE)]
    settlements = sorted(tables.villages + tables.cities + start.pieces[0])
    return Legal(
        [
            Product.of(ChooseHand, all_hands()),
            Product.of(Settle, castes, settlements),
            Product.of(Place, tiles, sorted(start.land + start.sea)),
            Product.of(Move, tables.land, tables.land),
            Product.of(Switch, settlements, castes, settlements, castes),
            Product.of(Capture, settlements, castes),
            Product.of(End),
        ]
    )


def numbers(tables: Tables, view: Payload) -> list[int]:
    """Returns a view as numbers; seats come in their order round the table, the view's own first, as seat 0.

    The phase (0 `hand` to 3 `over`), `turn`, 1 + the seat to move, whether only fast tiles may follow; the supply and
    what is set aside, by caste; how many tiles of each kind are in the own hand. For each seat: tiles in its hand and
    in its stack, whether its switch is used, whether it forfeited, and its captured pieces by caste, -1 where they are
    hidden. For each space: its tile (0 for none, else 1 + seat * kinds + kind), a 1 for each caste that has a piece
    there, and a 1 if its tile was put there in this turn.
    """
    seats, own, spaces = tables.seats, view["seat"], len(tables.start.at)
    to_move = view["to_move"]
    found = [_PHASES.index(view["phase"]), view["turn"], 0 if to_move is None else 1 + (to_move - own) % seats]
    found += [view["fast_only"], *view["supply"].values(), *view["set_aside"].values()]
    found += counted((TILE_INDEX[tile] for tile in view["hand"]), KINDS)
    for turn in range(seats):
        seat = (own + turn) % seats
        found += [view["hands"][seat], view["stacks"][seat], seat in view["switch_used"], seat in view["forfeited"]]
        captured = view["captured"][seat]
        found += [-1] * len(CASTES) if captured is None else captured.values()
    tiles = [0] * spaces
    for space, owner, tile in view["tiles"]:
        tiles[space] = tile_code((owner - own) % seats, TILE_INDEX[tile])
    found += tiles
    for caste in CASTES:
        found += counted(view["pieces"][caste], spaces)
    return found + counted(view["placed"], spaces)
