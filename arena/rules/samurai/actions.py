"""Actions and legal plays in the form of the wire (the protocol's page on Samurai).

What comes from a bot is read field by field: what cannot be read is malformed, what can be read but is not allowed is
illegal. Both name the place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from arena.errors import MalformedAction
from arena.rules.base import Legal
from arena.rules.reading import field, maps, named
from arena.rules.samurai.legal import switches
from arena.rules.samurai.plays import Capture, Choose, End, Move, Place, Play, Settle, Switch
from arena.rules.samurai.state import State
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
    """The action of a decision's plays."""
    first = plays[0]
    if isinstance(first, Choose):
        return {"hand": names(first.tiles)}
    if isinstance(first, Settle):
        return {"caste": CASTES[first.caste], "space": first.space}
    action: Payload = {"plays": [_write_play(play) for play in plays if not isinstance(play, End | Capture)]}
    if captures := [play for play in plays if isinstance(play, Capture)]:
        action["captures"] = [{"space": play.space, "caste": CASTES[play.caste]} for play in captures]
    return action


def write_legal(state: State, seat: Seat, legal: Legal) -> Payload:
    """The legal plays as products: of each entry, any value of each key with any of the others."""
    if state.phase == "hand":
        return {"choose": HAND_SIZE, "hand": names(FULL_SET)}
    if state.phase == "setup":
        return {
            "setup": [
                {"caste": [CASTES[caste] for caste in castes], "space": list(spaces)}
                for castes, spaces in (product.choices for product in legal.products)
            ]
        }
    if state.phase == "captures":
        return {"plays": [], "captures": [{"space": [play.space], "caste": [CASTES[play.caste]]} for play in legal]}
    plays: list[Payload] = []
    for product in legal.products:
        if product.make is Place:
            tiles, spaces = product.choices
            plays.append({"tile": names(tiles), "space": list(spaces)})  # type: ignore[arg-type]
        elif product.make is Move:
            sources, targets = product.choices
            plays.append({"tile": [TILES[MOVE].name], "from": list(sources), "to": list(targets)})
    if SWITCH in state.hands[seat]:
        plays += _write_switches(state.pieces)
    return {"plays": plays}


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


def _write_play(play: Play) -> Payload:
    if isinstance(play, Place):
        return {"tile": TILES[play.tile].name, "space": play.space}
    if isinstance(play, Move):
        return {"tile": TILES[MOVE].name, "from": play.source, "to": play.target}
    assert isinstance(play, Switch)
    return {
        "tile": TILES[SWITCH].name,
        "space": play.space,
        "caste": CASTES[play.caste],
        "with": play.with_space,
        "with_caste": CASTES[play.with_caste],
    }


def read_choice(action: Payload) -> Choose:
    """The choice of a first hand."""
    tiles = field(action, "hand", list, "$")
    read = [named(tile, TILE_INDEX, "a tile", f"$.hand[{index}]") for index, tile in enumerate(tiles)]
    return Choose(bytes(sorted(read)))


def read_settle(action: Payload) -> Settle:
    """A piece put in the set-up."""
    return Settle(_caste(action, "caste", "$"), _space(action, "space", "$"))


def read_plays(action: Payload) -> Iterator[tuple[str, Place | Switch | Move]]:
    """The plays of a turn, one after another, each with its place in the action."""
    for path, entry in maps(action, "plays", "a play"):
        yield path, _read_play(entry, path)


def read_captures(action: Payload) -> list[tuple[str, Capture]]:
    """The pieces that a turn names to be captured first, each with its place in the action; it may name none."""
    if "captures" not in action:
        return []
    return [
        (path, Capture(_space(entry, "space", path), _caste(entry, "caste", path)))
        for path, entry in maps(action, "captures", "a piece")
    ]


def _read_play(entry: Payload, path: str) -> Place | Switch | Move:
    tile = named(field(entry, "tile", str, path), TILE_INDEX, "a tile", f"{path}.tile")
    if tile == SWITCH:
        caste, other = _caste(entry, "caste", path), _caste(entry, "with_caste", path)
        return Switch.of(_space(entry, "space", path), caste, _space(entry, "with", path), other)
    if tile == MOVE:
        return Move(_space(entry, "from", path), _space(entry, "to", path))
    return Place(tile, _space(entry, "space", path))


def _space(entry: Payload, key: str, path: str) -> int:
    space = field(entry, key, int, path)
    if not 0 <= space <= 255:
        raise MalformedAction(f"expected '{key}' to be the number of a space, got: {space} - at {path}.{key}")
    return int(space)


def _caste(entry: Payload, key: str, path: str) -> int:
    return int(named(field(entry, key, str, path), CASTE_INDEX, "a caste", f"{path}.{key}"))
