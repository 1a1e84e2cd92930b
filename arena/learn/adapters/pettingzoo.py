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
4. The rewards of a game are given at its end, and add up to 0: of each other seat 1 if it was beaten, -1 if it won, on
   average. With `rewards="scores"` they are the scores.
"""

from __future__ import annotations

import random
import sys
from typing import Any, Final, Literal, TypeAlias

import gymnasium
import numpy as np
from pettingzoo import AECEnv

from arena.core.catalogue import make_settings, rules_of
from arena.core.errors import ConfigError
from arena.core.record.log import LoggedBot
from arena.core.rules.base import Outcome
from arena.core.rules.numbering import Numbering
from arena.core.rules.table import Table
from arena.core.show.presenter import header_of, presenter

Rewards: TypeAlias = Literal["ranks", "scores"]
RenderMode: TypeAlias = Literal["ansi", "human"]

WIDTH: Final = 100
"""Characters in a line of what is rendered."""
ILLEGAL: Final = -1.0
"""The reward of an agent whose action is not legal. It ends the game."""


def env(rules: str = "samurai", **settings: Any) -> Environment:
    """Returns an environment in which an action that is not legal ends the game.

    Args:
        rules: The game's name.
        settings: As for `Environment`.

    Raises:
        ConfigError: There is no such game, or it does not say what programs learn from.
    """
    return Environment(rules, **{"illegal_reward": ILLEGAL, **settings})


class Environment(AECEnv):  # type: ignore[misc]  # it has no types
    """A game at one table. Its agents are `seat_0`, `seat_1` and so on."""

    def __init__(
        self,
        rules: str = "samurai",
        *,
        players: int = 2,
        rewards: Rewards = "ranks",
        max_cycles: int | None = None,
        render_mode: RenderMode | None = None,
        illegal_reward: float | None = None,
        **settings: Any,
    ) -> None:
        """Makes a table.

        Args:
            rules: The game's name.
            players: How many seats there are.
            rewards: What is given at the end.
            max_cycles: The game is cut short when an agent has taken so many steps; None means never.
            render_mode: `ansi`: `render` returns what the agent whose turn it is sees, as text; `human`: it prints it.
            illegal_reward: What an agent is given for an action that is not legal, which ends the game; None means that
                such an action is an error.
            settings: As for `arena.make_settings`: `ruleset`, `overrides`, `board`.

        Raises:
            ConfigError: There is no such game, or it does not say what programs learn from.
        """
        super().__init__()
        made = make_settings(rules, players, **settings)
        self._rules = rules_of(made)
        every = self._rules.every_play()
        sample = self._rules.numbers(self._rules.view(self._rules.start(), 0))
        if every is None or sample is None:
            raise ConfigError(
                f"expected a game that says what programs learn from, got: {rules}, without "
                f"{'`every_play`' if every is None else '`numbers`'}; let its rules override that"
            )
        name = f"{rules}_v{self._rules.version}"
        self.metadata = {"name": name, "render_modes": ["ansi", "human"], "is_parallelizable": False}
        self.render_mode = render_mode
        self._rewards_by = rewards
        self._max_cycles = max_cycles
        self._illegal_reward = illegal_reward
        self._numbering = Numbering(every)
        self.possible_agents = [f"seat_{seat}" for seat in range(players)]
        bounds = np.iinfo(np.int32)
        space = gymnasium.spaces.Dict(
            {
                "observation": gymnasium.spaces.Box(bounds.min, bounds.max, (len(sample),), np.int32),
                "action_mask": gymnasium.spaces.Box(0, 1, (len(self._numbering),), np.int8),
            }
        )
        self._spaces = dict.fromkeys(self.possible_agents, space)
        self._actions = {agent: gymnasium.spaces.Discrete(len(self._numbering)) for agent in self.possible_agents}
        seated = [LoggedBot(agent, "", "0" * 64, 0) for agent in self.possible_agents]
        self._presenter = presenter(rules)(header_of("", made, seated), self._rules, ())

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """Returns the space of an agent's observations: `observation` and `action_mask`."""
        return self._spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """Returns the space of an agent's actions."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a game. All chance in it follows from `seed`, if one is given, else from the system's."""
        self._chance = random.Random(seed)
        self._table = Table(self._rules)
        self._observed: dict[str, dict[str, Any]] = {}
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._steps = dict.fromkeys(self.agents, 0)
        self.agent_selection = self.agents[0]
        self._go_on()

    def observe(self, agent: str) -> dict[str, Any]:
        """Returns what an agent may know now, and which actions it may take: none where it owes no decision."""
        if agent not in self._observed:
            rules, seat = self._rules, self.possible_agents.index(agent)
            mask = np.zeros(len(self._numbering), np.int8)
            table = self._table
            if table.due[:1] == (seat,):
                mask[self._numbering.of(rules.legal(table.shown, seat))] = 1
            numbers = np.array(rules.numbers(rules.view(table.shown, seat)), np.int32)
            self._observed[agent] = {"observation": numbers, "action_mask": mask}
        return self._observed[agent]

    def step(self, action: int | None) -> None:
        """Makes a play of the agent whose turn it is. An agent whose game is over gives None.

        Raises:
            ValueError: It is not legal, and there is no `illegal_reward`; or no action has this number.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None or not 0 <= action < len(self._numbering):
            raise ValueError(f"expected an action, 0 to {len(self._numbering) - 1}, got: {action}")
        if not self.observe(agent)["action_mask"][action]:
            self._refuse(agent, action)
            return
        self._table.make(self._numbering.play(int(action)))
        self._observed.clear()
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._steps[agent] += 1
        if self._max_cycles is not None and self._steps[agent] >= self._max_cycles:
            self.truncations = dict.fromkeys(self.agents, True)
        self._go_on()
        self._accumulate_rewards()

    def _refuse(self, agent: str, action: int) -> None:
        """Ends the game for an action that is not legal, or says that it is not."""
        if self._illegal_reward is None:
            raise ValueError(f"expected an action that the mask of {agent} allows, got: {action}")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self.rewards[agent] = self._illegal_reward
        self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()

    def _go_on(self) -> None:
        """Lets chance draw, and finds who decides next, or that the game is over."""
        table = self._table
        while table.draws is not None:
            table.draw(self._chance.randrange(table.draws))
        if table.due:
            self.agent_selection = self.possible_agents[table.due[0]]
        elif (outcome := table.outcome) is not None:
            self.rewards = dict(zip(self.possible_agents, self._worth(outcome), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)

    def _worth(self, outcome: Outcome) -> list[float]:
        """Returns the reward of each seat."""
        if self._rewards_by == "scores" and outcome.scores is not None:
            return list(map(float, outcome.scores))
        return outcome.worth

    def render(self) -> str | None:
        """Returns what the agent whose turn it is sees, as text, or prints it; see `render_mode`."""
        if self.render_mode is None:
            gymnasium.logger.warn("You are calling render method without specifying any render mode.")
            return None
        seat = self.possible_agents.index(self.agent_selection)
        views = {seat: self._rules.view(self._table.shown, seat)}
        text = "\n".join(line.plain for line in self._presenter.draw(views, views, (), WIDTH))
        if self.render_mode == "ansi":
            return text
        sys.stdout.write(f"{text}\n")
        return None

    def close(self) -> None:
        """Does nothing: a table holds nothing open."""
