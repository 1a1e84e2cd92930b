"""Actions and legal plays in the form of the wire (the protocol's page on Samurai Gardener).

What comes from a bot is read field by field: what cannot be read is malformed, what can be read but is not allowed is
illegal. Both name the place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from arena.errors import MalformedAction
from arena.rules.base import Product
from arena.rules.gardener.facts import along
from arena.rules.gardener.geometry import point
from arena.rules.gardener.plays import Done, Plant, Play, Score, Seize
from arena.rules.gardener.state import Phase
from arena.rules.reading import field, named
from arena.types import Payload

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


def write_product(product: Product) -> Payload:
    """Returns a product of plays as a map."""
    if product.make is Seize:
        return {"card": list(product.choices[0])}
    if product.make == Plant.at:
        positions, turned = product.choices
        return {"at": [list(point(position)) for position in positions], "turned": list(turned)}
    (rows,) = product.choices
    return {"at": [[row.x, row.y] for row in rows], "along": [along(row.down) for row in rows]}


def read_seize(play: Payload, path: str) -> Seize:
    """Reads which card is taken."""
    return Seize(field(play, "card", int, path))


def read_plant(play: Payload, path: str) -> Plant:
    """Reads where the card is put."""
    return Plant(*_square(play, "at", path), field(play, "turned", bool, path))


def read_row(play: Payload, path: str) -> Score:
    """Reads which row is scored."""
    x, y = _square(play, "at", path)
    return Score(x, y, named(field(play, "along", str, path), _ALONG, "a direction", f"{path}.along"))


READERS: Mapping[Phase, Callable[[Payload, str], Play]] = {"seize": read_seize, "plant": read_plant}
"""How a play is read, by phase; in all others it is read as that of a scoring."""


def _square(entry: Payload, key: str, path: str) -> tuple[int, int]:
    value = field(entry, key, list, path)
    if len(value) != 2 or not all(type(number) is int for number in value):
        raise MalformedAction(f"expected '{key}' to be two integers, got: {value!r:.40} - at {path}.{key}")
    x, y = value
    return x, y
