"""What a seat may know, built field by field; and the same knowledge, gathered from the events it was told.

The fields are those of the protocol's page on Samurai. A view names what it reveals: a hand to its owner, captured
pieces to their owner (to everyone where they lie in the open, and when the game is over), and the public rest.
"""

from __future__ import annotations

from arena.rules.samurai.state import State, owner_and_tile
from arena.rules.samurai.tables import Tables
from arena.rules.samurai.tiles import CASTES, MOVE, TILE_INDEX, TILES, names
from arena.types import Payload, Seat

_PHASES = {"deal": "hand", "scatter": "setup", "captures": "turns", "refill": "turns"}
"""Steps of chance, and the choice of what is captured next, belong to the phase around them."""


def sees_captured(tables: Tables, state: State, seat: Seat, other: Seat) -> bool:
    """Whether a seat sees the captured pieces of another (rules page, "Who may know what")."""
    open_to_all = {"open": True, "hidden": False, "open_for_two": tables.seats == 2}[tables.options["captured"]]
    return seat == other or open_to_all or state.phase == "over"


def view(tables: Tables, state: State, seat: Seat) -> Payload:
    """All that `seat` may know now."""
    tiles = []
    for space, code in enumerate(state.at):
        if code:
            owner, tile = owner_and_tile(code)
            tiles.append([space, owner, TILES[tile].name])
    phase = _PHASES.get(state.phase, state.phase)
    by_seat = state.phase in ("setup", "turns", "captures", "refill")
    return {
        "seat": seat,
        "phase": phase,
        "turn": state.turn,
        "to_move": state.to_move if by_seat else None,
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
    """The view after an event; the one given is left as it was."""
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
    """A tile left a hand. Only the owner's view holds that hand, and only its owner's turn takes from it."""
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
