"""Nothing hidden reaches a seat, under any ruleset and any option of Samurai.

Two worlds that a seat must not be able to tell apart are shown to it as the same bytes; and a tile that does not exist,
the canary, is seen by its owner alone.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kit import Step, Table, seen, single_options, tables, walk
from msgspec.structs import replace

from arena.core.rules.base import Rules
from arena.core.rules.seats import with_item
from arena.games.samurai import payloads
from arena.games.samurai import state as states
from arena.games.samurai.state import (
    FULL_SET,
    KINDS,
    MOVE,
    ONE,
    SWITCH,
    TILES,
    ChooseHand,
    End,
    Move,
    Place,
    State,
    Switch,
    Tile,
)

TABLES = [table for table in (*tables(), *single_options()) if table.name == "samurai"]
every_table = pytest.mark.parametrize("table", TABLES, ids=str)
SEEDS = st.integers(0, 2**32 - 1)
few = settings(max_examples=6)  # whole games at every step: half a dozen of each of so many tables keeps the suite fast

Kin = Callable[[int], Any]  # what a tile has in common with those that an opponent might hold in its place


@pytest.mark.quick(5, 7)
@every_table
@few
@given(seed=SEEDS)
def test_resampling_deals_the_hidden_tiles_anew_and_nothing_else(table: Table, seed: int) -> None:
    """What is hidden does change, it stays a position of the game, and a seat that owes a turn can play."""
    rules = table.rules
    chance = random.Random(seed)
    changed = 0
    for step in walk(rules, seed):
        state = step.after
        for seat in range(rules.seats):
            world = rules.resample(state, seat, chance.randrange)
            changed += world != state
            assert replace(world, hands=state.hands, stacks=state.stacks) == state
            assert (world.hands[seat], world.stacks[seat]) == (state.hands[seat], state.stacks[seat])
            for other in range(rules.seats):
                assert len(world.hands[other]) == len(state.hands[other])
                assert sorted(world.hands[other] + world.stacks[other]) == sorted(
                    state.hands[other] + state.stacks[other]
                )
                assert [*world.hands[other]] == sorted(world.hands[other])
                assert [*world.stacks[other]] == sorted(world.stacks[other])
            assert rules.pending(world) == rules.pending(state)
            for decision in rules.pending(world):
                assert rules.legal(world, decision.seat)
    assert changed


@pytest.mark.quick(5, 7)
@every_table
@few
@given(seed=SEEDS)
def test_two_worlds_look_the_same_at_every_step(table: Table, seed: int) -> None:
    """§12-1. Non-interference at each position: re-deal what a seat must not know, and it is shown the same bytes."""
    rules = table.rules
    chance = random.Random(seed)
    for step in walk(rules, seed):
        for seat in range(rules.seats):
            other_world = rules.resample(step.after, seat, chance.randrange)
            assert seen(rules, other_world, seat, []) == seen(rules, step.after, seat, [])
            if step.seat == seat:
                before = rules.resample(step.before, seat, chance.randrange)
                events: list[Any] = []
                after = rules.apply(before, seat, step.move, events)
                assert seen(rules, after, seat, events) == seen(rules, step.after, seat, step.events)


@pytest.mark.quick(5, 7)
@every_table
@few
@given(seed=SEEDS)
def test_two_worlds_stay_the_same_through_a_whole_game(table: Table, seed: int) -> None:
    """§12-1. The same game twice, but in the second an opponent draws other tiles, of which it plays the same."""
    rules = table.rules
    chance = random.Random(seed)
    watcher, opponent = chance.sample(range(rules.seats), 2)
    first = list(walk(rules, seed))
    assume(not any(event.data == {"event": "passed", "seat": opponent} for step in first for event in step.events))
    # Where fast tiles must be followed, everyone sees by the end of a turn that the hand held none that could follow.
    kin = _uses(rules) if rules.options["fast"] != "optional" else lambda tile: None
    second = list(_other_world(rules, first, opponent, chance, kin))
    assert _traffic(rules, second, watcher) == _traffic(rules, first, watcher)


def _uses(rules: Any) -> Kin:
    """When a tile could be played."""
    return lambda tile: (TILES[tile].goes_on, tile in rules.tables.fast, tile == MOVE)


def _traffic(rules: Rules[Any], steps: list[Step], watcher: int) -> list[bytes]:
    """Every event that the watcher is told, and all it is shown when a decision is due."""
    traffic = []
    for step in steps:
        traffic += [msgspec.json.encode(event.data) for event in step.events if event.reaches(watcher)]
        if rules.draw_wanted(step.after) is None and (not _begun(step.after) or step.after.must_follow):
            traffic.append(seen(rules, step.after, watcher, []))
    return traffic


def _begun(state: State) -> bool:
    """Whether a turn is on in which a tile was played and another one could be."""
    return state.phase == "turns" and state.played


def _other_world(
    rules: Rules[Any], steps: list[Step], opponent: int, chance: random.Random, kin: Kin
) -> Iterator[Step]:
    state = rules.start()
    for at, step in enumerate(steps):
        before, seat, move = state, step.seat, step.move
        events: list[Any] = []
        if isinstance(move, End) and not _begun(state):
            continue  # in this world the hand had nothing more to play, and the turn is over already
        rest = steps[at + 1 :]
        if seat == opponent and isinstance(move, ChooseHand):
            move = ChooseHand(_draws(FULL_SET, b"", move.tiles, rest, opponent, chance, kin))
        elif seat is None and rules.draw_wanted(step.before).stream == f"stack/{opponent}":  # type: ignore[union-attr]
            stack, drawn = state.stacks[opponent], _drawn(step, opponent)
            move = stack.index(_draws(stack, state.hands[opponent], drawn, rest, opponent, chance, kin))
        if seat is None:
            state = rules.draw(state, move, events)
        else:
            rules.check(state, seat, move)
            state = rules.apply(state, seat, move, events)
            if _begun(state) and not _begun(step.after):
                rules.check(state, seat, End())
                state = rules.apply(state, seat, End(), events)
        yield Step(before, state, seat, move, events)


def _drawn(step: Step, opponent: int) -> bytes:
    stack = step.before.stacks[opponent]
    return stack[step.move : step.move + 1] if len(step.after.stacks[opponent]) < len(stack) else b""


def _draws(
    stack: bytes, hand: bytes, instead_of: bytes, rest: list[Step], opponent: int, chance: random.Random, kin: Kin
) -> bytes:
    """Draw kin of some tiles at random, but so that the opponent can still play what it plays in the first world."""
    drawn = b""
    for at, other in enumerate(instead_of, start=1):
        left = Counter(map(kin, instead_of[at:]))
        tile = next(
            tile
            for tile in chance.sample(stack, len(stack))
            if kin(tile) == kin(other) and _can_follow(hand + ONE[tile], left.copy(), rest, opponent, kin)
        )
        drawn += ONE[tile]
        hand += ONE[tile]
        stack = stack.replace(ONE[tile], b"", 1)
    return bytes(sorted(drawn))


def _can_follow(hand: bytes, draws: Counter[Any], rest: list[Step], opponent: int, kin: Kin) -> bool:
    """Whether the tiles still to be played are in hand, or can be drawn in time."""
    for step in rest:
        if step.seat is None:
            draws.update(map(kin, _drawn(step, opponent)))
        elif step.seat == opponent and isinstance(step.move, Place | Switch | Move):
            tile = {Switch: SWITCH, Move: MOVE}.get(type(step.move)) or step.move.tile
            if tile in hand:
                hand = hand.replace(ONE[tile], b"", 1)
            elif not draws[kin(tile)]:
                return False
            else:
                draws[kin(tile)] -= 1
    return True


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> Iterator[bytes]:
    """A kind of tile that does not exist, and may be played as any other."""
    every = (*TILES, Tile("canary", (), 0, "land", fast=False))
    for module in (states, payloads):
        monkeypatch.setattr(module, "TILES", every)
    states.playable.cache_clear()
    yield ONE[KINDS]
    states.playable.cache_clear()


@pytest.mark.quick(5, 7)
@every_table
def test_a_planted_tile_reaches_nobody_but_its_owner(table: Table, canary: bytes) -> None:
    """In a hand and a stack it is seen by its owner alone, in the view and among the legal plays."""
    rules: Any = table.rules
    rules.tables.allowed = tuple(kinds + canary for kinds in rules.tables.allowed)
    for step in walk(rules, seed=rules.seats):
        for owner in range(rules.seats):
            planted = _planted(step.after, owner, canary)
            for seat in range(rules.seats):
                shown = seen(rules, planted, seat, [])
                assert (b"canary" in shown) == (seat == owner and bool(planted.hands[owner]))


def _planted(state: State, owner: int, tile: bytes) -> State:
    return replace(
        state,
        hands=with_item(state.hands, owner, tile * len(state.hands[owner])),
        stacks=with_item(state.stacks, owner, tile * len(state.stacks[owner])),
    )


@every_table
def test_a_drawn_canary_is_told_to_its_owner_alone(table: Table, canary: bytes) -> None:
    """The same for events: what comes out of a planted stack."""
    rules = table.rules
    drawn = 0
    for step in walk(rules, seed=rules.seats):
        draw = rules.draw_wanted(step.before)
        if draw is None or not draw.stream.startswith("stack/"):
            continue
        owner = int(draw.stream.removeprefix("stack/"))
        stack = canary * len(step.before.stacks[owner])
        planted = replace(step.before, stacks=with_item(step.before.stacks, owner, stack))
        events: list[Any] = []
        rules.draw(planted, step.move, events)
        drawn += 1
        for seat in range(rules.seats):
            told = any("canary" in str(event.data) for event in events if event.reaches(seat))
            assert told == (seat == owner)
    assert drawn
