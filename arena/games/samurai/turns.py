"""A turn: what may be played, what the plays do, refill, then the end of the game or the next turn.

The rules page has it under "A turn". Who takes which piece is the business of `captures`.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from arena.core.face import Payload, Seat, game_kit, seat_rules
from arena.games.samurai.captures import COMPARISONS, capture_piece, due, leader, resolve
from arena.games.samurai.state import (
    CASTES,
    EVERY_KIND,
    HAND_SIZE,
    MOVABLE,
    MOVE,
    ONE,
    PLACED,
    SWITCH,
    TILES,
    Capture,
    End,
    Move,
    Place,
    State,
    Switch,
    Tables,
    names,
    owner_and_tile,
    playable,
    tile_code,
)

PLACEABLE = EVERY_KIND.translate(None, bytes((SWITCH, MOVE)))
SET_ASIDE_LIMIT = 4
"""The number of pieces set aside that ends the game."""
_END = game_kit.Product.of(End)


def turn_products(tables: Tables, state: State, seat: Seat) -> list[game_kit.Product]:
    """Returns the plays that the seat to move may make next."""
    able = playable(state.hands[seat], tables.allowed[state.fast_only])
    land, sea = state.land, state.sea
    if tables.near_pieces:
        land, sea = _near_pieces(tables, state)
    products = []
    if able.land and land:
        products.append(game_kit.Product(Place, (able.land, land), len(able.land) * len(land)))
    if able.sea and sea:
        products.append(game_kit.Product(Place, (able.sea, sea), len(able.sea) * len(sea)))
    if able.switch:
        products += switches(state.pieces)
    if able.move and land and (sources := _movable(tables, state, seat)):
        products.append(game_kit.Product.of(Move, sources, land))
    if state.played and not state.must_follow:
        products.append(_END)
    return products


def can_play(tables: Tables, state: State, seat: Seat, kinds: bytes) -> bool:
    """Returns whether a seat can play a tile of some kinds."""
    able = playable(state.hands[seat], kinds)
    land, sea = state.land, state.sea
    if tables.near_pieces:
        land, sea = _near_pieces(tables, state)
    return bool(
        (able.land and land)
        or (able.sea and sea)
        or (able.switch and switches(state.pieces))
        or (able.move and land and _movable(tables, state, seat))
    )


def can_go_on(tables: Tables, state: State) -> bool:
    """Returns whether the seat to move can play what it must, or what it may if it need not play."""
    kinds = tables.following if state.must_follow else tables.allowed
    return can_play(tables, state, state.to_move, kinds[state.fast_only])


def _near_pieces(tables: Tables, state: State) -> tuple[bytes, bytes]:
    """Returns the empty land and sea spaces next to a settlement that still holds a piece, or all sea if ships may."""
    near = {space for settlement in b"".join(state.pieces) for space in tables.around[settlement]}
    sea = bytes([space for space in state.sea if space in near]) if tables.ships_near_pieces else state.sea
    return bytes([space for space in state.land if space in near]), sea


def _movable(tables: Tables, state: State, seat: Seat) -> bytes:
    """Returns the spaces from which a seat may move a tile: its own, not fast, and not placed in this turn."""
    own, at = MOVABLE[seat], state.at
    filled = tables.land.translate(None, state.land + state.placed)
    return bytes([space for space in filled if at[space] in own])


@lru_cache(maxsize=256)  # with 4,096 it was asked for as often, and a worker grew by 40 MiB until it was full
def switches(pieces: tuple[bytes, bytes, bytes]) -> tuple[game_kit.Product, ...]:
    """Returns every exchange of two pieces. Pieces change a few dozen times in a game: the same are asked for often."""
    products = []
    for caste, own in enumerate(pieces):
        for position, space in enumerate(own[:-1], start=1):
            products.append(game_kit.Product.of(Switch, (space,), (caste,), own[position:], (caste,)))
        for other in range(caste + 1, len(pieces)):
            here, there = own.translate(None, pieces[other]), pieces[other].translate(None, own)
            if here and there:
                products.append(game_kit.Product.of(Switch, here, (caste,), there, (other,)))
            shared = own.translate(None, here)
            products += [game_kit.Product.of(Switch, (space,), (caste,), (space,), (other,)) for space in shared]
    return tuple(products)


def turn_refusal(tables: Tables, state: State, seat: Seat, play: Place | Switch | Move | End) -> str | None:
    """Returns why a play is not legal, or None if it is."""
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
    if (play.space, play.caste) == (play.with_space, play.with_caste):
        return f"the {CASTES[play.caste]} on space {play.space} cannot be exchanged with itself"
    if play.caste != play.with_caste and play.space != play.with_space:
        for space, caste in ((play.space, play.with_caste), (play.with_space, play.caste)):
            if space in state.pieces[caste]:
                return f"space {space} would hold two of {CASTES[caste]}"
    return None


# What the plays do


def place(tables: Tables, state: State, seat: Seat, play: Place, events: list[game_kit.Event] | None) -> State:
    """Returns the state after a tile was put on a space."""
    index, space = play.tile, play.space
    tile = TILES[index]
    at = state.at
    if events is not None:
        events.append(game_kit.Event({"event": "placed", "seat": seat, "tile": tile.name, "space": space}))
    on_land = tile.goes_on == "land"
    state = replace(
        state,
        land=state.land.replace(ONE[space], b"") if on_land else state.land,
        sea=state.sea if on_land else state.sea.replace(ONE[space], b""),
        at=at[:space] + PLACED[seat][index] + at[space + 1 :],
        hands=seat_rules.with_item(state.hands, seat, state.hands[seat].replace(ONE[index], b"", 1)),
        placed=state.placed + ONE[space],
        fast_only=state.fast_only or index not in tables.fast,
        played=True,
    )
    return _go_on(tables, state, seat, index, events)


def switch(tables: Tables, state: State, seat: Seat, play: Switch, events: list[game_kit.Event] | None) -> State:
    """Returns the state after two pieces changed places; the switch tile leaves the game."""
    if events is not None:
        fact: Payload = {"event": "switched", "seat": seat, "space": play.space, "caste": CASTES[play.caste]}
        events.append(game_kit.Event(fact | {"with": play.with_space, "with_caste": CASTES[play.with_caste]}))
    pieces = state.pieces
    if play.caste != play.with_caste:
        pieces = _shift(pieces, play.caste, play.space, play.with_space)
        pieces = _shift(pieces, play.with_caste, play.with_space, play.space)
    state = replace(
        state,
        pieces=pieces,
        hands=seat_rules.with_item(state.hands, seat, state.hands[seat].replace(ONE[SWITCH], b"", 1)),
        switch_used=bytes(sorted(state.switch_used + ONE[seat])),
        played=True,
    )
    return _go_on(tables, state, seat, SWITCH, events)


def _shift(pieces: tuple[bytes, bytes, bytes], caste: int, old: int, new: int) -> tuple[bytes, bytes, bytes]:
    shifted: tuple[bytes, bytes, bytes] = seat_rules.with_item(
        pieces, caste, bytes(sorted(pieces[caste].replace(ONE[old], b"") + ONE[new]))
    )
    return shifted


def move(tables: Tables, state: State, seat: Seat, play: Move, events: list[game_kit.Event] | None) -> State:
    """Returns the state after a tile moved to another space; the move tile lies on the space it left."""
    at = bytearray(state.at)
    moved = at[play.source]
    at[play.target] = moved
    at[play.source] = tile_code(seat, MOVE)
    if events is not None:
        tile = TILES[owner_and_tile(moved)[1]].name
        fact = {"event": "moved", "seat": seat, "tile": tile, "from": play.source, "to": play.target}
        events.append(game_kit.Event(fact))
    state = replace(
        state,
        land=state.land.replace(ONE[play.target], b""),
        at=bytes(at),
        hands=seat_rules.with_item(state.hands, seat, state.hands[seat].replace(ONE[MOVE], b"", 1)),
        placed=state.placed + ONE[play.source] + ONE[play.target],
        fast_only=state.fast_only or MOVE not in tables.fast,
        played=True,
    )
    return _go_on(tables, state, seat, MOVE, events)


def end(tables: Tables, state: State, seat: Seat, play: End, events: list[game_kit.Event] | None) -> State:
    """Returns the state after a seat decided to play no more tiles."""
    return end_turn(tables, state, events)


def _go_on(tables: Tables, state: State, seat: Seat, tile: int, events: list[game_kit.Event] | None) -> State:
    """Goes on with the turn after a play of `tile`, as long as anything can be played."""
    if tables.instant:
        state = resolve(tables, state, events)
    if tables.must_follow:
        following = tables.following[state.fast_only]
        state = replace(state, must_follow=tile in tables.fast and can_play(tables, state, seat, following))
    return state if can_go_on(tables, state) else end_turn(tables, state, events)


def end_turn(tables: Tables, state: State, events: list[game_kit.Event] | None) -> State:
    """Ends the plays: captures, in an order that the seat may choose, then the rest of the turn."""
    if tables.chosen_order and len(due(tables, state)) > 1:
        return replace(state, phase="captures")
    return _refill_or_finish(tables, resolve(tables, state, events), events)


def capture(tables: Tables, state: State, seat: Seat, play: Capture, events: list[game_kit.Event] | None) -> State:
    """Returns the state after the seat to move chose the piece that is captured next; the last needs no choice."""
    return end_turn(tables, capture_piece(tables, state, play.space, play.caste, events), events)


def _refill_or_finish(tables: Tables, state: State, events: list[game_kit.Event] | None) -> State:
    seat = state.to_move
    if len(state.hands[seat]) < HAND_SIZE and state.stacks[seat]:
        return replace(state, phase="refill")
    return finish_turn(tables, state, events)


def refill(tables: Tables, state: State, index: int, events: list[game_kit.Event] | None) -> State:
    """Returns the state after chance drew a tile for the seat to move. Only that seat learns which."""
    seat = state.to_move
    stack = state.stacks[seat]
    tile = stack[index : index + 1]
    rest = stack[:index] + stack[index + 1 :]
    hand = bytes(sorted(state.hands[seat] + tile))
    if events is not None:
        events.append(game_kit.Event({"event": "hand", "seat": seat, "count": 1, "tiles": names(tile)}, (seat,)))
        events.append(game_kit.Event({"event": "hand", "seat": seat, "count": 1}, tables.others[seat]))
    state = replace(
        state,
        hands=seat_rules.with_item(state.hands, seat, hand),
        stacks=seat_rules.with_item(state.stacks, seat, rest),
    )
    return state if len(hand) < HAND_SIZE and rest else finish_turn(tables, state, events)


def finish_turn(tables: Tables, state: State, events: list[game_kit.Event] | None) -> State:
    """Ends the game if its condition is met, else begins the next turn."""
    if not any(state.pieces) or (tables.ends_with_a_caste and not all(state.pieces)):
        return over(tables, state, "caste_exhausted" if tables.ends_with_a_caste else "pieces_gone", events)
    if tables.ends_with_a_caste and sum(state.set_aside) >= SET_ASIDE_LIMIT:
        return over(tables, state, "set_aside", events)
    return begin_turn(tables, replace(state, passes=0) if state.passes else state, state.to_move + 1, events)


def begin_turn(tables: Tables, state: State, seat: Seat, events: list[game_kit.Event] | None) -> State:
    """Begins the turn of the next seat that can play; those before it pass. If all pass the game is over."""
    active = seat_rules.still_in(tables.everyone, state.forfeited)
    turn, passes = state.turn, state.passes
    while True:
        seat %= tables.seats
        if seat in active:
            turn += 1
            if events is not None:
                events.append(game_kit.Event({"event": "turn", "seat": seat, "turn": turn}))
            state = replace(
                state,
                phase="turns",
                turn=turn,
                to_move=seat,
                placed=b"",
                fast_only=False,
                played=False,
                must_follow=False,
                passes=passes,
            )
            if can_play(tables, state, seat, PLACEABLE if tables.must_place else tables.allowed[False]):
                return state
            passes += 1
            if events is not None:
                events.append(game_kit.Event({"event": "passed", "seat": seat}))
            if passes >= len(active):
                return over(tables, state, "passes", events)
        seat += 1


def over(tables: Tables, state: State, reason: str, events: list[game_kit.Event] | None) -> State:
    """Returns the state at the end of the game; all captured pieces are shown."""
    compared = COMPARISONS[tables.options["scoring"]]
    scores = [compared(state.captured, seat) for seat in tables.everyone]
    ranks = seat_rules.rank(scores, state.forfeited)
    if events is not None:
        captured = [dict(zip(CASTES, pieces, strict=True)) for pieces in state.captured]
        leaders = {name: leader(state.captured, caste) for caste, name in enumerate(CASTES)}
        fact: Payload = {"event": "over", "reason": reason, "ranks": list(ranks), "captured": captured}
        events.append(game_kit.Event(fact | {"leaders": leaders}))
    return replace(state, phase="over", ranks=ranks)
