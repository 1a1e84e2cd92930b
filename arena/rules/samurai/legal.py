"""What may be played next in a turn, and why a play may not (rules page, "A turn", 1)."""

from __future__ import annotations

from functools import lru_cache

from arena.rules.base import Product
from arena.rules.samurai.plays import End, Move, Place, Switch
from arena.rules.samurai.state import State
from arena.rules.samurai.tables import MOVABLE, Tables
from arena.rules.samurai.tiles import CASTES, MOVE, SWITCH, TILES, playable
from arena.types import Seat

_END = Product.of(End)


def turn_products(tables: Tables, state: State, seat: Seat) -> list[Product]:
    """The plays that the seat to move may make next."""
    able = playable(state.hands[seat], tables.allowed[state.fast_only])
    land, sea = state.land, state.sea
    if tables.near_pieces:
        land, sea = _near_pieces(tables, state)
    products = []
    if able.land and land:
        products.append(Product(Place, (able.land, land), len(able.land) * len(land)))
    if able.sea and sea:
        products.append(Product(Place, (able.sea, sea), len(able.sea) * len(sea)))
    if able.switch:
        products += switches(state.pieces)
    if able.move and land and (sources := _movable(tables, state, seat)):
        products.append(Product.of(Move, sources, land))
    if state.played and not state.must_follow:
        products.append(_END)
    return products


def can_play(tables: Tables, state: State, seat: Seat) -> bool:
    """Whether a seat has any play but to end its turn."""
    able = playable(state.hands[seat], tables.allowed[state.fast_only])
    land, sea = state.land, state.sea
    if tables.near_pieces:
        land, sea = _near_pieces(tables, state)
    return bool(
        (able.land and land)
        or (able.sea and sea)
        or (able.switch and switches(state.pieces))
        or (able.move and land and _movable(tables, state, seat))
    )


def _near_pieces(tables: Tables, state: State) -> tuple[bytes, bytes]:
    """The empty land and sea spaces next to a settlement that still holds a piece."""
    near = {space for settlement in b"".join(state.pieces) for space in tables.around[settlement]}
    return bytes([space for space in state.land if space in near]), bytes([s for s in state.sea if s in near])


def _movable(tables: Tables, state: State, seat: Seat) -> bytes:
    """The spaces from which a seat may move a tile: its own, not fast, and not placed in this turn."""
    own, at = MOVABLE[seat], state.at
    filled = tables.land.translate(None, state.land + state.placed)
    return bytes([space for space in filled if at[space] in own])


@lru_cache(maxsize=4096)
def switches(pieces: tuple[bytes, bytes, bytes]) -> tuple[Product, ...]:
    """Every exchange of two pieces. Pieces change a few dozen times in a game, so the same ones are asked for often."""
    products = []
    for caste, own in enumerate(pieces):
        for position, space in enumerate(own[:-1], start=1):
            products.append(Product.of(Switch, (space,), (caste,), own[position:], (caste,)))
        for other in range(caste + 1, len(pieces)):
            here, there = own.translate(None, pieces[other]), pieces[other].translate(None, own)
            if here and there:
                products.append(Product.of(Switch, here, (caste,), there, (other,)))
    return tuple(products)


def turn_refusal(tables: Tables, state: State, seat: Seat, play: Place | Switch | Move | End) -> str | None:
    """Why a play is not legal, or None if it is."""
    if isinstance(play, End):
        if state.must_follow:
            return "the tile played last is fast, and another one must follow it"
        return None if state.played else "a turn must play at least one tile"
    index = play.tile if isinstance(play, Place) else SWITCH if isinstance(play, Switch) else MOVE
    tile = TILES[index]
    if index not in state.hands[seat]:
        return f"{tile.name} is not in the hand"
    if index not in tables.allowed[state.fast_only]:
        return f"{tile.name} is not fast, and a turn holds at most one tile that is not"
    if isinstance(play, Switch):
        return _switch_refusal(state, play)
    if isinstance(play, Move):
        if play.source not in _movable(tables, state, seat):
            return f"space {play.source} holds no tile of the seat that may be moved"
        if play.target not in state.land:
            return f"space {play.target} is not an empty land space"
        return _distance_refusal(tables, state, play.target)
    if index in (SWITCH, MOVE):
        return f"{tile.name} is not placed"
    if play.space not in (state.land if tile.goes_on == "land" else state.sea):
        return f"{tile.name} goes on an empty {tile.goes_on} space, and space {play.space} is none"
    return _distance_refusal(tables, state, play.space)


def _distance_refusal(tables: Tables, state: State, space: int) -> str | None:
    if tables.near_pieces and not any(space in near for near in _near_pieces(tables, state)):
        return f"space {space} is not next to a settlement that still holds a piece"
    return None


def _switch_refusal(state: State, play: Switch) -> str | None:
    for space, caste in ((play.space, play.caste), (play.with_space, play.with_caste)):
        if space not in state.pieces[caste]:
            return f"space {space} holds no {CASTES[caste]}"
    if play.space == play.with_space:
        return f"both pieces lie on space {play.space}"
    if play.caste != play.with_caste:
        for space, caste in ((play.space, play.with_caste), (play.with_space, play.caste)):
            if space in state.pieces[caste]:
                return f"space {space} would hold two of {CASTES[caste]}"
    return None
