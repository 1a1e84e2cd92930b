"""Trains a policy for Samurai Gardener with sb3-contrib's MaskablePPO, and writes it for `arena bot new --policy`.

python ppo.py policy.json --steps 60000
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

from arena.learn.adapters import policies
from arena.learn.adapters.gymnasium import Seat

GAMES = 16
"""Games that are played together."""
ROUND = 8_192
"""Steps between two tests."""
TESTED = 64
"""Games of a test, the same each time."""


class Scaled(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Observations between 0 and 1, from which a network learns faster."""

    def __init__(self, env: Seat) -> None:
        """Takes the true bounds."""
        super().__init__(env)
        space = env.observation_space
        self.low, self.span = space.low, np.maximum(space.high - space.low, 1)
        self.observation_space = gymnasium.spaces.Box(0, 1, space.shape, np.float32)

    def observation(self, observation: Any) -> Any:
        """Returns an observation as the network has it."""
        return ((observation - self.low) / self.span).astype(np.float32)

    def action_masks(self) -> Any:
        """Returns which actions are legal, as MaskablePPO asks."""
        return self.env.unwrapped.action_masks()


def make() -> Scaled:
    """Returns the environment: one seat, against chance."""
    return Scaled(Seat("gardener"))


def tested(model: MaskablePPO) -> float:
    """Returns how many points the policy makes in a game against chance, when it takes what it likes best."""
    envs, total = [make() for _ in range(TESTED)], 0.0
    seen = [env.reset(seed=1_000_000 + number)[0] for number, env in enumerate(envs)]
    while envs:
        masks = np.stack([env.action_masks() for env in envs])
        actions, _ = model.predict(np.stack(seen), action_masks=masks, deterministic=True)
        steps = [env.step(int(action)) for env, action in zip(envs, actions, strict=True)]
        total += sum(reward for _, reward, *_ in steps)
        left = [at for at, (_, _, over, *_) in enumerate(steps) if not over]
        envs, seen = [envs[at] for at in left], [steps[at][0] for at in left]
    return total / TESTED


def layers(model: MaskablePPO) -> list[tuple[Any, Any]]:
    """Returns the layers of a policy. The first takes observations as they are: it does the scaling, too."""
    env, policy = make(), model.policy
    linear = [*policy.mlp_extractor.policy_net, policy.action_net]
    (weights, bias), *others = [
        (layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in linear if hasattr(layer, "weight")
    ]
    scaled = weights / env.span
    return [(scaled, bias - scaled @ env.low), *others]


def main() -> None:
    """Trains, and prints the curve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("policy", help="the file to write")
    parser.add_argument("--steps", type=int, default=8 * ROUND)
    given = parser.parse_args()
    torch.set_num_threads(1)
    model = MaskablePPO(
        "MlpPolicy", DummyVecEnv([make] * GAMES), seed=1, device="cpu", gamma=1.0, ent_coef=0.005, learning_rate=1e-3,
        n_steps=min(ROUND, given.steps) // GAMES, batch_size=256, n_epochs=4,
    )  # fmt: skip
    print(f"{0:>8} steps: {tested(model):5.2f} points a game", flush=True)
    while model.num_timesteps < given.steps:
        model.learn(ROUND if given.steps >= ROUND else given.steps, reset_num_timesteps=False)
        print(f"{model.num_timesteps:>8} steps: {tested(model):5.2f} points a game", flush=True)
    policies.save(given.policy, make(), layers(model), activation="tanh")


if __name__ == "__main__":
    main()
