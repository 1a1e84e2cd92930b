"""Actions and legal plays in the form of the wire (the protocol's page on Samurai).

What comes from a bot is read field by field: what cannot be read is malformed, what can be read but is not allowed is
illegal. Both name the place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from arena.errors import MalformedAction
from arena.rules.base import Legal
from arena.rules.reading import field, maps, named
from arena.rules.samurai.legal import switches
from arena.rules.samurai.plays import Capture, Choose, End, Move, Place, Play, Settle, Switch
from arena.rules.samurai.state import Phase, State
from arena.rules.samurai.tiles import (
    CASTE_INDEX,
    CASTES,
    FULL_SET,
    HAND_SIZE,
    MOVE,
    SWITCH,
    TILE_INDEX,
    TILES,
    names,
)
from arena.types import Payload, Seat


def write_action(plays: Sequence[Play]) -> Payload:
    """Returns the action of a decision's plays. The end of a turn needs no word."""
    action: Payload = {"plays": [write_play(play) for play in plays if not isinstance(play, End | Capture)]}
    if captures := [write_play(play) for play in plays if isinstance(play, Capture)]:
        action["captures"] = captures
    return action


def write_legal(state: State, seat: Seat, legal: Legal) -> list[Payload]:
    """Returns the legal plays as products: of each entry, any value of each key with any of the others."""
    if state.phase == "hand":
        return [{"hand": {"choose": HAND_SIZE, "of": names(FULL_SET)}}]
    products: list[Payload] = []
    for product in legal.products:
        if product.make is Place:
            tiles, spaces = product.choices
            products.append({"tile": names(tiles), "space": list(spaces)})  # type: ignore[arg-type]
        elif product.make is Move:
            sources, targets = product.choices
            products.append({"tile": [TILES[MOVE].name], "from": list(sources), "to": list(targets)})
        elif product.make is Settle:
            castes, spaces = product.choices
            products.append({"caste": [CASTES[caste] for caste in castes], "space": list(spaces)})
        elif product.make is Capture:
            spaces, castes = product.choices
            products.append({"space": list(spaces), "caste": [CASTES[caste] for caste in castes]})
    if state.phase == "turns" and SWITCH in state.hands[seat]:
        products += _write_switches(state.pieces)
    return products


@lru_cache(maxsize=256)
def _write_switches(pieces: tuple[bytes, bytes, bytes]) -> tuple[Payload, ...]:
    """Up to forty products, the same until a piece moves; whoever keeps a switch in hand is sent them each time."""
    return tuple(
        {
            "tile": [TILES[SWITCH].name],
            "space": list(spaces),
            "caste": [CASTES[caste] for caste in castes],
            "with": list(others),
            "with_caste": [CASTES[caste] for caste in other_castes],
        }
        for spaces, castes, others, other_castes in (product.choices for product in switches(pieces))
    )


def write_play(play: Play) -> Payload:
    """Returns a play as a map; `End` has none."""
    if isinstance(play, Place):
        return {"tile": TILES[play.tile].name, "space": play.space}
    if isinstance(play, Move):
        return {"tile": TILES[MOVE].name, "from": play.source, "to": play.target}
    if isinstance(play, Capture):
        return {"space": play.space, "caste": CASTES[play.caste]}
    if isinstance(play, Settle):
        return {"caste": CASTES[play.caste], "space": play.space}
    if isinstance(play, Choose):
        return {"hand": names(play.tiles)}
    if isinstance(play, End):
        return {}
    return {
        "tile": TILES[SWITCH].name,
        "space": play.space,
        "caste": CASTES[play.caste],
        "with": play.with_space,
        "with_caste": CASTES[play.with_caste],
    }


def read_choice(play: Payload, path: str) -> Choose:
    """Reads the choice of a first hand."""
    tiles = field(play, "hand", list, path)
    read = [named(tile, TILE_INDEX, "a tile", f"{path}.hand[{index}]") for index, tile in enumerate(tiles)]
    return Choose(bytes(sorted(read)))


def read_settle(play: Payload, path: str) -> Settle:
    """Reads where a piece is put in the set-up."""
    return Settle(_caste(play, "caste", path), _space(play, "space", path))


def read_capture(piece: Payload, path: str) -> Capture:
    """Reads which piece is captured next."""
    return Capture(_space(piece, "space", path), _caste(piece, "caste", path))


def read_captures(action: Payload) -> list[Capture]:
    """Reads the pieces that a turn names to be captured first; it may name none."""
    if "captures" not in action:
        return []
    return [read_capture(piece, path) for path, piece in maps(action, "captures", "a piece")]


def read_turn_play(play: Payload, path: str) -> Place | Switch | Move:
    """Reads a play of a turn."""
    tile = named(field(play, "tile", str, path), TILE_INDEX, "a tile", f"{path}.tile")
    if tile == SWITCH:
        caste, other = _caste(play, "caste", path), _caste(play, "with_caste", path)
        return Switch.of(_space(play, "space", path), caste, _space(play, "with", path), other)
    if tile == MOVE:
        return Move(_space(play, "from", path), _space(play, "to", path))
    return Place(tile, _space(play, "space", path))


READERS: Mapping[Phase, Callable[[Payload, str], Play]] = {
    "hand": read_choice,
    "setup": read_settle,
    "captures": read_capture,
}
"""How a play is read, by phase; in all others it is read as that of a turn."""


def _space(entry: Payload, key: str, path: str) -> int:
    space = field(entry, key, int, path)
    if not 0 <= space <= 255:
        raise MalformedAction(f"expected '{key}' to be the number of a space, got: {space} - at {path}.{key}")
    return int(space)


def _caste(entry: Payload, key: str, path: str) -> int:
    return int(named(field(entry, key, str, path), CASTE_INDEX, "a caste", f"{path}.{key}"))
