"""Rounds: cards are turned up, seized, planted and scored (rules page, "A round", "End").

Every step makes its own change, then `advance` goes on to what is due next. So a forfeit is a step like the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from arena.core.face import Seat, game_kit, seat_rules
from arena.games.gardener.deck import KINDS
from arena.games.gardener.geometry import STRIDE, Row, square
from arena.games.gardener.payloads import along, kind_names, row_fact
from arena.games.gardener.state import ALL_KINDS, Done, Plant, ScoreRow, Seize, State, Tables, deck_size

POINTS = {3: 1, 4: 2, 5: 4}
"""For a row, by its length."""
BONUS = (0, 0, 2, 4, 6)
"""Bonus by the number of different kinds scored in a round."""
_DONE = game_kit.Product.of(Done)


# Who and what is due


def owing(tables: Tables, state: State) -> Sequence[Seat]:
    """Returns the seats that owe a decision, ascending."""
    return state.due[:1] if state.phase == "seize" and not tables.race else state.due


def advance(tables: Tables, state: State, events: list[game_kit.Event] | None) -> State:
    """Goes on to the next phase if nothing more is due in this one."""
    if state.due:
        return state
    active = seat_rules.still_in(tables.everyone, state.forfeited)
    if state.phase in ("deal", "turn_up"):
        if draw_due(tables, state):
            return state
        if _cards_wanted(tables, state):
            return advance(tables, _deal(tables, state, events), events)
    if state.phase == "deal":
        return _begin_round(tables, state, events)
    if state.phase == "turn_up":
        first = 0 if tables.race else state.starter
        order = sorted(active, key=lambda seat: (seat - first) % tables.seats)
        return replace(state, phase="seize", due=tuple(order))
    if state.phase == "seize":
        return replace(state, phase="plant", due=tuple(active))
    if state.phase == "plant" and (scorers := [seat for seat in active if _can_score(state, seat)]):
        return replace(state, phase="score", due=tuple(scorers))
    return _end_round(tables, state, events)


def _without(seats: Sequence[Seat], gone: Sequence[Seat]) -> tuple[Seat, ...]:
    return tuple([seat for seat in seats if seat not in gone])


# Chance


def draw_due(tables: Tables, state: State) -> bool:
    """Returns whether chance must draw a card now: a deck that lies face up always shows its next one."""
    if state.phase not in ("deal", "turn_up"):
        return False
    return state.top is None and bool(state.deck) if tables.face_up else _cards_wanted(tables, state)


def draw(tables: Tables, state: State, index: int, events: list[game_kit.Event] | None) -> State:
    """Returns the state after chance drew the next card of the deck."""
    card = state.deck[index]
    state = replace(state, deck=state.deck[:index] + state.deck[index + 1 :], top=card)
    if not tables.face_up:
        return advance(tables, _deal(tables, state, events), events)
    if events is not None:
        events.append(game_kit.Event({"event": "next", "card": card}))
    return advance(tables, state, events)


def _cards_wanted(tables: Tables, state: State) -> bool:
    if state.phase == "deal":
        return _next_to_deal(tables, state) is not None
    return len(state.offer) < len(seat_rules.still_in(tables.everyone, state.forfeited))


def _next_to_deal(tables: Tables, state: State) -> Seat | None:
    return next(
        (seat for seat in seat_rules.still_in(tables.everyone, state.forfeited) if not state.gardens[seat]), None
    )


def _deal(tables: Tables, state: State, events: list[game_kit.Event] | None) -> State:
    """Returns the state after the card on top became the next seat's first one, or was turned up."""
    card = state.top
    assert card is not None
    seat = _next_to_deal(tables, state) if state.phase == "deal" else None
    if seat is not None:
        if events is not None:
            events.append(game_kit.Event({"event": "garden", "seat": seat, "card": card}))
        return replace(state, top=None, gardens=seat_rules.with_item(state.gardens, seat, ((card, 0, 0, False),)))
    if events is not None:
        events.append(game_kit.Event({"event": "turned_up", "card": card}))
    return replace(state, top=None, offer=tuple(sorted((*state.offer, card))))


# Seize


def seize_products(tables: Tables, state: State, seat: Seat) -> list[game_kit.Product]:
    """Returns the cards that are left."""
    return [game_kit.Product(Seize, (state.offer,), len(state.offer))]


def seize_refusal(tables: Tables, state: State, seat: Seat, play: Seize) -> str | None:
    """Returns why a card may not be taken, or None if it may."""
    if play.card in state.offer:
        return None
    if play.card in state.taken:
        return f"card {play.card} is taken"
    return f"card {play.card} is not turned up"


def seize(tables: Tables, state: State, seat: Seat, play: Seize, events: list[game_kit.Event] | None) -> State:
    """Returns the state after a seat took a card."""
    if events is not None:
        events.append(game_kit.Event({"event": "seized", "seat": seat, "card": play.card}))
    offer = tuple([card for card in state.offer if card != play.card])
    taken = seat_rules.with_item(state.taken, seat, play.card)
    return advance(tables, replace(state, offer=offer, taken=taken, due=_without(state.due, (seat,))), events)


# Plant


def plant_products(tables: Tables, state: State, seat: Seat) -> list[game_kit.Product]:
    """Returns every legal position, with the card as it is and turned."""
    positions = tables.layout(state.gardens[seat]).positions
    return [game_kit.Product(Plant.at, (positions, (False, True)), 2 * len(positions))]


def plant_refusal(tables: Tables, state: State, seat: Seat, play: Plant) -> str | None:
    """Returns why a card may not be put there, or None if it may."""
    layout = tables.layout(state.gardens[seat])
    at = f"a card at [{play.x}, {play.y}]"
    if abs(play.y) >= STRIDE // 2 or (position := square(play.x, play.y)) not in layout.touching:
        return f"{at} would lie neither beside the garden nor over it"
    if position in layout.positions:
        return None
    garden = state.gardens[seat]
    if not (tables.exactly_over and len(garden) > 1) and any((play.x, play.y) == (x, y) for _, x, y, _ in garden):
        return f"{at} would lie exactly where another was put"
    return f"{at} would cover a square of a row"


def plant(tables: Tables, state: State, seat: Seat, play: Plant, events: list[game_kit.Event] | None) -> State:
    """Returns the state after a seat put its card into its garden.

    Where its feature cards do not matter, its new rows score by themselves.
    """
    card = state.taken[seat]
    assert card is not None
    garden = (*state.gardens[seat], (card, play.x, play.y, play.turned))
    rows = tables.layout(garden).rows
    if events is not None:
        fact = {"event": "planted", "seat": seat, "card": card, "at": [play.x, play.y], "turned": play.turned}
        events.append(game_kit.Event({**fact, "rows": [row_fact(row) for row in rows]}))
    state = replace(
        state,
        taken=seat_rules.with_item(state.taken, seat, None),
        gardens=seat_rules.with_item(state.gardens, seat, garden),
        rows=seat_rules.with_item(state.rows, seat, rows) if rows else state.rows,
        due=_without(state.due, (seat,)),
    )
    if rows and not tables.features[seat]:
        for row in rows:
            state = _score(tables, state, seat, row, events)
        state = _add_bonus(state, seat, events)
    return advance(tables, state, events)


# Score


def scorable(rows: Sequence[Row], features: int) -> list[Row]:
    """Returns the rows whose kind's feature card is face up."""
    return [row for row in rows if features >> row.kind & 1]


def turn_down(features: int, kind: int) -> int:
    """Returns the feature cards face up after a row was scored: if all four are face down, all turn face up."""
    return features & ~(1 << kind) or ALL_KINDS


def _can_score(state: State, seat: Seat) -> bool:
    return bool(scorable(state.rows[seat], state.features[seat]))


def score_products(tables: Tables, state: State, seat: Seat) -> list[game_kit.Product]:
    """Returns the rows that can be scored next, and the play that scores no more."""
    rows = scorable(state.rows[seat], state.features[seat])
    return [game_kit.Product.of(ScoreRow, (row.x,), (row.y,), (row.down,)) for row in rows] + [_DONE]


def score_refusal(tables: Tables, state: State, seat: Seat, play: ScoreRow | Done) -> str | None:
    """Returns why a row may not be scored, or None if it may."""
    if isinstance(play, Done):
        return None
    row = _find(state, seat, play)
    if row is None:
        return f"no new row that is not scored yet begins at [{play.x}, {play.y}] and runs {along(play.down)}"
    if not scorable([row], state.features[seat]):
        return f"the feature card of {KINDS[row.kind]} is face down"
    return None


def _find(state: State, seat: Seat, play: ScoreRow) -> Row | None:
    wanted = play.x, play.y, play.down
    return next((row for row in state.rows[seat] if (row.x, row.y, row.down) == wanted), None)


def score(tables: Tables, state: State, seat: Seat, play: ScoreRow, events: list[game_kit.Event] | None) -> State:
    """Returns the state after a seat scored a row."""
    row = _find(state, seat, play)
    assert row is not None
    state = _score(tables, state, seat, row, events)
    return state if _can_score(state, seat) else done(tables, state, seat, Done(), events)


def done(tables: Tables, state: State, seat: Seat, play: Done, events: list[game_kit.Event] | None) -> State:
    """Returns the state after a seat decided to score no more rows."""
    state = _add_bonus(state, seat, events)
    return advance(tables, replace(state, due=_without(state.due, (seat,))), events)


def _score(tables: Tables, state: State, seat: Seat, row: Row, events: list[game_kit.Event] | None) -> State:
    features = turn_down(state.features[seat], row.kind) if tables.features[seat] else ALL_KINDS
    points = POINTS[row.length]
    if events is not None:
        fact = {"event": "scored", "seat": seat, "row": row_fact(row), "points": points}
        events.append(game_kit.Event({**fact, "features": kind_names(features)}))
    return replace(
        state,
        rows=seat_rules.with_item(state.rows, seat, tuple(other for other in state.rows[seat] if other != row)),
        scored=seat_rules.with_item(state.scored, seat, state.scored[seat] | 1 << row.kind),
        features=seat_rules.with_item(state.features, seat, features),
        scores=seat_rules.with_item(state.scores, seat, state.scores[seat] + points),
    )


def _add_bonus(state: State, seat: Seat, events: list[game_kit.Event] | None) -> State:
    kinds = state.scored[seat].bit_count()
    points = BONUS[kinds]
    if not points:
        return state
    if events is not None:
        events.append(game_kit.Event({"event": "bonus", "seat": seat, "kinds": kinds, "points": points}))
    return replace(state, scores=seat_rules.with_item(state.scores, seat, state.scores[seat] + points))


# From round to round


def _begin_round(tables: Tables, state: State, events: list[game_kit.Event] | None) -> State:
    """Begins the next round: the next seat still in the game has the start; seat 0 in the first one."""
    first = state.starter + (state.round > 0)
    starter = min(seat_rules.still_in(tables.everyone, state.forfeited), key=lambda seat: (seat - first) % tables.seats)
    if events is not None:
        events.append(game_kit.Event({"event": "round", "round": state.round + 1, "starter": starter}))
    state = replace(
        state, phase="turn_up", round=state.round + 1, starter=starter, offer=(), taken=tables.start.taken,
        rows=tables.start.rows, scored=tables.start.scored,
    )  # fmt: skip
    return advance(tables, state, events)


def _end_round(tables: Tables, state: State, events: list[game_kit.Event] | None) -> State:
    """Ends the game if its condition is met, else begins the next round."""
    if max(state.scores) > tables.target:
        return over(state, "target", events)
    if deck_size(state) < len(seat_rules.still_in(tables.everyone, state.forfeited)):
        return over(state, "deck", events)
    return _begin_round(tables, state, events)


def forfeit(tables: Tables, state: State, seats: Sequence[Seat], events: list[game_kit.Event] | None) -> State:
    """Returns the state after seats forfeited. With one seat left the game ends at once.

    Their gardens stay. A card that they seized and did not plant is gone.
    """
    state = replace(
        state,
        forfeited=(*state.forfeited, tuple(seats)),
        due=_without(state.due, seats),
        taken=tuple([None if seat in seats else card for seat, card in enumerate(state.taken)]),
    )
    if events is not None:
        events.extend(game_kit.Event({"event": "forfeited", "seat": seat}) for seat in seats)
    if len(seat_rules.still_in(tables.everyone, state.forfeited)) <= 1:
        return over(state, "last_seat", events)
    return advance(tables, state, events)


def over(state: State, reason: str, events: list[game_kit.Event] | None) -> State:
    """Returns the state at the end of the game."""
    ranks = seat_rules.rank(state.scores, state.forfeited)
    if events is not None:
        fact = {"event": "over", "reason": reason, "ranks": list(ranks), "scores": list(state.scores)}
        events.append(game_kit.Event(fact))
    return replace(state, phase="over", due=(), ranks=ranks)
