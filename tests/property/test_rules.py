"""The kit over every ruleset and number of players, and that nothing hidden reaches a seat."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kit import Step, check_actions, check_fold, check_rules, samurai, seen, walk
from msgspec.structs import replace

from arena.rules.base import Rules
from arena.rules.samurai import tiles, views
from arena.rules.samurai.game import Samurai
from arena.rules.samurai.plays import Choose, End, Move, Place, Switch
from arena.rules.samurai.state import State, with_item
from arena.rules.samurai.tiles import FULL_SET, KINDS, MOVE, ONE, SWITCH, Tile

TABLES = [(ruleset, seats) for ruleset in Samurai.rulesets for seats in Samurai.seat_counts]
every_table = pytest.mark.parametrize(("ruleset", "seats"), TABLES)
SEEDS = st.integers(0, 2**32 - 1)
few = settings(max_examples=12)
"""Whole games at every step: a dozen of each table keeps the suite fast."""


@every_table
@few
@given(seed=SEEDS)
def test_the_rules_pass_the_kit(ruleset: str, seats: int, seed: int) -> None:
    check_rules(samurai(seats, ruleset), seed)


@every_table
@few
@given(seed=SEEDS)
def test_events_fold_to_the_view(ruleset: str, seats: int, seed: int) -> None:
    check_fold(samurai(seats, ruleset), seed)


@every_table
@few
@given(seed=SEEDS)
def test_actions_are_read_as_they_are_written(ruleset: str, seats: int, seed: int) -> None:
    check_actions(samurai(seats, ruleset), seed)


@every_table
def test_the_same_moves_give_the_same_game(ruleset: str, seats: int) -> None:
    rules = samurai(seats, ruleset)
    state = rules.start()
    for step in walk(rules, seed=5):
        state = rules.draw(state, step.move) if step.seat is None else rules.apply(state, step.seat, step.move)
    assert state == step.after


@every_table
@few
@given(seed=SEEDS)
def test_games_with_forfeits_end_with_the_forfeited_last(ruleset: str, seats: int, seed: int) -> None:
    rules = samurai(seats, ruleset)
    gone: list[int] = []

    def maybe_forfeit(state: State, chance: random.Random) -> State:
        """At any moment when a seat could be asked, one or two seats may fail."""
        if rules.ranks(state) is None and rules.draw_wanted(state) is None and chance.random() < 0.02:
            seats_left = [seat for seat in range(rules.seats) if seat not in gone]
            failing = chance.sample(seats_left, min(len(seats_left), chance.choice([1, 1, 2])))
            gone.extend(failing)
            return rules.forfeit(state, failing)  # type: ignore[no-any-return]
        return state

    for step in walk(rules, seed, maybe_forfeit):
        ranks = rules.ranks(step.after)
    assert ranks is not None
    finished = [rank for seat, rank in enumerate(ranks) if seat not in gone]
    assert all(ranks[seat] > max(finished, default=0) for seat in gone)


def redealt(rules: Rules[Any], state: State, seat: int, chance: random.Random) -> State:
    """The same position to `seat`: what others hold in hand and what lies in their stacks is mixed anew."""
    hands, stacks = state.hands, state.stacks
    for other in range(rules.seats):
        if other != seat:
            hidden = list(hands[other] + stacks[other])
            chance.shuffle(hidden)
            size = len(hands[other])
            hands = with_item(hands, other, bytes(sorted(hidden[:size])))
            stacks = with_item(stacks, other, bytes(sorted(hidden[size:])))
    return replace(state, hands=hands, stacks=stacks)


@every_table
@few
@given(seed=SEEDS)
def test_two_worlds_look_the_same_at_every_step(ruleset: str, seats: int, seed: int) -> None:
    """Non-interference at each position: re-deal what a seat must not know, and it is shown the same bytes."""
    rules = samurai(seats, ruleset)
    chance = random.Random(seed)
    for step in walk(rules, seed):
        for seat in range(seats):
            other_world = redealt(rules, step.after, seat, chance)
            assert seen(rules, other_world, seat, []) == seen(rules, step.after, seat, [])
            if step.seat == seat:
                before = redealt(rules, step.before, seat, chance)
                events: list[Any] = []
                after = rules.apply(before, seat, step.move, events)
                assert seen(rules, after, seat, events) == seen(rules, step.after, seat, step.events)


@every_table
@few
@given(seed=SEEDS)
def test_two_worlds_stay_the_same_through_a_whole_game(ruleset: str, seats: int, seed: int) -> None:
    """The same game twice, but in the second an opponent draws other tiles, of which it plays the same.

    All that goes to the watching seat must be the same bytes in the same order.
    """
    rules = samurai(seats, ruleset)
    chance = random.Random(seed)
    watcher, opponent = chance.sample(range(seats), 2)
    first = list(walk(rules, seed))
    assume(not any(event.data == {"event": "passed", "seat": opponent} for step in first for event in step.events))
    second = list(_other_world(rules, first, opponent, chance))
    assert _traffic(rules, second, watcher) == _traffic(rules, first, watcher)


def _traffic(rules: Rules[Any], steps: list[Step], watcher: int) -> list[bytes]:
    """Every event that the watcher is told, and all it is shown when a decision is due."""
    traffic = []
    for step in steps:
        traffic += [msgspec.json.encode(event.data) for event in step.events if event.reaches(watcher)]
        if rules.draw_wanted(step.after) is None and not step.after.played:
            traffic.append(seen(rules, step.after, watcher, []))
    return traffic


def _other_world(rules: Rules[Any], steps: list[Step], opponent: int, chance: random.Random) -> Iterator[Step]:
    state = rules.start()
    for at, step in enumerate(steps):
        before, seat, move = state, step.seat, step.move
        events: list[Any] = []
        if isinstance(move, End) and (rules.draw_wanted(state) is not None or not state.played):
            continue  # in this world the hand had nothing more to play, and the turn is over already
        rest = steps[at + 1 :]
        if seat == opponent and isinstance(move, Choose):
            move = Choose(_draws(FULL_SET, b"", len(move.tiles), rest, opponent, chance))
        elif seat is None and rules.draw_wanted(step.before).stream == f"stack/{opponent}":  # type: ignore[union-attr]
            stack = state.stacks[opponent]
            drawn = _draws(stack, state.hands[opponent], 1, rest, opponent, chance)
            move = stack.index(drawn)
        if seat is None:
            state = rules.draw(state, move, events)
        else:
            state = rules.apply(state, seat, move, events)
            ended = rules.draw_wanted(step.after) is not None or not step.after.played
            if state.played and rules.draw_wanted(state) is None and rules.ranks(state) is None and ended:
                state = rules.apply(state, seat, End(), events)
        yield Step(before, state, seat, move, events)


def _draws(stack: bytes, hand: bytes, count: int, rest: list[Step], opponent: int, chance: random.Random) -> bytes:
    """Draw tiles at random, but so that the opponent can still play the tiles that it plays in the first world."""
    drawn = b""
    for left in reversed(range(count)):
        for tile in chance.sample(stack, len(stack)):
            if _can_follow(hand + ONE[tile], left, rest, opponent):
                break
        drawn += ONE[tile]
        hand += ONE[tile]
        stack = stack.replace(ONE[tile], b"", 1)
    return bytes(sorted(drawn))


def _can_follow(hand: bytes, draws: int, rest: list[Step], opponent: int) -> bool:
    """Whether the tiles still to be played are in hand, or can be drawn in time."""
    for step in rest:
        if step.seat is None and len(step.after.stacks[opponent]) < len(step.before.stacks[opponent]):
            draws += 1
        elif step.seat == opponent and isinstance(step.move, Place | Switch | Move):
            tile = ONE[{Switch: SWITCH, Move: MOVE}.get(type(step.move)) or step.move.tile]
            if tile in hand:
                hand = hand.replace(tile, b"", 1)
            elif draws == 0:
                return False
            else:
                draws -= 1
    return True


def test_a_planted_tile_reaches_nobody_but_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """The canary: a tile that does not exist, in a hand and a stack, is seen by its owner alone."""
    canary = Tile("canary", (), 0, "land", fast=False)
    monkeypatch.setattr(tiles, "TILES", (*tiles.TILES, canary))
    monkeypatch.setattr(views, "TILES", (*tiles.TILES, canary))
    tiles.playable.cache_clear()
    try:
        for ruleset, seats in TABLES:
            rules = samurai(seats, ruleset)
            for step in walk(rules, seed=seats):
                for owner in range(seats):
                    planted = _planted(step.after, owner)
                    for seat in range(seats):
                        shown = seen(rules, planted, seat, [])
                        assert (b"canary" in shown) == (seat == owner and bool(planted.hands[owner]))
    finally:
        tiles.playable.cache_clear()


def _planted(state: State, owner: int) -> State:
    return replace(
        state,
        hands=with_item(state.hands, owner, bytes([KINDS]) * len(state.hands[owner])),
        stacks=with_item(state.stacks, owner, bytes([KINDS]) * len(state.stacks[owner])),
    )


@every_table
def test_a_drawn_canary_is_told_to_its_owner_alone(ruleset: str, seats: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for events: what comes out of a planted stack."""
    canary = Tile("canary", (), 0, "land", fast=False)
    monkeypatch.setattr(tiles, "TILES", (*tiles.TILES, canary))
    rules = samurai(seats, ruleset)
    drawn = 0
    for step in walk(rules, seed=seats):
        draw = rules.draw_wanted(step.before)
        if draw is None or not draw.stream.startswith("stack/"):
            continue
        owner = int(draw.stream.removeprefix("stack/"))
        stack = bytes([KINDS]) * len(step.before.stacks[owner])
        planted = replace(step.before, stacks=with_item(step.before.stacks, owner, stack))
        events: list[Any] = []
        tiles.playable.cache_clear()
        rules.draw(planted, step.move, events)
        drawn += 1
        for seat in range(seats):
            told = any("canary" in str(event.data) for event in events if event.reaches(seat))
            assert told == (seat == owner)
    assert drawn
