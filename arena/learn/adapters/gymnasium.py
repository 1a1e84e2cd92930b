"""One seat of a game as an environment of Gymnasium, against opponents in the same process; and many at once.

::

    from arena.learn.adapters import gymnasium

    env = gymnasium.Seat("gardener", opponents={"seat_1": "greedy"})
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample(env.action_masks()))

Laws:
1. A step goes on until the own seat decides again, or the game is over. What it observes is as in
   `arena.learn.adapters.pettingzoo`.
2. An opponent is a bot in Python, which is asked as a referee asks it, but without a clock, a process or a box: give
   only bots that you would run yourself. Or it is a function from an observation and a mask to an action. A seat
   without an opponent plays by chance.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

import gymnasium
import numpy as np
from msgspec import msgpack

from arena.core.face import bot_manifests, codec, errors, telling, wire_messages
from arena.learn.adapters.game import Array, Game, RenderMode, known

Opponent: TypeAlias = str | Callable[[Array, Array], int]
"""A bot's name or folder, or a function from an observation and a mask to an action."""
_NO_HURRY: Final = wire_messages.RequestClock(limit_ms=3_600_000, bank_ms=None)


class Seat(gymnasium.Env[Array, Any]):
    """A game as one of its seats has it."""

    metadata: dict[str, Any] = {"render_modes": list(get_args(RenderMode))}  # noqa: RUF012  # as Gymnasium has it

    def __init__(
        self,
        rules: str = "samurai",
        *,
        seat: int = 0,
        players: int = 2,
        opponents: Mapping[str, Opponent] | None = None,
        rewards: str = "scores",
        observations: str = "numbers",
        illegal_reward: float | None = None,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        """Makes a table.

        Args:
            seat: The own seat, from 0.
            opponents: Who plays the other seats, by their names: `{"seat_1": "greedy"}`.
            rewards: As for `pettingzoo.Environment`, and so are all that follow.

        Raises:
            ConfigError: There is no such game or opponent, or a value is unknown.
        """
        self.render_mode: RenderMode | None = known(render_mode, RenderMode, "render_mode")
        self._game = game = Game(rules, players, rewards, observations, settings)
        self._opponents = dict(opponents or {})
        others = [agent for agent in game.agents if agent != f"seat_{seat}"]
        if len(others) == players:
            raise errors.ConfigError(f"expected a seat from 0 to {players - 1}, got: {seat}")
        if strange := ", ".join(self._opponents.keys() - set(others)):
            raise errors.ConfigError(f"expected opponents in {', '.join(others)}, got: {strange}; name them so")
        for agent, opponent in self._opponents.items():
            if isinstance(opponent, str):
                _bot_class(opponent, rules)
            elif not callable(opponent):
                raise errors.ConfigError(f"expected a bot or a function as {agent}, got: {opponent!r}")
        self._seat, self._illegal_reward, self.actions = seat, illegal_reward, game.actions
        self._over: bool | None = None
        self._bots: dict[int, Any] = {}
        self._heard: dict[int, list[bytes]] = {}
        """Messages to each bot in this game, by seat: a copy of the game has a bot that was told the same."""
        self.observation_space, self.action_space = game.space, gymnasium.spaces.Discrete(game.actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begins a game, and lets the others play until the own seat decides."""
        super().reset(seed=seed)
        game = self._game
        game.reset(seed)
        self._over, self._bots, self._heard = False, {}, {}
        for number, agent in enumerate(game.agents):
            if isinstance(self._opponents.get(agent), str):
                seed = game.chance.getrandbits(32)  # type: ignore[union-attr]
                told = telling.game_start(game.rules, game.settings, number, game=1, commitment="0" * 64, bot_seed=seed)
                self._heard[number] = [codec.encode(told)]
                self._seat_bot(number)
        self._others_play()
        return self._told()

    def step(self, action: int) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Makes a play, and lets the others play until the own seat decides again.

        Raises:
            ValueError: It is not legal, and there is no `illegal_reward`; no action has this number; or there is no
                game, or it is over.
        """
        if self._over is not False:
            raise ValueError("expected a game that goes on, got: a step before reset or after the end; call reset()")
        game = self._game
        number = game.number(action)
        reason = game.refusal(number)
        if reason is not None:
            if self._illegal_reward is None:
                raise ValueError(f"expected an action that the mask allows, got: {action}: {reason}")
            self._over = True
            observation, info = self._told()
            return observation, self._illegal_reward, True, False, {**info, "illegal": reason}
        game.make(number)
        self._others_play()
        observation, info = self._told()
        return observation, game.rewards()[self._seat] if self._over else 0.0, self._over, False, info

    def action_masks(self) -> Array:
        """Returns whether each action is legal, as sb3-contrib's MaskablePPO asks. ValueError: no game was begun."""
        if self._over is None:
            raise ValueError("expected a game, got: action_masks before reset; call reset()")
        return self._game.mask.astype(bool)

    def render(self) -> Any:
        """Returns what the own seat sees, or prints it; see `render_mode`."""
        if self.render_mode is not None and self._over is None:
            raise ValueError("expected a game, got: render before reset; call reset()")
        return None if self.render_mode is None else self._game.render(self.render_mode)

    def _told(self) -> tuple[Array, dict[str, Any]]:
        return self._game.observe(self._seat), {"action_mask": self._game.mask}

    def _others_play(self) -> None:
        game = self._game
        while (due := game.due) is not None and due != self._seat:
            opponent = self._opponents.get(game.agents[due])
            if opponent is None:
                game.make_any()
            elif due in self._bots:
                try:
                    game.act(self._answer(due))
                except errors.ActionError as error:
                    raise ValueError(f"expected a legal action of {opponent}, as seat_{due}, got: {error}") from error
            else:
                number = game.number(opponent(game.observe(due), game.mask))  # type: ignore[operator]
                if reason := game.refusal(number):
                    raise ValueError(f"expected a legal action of the function of seat_{due}, got: {number}: {reason}")
                game.make(number)
        self._over = due is None

    def _answer(self, seat: int) -> Any:
        rules, shown = self._game.rules, self._game.table.shown
        [kind] = [decision.kind for decision in rules.pending(shown) if decision.seat == seat]
        view, legal = rules.view(shown, seat), rules.write_legal(shown, seat)
        asked = wire_messages.Request(id=1, kind=kind, clock=_NO_HURRY, view=view, events=None, legal=legal)
        self._heard[seat].append(codec.encode(asked))
        answer = self._bots[seat].decide(msgpack.decode(self._heard[seat][-1]))
        return answer[0] if isinstance(answer, tuple) else answer

    def _seat_bot(self, seat: int) -> None:
        start, *requests = map(msgpack.decode, self._heard[seat])
        self._bots[seat] = bot = _bot_class(self._opponents[f"seat_{seat}"], start["rules"])()
        bot.start(start)
        for request in requests:
            bot.decide(request)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_bots": {}}  # their classes are of no module that another process can import

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for seat in self._heard:
            self._seat_bot(seat)


@cache
def _bot_class(ref: str, rules: str) -> Any:
    """Returns the class of a bot in Python.

    Raises:
        ConfigError: There is no such bot, it does not play these rules, or it cannot be asked in this process.
    """
    spec = bot_manifests.load_bot(ref)
    if spec.rules and rules not in spec.rules:
        raise errors.ConfigError(f"expected an opponent that plays {rules}, got: {ref}, for {', '.join(spec.rules)}")
    program = Path(spec.folder, spec.command[-1])
    if program.suffix != ".py" or not spec.command[0].startswith("{python"):
        raise errors.ConfigError(
            f"expected a bot in Python to play in this process, got: {ref}; give a function in its place"
        )
    name = f"arena_opponent_{spec.digest[:16]}"
    found = importlib.util.spec_from_file_location(name, program)
    assert found is not None
    assert found.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(found)
    sys.path.insert(0, spec.folder)  # where it finds its own modules when it runs
    try:
        found.loader.exec_module(module)
    finally:
        sys.path.remove(spec.folder)
    kinds = [one for one in vars(module).values() if hasattr(one, "decide") and one.__module__ == name]
    if len(kinds) != 1:
        raise errors.ConfigError(
            f"expected one class with a method `decide` in {program.name} of {ref}, got: {len(kinds)}; "
            "give a function in its place"
        )
    if "events" in kinds[0].want:
        raise errors.ConfigError(
            f"expected a bot that wants no events, since none are told here, got: {ref}; give a function instead"
        )
    return kinds[0]


class Seats(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """Many such environments that step together. Their observations and masks lie in one array each.

    One whose game is over begins another at the next step, and its action of that step does not count: all are allowed.
    """

    def __init__(self, count: int, rules: str = "samurai", **settings: Any) -> None:
        """Makes so many tables; `settings` are those of `Seat`."""
        if count < 1:
            raise errors.ConfigError(f"expected one environment or more, got: {count}")
        self.envs = [Seat(rules, **settings) for _ in range(count)]
        one = self.envs[0]
        self.num_envs, self.render_mode = count, one.render_mode
        self.metadata = {**one.metadata, "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
        self.single_observation_space, self.single_action_space = one.observation_space, one.action_space
        self.observation_space = gymnasium.vector.utils.batch_space(one.observation_space, count)
        self.action_space = gymnasium.vector.utils.batch_space(one.action_space, count)
        space: Any = self.observation_space
        self._seen: Array = np.zeros(space.shape, space.dtype)
        self._masks: Array = np.zeros((count, one.actions), np.int8)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begins all games, with the seeds that follow `seed` or one each."""
        seeds: Any = [None] * self.num_envs if seed is None else seed
        if isinstance(seed, int | np.integer):
            seeds = [int(seed) + at for at in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise ValueError(f"expected {self.num_envs} seeds, one for each environment, got: {len(seeds)}")
        for at, (env, one) in enumerate(zip(self.envs, seeds, strict=True)):
            self._seen[at], info = env.reset(seed=one)
            self._masks[at] = info["action_mask"]
        return self._seen.copy(), self._info()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Makes a play in each."""
        rewards: Array = np.zeros(self.num_envs)
        over: Array = np.zeros(self.num_envs, bool)
        infos = self._info()
        for at, (env, action) in enumerate(zip(self.envs, actions, strict=True)):
            if env._over:
                self._seen[at], info = env.reset()
            else:
                self._seen[at], rewards[at], over[at], _, info = env.step(action)
            infos["action_mask"][at] = self._masks[at] = info.pop("action_mask") | over[at]
            infos = self._add_info(infos, info, at)
        return self._seen.copy(), rewards, over, np.zeros(self.num_envs, bool), infos

    def _info(self) -> dict[str, Any]:
        """Returns the masks as vectors of environments have them: beside each name, which environments have it."""
        return {"action_mask": self._masks.copy(), "_action_mask": np.ones(self.num_envs, bool)}

    def action_masks(self) -> Array:
        """Returns whether each action is legal, by environment."""
        return self._masks.astype(bool)
