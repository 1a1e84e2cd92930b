"""Every game and ruleset passes PettingZoo's own tests, and an agent observes nothing but its view."""

from __future__ import annotations

import contextlib
import copy
import io
import pickle
import random
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from msgspec import UNSET
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
def test_a_game_ends_with_rewards_of_its_ranks_or_scores(name: str, players: int) -> None:
    """Ranks add up to nothing, and where a game has scores these are the default."""
    last = []
    for kind in ("ranks", "scores"):
        env = pettingzoo.Environment(name, players=players, rewards=kind)
        env.reset(seed=7)
        choice = random.Random(7)
        while not env.terminations[env.agent_selection]:
            env.step(int(choice.choice(env.observe(env.agent_selection)["action_mask"].nonzero()[0])))
        assert all(env.terminations.values())
        last.append(list(env.rewards.values()))
    assert sum(last[0]) == pytest.approx(0)
    assert max(last[0]) > 0
    assert last[1] == last[0] if name == "samurai" else min(last[1]) >= 0 and max(last[1]) > 1


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
    for number in (-1, env.action_space(guilty).n, 1.5, None):
        with pytest.raises(ValueError, match=f"got: {number}"):
            env.step(number)
    env.step(forbidden)
    assert all(env.terminations.values())
    assert env.rewards[guilty] == pettingzoo.ILLEGAL
    env.step(None)
    env.step(None)
    with pytest.raises(ValueError, match="a step after the end; call reset"):
        env.step(None)
    with pytest.raises(ValueError, match="a seed of 0 or more, got: -1"):
        env.reset(seed=-1)  # it would be another name for 1


@pytest.mark.parametrize(
    ("given", "why"),
    [({"rewards": "points"}, "rewards to be one of scores, ranks, got: 'points'"),
     ({"overrides": ["most_decisions=9"]}, "no limit of games, got: most_decisions; give max_cycles"),
     ({"render_mode": "svg"}, "render_mode to be one of ansi, human, rgb_array, got: 'svg'"),
     ({"observations": "planes"}, "observations to be one of numbers, one_hot"),
     ({"max_cycles": 0}, "max_cycles to be a number of steps, 1 or more, got: 0")],
)  # fmt: skip
def test_what_is_unknown_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        pettingzoo.env("gardener", **given)


@pytest.mark.parametrize("name", ["samurai", "gardener"])
def test_a_game_can_be_pickled_and_copied_and_goes_its_own_way(name: str) -> None:
    # Else it is a name that is looked for in all modules, and SuperSuit's way to say that it lacks it stops that.
    assert b"UnsetType" in pickle.dumps(UNSET)
    env = pettingzoo.env(name)
    env.reset(seed=1)
    others = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    for _ in range(20):
        seat, seen = env.agent_selection, env.last()[0]
        for other in others:
            assert other.agent_selection == seat
            assert np.array_equal(other.last()[0]["observation"], seen["observation"])
        for one in (env, *others):
            one.step(int(seen["action_mask"].nonzero()[0][-1]))


def test_chance_goes_on_from_the_last_seed() -> None:
    firsts = []
    for _ in range(2):
        env = pettingzoo.env("samurai", ruleset="basic")
        env.reset(seed=5)
        seeded = env.observe("seat_0")["observation"].tolist()
        env.reset()
        firsts.append(env.observe("seat_0")["observation"].tolist())
        assert firsts[-1] != seeded
    assert firsts[0] == firsts[1]


def test_nobody_changes_what_is_legal_by_changing_a_mask() -> None:
    env = pettingzoo.env("samurai", ruleset="basic")
    with pytest.raises(AttributeError, match="before reset; call reset"):
        env.last()
    env.reset(seed=1)
    observation, *_, info = env.last()
    assert np.array_equal(info["action_mask"], observation["action_mask"])
    forbidden = int(np.flatnonzero(observation["action_mask"] == 0)[-2])
    observation["action_mask"][:] = info["action_mask"][:] = 1
    guilty = env.agent_selection
    env.step(forbidden)
    assert env.rewards[guilty] == pettingzoo.ILLEGAL
    assert env.infos[guilty]["illegal"]


@pytest.mark.parametrize("name", ["samurai", "gardener"])
def test_observations_are_within_their_space_also_as_ones(name: str) -> None:
    numbers, ones = (pettingzoo.env(name, observations=kind) for kind in ("numbers", "one_hot"))
    play(numbers, 3, random.Random(3))
    numbers.reset(seed=3)
    ones.reset(seed=3)
    for _ in range(30):
        agent = numbers.agent_selection
        told, shown = numbers.last()[0], ones.last()[0]
        assert numbers.observation_space(agent).contains(told)
        assert ones.observation_space(agent).contains(shown)
        assert shown["observation"].sum() == len(told["observation"])
        action = int(told["action_mask"].nonzero()[0][0])
        numbers.step(action)
        ones.step(action)


def test_gardener_has_few_actions_that_keep_their_place() -> None:
    assert max(pettingzoo.env("gardener", players=players).action_space("seat_0").n for players in range(2, 6)) < 5_000
    env = pettingzoo.env("gardener")
    env.reset(seed=1)
    rules, choice = env._game.rules, random.Random(1)
    named: dict[tuple[str, int], object] = {}
    for agent in env.agent_iter(200):
        observation, _, over, _, _ = env.last()
        if over:
            break
        legal = observation["action_mask"].nonzero()[0]
        for number in map(int, legal):
            shown = env._game.table.shown
            made = rules.absolute(shown, env._game.due, env._game.numbering.play(number))
            assert named.setdefault((agent, number), made) == made
        env.step(int(choice.choice(legal)))


def test_a_game_can_be_cut_short() -> None:
    env = pettingzoo.env("samurai", max_cycles=4)
    actions = play(env, 1, random.Random(1))
    assert 4 <= len(actions) <= 8


def test_a_game_that_does_not_say_what_programs_learn_from_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gardener, "every_play", lambda self: None)
    with pytest.raises(ConfigError, match="got: gardener, without `every_play`; let its rules override that"):
        pettingzoo.env("gardener")
