"""Any game of arena as an environment of PettingZoo: agents take turns (AEC), with masks of the legal plays.

::

    from arena.learn.adapters import pettingzoo

    env = pettingzoo.env("gardener", players=2, ruleset="draft")
    env.reset(seed=42)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        over = termination or truncation
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

Laws:
1. An agent observes its view as numbers (`Rules.numbers`), never the state: what its seat may not know is not in it.
2. An action is the number of a play in `Rules.every_play`, at one table always the same play. A decision of several
   plays is as many steps; the end of a turn is a play, too.
3. Seats that decide at once take their steps one after another, and none sees what the others did before all have
   (`arena.core.rules.table`).
4. The rewards of a game are given at its end: its scores, or in a game without scores what the ranks are worth: of each
   other seat 1 if it was beaten, -1 if it won, on average. With `rewards="ranks"` they are that in every game but those
   in which all share a rank.
5. What is handed out is a copy: nobody changes the game, or what is legal in it, by changing that.
"""

from __future__ import annotations

from typing import Any, Final, get_args

import gymnasium
import numpy as np
from pettingzoo import AECEnv

from arena.core.face import errors
from arena.learn.adapters.game import Array, Game, RenderMode, known

ILLEGAL: Final = -1.0  # The reward of an agent whose action is not legal. It ends the game.


def env(rules: str = "samurai", **settings: Any) -> Environment:
    """Returns an `Environment` in which an action that is not legal ends the game."""
    return Environment(rules, **{"illegal_reward": ILLEGAL, **settings})


class Environment(AECEnv):  # type: ignore[misc]  # it has no types
    """A game at one table. Its agents are `seat_0`, `seat_1` and so on."""

    def __init__(
        self,
        rules: str = "samurai",
        *,
        players: int = 2,
        rewards: str = "scores",
        observations: str = "numbers",
        max_cycles: int | None = None,
        render_mode: str | None = None,
        illegal_reward: float | None = None,
        **settings: Any,
    ) -> None:
        """Makes a table.

        Args:
            rewards: What is given at the end, `scores` or `ranks`: see the laws.
            observations: `numbers`, or `one_hot`: a 1 among noughts for the value of each number.
            max_cycles: The game is cut short when an agent has taken so many steps; None means never.
            render_mode: `ansi`: `render` returns what the agent whose turn it is sees, as text; `human`: it prints it;
                `rgb_array`: it returns the text as a picture.
            illegal_reward: What an agent is given for an action that is not legal, which ends the game; None means that
                such an action is an error. The reason is in the agent's info as `illegal`.
            settings: As for `arena.make_settings`: `ruleset`, `overrides`, `board`.

        Raises:
            ConfigError: There is no such game, it does not say what programs learn from, or a value is unknown.
        """
        super().__init__()
        self.render_mode: RenderMode | None = known(render_mode, RenderMode, "render_mode")
        self._game = game = Game(rules, players, rewards, observations, settings)
        self.metadata = {
            "name": f"{rules}_v{game.rules.version}",
            "render_modes": list(get_args(RenderMode)),
            "is_parallelizable": False,
        }
        if max_cycles is not None and not (isinstance(max_cycles, int) and max_cycles > 0):
            raise errors.ConfigError(f"expected max_cycles to be a number of steps, 1 or more, got: {max_cycles!r}")
        self._max_cycles = max_cycles
        self._illegal_reward = illegal_reward
        self.possible_agents = list(game.agents)
        mask = gymnasium.spaces.Box(0, 1, (game.actions,), np.int8)
        space = gymnasium.spaces.Dict({"observation": game.space, "action_mask": mask})
        self._spaces = dict.fromkeys(self.possible_agents, space)
        self._actions = {agent: gymnasium.spaces.Discrete(game.actions) for agent in self.possible_agents}

    def __getattr__(self, name: str) -> Any:
        if name in _OF_A_GAME:
            raise AttributeError(f"expected a game that was begun, got: {name} before reset; call reset() first")
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """Returns the space of an agent's observations: `observation` and `action_mask`."""
        return self._spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """Returns the space of an agent's actions."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a game. All chance in it follows from the last `seed` that was given, if any, else from the system."""
        self._game.reset(seed)
        self._observed: dict[str, Array] = {}
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._steps = dict.fromkeys(self.agents, 0)
        self.agent_selection = self.agents[0]
        self._go_on()

    def observe(self, agent: str) -> dict[str, Array]:
        """Returns what an agent may know now, and which actions it may take: none where it owes no decision."""
        seat = self.possible_agents.index(agent)
        if agent not in self._observed:
            self._observed[agent] = self._game.observe(seat)
        mask = self._game.mask if seat == self._game.due else np.zeros(self._game.actions, np.int8)
        return {"observation": self._observed[agent].copy(), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Makes a play of the agent whose turn it is. An agent whose game is over gives None.

        Raises:
            ValueError: It is not legal, and there is no `illegal_reward`; there is no such action; or all is over.
        """
        if not self.agents:
            raise ValueError("expected a game that goes on, got: a step after the end; call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = self._game.number(action)
        reason = self._game.refusal(number)
        worth = self._illegal_reward
        if reason is not None and worth is None:
            raise ValueError(f"expected an action that the mask of {agent} allows, got: {action}: {reason}")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if reason is not None and worth is not None:
            self.infos[agent] = {"illegal": reason}
            self.rewards[agent] = worth
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self._game.make(number)
            self._observed.clear()
            self.infos[agent] = {}
            self._steps[agent] += 1
            if self._max_cycles is not None and self._steps[agent] >= self._max_cycles:
                self.truncations = dict.fromkeys(self.agents, True)
            self._go_on()
        self._accumulate_rewards()

    def _go_on(self) -> None:
        if self._game.due is not None:
            self.agent_selection = self.possible_agents[self._game.due]
            self.infos[self.agent_selection] = {"action_mask": self._game.mask}
        else:
            self.rewards = dict(zip(self.possible_agents, self._game.rewards(), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)

    def render(self) -> str | Array | None:
        """Returns what the agent whose turn it is sees, or prints it; see `render_mode`."""
        if self.render_mode is None:
            gymnasium.logger.warn("You are calling render method without specifying any render mode.")
            return None
        return None if self.agents is None else self._game.render(self.render_mode)  # before `reset` that is an error

    def close(self) -> None:
        """Does nothing: a table holds nothing open."""


_OF_A_GAME: Final = {
    "agents", "rewards", "terminations", "truncations", "infos", "agent_selection", "num_agents",
    "_cumulative_rewards", "_observed", "_steps",
}  # fmt: skip
"""Attributes that are there after `reset` only."""
