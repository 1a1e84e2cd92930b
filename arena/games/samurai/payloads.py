"""Actions, legal plays and views in the form of the wire (the protocol's page on Samurai).

1. What comes from a bot is read field by field: what cannot be read is malformed, and the error names the place.
2. A view is built field by field: a hand goes to its owner, captured pieces to their owner (to everyone where they lie
   in the open, and when the game is over), and the rest is public. `fold` gathers the same from the events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from arena.core.face import Payload, Seat, errors, game_kit, rule_files
from arena.games.samurai.state import (
    CASTE_INDEX,
    CASTES,
    FULL_SET,
    HAND_SIZE,
    MOVE,
    SWITCH,
    TILE_INDEX,
    TILES,
    Capture,
    ChooseHand,
    End,
    Move,
    Phase,
    Place,
    Play,
    Settle,
    State,
    Switch,
    Tables,
    names,
    owner_and_tile,
)
from arena.games.samurai.turns import switches


def write_action(plays: Sequence[Play]) -> Payload:
    """Returns the action of a decision's plays. The end of a turn needs no word."""
    action: Payload = {"plays": [write_play(play) for play in plays if type(play) not in _APART]}
    if captures := [write_play(play) for play in plays if type(play) is Capture]:
        action["captures"] = captures
    return action


_APART: Final = frozenset({End, Capture})
"""Plays that do not stand among an action's `plays`."""


def write_legal(state: State, seat: Seat, legal: game_kit.Legal) -> list[Payload]:
    """Returns the legal plays as products: of each entry, any value of each key with any of the others."""
    if state.phase == "hand":
        return [{"hand": {"choose": HAND_SIZE, "of": names(FULL_SET)}}]
    products: list[Payload] = []
    for product in legal.products:
        write = _PRODUCTS.get(product.make)
        if write is not None:
            products.append(write(*product.choices))
    if state.phase == "turns" and SWITCH in state.hands[seat]:
        products += _write_switches(state.pieces)
    return products


@lru_cache(maxsize=256)
def _write_switches(pieces: tuple[bytes, bytes, bytes]) -> tuple[Payload, ...]:
    """Returns up to forty products. They stay the same until a piece moves, and are sent while a hand has a switch."""
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


_PRODUCTS: Final[Mapping[type, Callable[..., Payload]]] = {
    Place: lambda tiles, spaces: {"tile": names(tiles), "space": list(spaces)},
    Move: lambda sources, targets: {"tile": [TILES[MOVE].name], "from": list(sources), "to": list(targets)},
    Settle: lambda castes, spaces: {"caste": [CASTES[caste] for caste in castes], "space": list(spaces)},
    Capture: lambda spaces, castes: {"space": list(spaces), "caste": [CASTES[caste] for caste in castes]},
}
"""Writer of a product, by its plays. `write_legal` adds the switches, and the end of a turn has no product."""


def write_play(play: Play) -> Payload:
    """Returns a play as a map; `End` has none."""
    return _PLAYS[type(play)](play)


_PLAYS: Final[Mapping[type, Callable[[Any], Payload]]] = {
    Place: lambda play: {"tile": TILES[play.tile].name, "space": play.space},
    Move: lambda play: {"tile": TILES[MOVE].name, "from": play.source, "to": play.target},
    Switch: lambda play: {
        "tile": TILES[SWITCH].name,
        "space": play.space,
        "caste": CASTES[play.caste],
        "with": play.with_space,
        "with_caste": CASTES[play.with_caste],
    },
    Capture: lambda play: {"space": play.space, "caste": CASTES[play.caste]},
    Settle: lambda play: {"caste": CASTES[play.caste], "space": play.space},
    ChooseHand: lambda play: {"hand": names(play.tiles)},
    End: lambda play: {},
}


def read_choice(play: Payload, path: str) -> ChooseHand:
    """Reads the choice of a first hand."""
    tiles = rule_files.field(play, "hand", list, path)
    read = [rule_files.named(tile, TILE_INDEX, "a tile", f"{path}.hand[{index}]") for index, tile in enumerate(tiles)]
    return ChooseHand(bytes(sorted(read)))


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
    return [read_capture(piece, path) for path, piece in rule_files.maps(action, "captures", "a piece")]


def read_turn_play(play: Payload, path: str) -> Place | Switch | Move:
    """Reads a play of a turn."""
    tile = rule_files.named(rule_files.field(play, "tile", str, path), TILE_INDEX, "a tile", f"{path}.tile")
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
"""Reader of a play, by phase; in all others it is read as that of a turn."""


def _space(entry: Payload, key: str, path: str) -> int:
    space = rule_files.field(entry, key, int, path)
    if not 0 <= space <= 255:
        raise errors.MalformedAction(f"expected '{key}' to be the number of a space, got: {space} - at {path}.{key}")
    return int(space)


def _caste(entry: Payload, key: str, path: str) -> int:
    return int(rule_files.named(rule_files.field(entry, key, str, path), CASTE_INDEX, "a caste", f"{path}.{key}"))


# Views

SHOWN_PHASES = {"deal": "hand", "scatter": "setup", "captures": "turns", "refill": "turns"}
BY_SEAT = ("setup", "turns", "captures", "refill")
"""The phases in which it is one seat's turn."""
"""Steps of chance, and the choice of what is captured next, belong to the phase around them."""


def sees_captured(tables: Tables, state: State, seat: Seat, other: Seat) -> bool:
    """Returns whether a seat sees the captured pieces of another (rules page, "Who may know what")."""
    return seat == other or _captured_is_open(tables) or state.phase == "over"


def _captured_is_open(tables: Tables) -> bool:
    return {"open": True, "hidden": False, "open_for_two": tables.seats == 2}[tables.options["captured"]]


def public(tables: Tables, view: Payload) -> Payload:
    """Returns what everybody knows: a view without its seat's own hand and what only that seat sees captured."""
    shows = _captured_is_open(tables) or view["phase"] == "over"
    return view | {"seat": None, "hand": [], "captured": view["captured"] if shows else [None] * tables.seats}


def view(tables: Tables, state: State, seat: Seat) -> Payload:
    """Returns all that `seat` may know now."""
    tiles = []
    for space, code in enumerate(state.at):
        if code:
            owner, tile = owner_and_tile(code)
            tiles.append([space, owner, TILES[tile].name])
    phase = SHOWN_PHASES.get(state.phase, state.phase)
    return {
        "seat": seat,
        "phase": phase,
        "turn": state.turn,
        "to_move": state.to_move if state.phase in BY_SEAT else None,
        "pieces": {caste: list(spaces) for caste, spaces in zip(CASTES, state.pieces, strict=True)},
        "supply": dict(zip(CASTES, state.supply, strict=True)),
        "tiles": tiles,
        "hand": names(state.hands[seat]),
        "hands": [len(hand) for hand in state.hands],
        "stacks": [len(stack) for stack in state.stacks],
        "switch_used": list(state.switch_used),
        "captured": [
            dict(zip(CASTES, pieces, strict=True)) if sees_captured(tables, state, seat, other) else None
            for other, pieces in enumerate(state.captured)
        ],
        "set_aside": dict(zip(CASTES, state.set_aside, strict=True)),
        "placed": sorted(state.placed),
        "fast_only": state.fast_only,
        "forfeited": sorted(seat for seats in state.forfeited for seat in seats),
        "ranks": list(state.ranks) if state.ranks else None,
    }


def fold(tables: Tables, view: Payload, event: Payload) -> Payload:
    """Returns the view after an event; the one given is left as it was."""
    return view | _CHANGES[event["event"]](tables, view, event)


def _hand(tables: Tables, view: Payload, event: Payload) -> Payload:
    count = event["count"]
    seat = event["seat"]
    change: Payload = {"hands": _add(view["hands"], seat, count), "stacks": _add(view["stacks"], seat, -count)}
    if "tiles" in event:
        change["hand"] = sorted(view["hand"] + event["tiles"], key=TILE_INDEX.__getitem__)
    return change


def _setup(tables: Tables, view: Payload, event: Payload) -> Payload:
    return {"phase": "setup", "to_move": event["seat"]}


def _piece(tables: Tables, view: Payload, event: Payload) -> Payload:
    return {
        "phase": "setup",
        "pieces": _moved(view["pieces"], event["caste"], None, event["space"]),
        "supply": view["supply"] | {event["caste"]: view["supply"][event["caste"]] - 1},
    }


def _turn(tables: Tables, view: Payload, event: Payload) -> Payload:
    return {"phase": "turns", "to_move": event["seat"], "turn": event["turn"], "placed": [], "fast_only": False}


def _spent(view: Payload, seat: Seat, tile: str) -> Payload:
    """Takes a tile from a hand. Only the owner's view holds that hand, and only its owner's turn takes from it."""
    hand = list(view["hand"])
    if view["seat"] == seat:
        hand.remove(tile)
    return {"hand": hand, "hands": _add(view["hands"], seat, -1)}


def _placed(tables: Tables, view: Payload, event: Payload) -> Payload:
    tile = event["tile"]
    return _spent(view, event["seat"], tile) | {
        "tiles": sorted([*view["tiles"], [event["space"], event["seat"], tile]]),
        "placed": sorted([*view["placed"], event["space"]]),
        "fast_only": view["fast_only"] or TILE_INDEX[tile] not in tables.fast,
    }


def _switched(tables: Tables, view: Payload, event: Payload) -> Payload:
    space, other, pieces = event["space"], event["with"], view["pieces"]
    if event["caste"] != event["with_caste"]:
        pieces = _moved(pieces, event["caste"], space, other)
        pieces = _moved(pieces, event["with_caste"], other, space)
    return _spent(view, event["seat"], "switch") | {
        "pieces": pieces,
        "switch_used": sorted([*view["switch_used"], event["seat"]]),
    }


def _move(tables: Tables, view: Payload, event: Payload) -> Payload:
    source, target, seat = event["from"], event["to"], event["seat"]
    stay = [entry for entry in view["tiles"] if entry[0] != source]
    return _spent(view, seat, TILES[MOVE].name) | {
        "tiles": sorted([*stay, [source, seat, TILES[MOVE].name], [target, seat, event["tile"]]]),
        "placed": sorted([*view["placed"], source, target]),
        "fast_only": view["fast_only"] or MOVE not in tables.fast,
    }


def _captured(tables: Tables, view: Payload, event: Payload) -> Payload:
    change: Payload = {"pieces": _moved(view["pieces"], event["caste"], event["space"], None)}
    own = view["captured"][event["seat"]]
    if own is not None:
        captured = list(view["captured"])
        captured[event["seat"]] = own | {event["caste"]: own[event["caste"]] + 1}
        change["captured"] = captured
    return change


def _set_aside(tables: Tables, view: Payload, event: Payload) -> Payload:
    caste = event["caste"]
    return {
        "pieces": _moved(view["pieces"], caste, event["space"], None),
        "set_aside": view["set_aside"] | {caste: view["set_aside"][caste] + 1},
    }


def _forfeited(tables: Tables, view: Payload, event: Payload) -> Payload:
    return {"forfeited": sorted([*view["forfeited"], event["seat"]])}


def _over(tables: Tables, view: Payload, event: Payload) -> Payload:
    return {"phase": "over", "to_move": None, "ranks": event["ranks"], "captured": event["captured"]}


def _add(numbers: list[int], index: int, amount: int) -> list[int]:
    return [number + amount * (at == index) for at, number in enumerate(numbers)]


def _moved(pieces: Payload, caste: str, old: int | None, new: int | None) -> Payload:
    stay = [space for space in pieces[caste] if space != old]
    return pieces | {caste: sorted(stay if new is None else [*stay, new])}


_CHANGES = {
    "hand": _hand,
    "setup": _setup,
    "piece": _piece,
    "turn": _turn,
    "placed": _placed,
    "switched": _switched,
    "moved": _move,
    "captured": _captured,
    "set_aside": _set_aside,
    "passed": lambda tables, view, event: {},
    "forfeited": _forfeited,
    "over": _over,
}
