"""What a seat may know, built field by field; and the same knowledge, gathered from the events it was told.

The fields are those of the protocol's page on Samurai Gardener. Everything lies in the open but the order of the deck:
of the cards in it a view has the number alone.
"""

from __future__ import annotations

from typing import Any

from arena.rules.gardener.facts import kind_names, row_fact
from arena.rules.gardener.state import State
from arena.rules.seats import with_item
from arena.types import Payload, Seat


def view(state: State, seat: Seat) -> Payload:
    """All that `seat` may know now."""
    return {
        "seat": seat,
        "round": state.round,
        "starter": state.starter,
        "deck": len(state.deck),
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
    """The view after an event; the one given is left as it was."""
    return view | _CHANGES[event["event"]](view, event)


def _garden(view: Payload, event: Payload) -> Payload:
    garden = [[event["card"], 0, 0, False]]
    return {"deck": view["deck"] - 1, "gardens": _with(view["gardens"], event["seat"], garden)}


def _round(view: Payload, event: Payload) -> Payload:
    seats = len(view["scores"])
    change = {"round": event["round"], "starter": event["starter"], "offer": []}
    return {**change, "taken": [None] * seats, "rows": [[] for _ in range(seats)]}


def _turned_up(view: Payload, event: Payload) -> Payload:
    return {"deck": view["deck"] - 1, "offer": sorted([*view["offer"], event["card"]])}


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
    return {"forfeited": sorted([*view["forfeited"], event["seat"]])}


def _over(view: Payload, event: Payload) -> Payload:
    return {"ranks": event["ranks"]}


def _with(items: list[Any], index: int, value: Any) -> list[Any]:
    return list(with_item(items, index, value))


_CHANGES = {
    "garden": _garden,
    "round": _round,
    "turned_up": _turned_up,
    "seized": _seized,
    "planted": _planted,
    "scored": _scored,
    "bonus": _bonus,
    "forfeited": _forfeited,
    "over": _over,
}
