"""A turn: plays, captures, refill, then the end of the game or the next turn (rules page, "A turn").

What may be played is `legal`'s business, who takes which piece that of `captures`.
"""

from __future__ import annotations

from msgspec.structs import replace

from arena.rules.base import Event
from arena.rules.samurai.captures import capture_piece, due, resolve
from arena.rules.samurai.legal import can_play
from arena.rules.samurai.plays import Capture, End, Move, Place, Switch
from arena.rules.samurai.state import State, owner_and_tile, tile_code
from arena.rules.samurai.tables import PLACED, Tables
from arena.rules.samurai.tiles import CASTES, HAND_SIZE, MOVE, ONE, SWITCH, TILES, names
from arena.rules.seats import rank, still_in, with_item
from arena.types import Payload, Seat

SET_ASIDE_LIMIT = 4
"""The game ends when so many pieces are set aside."""


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
    return _go_on(tables, state, seat, index, events)


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
    return _go_on(tables, state, seat, SWITCH, events)


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
        fast_only=state.fast_only or MOVE not in tables.fast,
        played=True,
    )
    return _go_on(tables, state, seat, MOVE, events)


def end(tables: Tables, state: State, seat: Seat, play: End, events: list[Event] | None) -> State:
    """The seat plays no more tiles."""
    return end_turn(tables, state, events)


def _go_on(tables: Tables, state: State, seat: Seat, tile: int, events: list[Event] | None) -> State:
    """After a play of `tile` the turn goes on as long as anything can be played."""
    if tables.instant:
        state = resolve(tables, state, events)
    if tables.must_follow:
        state = replace(state, must_follow=tile in tables.fast)
    return state if can_play(tables, state, seat) else end_turn(tables, state, events)


def end_turn(tables: Tables, state: State, events: list[Event] | None) -> State:
    """No more plays: captures, in an order that the seat may choose, then the rest of the turn."""
    if tables.chosen_order and len(due(tables, state)) > 1:
        return replace(state, phase="captures")
    return _refill_or_finish(tables, resolve(tables, state, events), events)


def capture(tables: Tables, state: State, seat: Seat, play: Capture, events: list[Event] | None) -> State:
    """The seat to move chose the piece that is captured next; the last one needs no choice."""
    return end_turn(tables, capture_piece(tables, state, play.space, play.caste, events), events)


def _refill_or_finish(tables: Tables, state: State, events: list[Event] | None) -> State:
    seat = state.to_move
    if len(state.hands[seat]) < HAND_SIZE and state.stacks[seat]:
        return replace(state, phase="refill")
    return finish_turn(tables, state, events)


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
        return over(tables, state, "caste_exhausted", events)
    if sum(state.set_aside) >= SET_ASIDE_LIMIT:
        return over(tables, state, "set_aside", events)
    return begin_turn(tables, replace(state, passes=0) if state.passes else state, state.to_move + 1, events)


def begin_turn(tables: Tables, state: State, seat: Seat, events: list[Event] | None) -> State:
    """The turn of the next seat that can play; those before it pass. If all pass the game is over."""
    active = still_in(tables.everyone, state.forfeited)
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
                must_follow=False,
                passes=passes,
            )
            if can_play(tables, state, seat):
                return state
            passes += 1
            if events is not None:
                events.append(Event({"event": "passed", "seat": seat}))
            if passes >= len(active):
                return over(tables, state, "passes", events)
        seat += 1


def over(tables: Tables, state: State, reason: str, events: list[Event] | None) -> State:
    """The game is over; all captured pieces are shown."""
    scores = [tables.score(state.captured, seat) for seat in tables.everyone]
    ranks = rank(scores, state.forfeited)
    if events is not None:
        captured = [dict(zip(CASTES, pieces, strict=True)) for pieces in state.captured]
        events.append(Event({"event": "over", "reason": reason, "ranks": list(ranks), "captured": captured}))
    return replace(state, phase="over", ranks=ranks)
