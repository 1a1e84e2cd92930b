"""Makes a state that a seat may take for the true one. Only the order of the deck is unknown, and no state has it."""

from __future__ import annotations

from arena.rules.gardener.deck import KINDS
from arena.rules.gardener.geometry import Row
from arena.rules.gardener.state import State, Tables
from arena.types import Payload

_INDEX = {kind: index for index, kind in enumerate(KINDS)}


def guess(tables: Tables, view: Payload, kind: str) -> State:
    """Returns one of the states that have this view for its seat, which alone owes a decision of this kind."""
    gone = {card for garden in view["gardens"] for card, *_ in garden}
    gone |= {*view["offer"], *view["taken"], view["next"]}
    rows = [tuple(_row(row) for row in own) for own in view["rows"]]
    return State(
        phase=kind,  # type: ignore[arg-type]
        round=view["round"],
        starter=view["starter"],
        deck=bytes(card for card in tables.start.deck if card not in gone),
        top=view["next"],
        offer=tuple(view["offer"]),
        taken=tuple(view["taken"]),
        gardens=tuple(tuple((card, x, y, turned) for card, x, y, turned in garden) for garden in view["gardens"]),
        rows=tuple(rows),
        scored=(0,) * tables.seats,
        features=tuple(sum(1 << _INDEX[kind] for kind in kinds) for kinds in view["features"]),
        scores=tuple(view["scores"]),
        due=(view["seat"],),
        forfeited=tuple((gone,) for gone in view["forfeited"]),
    )


def _row(fact: Payload) -> Row:
    x, y = fact["at"]
    return Row(x=x, y=y, down=fact["along"] == "down", kind=_INDEX[fact["kind"]], length=fact["length"])
