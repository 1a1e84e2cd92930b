"""Every bundled bot plays whole games under every ruleset and option of its games: none of its actions is illegal."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import Table, samurai, single_options, tables

from arena.core.catalogue import game
from arena.core.link.bots import bundled_bots
from tests.bots.games import BANZAI, GREEDY, IN_PYTHON, RANDOM, Told, play_game
from tests.thorough import THOROUGH

GAMES = 100 if THOROUGH else 1
"""Under each setting. A hundred take hours: some bots think."""


def settings_of(name: str) -> list[Table]:
    """A game's rulesets, and each value of its options alone."""
    found = {(table.ruleset, table.option): table for table in (*tables(), *single_options()) if table.name == name}
    return list(found.values())


PLAYS = [
    (bot.name, setting)
    for bot in bundled_bots()
    for name in bot.rules or ("gardener", "samurai")
    for setting in settings_of(name)
]
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


class AsProcess:
    """A bot in a process of its own, played as one in this process is."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self._games = 0
        table.begin()

    def start(self, game: dict[str, Any]) -> None:
        self._games += 1
        self._table.start({"game": self._games, **game})

    def decide(self, request: dict[str, Any]) -> Any:
        return self._table.ask({key: value for key, value in request.items() if key != "clock"})["action"]


@pytest.fixture
def bot(request, seat_bot):
    name = request.param
    return IN_PYTHON[name]() if name in IN_PYTHON else AsProcess(seat_bot(name))


def play(bot: Any, setting: Table, seed: int, told: list[Told] | None = None) -> tuple[int, ...]:
    """Plays a game among bots that play by chance, and some that do not."""
    chance = Random(seed)
    seats = chance.choice(game(setting.name).seat_counts)
    company = [chance.choice([RANDOM, RANDOM, GREEDY])() for _ in range(seats - 1)]
    seat = seed % seats
    rules = Table(setting.name, setting.ruleset, seats, setting.option).rules
    return play_game([*company[:seat], bot, *company[seat:]], rules, seed, told=told)


@pytest.mark.quick(9, 10)
@pytest.mark.timeout(1800)  # a hundred games of those that think take minutes, on a busy machine many
@pytest.mark.parametrize(("bot", "setting"), PLAYS, ids=str, indirect=["bot"])
def test_no_action_is_illegal(bot, setting):
    for seed in range(1, 1 + GAMES):
        assert 1 in play(bot, setting, seed)


@pytest.mark.quick(1)
@pytest.mark.parametrize("bot", ["greedy", "planner"], indirect=True)
def test_a_card_lies_exactly_over_another(bot):
    told: list[Told] = []
    for seed in range(5):
        assert 1 in play(bot, Table("gardener", "draft", 2, "exactly_over=yes"), seed, told)
    gardens = [garden for request, _ in told for garden in request["view"]["gardens"]]
    assert any(len({(x, y) for _, x, y, _ in garden}) < len(garden) for garden in gardens)


@pytest.mark.long
@settings(max_examples=60)
@given(OPTIONS, st.lists(st.sampled_from([RANDOM, BANZAI, GREEDY]), min_size=2, max_size=4), st.integers(0, 1000))
def test_no_action_is_illegal_in_mixed_company_under_any_options_of_samurai(options, bots, seed):
    assert 1 in play_game([bot() for bot in bots], samurai(len(bots), **options), seed)
