"""Samurai as its page tells it, worked out a second time from the page's own table of tiles, and without the engine.

A position is a map with what a view shows: `pieces`, `tiles`, `hand`, `placed`, `fast_only`; and beside that `spaces`,
`seats`, `seat`, `options` and `again`, which says whether the seat is asked again in this turn.
"""

from __future__ import annotations

import itertools
import re
from typing import Any, Final, TypeAlias

from tests.conformance.kit import FOLDER

Map: TypeAlias = dict[str, Any]

PAGE: Final = (FOLDER / "rules" / "samurai.md").read_text(encoding="utf-8")
CASTES: Final = ("buddha", "rice", "castle")
SETTLEMENTS: Final = {"village", "city", "edo"}


class Illegal(Exception):
    """A play is not legal."""


def _tiles() -> dict[str, Map]:
    tiles = {}
    for row in re.findall(r"^\| (`\w+`.*) \|$", PAGE.split("(**tile order**)")[1].split("###")[0], re.MULTILINE):
        names, _, values, goes_on, influences, fast = row.split(" | ")
        castes = CASTES if influences == "every caste" else tuple(caste for caste in CASTES if caste == influences)
        for name, value in zip(re.findall(r"`(\w+)`", names), itertools.cycle(values.split(", ")), strict=False):
            tiles[name] = {
                "value": int(value) if value.isdigit() else 0,
                "on": goes_on.split(":")[0] if goes_on[:3] in ("lan", "sea") else None,
                "castes": castes,
                "fast": fast == "yes",
            }
    return tiles


TILES: Final = _tiles()


def _is_fast(position: Map, tile: str) -> bool:
    options = position["options"]
    if options["fast"] == "specials":
        return tile in ("switch", "move")
    return TILES[tile]["fast"] or (tile == "move" and options["move_is_fast"] == "yes")


def _kind(position: Map, space: int) -> str:
    return str(position["spaces"][space]["kind"])


def _around(position: Map, space: int) -> list[int]:
    return list(position["spaces"][space]["neighbours"])


def _may_hold(position: Map, space: int, on: str) -> bool:
    """Whether a tile may be put on a space: of its kind, empty, and near pieces if it must be."""
    if _kind(position, space) != on or any(at == space for at, _, _ in position["tiles"]):
        return False
    placement = position["options"]["placement"]
    if placement == "anywhere" or (placement != "near_pieces" and on == "sea"):
        return True
    occupied = {at for spaces in position["pieces"].values() for at in spaces}
    return bool(occupied & {*_around(position, space)})


def legal(position: Map) -> list[Map]:
    """All plays that may come next, each exchange once."""
    plays: list[Map] = []
    for tile in dict.fromkeys(position["hand"]):
        if position["fast_only"] and (not _is_fast(position, tile) or position["options"]["fast"] == "specials"):
            continue
        spaces = range(len(position["spaces"]))
        if tile == "switch":
            plays += _exchanges(position)
        elif tile == "move":
            own = [
                at
                for at, seat, moved in position["tiles"]
                if seat == position["seat"]
                and moved != "move"
                and not TILES[moved]["fast"]
                and at not in position["placed"]
            ]
            plays += [{"tile": tile, "from": a, "to": b} for a in own for b in spaces if _may_hold(position, b, "land")]
        else:
            on = TILES[tile]["on"]
            plays += [{"tile": tile, "space": space} for space in spaces if _may_hold(position, space, on)]
    return plays


def _exchanges(position: Map) -> list[Map]:
    pieces = [(caste, space) for caste in CASTES for space in position["pieces"][caste]]
    found = []
    for (caste, space), (other, there) in itertools.combinations(pieces, 2):
        lying = position["pieces"]
        doubled = caste != other and space != there and (there in lying[caste] or space in lying[other])
        if not doubled:
            found.append({"tile": "switch", "space": space, "caste": caste, "with": there, "with_caste": other})
    return found


def act(position: Map, plays: list[Map]) -> tuple[list[Map], bool]:
    """What a turn of plays brings about, without refill and what follows; and whether the turn must go on."""
    position = position | {"pieces": {caste: [*spaces] for caste, spaces in position["pieces"].items()}}
    events: list[Map] = []
    fresh: list[int] = [*position["placed"]]
    if not plays:
        raise Illegal
    for play in plays:
        play = _named_once(play)
        if play not in legal(position):
            raise Illegal
        happened, put = _play(position, play)
        events.append(happened)
        fresh += put
        position = _after(position, play, happened, fresh)
        if position["options"]["captures"] == "instant":
            events += _captures(position, fresh)
    return (events, True) if _must_go_on(position, plays[-1]["tile"]) else (events + _captures(position, fresh), False)


def _named_once(play: Map) -> Map:
    if play["tile"] != "switch":
        return play
    one, other = (play["caste"], play["space"]), (play["with_caste"], play["with"])
    if (CASTES.index(one[0]), one[1]) > (CASTES.index(other[0]), other[1]):
        one, other = other, one
    return {"tile": "switch", "space": one[1], "caste": one[0], "with": other[1], "with_caste": other[0]}


def _play(position: Map, play: Map) -> tuple[Map, list[int]]:
    """The fact that a play makes, and where tiles were put by it."""
    seat = position["seat"]
    if play["tile"] == "switch":
        return {"event": "switched", "seat": seat} | {key: play[key] for key in play if key != "tile"}, []
    if play["tile"] == "move":
        (moved,) = (tile for at, _, tile in position["tiles"] if at == play["from"])
        return {"event": "moved", "seat": seat, "tile": moved, "from": play["from"], "to": play["to"]}, [
            play["from"],
            play["to"],
        ]
    return {"event": "placed", "seat": seat, **play}, [play["space"]]


def _after(position: Map, play: Map, happened: Map, fresh: list[int]) -> Map:
    seat, tile = position["seat"], play["tile"]
    hand = [*position["hand"]]
    hand.remove(tile)
    tiles, pieces = [*position["tiles"]], position["pieces"]
    if tile == "switch":
        if happened["caste"] != happened["with_caste"]:
            for caste, old, new in (
                (happened["caste"], happened["space"], happened["with"]),
                (happened["with_caste"], happened["with"], happened["space"]),
            ):
                pieces[caste] = sorted([*(at for at in pieces[caste] if at != old), new])
    elif tile == "move":
        tiles = [entry for entry in tiles if entry[0] != play["from"]]
        tiles += [[play["from"], seat, "move"], [play["to"], seat, happened["tile"]]]
    else:
        tiles.append([play["space"], seat, tile])
    slow = position["fast_only"] or not _is_fast(position, tile)
    return position | {"hand": hand, "tiles": tiles, "pieces": pieces, "placed": [*fresh], "fast_only": slow}


def _must_go_on(position: Map, tile: str) -> bool:
    if position["options"]["fast"] == "optional" or not _is_fast(position, tile):
        return False
    following = legal(position)
    if position["options"]["fast"] == "specials":
        following = [play for play in following if not _is_fast(position, play["tile"])]
    return bool(following)


def _captures(position: Map, fresh: list[int]) -> list[Map]:
    """Resolves what is surrounded, in the automatic order, and takes it off the board."""
    full = {at for at, _, _ in position["tiles"]}
    events: list[Map] = []
    for space in range(len(position["spaces"])):
        around = _around(position, space)
        land = {at for at in around if _kind(position, at) == "land"}
        if _kind(position, space) not in SETTLEMENTS or not land <= full or not land & {*fresh}:
            continue
        for caste in CASTES:
            if space not in position["pieces"][caste]:
                continue
            position["pieces"][caste] = [at for at in position["pieces"][caste] if at != space]
            totals = [0] * position["seats"]
            for at, seat, tile in position["tiles"]:
                if at in around and caste in TILES[tile]["castes"]:
                    totals[seat] += TILES[tile]["value"]
            best = [seat for seat, total in enumerate(totals) if total == max(totals)]
            fact: Map = {"event": "set_aside", "space": space, "caste": caste}
            events.append(fact if len(best) > 1 else fact | {"event": "captured", "seat": best[0]})
    return events


def leaders(captured: list[Map]) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for caste in CASTES:
        most = sorted((own[caste] for own in captured), reverse=True)
        found[caste] = None
        if most[0] > most[1]:
            (found[caste],) = (seat for seat, own in enumerate(captured) if own[caste] == most[0])
    return found


def ranks(captured: list[Map], scoring: str, forfeits: list[list[int]]) -> list[int]:
    ahead = leaders(captured)
    keys: list[tuple[int, ...]] = []
    for seat, own in enumerate(captured):
        led = [caste for caste in CASTES if ahead[caste] == seat]
        count = len(led) if scoring == "leaders" else int(len(led) > 1)
        keys.append((1, count, sum(own[caste] for caste in CASTES if caste not in led), sum(own.values())))
    for moment, seats in enumerate(forfeits):
        for seat in seats:
            keys[seat] = (0, moment)
    return [1 + sum(other > key for other in keys) for key in keys]
