"""Facts, actions, legal plays and views in the form of the wire (the protocol's page on Samurai Gardener).

1. What comes from a bot is read field by field: what cannot be read is malformed, and the error names the place.
2. A view is built field by field, and `fold` gathers the same from the events. Of the deck it has what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from arena.core.face import Payload, Seat, errors, game_kit, rule_files, seat_rules
from arena.games.gardener.deck import KINDS
from arena.games.gardener.geometry import Row, point
from arena.games.gardener.state import ALL_KINDS, Done, Phase, Plant, Play, ScoreRow, Seize, State, deck_size

_KIND_NAMES = [[name for kind, name in enumerate(KINDS) if kinds >> kind & 1] for kinds in range(ALL_KINDS + 1)]


def kind_names(kinds: int) -> list[str]:
    """Returns the names of a set of kinds, in their order."""
    return list(_KIND_NAMES[kinds])


def along(down: bool) -> str:
    """Returns the direction in which a row runs."""
    return "down" if down else "across"


def row_fact(row: Row) -> Payload:
    """Returns a row as events and views have it."""
    return {"at": [row.x, row.y], "along": along(row.down), "kind": KINDS[row.kind], "length": row.length}


# Actions and legal plays

_ALONG = {along(down): down for down in (False, True)}


def write_play(play: Play) -> Payload:
    """Returns a play as a map; `Done` has none."""
    if isinstance(play, Seize):
        return {"card": play.card}
    if isinstance(play, Plant):
        return {"at": [play.x, play.y], "turned": play.turned}
    if isinstance(play, Done):
        return {}
    return {"at": [play.x, play.y], "along": along(play.down)}


def write_product(product: game_kit.Product) -> Payload:
    """Returns a product of plays as a map."""
    if product.make is Seize:
        return {"card": list(product.choices[0])}
    if product.make == Plant.at:
        positions, turned = product.choices
        return {"at": [list(point(position)) for position in positions], "turned": list(turned)}
    (x,), (y,), (down,) = product.choices
    return {"at": [[x, y]], "along": [along(down)]}


def read_seize(play: Payload, path: str) -> Seize:
    """Reads which card is taken."""
    return Seize(rule_files.field(play, "card", int, path))


def read_plant(play: Payload, path: str) -> Plant:
    """Reads where the card is put."""
    return Plant(*_square(play, "at", path), rule_files.field(play, "turned", bool, path))


def read_row(play: Payload, path: str) -> ScoreRow:
    """Reads which row is scored."""
    x, y = _square(play, "at", path)
    return ScoreRow(
        x, y, rule_files.named(rule_files.field(play, "along", str, path), _ALONG, "a direction", f"{path}.along")
    )


READERS: Mapping[Phase, Callable[[Payload, str], Play]] = {"seize": read_seize, "plant": read_plant}
"""Reader of a play, by phase; in all others it is read as that of a scoring."""


def _square(entry: Payload, key: str, path: str) -> tuple[int, int]:
    value = rule_files.field(entry, key, list, path)
    if len(value) != 2 or not all(type(number) is int for number in value):
        raise errors.MalformedAction(f"expected '{key}' to be two integers, got: {value!r:.40} - at {path}.{key}")
    x, y = value
    return x, y


# Views


def view(state: State, seat: Seat) -> Payload:
    """Returns all that `seat` may know now."""
    return {
        "seat": seat,
        "round": state.round,
        "starter": state.starter,
        "deck": deck_size(state),
        "next": state.top,
        "offer": list(state.offer),
        "taken": list(state.taken),
        "gardens": [[list(planted) for planted in garden] for garden in state.gardens],
        "rows": [[row_fact(row) for row in rows] for rows in state.rows],
        "features": [kind_names(kinds) for kinds in state.features],
        "scores": list(state.scores),
        "forfeited": sorted(seat for seats in state.forfeited for seat in seats),
        "ranks": list(state.ranks) if state.ranks else None,
    }


def fold(view: Payload, event: Payload) -> Payload:
    """Returns the view after an event; the one given is left as it was."""
    return view | _CHANGES[event["event"]](view, event)


def _garden(view: Payload, event: Payload) -> Payload:
    garden = [[event["card"], 0, 0, False]]
    return {"deck": view["deck"] - 1, "next": None, "gardens": _with(view["gardens"], event["seat"], garden)}


def _round(view: Payload, event: Payload) -> Payload:
    seats = len(view["scores"])
    change = {"round": event["round"], "starter": event["starter"], "offer": []}
    return {**change, "taken": [None] * seats, "rows": [[] for _ in range(seats)]}


def _next(view: Payload, event: Payload) -> Payload:
    return {"next": event["card"]}


def _turned_up(view: Payload, event: Payload) -> Payload:
    return {"deck": view["deck"] - 1, "next": None, "offer": sorted([*view["offer"], event["card"]])}


def _seized(view: Payload, event: Payload) -> Payload:
    card = event["card"]
    offer = [other for other in view["offer"] if other != card]
    return {"offer": offer, "taken": _with(view["taken"], event["seat"], card)}


def _planted(view: Payload, event: Payload) -> Payload:
    seat = event["seat"]
    garden = [*view["gardens"][seat], [event["card"], *event["at"], event["turned"]]]
    return {
        "taken": _with(view["taken"], seat, None),
        "gardens": _with(view["gardens"], seat, garden),
        "rows": _with(view["rows"], seat, event["rows"]),
    }


def _scored(view: Payload, event: Payload) -> Payload:
    seat = event["seat"]
    rows = [row for row in view["rows"][seat] if row != event["row"]]
    return _bonus(view, event) | {
        "rows": _with(view["rows"], seat, rows),
        "features": _with(view["features"], seat, event["features"]),
    }


def _bonus(view: Payload, event: Payload) -> Payload:
    seat = event["seat"]
    return {"scores": _with(view["scores"], seat, view["scores"][seat] + event["points"])}


def _forfeited(view: Payload, event: Payload) -> Payload:
    seat = event["seat"]
    return {"forfeited": sorted([*view["forfeited"], seat]), "taken": _with(view["taken"], seat, None)}


def _over(view: Payload, event: Payload) -> Payload:
    return {"ranks": event["ranks"]}


def _with(items: list[Any], index: int, value: Any) -> list[Any]:
    return list(seat_rules.with_item(items, index, value))


_CHANGES = {
    "garden": _garden,
    "round": _round,
    "next": _next,
    "turned_up": _turned_up,
    "seized": _seized,
    "planted": _planted,
    "scored": _scored,
    "bonus": _bonus,
    "forfeited": _forfeited,
    "over": _over,
}
