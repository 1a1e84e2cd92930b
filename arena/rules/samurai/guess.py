"""Makes a state that a seat may take for the true one: what it knows, and some hands for the others."""

from __future__ import annotations

from collections.abc import Iterator

from arena.rules.samurai.state import CASTES, FULL_SET, SWITCH, TILE_INDEX, State, Tables, tile_code
from arena.types import Payload


def guess(tables: Tables, view: Payload, kind: str) -> State:
    """Returns one of the states that have this view for its seat, which owes a decision of this kind."""
    seat = view["seat"]
    tiles = {space: tile_code(owner, TILE_INDEX[tile]) for space, owner, tile in view["tiles"]}
    hands, stacks = zip(*_some_hands(view, is_chosen=kind != "hand"), strict=True)
    buddha, rice, castle = (bytes(view["pieces"][caste]) for caste in CASTES)
    supply = [view["supply"][caste] for caste in CASTES]
    none = dict.fromkeys(CASTES, 0)
    captured = tuple(tuple((pieces or none)[caste] for caste in CASTES) for pieces in view["captured"])
    return State(
        phase={"hand": "hand", "setup": "setup"}.get(kind, "turns"),  # type: ignore[arg-type]
        turn=view["turn"],
        to_move=seat if kind != "hand" else 0,
        land=bytes(space for space in tables.start.land if space not in tiles),
        sea=bytes(space for space in tables.start.sea if space not in tiles),
        at=bytes(tiles.get(space, 0) for space in range(len(tables.start.at))),
        pieces=(buddha, rice, castle),
        supply=(supply[0], supply[1], supply[2]),
        hands=hands,
        stacks=stacks,
        captured=captured,  # type: ignore[arg-type]
        set_aside=tuple(view["set_aside"][caste] for caste in CASTES),
        placed=bytes(view["placed"]) if kind == "turn" else b"",
        fast_only=view["fast_only"],
        # Something lies there from this turn only if its seat is asked again, because a tile must follow.
        played=bool(view["placed"]) and kind == "turn",
        must_follow=bool(view["placed"]) and kind == "turn",
        switch_used=bytes(view["switch_used"]),
        forfeited=tuple((gone,) for gone in view["forfeited"]),
    )


def _some_hands(view: Payload, *, is_chosen: bool) -> Iterator[tuple[bytes, bytes]]:
    """Yields for each seat a hand and a stack of the tiles that it still has; the seat's own are as it knows them."""
    spent: list[list[int]] = [[] for _ in view["hands"]]
    for _, owner, tile in view["tiles"]:
        spent[owner].append(TILE_INDEX[tile])
    for owner in view["switch_used"]:
        spent[owner].append(SWITCH)
    own = bytes(sorted(TILE_INDEX[tile] for tile in view["hand"]))
    for seat, count in enumerate(view["hands"]):
        left = list(FULL_SET)
        for gone in [*spent[seat], *(own if seat == view["seat"] else ())]:
            left.remove(gone)
        if seat == view["seat"]:
            yield own, bytes(left)
        else:
            yield bytes(left[:count]), bytes(left[count:])
