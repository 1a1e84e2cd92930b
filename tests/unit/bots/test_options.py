"""The bundled Python bots play whole games under every ruleset, option and combination of options.

The bots in other languages follow: they give greedy's answers, or take one play that is legal.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import samurai, single_options, tables
from unit.bots.games import BANZAI, GREEDY, RANDOM, play_game

from arena.games import game

TABLES = [*tables(), *single_options()]
ALL_PLAY = [(bot, table) for bot in (RANDOM, GREEDY) for table in TABLES]
BANZAI_PLAYS = [(BANZAI, table) for table in TABLES if table.name == "samurai"]
OPTIONS = st.fixed_dictionaries(
    {option.name: st.sampled_from(list(option.values)) for option in game("samurai").option_list}
).filter(
    lambda options: (
        not any(
            {one, other} <= {f"{name}={value}" for name, value in options.items()}
            for one, other in game("samurai").contradictions
        )
    )
)


@pytest.mark.quick(30)
@pytest.mark.parametrize(("bot", "table"), ALL_PLAY + BANZAI_PLAYS, ids=str)
def test_no_action_is_illegal(bot, table):
    assert 1 in play_game([bot() for _ in range(table.seats)], table.rules, seed=1)


@pytest.mark.long
@settings(max_examples=60)
@given(OPTIONS, st.lists(st.sampled_from([RANDOM, BANZAI, GREEDY]), min_size=2, max_size=4), st.integers(0, 1000))
def test_no_action_is_illegal_in_mixed_company_under_any_options_of_samurai(options, bots, seed):
    assert 1 in play_game([bot() for bot in bots], samurai(len(bots), **options), seed)
