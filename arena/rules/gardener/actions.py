"""Actions and legal plays in the form of the wire (the protocol's page on Samurai Gardener).

What comes from a bot is read field by field: what cannot be read is malformed, what can be read but is not allowed is
illegal. Both name the place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.errors import MalformedAction
from arena.rules.base import Legal
from arena.rules.gardener.facts import along
from arena.rules.gardener.geometry import point
from arena.rules.gardener.plays import Plant, Play, Score, Seize
from arena.rules.reading import field, maps, named
from arena.types import Payload

_ALONG = {along(down): down for down in (False, True)}


def write_action(plays: Sequence[Play]) -> Payload:
    """The action of a decision's plays."""
    first = plays[0]
    if isinstance(first, Seize):
        return {"card": first.card}
    if isinstance(first, Plant):
        return {"at": [first.x, first.y], "turned": first.turned}
    return {"rows": [{"at": [play.x, play.y], "along": along(play.down)} for play in plays if isinstance(play, Score)]}


def write_legal(kind: str, legal: Legal) -> Payload:
    """The legal plays as products: of each entry, any value of each key with any of the others."""
    if kind == "seize":
        return {kind: [{"card": list(product.choices[0])} for product in legal.products]}
    if kind == "plant":
        return {
            kind: [
                {"at": [list(point(position)) for position in positions], "turned": list(turned)}
                for positions, turned in (product.choices for product in legal.products)
            ]
        }
    rows = [play for play in legal if isinstance(play, Score)]
    return {kind: [{"at": [[row.x, row.y]], "along": [along(row.down)]} for row in rows]}


def read_seize(action: Payload) -> Seize:
    """The taking of a card."""
    return Seize(field(action, "card", int, "$"))


def read_plant(action: Payload) -> Plant:
    """The planting of a card."""
    return Plant(*_square(action, "at", "$"), field(action, "turned", bool, "$"))


def read_rows(action: Payload) -> Iterator[tuple[str, Score]]:
    """The rows to score, one after another, each with its place in the action."""
    for path, entry in maps(action, "rows", "a row"):
        x, y = _square(entry, "at", path)
        down = named(field(entry, "along", str, path), _ALONG, "a direction", f"{path}.along")
        yield path, Score(x, y, down)


def _square(entry: Payload, key: str, path: str) -> tuple[int, int]:
    value = field(entry, key, list, path)
    if len(value) != 2 or not all(type(number) is int for number in value):
        raise MalformedAction(f"expected '{key}' to be two integers, got: {value!r:.40} - at {path}.{key}")
    x, y = value
    return x, y
