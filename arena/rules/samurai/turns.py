"""A turn: plays, captures, refill, then the end of the game or the next turn (rules page, "A turn")."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec.structs import replace

from arena.rules.base import Event, Product
from arena.rules.samurai.plays import End, Move, Place, Switch
from arena.rules.samurai.scoring import rank
from arena.rules.samurai.state import State, owner_and_tile, tile_code, with_item
from arena.rules.samurai.tables import INFLUENCE, MOVABLE, PLACED, Tables
from arena.rules.samurai.tiles import CASTES, HAND_SIZE, MOVE, ONE, SWITCH, TILES, names, playable
from arena.types import Payload, Seat

SET_ASIDE_LIMIT = 4
"""The game ends when so many pieces are set aside."""

_END = Product.of(End)


def turn_products(tables: Tables, state: State, seat: Seat) -> list[Product]:
    """The plays that the seat to move may make next."""
    able = playable(state.hands[seat], state.fast_only)
    products = []
    if able.land and state.land:
        products.append(Product(Place, (able.land, state.land), len(able.land) * len(state.land)))
    if able.sea and state.sea:
        products.append(Product(Place, (able.sea, state.sea), len(able.sea) * len(state.sea)))
    if able.switch:
        products += switches(state.pieces)
    if able.move and state.land and (sources := _movable(tables, state, seat)):
        products.append(Product.of(Move, sources, state.land))
    if state.played:
        products.append(_END)
    return products


def can_play(tables: Tables, state: State, seat: Seat) -> bool:
    """Whether a seat has any play but to end its turn."""
    able = playable(state.hands[seat], state.fast_only)
    return bool(
        (able.land and state.land)
        or (able.sea and state.sea)
        or (able.switch and switches(state.pieces))
        or (able.move and state.land and _movable(tables, state, seat))
    )


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
        return None if state.played else "a turn must play at least one tile"
    index = play.tile if isinstance(play, Place) else SWITCH if isinstance(play, Switch) else MOVE
    tile = TILES[index]
    if index not in state.hands[seat]:
        return f"{tile.name} is not in the hand"
    if state.fast_only and not tile.fast:
        return f"{tile.name} is not fast, and a turn holds at most one tile that is not"
    if isinstance(play, Switch):
        return _switch_refusal(state, play)
    if isinstance(play, Move):
        if play.source not in _movable(tables, state, seat):
            return f"space {play.source} holds no tile of the seat that may be moved"
        return None if play.target in state.land else f"space {play.target} is not an empty land space"
    if index in (SWITCH, MOVE):
        return f"{tile.name} is not placed"
    if play.space not in (state.land if tile.goes_on == "land" else state.sea):
        return f"{tile.name} goes on an empty {tile.goes_on} space, and space {play.space} is none"
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


def place(tables: Tables, state: State, seat: Seat, play: Place, events: list[Event] | None) -> State:
    """A tile is put on a space."""
    index, space = play.tile, play.space
    tile = TILES[index]
    at = state.at
    if events is not None:
        events.append(Event({"event": "placed", "seat": seat, "tile": tile.name, "space": space}))
    on_land = tile.goes_on == "land"
    state = replace(
        state,
        land=state.land.replace(ONE[space], b"") if on_land else state.land,
        sea=state.sea if on_land else state.sea.replace(ONE[space], b""),
        at=at[:space] + PLACED[seat][index] + at[space + 1 :],
        hands=with_item(state.hands, seat, state.hands[seat].replace(ONE[index], b"", 1)),
        placed=state.placed + ONE[space],
        fast_only=state.fast_only or not tile.fast,
        played=True,
    )
    return _go_on(tables, state, seat, events)


def switch(tables: Tables, state: State, seat: Seat, play: Switch, events: list[Event] | None) -> State:
    """Two pieces change places; the switch tile leaves the game."""
    if events is not None:
        fact: Payload = {"event": "switched", "seat": seat, "space": play.space, "caste": CASTES[play.caste]}
        events.append(Event(fact | {"with": play.with_space, "with_caste": CASTES[play.with_caste]}))
    pieces = state.pieces
    if play.caste != play.with_caste:
        pieces = _shift(pieces, play.caste, play.space, play.with_space)
        pieces = _shift(pieces, play.with_caste, play.with_space, play.space)
    state = replace(
        state,
        pieces=pieces,
        hands=with_item(state.hands, seat, state.hands[seat].replace(ONE[SWITCH], b"", 1)),
        switch_used=bytes(sorted(state.switch_used + ONE[seat])),
        played=True,
    )
    return _go_on(tables, state, seat, events)


def _shift(pieces: tuple[bytes, bytes, bytes], caste: int, old: int, new: int) -> tuple[bytes, bytes, bytes]:
    shifted: tuple[bytes, bytes, bytes] = with_item(
        pieces, caste, bytes(sorted(pieces[caste].replace(ONE[old], b"") + ONE[new]))
    )
    return shifted


def move(tables: Tables, state: State, seat: Seat, play: Move, events: list[Event] | None) -> State:
    """A tile moves to another space; the move tile lies on the space it left."""
    at = bytearray(state.at)
    moved = at[play.source]
    at[play.target] = moved
    at[play.source] = tile_code(seat, MOVE)
    if events is not None:
        tile = TILES[owner_and_tile(moved)[1]].name
        fact = {"event": "moved", "seat": seat, "tile": tile, "from": play.source, "to": play.target}
        events.append(Event(fact))
    state = replace(
        state,
        land=state.land.replace(ONE[play.target], b""),
        at=bytes(at),
        hands=with_item(state.hands, seat, state.hands[seat].replace(ONE[MOVE], b"", 1)),
        placed=state.placed + ONE[play.source] + ONE[play.target],
        fast_only=True,
        played=True,
    )
    return _go_on(tables, state, seat, events)


def end(tables: Tables, state: State, seat: Seat, play: End, events: list[Event] | None) -> State:
    """The seat plays no more tiles."""
    return end_turn(tables, state, events)


def _go_on(tables: Tables, state: State, seat: Seat, events: list[Event] | None) -> State:
    """The turn goes on as long as anything can be played."""
    return state if can_play(tables, state, seat) else end_turn(tables, state, events)


def end_turn(tables: Tables, state: State, events: list[Event] | None) -> State:
    """No more plays: captures, then the refill if there is one."""
    state = resolve_captures(tables, state, events)
    seat = state.to_move
    if len(state.hands[seat]) < HAND_SIZE and state.stacks[seat]:
        return replace(state, phase="refill")
    return finish_turn(tables, state, events)


def resolve_captures(tables: Tables, state: State, events: list[Event] | None) -> State:
    """Capture the pieces of every surrounded settlement.

    Only where a tile was put in this turn can one have become surrounded.
    """
    land = state.land
    surrounded = []
    for space in state.placed:
        for settlement in tables.settlements_near[space]:
            for neighbour in tables.land_around[settlement]:
                if neighbour in land:
                    break
            else:
                surrounded.append(settlement)
    for settlement in sorted({*surrounded}) if surrounded else ():
        for caste in range(len(CASTES)):
            if settlement in state.pieces[caste]:
                state = _capture(tables, state, settlement, caste, events)
    return state


def _capture(tables: Tables, state: State, settlement: int, caste: int, events: list[Event] | None) -> State:
    totals = influence(tables, state, settlement, caste)
    best = max(totals)
    pieces = with_item(state.pieces, caste, state.pieces[caste].replace(ONE[settlement], b""))
    fact: Payload = {"event": "set_aside", "space": settlement, "caste": CASTES[caste]}
    if totals.count(best) > 1:
        set_aside = with_item(state.set_aside, caste, state.set_aside[caste] + 1)
        state = replace(state, pieces=pieces, set_aside=set_aside)
    else:
        winner = totals.index(best)
        fact |= {"event": "captured", "seat": winner}
        own = state.captured[winner]
        captured = with_item(state.captured, winner, with_item(own, caste, own[caste] + 1))
        state = replace(state, pieces=pieces, captured=captured)
    if events is not None:
        events.append(Event(fact))
    return state


def influence(tables: Tables, state: State, settlement: int, caste: int) -> list[int]:
    """By seat: the values of its tiles next to a settlement that influence a caste, added up."""
    totals = [0] * tables.seats
    at = state.at
    for space in tables.around[settlement]:
        if code := at[space]:
            seat, values = INFLUENCE[code]
            totals[seat] += values[caste]
    return totals


def refill(tables: Tables, state: State, index: int, events: list[Event] | None) -> State:
    """Chance drew a tile from the stack of the seat to move. Only that seat learns which."""
    seat = state.to_move
    stack = state.stacks[seat]
    tile = stack[index : index + 1]
    rest = stack[:index] + stack[index + 1 :]
    hand = bytes(sorted(state.hands[seat] + tile))
    if events is not None:
        events.append(Event({"event": "hand", "seat": seat, "count": 1, "tiles": names(tile)}, (seat,)))
        events.append(Event({"event": "hand", "seat": seat, "count": 1}, tables.others[seat]))
    state = replace(state, hands=with_item(state.hands, seat, hand), stacks=with_item(state.stacks, seat, rest))
    return state if len(hand) < HAND_SIZE and rest else finish_turn(tables, state, events)


def finish_turn(tables: Tables, state: State, events: list[Event] | None) -> State:
    """The end of the game if its condition is met, else the next turn."""
    if not all(state.pieces):
        return over(state, "caste_exhausted", events)
    if sum(state.set_aside) >= SET_ASIDE_LIMIT:
        return over(state, "set_aside", events)
    return begin_turn(tables, replace(state, passes=0) if state.passes else state, state.to_move + 1, events)


def begin_turn(tables: Tables, state: State, seat: Seat, events: list[Event] | None) -> State:
    """The turn of the next seat that can play; those before it pass. If all pass the game is over."""
    active = active_seats(tables, state)
    turn, passes = state.turn, state.passes
    while True:
        seat %= tables.seats
        if seat in active:
            turn += 1
            if events is not None:
                events.append(Event({"event": "turn", "seat": seat, "turn": turn}))
            state = replace(
                state,
                phase="turns",
                turn=turn,
                to_move=seat,
                placed=b"",
                fast_only=False,
                played=False,
                passes=passes,
            )
            if can_play(tables, state, seat):
                return state
            passes += 1
            if events is not None:
                events.append(Event({"event": "passed", "seat": seat}))
            if passes >= len(active):
                return over(state, "passes", events)
        seat += 1


def active_seats(tables: Tables, state: State) -> Sequence[Seat]:
    """The seats that have not forfeited."""
    if not state.forfeited:
        return tables.everyone
    gone = {seat for seats in state.forfeited for seat in seats}
    return [seat for seat in tables.everyone if seat not in gone]


def over(state: State, reason: str, events: list[Event] | None) -> State:
    """The game is over; all captured pieces are shown."""
    ranks = rank(state.captured, state.forfeited)
    if events is not None:
        captured = [dict(zip(CASTES, pieces, strict=True)) for pieces in state.captured]
        events.append(Event({"event": "over", "reason": reason, "ranks": list(ranks), "captured": captured}))
    return replace(state, phase="over", ranks=ranks)
