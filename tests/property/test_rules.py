"""The kit over every ruleset of every game for every number of players, and over every option alone."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import Table, act, check_actions, check_fold, check_rules, single_options, tables, walk

from arena.errors import ActionError

TABLES = [*tables(), *single_options()]
every_table = pytest.mark.parametrize("table", TABLES, ids=str)
SEEDS = st.integers(0, 2**32 - 1)
few = settings(max_examples=8)
"""Whole games at every step: a few of each table keep the suite fast."""


@every_table
@few
@given(seed=SEEDS)
def test_the_rules_pass_the_kit(table: Table, seed: int) -> None:
    check_rules(table.rules, seed)


@every_table
@few
@given(seed=SEEDS)
def test_events_fold_to_the_view(table: Table, seed: int) -> None:
    check_fold(table.rules, seed)


@every_table
@few
@given(seed=SEEDS)
def test_actions_are_read_as_they_are_written(table: Table, seed: int) -> None:
    check_actions(table.rules, seed)


@every_table
def test_the_same_moves_give_the_same_game(table: Table) -> None:
    rules = table.rules
    state = rules.start()
    for step in walk(rules, seed=5):
        state = rules.draw(state, step.move) if step.seat is None else rules.apply(state, step.seat, step.move)
    assert state == step.after


@every_table
@few
@given(seed=SEEDS)
def test_games_with_forfeits_end_with_the_forfeited_last(table: Table, seed: int) -> None:
    rules = table.rules
    gone: list[int] = []

    def maybe_forfeit(state: Any, chance: random.Random) -> Any:
        """At any moment when a seat could be asked, one or two seats may fail."""
        if rules.outcome(state) is None and rules.draw_wanted(state) is None and chance.random() < 0.02:
            seats_left = [seat for seat in range(rules.seats) if seat not in gone]
            failing = chance.sample(seats_left, min(len(seats_left), chance.choice([1, 1, 2])))
            gone.extend(failing)
            return rules.forfeit(state, failing)
        return state

    for step in walk(rules, seed, maybe_forfeit):
        outcome = rules.outcome(step.after)
    assert outcome is not None
    ranks = outcome.ranks
    finished = [rank for seat, rank in enumerate(ranks) if seat not in gone]
    assert all(ranks[seat] > max(finished, default=0) for seat in gone)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 70)
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.sampled_from(["move", "switch", "rice3", "ship1", "rice", "across", "card", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["tile", "space", "at"]), inner),
    max_leaves=4,
)


def mutated(action: Any, chance: random.Random, value: Any) -> Any:
    """An action with one of its values replaced, one of its keys dropped, or an item repeated."""
    if isinstance(action, dict) and action and chance.random() < 0.9:
        key = chance.choice(list(action))
        rest = {name: item for name, item in action.items() if name != key}
        return rest if chance.random() < 0.1 else rest | {key: mutated(action[key], chance, value)}
    if isinstance(action, list) and action and chance.random() < 0.9:
        at = chance.randrange(len(action))
        again = [action[at]] if chance.random() < 0.2 else []
        return [*action[:at], mutated(action[at], chance, value), *again, *action[at + 1 :]]
    return value


@every_table
@few
@given(seed=SEEDS, values=st.lists(JSON, min_size=5, max_size=40))
def test_no_action_raises_anything_but_an_action_error(table: Table, seed: int, values: list[Any]) -> None:
    """What a bot may send is a value to the rules, however wild."""
    rules, chance = table.rules, random.Random(seed)
    steps = [step for step in walk(rules, seed) if step.seat is not None]
    for value in values:
        step = chance.choice(steps)
        assert step.seat is not None
        action = mutated(rules.write_action([step.move]), chance, value)
        if isinstance(action, dict):
            with suppress(ActionError):
                act(rules, step.before, step.seat, action)
