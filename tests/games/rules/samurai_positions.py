"""Positions of Samurai made by hand: pieces and tiles where a test wants them, and nothing else on the board."""

from __future__ import annotations

from kit import samurai
from msgspec.structs import replace

from arena.core.rules.base import Event
from arena.core.rules.seats import with_item
from arena.games.samurai.game import Samurai
from arena.games.samurai.state import ONE, TILE_INDEX, Place, State, tile_code

BUDDHA, RICE, CASTLE = range(3)


def at(seats: int = 2, **options: str) -> Samurai:
    """The first ruleset but for some options, on the bundled board."""
    return samurai(seats, **options)  # type: ignore[return-value]


def kinds(events: list[Event]) -> list[str]:
    return [event.data["event"] for event in events]


def tiles(*names: str) -> bytes:
    return bytes(sorted(TILE_INDEX[name] for name in names))


def put(tile: str, space: int) -> Place:
    return Place(TILE_INDEX[tile], space)


def position(rules: Samurai, hands: dict[int, bytes], to_move: int = 0) -> State:
    """Turn 1 on a board without pieces but two of each caste far from everything, so that no caste is exhausted."""
    state = rules.start()
    far = rules.tables.villages[-2:]
    return replace(
        state, phase="turns", turn=1, to_move=to_move, pieces=(far, far[:1] + b"", far[1:]), supply=(0, 0, 0),
        hands=tuple(hands.get(seat, tiles("samurai1")) for seat in range(rules.seats)), stacks=(b"",) * rules.seats,
    )  # fmt: skip


def lay(rules: Samurai, state: State, seat: int, tile: str, space: int) -> State:
    at = state.at[:space] + ONE[tile_code(seat, TILE_INDEX[tile])] + state.at[space + 1 :]
    return replace(state, at=at, land=state.land.replace(ONE[space], b""), sea=state.sea.replace(ONE[space], b""))


def stand(state: State, space: int, *castes: int) -> State:
    pieces = state.pieces
    for caste in castes:
        pieces = with_item(pieces, caste, bytes(sorted(pieces[caste] + ONE[space])))
    return replace(state, pieces=pieces)


def village_with(rules: Samurai, land: int, sea: int = 0, not_near: tuple[int, ...] = ()) -> int:
    """A village with at least so many spaces of each kind around it, sharing no land with others."""
    taken = {space for village in not_near for space in rules.tables.around[village]}
    return next(
        village
        for village in rules.tables.villages[:-2]
        if len(rules.tables.land_around[village]) >= land
        and len(rules.tables.around[village]) - len(rules.tables.land_around[village]) >= sea
        and not taken & {*rules.tables.around[village]}
    )


def surround(
    rules: Samurai, state: State, village: int, given: list[tuple[int, str]], neutral: tuple[int, str]
) -> State:
    """Fill all land around a village but its last space: first the tiles given, then neutral ones."""
    spaces = rules.tables.land_around[village][:-1]
    for space, (seat, tile) in zip(spaces, given + [neutral] * len(spaces), strict=False):
        state = lay(rules, state, seat, tile, space)
    return state


def sea_of(rules: Samurai, village: int) -> list[int]:
    return [s for s in rules.tables.around[village] if s not in rules.tables.land]


def one_space_left(rules: Samurai, hand: bytes, neutral: str = "rice2") -> tuple[State, int, int]:
    """A village by the sea with a buddha and a samurai 2 of seat 1; its last land space is empty."""
    village = village_with(rules, land=2, sea=1)
    state = stand(position(rules, {0: hand}), village, BUDDHA)
    state = surround(rules, state, village, [(1, "samurai2")], (1, neutral))
    return state, village, rules.tables.land_around[village][-1]


def three_to_capture(rules: Samurai, hand: bytes = b"") -> tuple[State, int, int, int]:
    """A village with a rice and a city with two pieces, of which one space is the last of both."""
    land, around = {*rules.tables.land}, rules.tables.around
    village, city = next(
        (village, city)
        for village in rules.tables.villages
        for city in rules.tables.cities
        if len({*around[village]} & {*around[city]} & land) == 1
    )
    (last,) = {*around[village]} & {*around[city]}
    state = stand(stand(position(rules, {0: hand or tiles("buddha4", "ronin1")}), village, RICE), city, BUDDHA, CASTLE)
    for space in ({*around[village]} | {*around[city]}) & land - {last}:
        state = lay(rules, state, 1, "rice2", space)
    return state, village, city, last
