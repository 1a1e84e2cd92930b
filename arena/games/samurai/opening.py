"""The opening: first hands, and pieces on the settlements (rules page, "Set-up").

Cities are filled before villages, by the seats in turn (`setup=draft`) or by chance (`setup=random`).
"""

from __future__ import annotations

from msgspec.structs import replace

from arena.core.face import Payload, Seat, game_kit, seat_rules
from arena.games.samurai.board import PIECES
from arena.games.samurai.state import CASTES, FULL_SET, HAND_SIZE, ONE, ChooseHand, Settle, State, Tables, Triple, names
from arena.games.samurai.turns import begin_turn


def take(tables: Tables, state: State, seat: Seat, tiles: bytes, events: list[game_kit.Event] | None) -> State:
    """Moves tiles from a seat's stack into its hand. Only their owner learns which."""
    stack = state.stacks[seat]
    for tile in tiles:
        stack = stack.replace(ONE[tile], b"", 1)
    if events is not None:
        fact: Payload = {"event": "hand", "seat": seat, "count": len(tiles)}
        events.append(game_kit.Event(fact | {"tiles": names(tiles)}, (seat,)))
        events.append(game_kit.Event(fact, tables.others[seat]))
    return replace(
        state,
        hands=seat_rules.with_item(state.hands, seat, bytes(sorted(state.hands[seat] + tiles))),
        stacks=seat_rules.with_item(state.stacks, seat, stack),
    )


def choose(tables: Tables, state: State, seat: Seat, play: ChooseHand, events: list[game_kit.Event] | None) -> State:
    """Returns the state after a seat chose its first hand; the last to do so ends the phase."""
    state = take(tables, state, seat, play.tiles, events)
    return state if not all(state.hands) else begin_setup(tables, state, events)


def choose_refusal(tables: Tables, state: State, seat: Seat, play: ChooseHand) -> str | None:
    """Returns why a first hand is not legal, or None if it is."""
    if len(play.tiles) == HAND_SIZE and all(play.tiles.count(tile) <= FULL_SET.count(tile) for tile in play.tiles):
        return None
    return f"expected {HAND_SIZE} of the seat's own {len(FULL_SET)} tiles, got: {', '.join(names(play.tiles))}"


def deal_wanted(tables: Tables, state: State) -> game_kit.Draw:
    """Returns the draw of the next tile of a first hand that is dealt by chance, seat after seat."""
    seat = _next_to_deal(state)
    return tables.draws[seat][len(state.stacks[seat])]


def deal(tables: Tables, state: State, index: int, events: list[game_kit.Event] | None) -> State:
    """Returns the state after chance dealt a tile of a first hand."""
    seat = _next_to_deal(state)
    state = take(tables, state, seat, state.stacks[seat][index : index + 1], events)
    return begin_setup(tables, state, events) if all(len(hand) == HAND_SIZE for hand in state.hands) else state


def _next_to_deal(state: State) -> Seat:
    return next(seat for seat, hand in enumerate(state.hands) if len(hand) < HAND_SIZE)


def begin_setup(tables: Tables, state: State, events: list[game_kit.Event] | None) -> State:
    """Goes on from the hands to the pieces."""
    if tables.options["setup"] == "random" and any(state.supply):
        if events is not None:
            events.append(game_kit.Event({"event": "setup", "seat": None}))
        return replace(state, phase="scatter")
    return _next_to_settle(tables, replace(state, phase="setup"), 0, events)


def _next_to_settle(tables: Tables, state: State, seat: Seat, events: list[game_kit.Event] | None) -> State:
    if not any(state.supply):
        return begin_turn(tables, state, 0, events)
    if events is not None:
        events.append(game_kit.Event({"event": "setup", "seat": seat}))
    return replace(state, to_move=seat)


def settle(tables: Tables, state: State, seat: Seat, play: Settle, events: list[game_kit.Event] | None) -> State:
    """Returns the state after a seat put a piece. The next seat is next, from the last city on to the villages too."""
    state = _put_piece(state, play.caste, play.space, seat, events)
    return _next_to_settle(tables, state, (seat + 1) % tables.seats, events)


def settle_products(tables: Tables, state: State) -> list[game_kit.Product]:
    """Returns where the seat to move may put which piece."""
    cities, villages = _open_settlements(tables, state)
    if cities:
        choices = [bytes(s for s in cities if _fits(state, caste, s, cities, villages)) for caste in range(3)]
        return [game_kit.Product.of(Settle, (caste,), spaces) for caste, spaces in enumerate(choices) if spaces]
    return [game_kit.Product.of(Settle, tuple(caste for caste in range(3) if state.supply[caste]), villages)]


def settle_refusal(tables: Tables, state: State, seat: Seat, play: Settle) -> str | None:
    """Returns why a piece may not be put there, or None if it may."""
    cities, villages = _open_settlements(tables, state)
    caste = CASTES[play.caste]
    if not state.supply[play.caste]:
        return f"no {caste} is left in the supply"
    if not cities:
        return None if play.space in villages else f"space {play.space} is not an empty village"
    if play.space not in cities:
        return f"space {play.space} is not a city with room, and cities are filled first"
    if play.space in state.pieces[play.caste]:
        return f"the city on space {play.space} already holds a {caste}"
    if not _fits(state, play.caste, play.space, cities, villages):
        return f"with a {caste} on space {play.space} the rest of the supply would not fit on the board"
    return None


def scatter_wanted(tables: Tables, state: State) -> game_kit.Draw:
    """Returns the draw of the next piece that chance puts, of those that the next settlement can take."""
    return game_kit.Draw("setup", sum(_next_to_fill(tables, state)[1]))


def scatter(tables: Tables, state: State, index: int, events: list[game_kit.Event] | None) -> State:
    """Returns the state after chance drew a piece. A caste has as many outcomes as pieces, one caste after another."""
    space, weights = _next_to_fill(tables, state)
    caste = 0
    while index >= weights[caste]:
        index -= weights[caste]
        caste += 1
    state = _put_piece(state, caste, space, None, events)
    return state if any(state.supply) else begin_turn(tables, state, 0, events)


def _next_to_fill(tables: Tables, state: State) -> tuple[int, Triple]:
    """Returns the settlement that chance fills next, and of each caste how many pieces it can draw from."""
    cities, villages = _open_settlements(tables, state)
    if not cities:
        return villages[0], state.supply
    space = cities[0]
    a, b, c = (_fits(state, caste, space, cities, villages) * state.supply[caste] for caste in range(3))
    return space, (a, b, c)


def _open_settlements(tables: Tables, state: State) -> tuple[bytes, bytes]:
    held = b"".join(state.pieces)
    full = bytes(city for city in tables.cities if held.count(city) == PIECES["city"])
    return tables.cities.translate(None, full), tables.villages.translate(None, held)


def _fits(state: State, caste: int, space: int, cities: bytes, villages: bytes) -> bool:
    """Returns whether a piece may be put on a city so that all the others still find room.

    A city takes two different castes, so on a board with few villages a caste that nobody puts on the cities could
    end with more pieces than places. The map of Japan never comes near that; another board can.
    """
    if not state.supply[caste] or space in state.pieces[caste]:
        return False
    if max(state.supply) <= len(villages):
        return True
    fills = any(space in spaces for spaces in state.pieces)
    for other in range(3):
        cities_left = sum(
            city not in state.pieces[other] and not (city == space and (fills or other == caste)) for city in cities
        )
        if state.supply[other] - (other == caste) > cities_left + len(villages):
            return False
    return True


def _put_piece(state: State, caste: int, space: int, seat: Seat | None, events: list[game_kit.Event] | None) -> State:
    if events is not None:
        events.append(game_kit.Event({"event": "piece", "space": space, "caste": CASTES[caste], "seat": seat}))
    return replace(
        state,
        pieces=seat_rules.with_item(state.pieces, caste, bytes(sorted(state.pieces[caste] + ONE[space]))),
        supply=seat_rules.with_item(state.supply, caste, state.supply[caste] - 1),
    )
