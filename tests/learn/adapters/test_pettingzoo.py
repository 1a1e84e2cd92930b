"""Every game and ruleset passes PettingZoo's own tests, and an agent observes nothing but its view."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from arena.core.catalogue import game
from arena.core.errors import ConfigError
from arena.games.gardener.game import Gardener
from arena.learn.adapters import pettingzoo

TABLES = [
    pytest.param(name, ruleset, players, id=f"{name}-{ruleset}-{players}")
    for name in ("samurai", "gardener")
    for ruleset in game(name).rulesets
    for players in (game(name).seat_counts[0], game(name).seat_counts[-1])
]


def quiet(test: Callable[[], object]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PettingZoo warns of observations that are maps, as its own games have
        test()


def play(env: Any, seed: int, choice: random.Random) -> list[int]:
    """Plays to the end. Returns the actions."""
    env.reset(seed=seed)
    actions = []
    for agent in env.agent_iter():
        observation, _, termination, truncation, _ = env.last()
        if termination or truncation:
            env.step(None)
            continue
        actions.append(int(choice.choice(observation["action_mask"].nonzero()[0])))
        assert env.agent_selection == agent
        env.step(actions[-1])
    return actions


@pytest.mark.parametrize(("name", "ruleset", "players"), TABLES)
def test_pettingzoos_own_tests_pass(name: str, ruleset: str, players: int) -> None:
    make = partial(pettingzoo.env, name, players=players, ruleset=ruleset)
    quiet(lambda: api_test(make(), num_cycles=40))
    quiet(lambda: seed_test(make, num_cycles=15))
    quiet(lambda: render_test(make))


@pytest.mark.parametrize(("name", "players"), [("samurai", 2), ("samurai", 4), ("gardener", 3)])
def test_a_game_ends_with_rewards_that_add_up_to_nothing(name: str, players: int) -> None:
    env = pettingzoo.Environment(name, players=players)
    env.reset(seed=7)
    choice, last = random.Random(7), {}
    while not env.terminations[env.agent_selection]:
        env.step(int(choice.choice(env.observe(env.agent_selection)["action_mask"].nonzero()[0])))
        last = dict(env.rewards)
    assert all(env.terminations.values())
    assert sum(last.values()) == pytest.approx(0)
    assert max(last.values()) > 0


def test_the_same_seed_and_actions_give_the_same_game() -> None:
    env = pettingzoo.env("samurai", players=3)
    games = [play(env, seed, random.Random(5)) for seed in (1, 1, 2)]
    assert games[0] == games[1] != games[2]


def test_scores_can_be_the_rewards() -> None:
    env = pettingzoo.Environment("gardener", rewards="scores")
    env.reset(seed=3)
    choice = random.Random(3)
    while not env.terminations[env.agent_selection]:
        env.step(int(choice.choice(env.observe(env.agent_selection)["action_mask"].nonzero()[0])))
    assert all(reward >= 0 for reward in env.rewards.values())
    assert max(env.rewards.values()) > 1


def test_who_decides_at_the_same_time_sees_nothing_of_the_others() -> None:
    env = pettingzoo.Environment("samurai", players=2)
    env.reset(seed=1)
    assert env.agent_selection == "seat_0"
    before = env.observe("seat_1")["observation"]
    env.step(1_000)
    assert env.agent_selection == "seat_1"
    assert np.array_equal(env.observe("seat_1")["observation"], before)
    env.step(1_000)
    assert not np.array_equal(env.observe("seat_1")["observation"], before)


def test_in_a_race_chance_says_who_comes_first() -> None:
    env = pettingzoo.Environment("gardener", players=2, ruleset="race")
    first = set()
    for seed in range(20):
        env.reset(seed=seed)
        first.add(env.agent_selection)
    assert first == {"seat_0", "seat_1"}


def test_only_the_agent_whose_turn_it_is_may_act() -> None:
    env = pettingzoo.Environment("gardener", ruleset="draft")
    env.reset(seed=1)
    waiting = next(agent for agent in env.agents if agent != env.agent_selection)
    assert not env.observe(waiting)["action_mask"].any()
    assert env.observe(env.agent_selection)["action_mask"].any()


def test_an_action_that_is_not_legal_ends_the_game_or_is_an_error() -> None:
    inner = pettingzoo.Environment("gardener")
    inner.reset(seed=1)
    forbidden = int(np.flatnonzero(inner.observe(inner.agent_selection)["action_mask"] == 0)[0])
    with pytest.raises(ValueError, match="expected an action that the mask of seat_"):
        inner.step(forbidden)
    env = pettingzoo.env("gardener")
    env.reset(seed=1)
    guilty = env.agent_selection
    for number in (-1, env.action_space(guilty).n):
        with pytest.raises(ValueError, match=f"got: {number}"):
            env.step(number)
    env.step(forbidden)
    assert all(env.terminations.values())
    assert env.rewards[guilty] == pettingzoo.ILLEGAL


def test_a_game_can_be_cut_short() -> None:
    env = pettingzoo.env("samurai", max_cycles=4)
    actions = play(env, 1, random.Random(1))
    assert 4 <= len(actions) <= 8


def test_a_game_that_does_not_say_what_programs_learn_from_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gardener, "every_play", lambda self: None)
    with pytest.raises(ConfigError, match="got: gardener, without `every_play`; let its rules override that"):
        pettingzoo.env("gardener")
