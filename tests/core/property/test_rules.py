"""The kit over every ruleset of every game for every number of players, and over every option alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import (
    Table,
    check_actions,
    check_fold,
    check_rules,
    check_secrecy,
    check_wild_actions,
    single_options,
    tables,
    walk,
)

from arena.core.testing import check_variant

TABLES = [*tables(), *single_options()]
OPTIONS = [table for table in single_options() if table.seats == 2] + [
    Table("gardener", "draft", 3, "features=on,off,off"),
    *(Table("gardener", "draft", 2, f"target={number}") for number in (1, 999)),
]
every_table = pytest.mark.parametrize("table", TABLES, ids=str)
SEEDS = st.integers(0, 2**32 - 1)
few = settings(max_examples=3)  # whole games at every step, of very many tables: a few of each keep the suite fast


@pytest.mark.long
@pytest.mark.parametrize("table", OPTIONS, ids=str)
def test_each_value_of_each_option_passes_the_whole_kit(table: Table) -> None:
    check_variant(table.rules, games=1)


@pytest.mark.quick(6, 4)
@every_table
@few
@given(seed=SEEDS)
def test_the_rules_pass_the_kit(table: Table, seed: int) -> None:
    check_rules(table.rules, seed)


@pytest.mark.quick(6, 4)
@every_table
@few
@given(seed=SEEDS)
def test_events_fold_to_the_view(table: Table, seed: int) -> None:
    check_fold(table.rules, seed)


@pytest.mark.quick(6, 4)
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


@pytest.mark.quick(6, 12)
@every_table
@settings(max_examples=2)
@given(seed=SEEDS)
def test_nothing_hidden_reaches_a_seat(table: Table, seed: int) -> None:
    check_secrecy(table.rules, seed)


@pytest.mark.quick(6, 4)
@every_table
@few
@given(seed=SEEDS)
def test_no_action_raises_anything_but_an_action_error(table: Table, seed: int) -> None:
    """What a bot may send is a value to the rules, however wild."""
    check_wild_actions(table.rules, seed)
