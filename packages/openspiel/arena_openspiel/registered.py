"""The other way: registers arena's games with OpenSpiel, for its algorithms.

::

    import pyspiel
    import arena_openspiel.registered

    game = pyspiel.load_game("arena_samurai", {"players": 2, "ruleset": "standard"})

Laws:
1. An action is the number of a play in `Rules.every_play`; what a player observes is its view.
2. Players that decide at once do so one after another, and none sees what the others did before all have. In a race
   chance says who comes first (`arena.core.rules.table`).
3. A player's information state has all that it was ever told.
4. What a state returns at its end are the scores, or what the ranks are worth in a game without scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from hashlib import sha256
from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np
import pyspiel

from arena.core.face import Seat, Table, catalogue, game_kit, numbering
from arena_openspiel.game import Spiel

PREFIX: Final = "arena_"
"""What OpenSpiel's names of arena's games begin with."""
ZERO_SUM: Final = pyspiel.GameType.Utility.ZERO_SUM
TO_PLAY: Final = ("samurai", "gardener")
"""The games that are registered when this module is imported."""


class ArenaGame(pyspiel.Game):
    """A game of arena at one table. There is a subclass for each."""

    type: pyspiel.GameType
    rules_name: str

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {"players": self.type.min_num_players, "ruleset": "", **(params or {})}
        self.settings = catalogue.make_settings(
            self.rules_name, int(given["players"]), ruleset=given["ruleset"] or None
        )
        self.rules = catalogue.rules_of(self.settings)
        every = self.rules.every_play()
        assert every is not None
        self.numbering = numbering.Numbering(every)
        bounds = self.rules.bounds()
        hosted = isinstance(self.rules, Spiel)
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.numbering),
            max_chance_outcomes=self.rules.game.max_chance_outcomes() if hosted else bounds.draws,
            num_players=self.rules.seats,
            min_utility=bounds.returns[0],
            max_utility=bounds.returns[1],
            utility_sum=self.rules.game.utility_sum() if hosted else 0.0 if self.type.utility == ZERO_SUM else None,
            max_game_length=bounds.steps,
        )
        super().__init__(self.type, info, dict(params or {}))

    def new_initial_state(self) -> ArenaState:
        return ArenaState(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self.rules_name, self.get_parameters())

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        return Observer(self, iig_obs_type, params)


class Play:
    """A game in progress, and what each player was told. A copy costs nothing."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.told: tuple[bytes, ...] = (b"",) * table.rules.seats
        """By seat a digest of all that it was told."""
        self._untold: tuple[game_kit.Event, ...] = ()
        """What happened since some began to decide at once: told when all have."""

    def __deepcopy__(self, memo: Any) -> Play:
        other = copy(self)
        other.table = copy(self.table)
        return other

    def draw(self, index: int) -> None:
        events: list[game_kit.Event] = []
        self.table.draw(index, events)
        self._tell(events)

    def make(self, play: Any) -> None:
        events: list[game_kit.Event] = []
        self.table.make(play, events)
        self._tell(events)

    def _tell(self, events: Sequence[game_kit.Event]) -> None:
        self._untold += tuple(events)
        if self.table.shown is not self.table.state:
            return
        told = list(self.told)
        for event in self._untold:
            for seat in range(len(told)) if event.to is None else event.to:
                told[seat] = sha256(told[seat] + msgspec.json.encode(event.data)).digest()
        self.told, self._untold = tuple(told), ()

    def resampled(self, seat: Seat, choose: Any) -> Play:
        other = copy(self)
        other.table = self.table.resampled(seat, choose)
        return other


class ArenaState(pyspiel.State):
    """A state of such a game."""

    def __init__(self, game: ArenaGame) -> None:
        super().__init__(game)
        self.play = Play(Table(game.rules))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.get_game(), self.serialize())

    def current_player(self) -> int:
        table = self.play.table
        if table.draws is not None:
            return int(pyspiel.PlayerId.CHANCE)
        return table.due[0] if table.due else int(pyspiel.PlayerId.TERMINAL)

    def _legal_actions(self, player: int) -> list[int]:
        table = self.play.table
        return sorted(self.get_game().numbering.of(table.rules.relative(table.shown, player)))

    def _ends(self) -> Sequence[int]:
        """Returns how many of equally likely draws belong to each outcome or one before: OpenSpiel's differ."""
        table = self.play.table
        hosted = isinstance(table.rules, Spiel)
        return table.rules.node(table.state).draws[1] if hosted else range(1, (table.draws or 0) + 1)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        ends = self._ends()
        return [(index, (end - before) / ends[-1]) for index, (before, end) in enumerate(pairwise([0, *ends]))]

    def _apply_action(self, action: int) -> None:
        if self.play.table.draws is not None:
            self.play.draw(self._ends()[action] - 1)
        else:
            self.play.make(self._play(self.current_player(), action))

    def _play(self, player: int, action: int) -> Any:
        """Returns the play that a number is for a player."""
        table = self.play.table
        return table.rules.absolute(table.shown, player, self.get_game().numbering.play(action))

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"draw {action}"
        return _text(self.play.table.rules.write_play(self._play(player, action))) if player >= 0 else str(action)

    def is_terminal(self) -> bool:
        return self.current_player() == pyspiel.PlayerId.TERMINAL

    def returns(self) -> list[float]:
        table = self.play.table
        return [0.0] * self.num_players() if table.outcome is None else list(table.rules.returns(table.state))

    def observation_string(self, player: int | None = None) -> str:
        table = self.play.table
        seat = self.current_player() if player is None else player
        return _text(table.rules.view(table.shown, seat))

    def information_state_string(self, player: int | None = None) -> str:
        seat = self.current_player() if player is None else player
        return f"{self.play.told[seat].hex()} {self.observation_string(seat)}"

    def resample_from_infostate(self, player: int, sampler: Any) -> ArenaState:
        """Returns a state that a player cannot tell from this one. `sampler()` gives numbers from 0 to 1."""
        other = self.get_game().new_initial_state()
        other.play = self.play.resampled(player, lambda n: min(n - 1, int(sampler() * n)))
        return other

    def __str__(self) -> str:
        return repr(self.play.table.state)


class Observer:
    """What a player observes, as OpenSpiel asks for it."""

    def __init__(self, game: ArenaGame, iig_obs_type: Any, params: Any) -> None:
        if params:
            raise ValueError(f"expected no parameters of an observation, got: {params}")
        self._remembers = bool(iig_obs_type and iig_obs_type.perfect_recall)
        rules = game.rules
        self.tensor = np.zeros(len(rules.numbers(rules.view(rules.start(), 0)) or ()), np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: ArenaState, player: int) -> None:
        """Sets `tensor` to the numbers of a player's view."""
        table = state.play.table
        self.tensor[:] = table.rules.observe(table.shown, player)

    def string_from(self, state: ArenaState, player: int) -> str:
        """Returns what a player observes, in words."""
        return state.information_state_string(player) if self._remembers else state.observation_string(player)


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def register(name: str) -> type[ArenaGame]:
    """Registers a game of arena with OpenSpiel, and returns its class.

    Args:
        name: Its name in the arena; its rules must have `every_play` and `numbers`.
    """
    rules = catalogue.game(name)
    own = rules.kind if issubclass(rules, Spiel) else None  # OpenSpiel's, of a game that it has itself
    settings = catalogue.make_settings(name, rules.seat_counts[0])
    ranked = catalogue.rules_of(settings).bounds().returns == (-1.0, 1.0)
    kind = pyspiel.GameType(
        short_name=PREFIX + name,
        long_name=rules.about,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=own.utility if own else ZERO_SUM if ranked else pyspiel.GameType.Utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=rules.seat_counts[-1],
        min_num_players=rules.seat_counts[0],
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"players": rules.seat_counts[0], "ruleset": next(iter(rules.rulesets))},
    )
    made = type(f"Arena{name.title()}", (ArenaGame,), {"type": kind, "rules_name": name})
    pyspiel.register_game(kind, made)
    return made


def _loaded(name: str, params: Mapping[str, Any]) -> ArenaGame:
    """Returns a game, which another process may not have registered."""
    if PREFIX + name not in pyspiel.registered_names():
        register(name)
    return pyspiel.load_game(PREFIX + name, params)


def _restored(game: ArenaGame, text: str) -> ArenaState:
    return game.deserialize_state(text)


for _name in TO_PLAY:
    register(_name)
