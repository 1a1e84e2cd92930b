"""One seat of a game is an environment of Gymnasium: its own checks pass, and bots of the house play the others."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from arena.core.errors import ConfigError
from arena.learn.adapters import gymnasium


class Legal(gymnasium.Seat):
    """An environment that takes the first legal action: Gymnasium's checks know no masks."""

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return super().step(int(self.action_masks().argmax()))


def played(env: gymnasium.Seat, seed: int) -> tuple[float, int]:
    """Returns the reward of a game in which the first legal actions were taken, and how many there were."""
    _, info = env.reset(seed=seed)
    steps, over, reward = 0, False, 0.0
    while not over:
        _, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
        steps += 1
    return reward, steps


@pytest.mark.parametrize("name", ["samurai", "gardener"])
def test_gymnasiums_own_check_passes(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(Legal(name, opponents={"seat_1": "greedy"}), skip_render_check=True)


@pytest.mark.parametrize(("name", "players"), [("samurai", 2), ("samurai", 3), ("gardener", 2), ("gardener", 3)])
def test_greedy_beats_who_takes_the_first_action(name: str, players: int) -> None:
    opponents = {f"seat_{seat}": "greedy" for seat in range(1, players)}
    env = gymnasium.Seat(name, players=players, opponents=opponents, rewards="ranks")
    games = [played(env, seed) for seed in (1, 2, 1)]
    assert games[0] == games[2]
    assert sum(reward for reward, _ in games) < 0


def test_a_function_can_be_an_opponent_and_a_seat_without_one_plays_by_chance() -> None:
    asked = []

    def first(observation: Any, mask: Any) -> int:
        asked.append(observation)
        return int(mask.argmax())

    env = gymnasium.Seat("gardener", seat=1, players=3, opponents={"seat_0": first})
    _, steps = played(env, 3)
    assert len(asked) >= steps // 2
    assert all(env.observation_space.contains(one) for one in asked)


@pytest.mark.parametrize(
    ("given", "why"),
    [({"seat": 2}, "expected a seat from 0 to 1, got: 2"), ({"opponents": {"seat_0": "greedy"}}, "opponents in seat_1"),
     ({"opponents": {"seat_1": "nobody"}}, "nobody"), ({"opponents": {"seat_1": 3}}, "a function as seat_1, got: 3"),
     ({"opponents": {"seat_1": "daimyo"}}, "plays gardener, got: daimyo, for samurai"),
     ({"rules": "samurai", "opponents": {"seat_1": "daimyo"}}, "wants no events")],
)  # fmt: skip
def test_who_cannot_sit_there_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        gymnasium.Seat(**{"rules": "gardener", **given})


def test_a_function_whose_action_is_not_legal_is_named() -> None:
    env = gymnasium.Seat("gardener", seat=1, opponents={"seat_0": lambda observation, mask: int(mask.argmin())})
    with pytest.raises(ValueError, match=r"of the function of seat_0, got: \d+: card \d+ is not turned up"):
        env.reset(seed=1)


def test_a_game_can_be_copied_with_the_bots_that_play_it() -> None:
    env = gymnasium.Seat("gardener", opponents={"seat_1": "greedy"})
    _, info = env.reset(seed=1)
    for _ in range(9):
        info = env.step(int(info["action_mask"].argmax()))[4]
    others = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    over = False
    while not over:
        action = int(info["action_mask"].argmax())
        observation, _, over, _, info = env.step(action)
        assert all(np.array_equal(other.step(action)[0], observation) for other in others)


def test_an_action_that_is_not_legal_says_why() -> None:
    env = gymnasium.Seat("gardener")
    with pytest.raises(ValueError, match="call reset"):
        env.step(0)
    with pytest.raises(ValueError, match="action_masks before reset"):
        env.action_masks()
    _, info = env.reset(seed=1)
    forbidden = int((info["action_mask"] == 0).argmax())
    for wrong in (-1, env.actions, 1.5, None):
        with pytest.raises(ValueError, match=f"a whole number from 0 to 4032, got: {wrong!r}"):
            env.step(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"the mask allows, got: \d+: card \d+ is not turned up"):
        env.step(forbidden)
    lenient = gymnasium.Seats(2, "gardener", illegal_reward=-1.0)
    _, info = lenient.reset(seed=np.int64(1))
    _, rewards, over, _, info = lenient.step(np.array([forbidden, info["action_mask"][1].argmax()]))
    assert (rewards.tolist(), over.tolist()) == ([-1.0, 0.0], [True, False])
    assert "is not turned up" in info["illegal"][0]
    assert info["_illegal"].tolist() == [True, False]


def test_many_step_together_as_each_would_alone() -> None:
    together = gymnasium.Seats(3, "gardener", opponents={"seat_1": "greedy"})
    alone = [gymnasium.Seat("gardener", opponents={"seat_1": "greedy"}) for _ in range(3)]
    alone = pickle.loads(pickle.dumps(alone))
    seen, _ = together.reset(seed=7)
    assert all(np.array_equal(seen[at], env.reset(seed=7 + at)[0]) for at, env in enumerate(alone))
    ended = 0
    over = np.zeros(3, bool)
    for _ in range(150):
        assert together.action_masks().any(axis=1).all(), "also where a game is over"
        actions = together.action_masks().argmax(axis=1)
        again = over
        seen, rewards, over, _, _ = together.step(actions)
        assert together.observation_space.contains(seen)
        for at, env in enumerate(alone):
            if again[at]:
                assert np.array_equal(env.reset()[0], seen[at])
                continue
            observation, reward, end, _, _ = env.step(int(actions[at]))
            assert (reward, end) == (rewards[at], over[at])
            assert np.array_equal(observation, seen[at])
            ended += end
    assert ended > 0
