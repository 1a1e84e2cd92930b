"""Another state that a seat of Samurai cannot tell from this one: how the tiles of the others are dealt anew."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

from kit import samurai
from msgspec.structs import replace

from arena.games.samurai.game import Samurai
from arena.games.samurai.state import State, redeal
from tests.games.rules.samurai_positions import at, lay, position, tiles


def worlds(rules: Samurai, state: State, seat: int, *sizes: int) -> Counter[bytes]:
    """How often each hand of seat 1 occurs, over all that chance can choose."""
    found: Counter[bytes] = Counter()
    for chosen in product(*map(range, sizes)):
        left = iter(zip(sizes, chosen, strict=True))

        def choose(n: int, left: Any = left) -> int:
            size, index = next(left)
            assert n == size
            return index  # type: ignore[no-any-return]

        found[rules.resample(state, seat, choose).hands[1]] += 1
    return found


def test_every_deal_of_the_hidden_tiles_is_equally_likely() -> None:
    rules = at()
    state = position(rules, {0: tiles("rice2"), 1: tiles("rice3", "ship1")})
    state = replace(state, stacks=(b"", tiles("ship2", "castle4")))
    hands = worlds(rules, state, 0, 4, 3)
    assert len(hands) == 6
    assert {*hands.values()} == {2}


def test_two_copies_of_a_tile_make_a_hand_that_has_one_twice_as_likely() -> None:
    rules = at()
    state = position(rules, {0: tiles("rice2"), 1: tiles("rice3")})
    state = replace(state, stacks=(b"", tiles("ship1", "ship1")))
    assert worlds(rules, state, 0, 3) == {tiles("rice3"): 1, tiles("ship1"): 2}


def test_while_hands_are_chosen_only_those_that_were_are_dealt_anew() -> None:
    rules: Any = samurai(3)
    state = rules.apply(rules.start(), 1, rules.legal(rules.start(), 1)[0])
    world = rules.resample(state, 0, lambda n: n - 1)
    assert world.hands[1] != state.hands[1]
    assert [len(hand) for hand in world.hands] == [0, 5, 0]
    assert [decision.seat for decision in rules.pending(world)] == [0, 2]
    assert rules.resample(state, 1, lambda n: n - 1) == state, "the others have nothing in hand yet"


def test_a_seat_that_is_to_play_gets_a_hand_from_which_it_can() -> None:
    """Seat 1 has a tile to play, as everyone sees: it would have passed. The move tile alone moves nothing here."""
    rules = at()
    state = position(rules, {0: tiles("rice2"), 1: tiles("rice3")}, to_move=1)
    state = replace(state, stacks=(b"", tiles("move", "castle2")))
    chance = random.Random(1)
    hands = {rules.resample(state, 0, chance.randrange).hands[1] for _ in range(60)}
    assert hands == {tiles("rice3"), tiles("castle2")}
    waiting = replace(state, to_move=0)
    assert tiles("move") in {rules.resample(waiting, 0, chance.randrange).hands[1] for _ in range(60)}


def test_where_a_tile_must_follow_the_hand_holds_one_that_can() -> None:
    rules = at(fast="specials")
    begun = position(rules, {0: tiles("rice2"), 1: tiles("move", "rice3")}, to_move=1)
    state = lay(rules, begun, 1, "samurai3", rules.tables.land[0])
    state = replace(state, stacks=(b"", tiles("switch")), must_follow=True, played=True)
    chance = random.Random(1)
    hands = {rules.resample(state, 0, chance.randrange).hands[1] for _ in range(60)}
    assert hands == {tiles("move", "rice3"), tiles("switch", "rice3")}


def test_the_copies_that_are_left_are_all_dealt() -> None:
    hand, stack = tiles("ship1", "rice2"), tiles("ship1", "rice3", "rice4")
    for choose in (lambda n: 0, lambda n: n - 1, lambda n: n // 2):
        new_hand, new_stack = redeal(hand, stack, choose)
        assert len(new_hand) == 2
        assert sorted(new_hand + new_stack) == sorted(hand + stack)


def test_a_deal_does_not_depend_on_what_is_hidden() -> None:
    """Two worlds that a seat cannot tell apart give the same world for the same choices."""
    rules = at()
    state = position(rules, {0: tiles("rice2"), 1: tiles("rice3", "ship1")}, to_move=0)
    state = replace(state, stacks=(b"", tiles("move", "castle2", "samurai1")))
    for seed in range(20):
        other = rules.resample(state, 0, random.Random(seed).randrange)
        assert rules.resample(other, 0, random.Random(9).randrange) == rules.resample(
            state, 0, random.Random(9).randrange
        )
