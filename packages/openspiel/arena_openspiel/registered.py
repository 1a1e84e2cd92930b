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
4. What a state returns at its end is what the ranks are worth: it adds up to 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from hashlib import sha256
from typing import Any, Final

import msgspec
import numpy as np
import pyspiel

from arena.core.catalogue import game, make_settings, rules_of
from arena.core.rules.base import Event
from arena.core.rules.numbering import Numbering
from arena.core.rules.table import Table
from arena.core.types import GameSettings, Seat

PREFIX: Final = "arena_"
"""What OpenSpiel's names of arena's games begin with."""
LONGEST: Final = 10_000
"""More steps no game may have: a law of the arena."""
MOST_DRAWN: Final = 1_024
"""So many outcomes can chance have at most in these games."""
TO_PLAY: Final = ("samurai", "gardener")
"""The games that are registered when this module is imported."""


class ArenaGame(pyspiel.Game):
    """A game of arena at one table. There is a subclass for each."""

    type: pyspiel.GameType
    rules_name: str

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {"players": self.type.min_num_players, "ruleset": "", **(params or {})}
        self.settings = make_settings(self.rules_name, int(given["players"]), ruleset=given["ruleset"] or None)
        self.rules = rules_of(self.settings)
        every = self.rules.every_play()
        assert every is not None
        self.numbering = Numbering(every)
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.numbering),
            max_chance_outcomes=MOST_DRAWN,
            num_players=self.rules.seats,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=LONGEST,
        )
        super().__init__(self.type, info, dict(params or {}))

    def new_initial_state(self) -> ArenaState:
        return ArenaState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        return Observer(self, iig_obs_type, params)


class Play:
    """A game in progress, and what each player was told. A copy costs nothing."""

    def __init__(self, table: Table, settings: GameSettings) -> None:
        self.table = table
        self._settings = settings
        self.told: tuple[bytes, ...] = (b"",) * table.rules.seats
        """By seat a digest of all that it was told."""
        self._untold: tuple[Event, ...] = ()
        """What happened since some began to decide at once: told when all have."""

    def __deepcopy__(self, memo: Any) -> Play:
        other = copy(self)
        other.table = copy(self.table)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Returns what OpenSpiel writes of a state: without the rules, which follow from the settings."""
        table, dump = self.table, self.table.rules.dump
        same = table.shown is table.state
        kept = {key: value for key, value in vars(table).items() if key not in ("rules", "state", "shown")}
        written = {"state": dump(table.state), "shown": None if same else dump(table.shown), "kept": kept}
        return {**vars(self), "table": written, "_settings": msgspec.msgpack.encode(self._settings)}

    def __setstate__(self, read: dict[str, Any]) -> None:
        settings = msgspec.msgpack.decode(read["_settings"], type=GameSettings)
        written = read["table"]
        vars(self).update(read | {"_settings": settings, "table": (table := Table(rules_of(settings)))})
        table.state = table.shown = table.rules.load(written["state"])
        if written["shown"] is not None:
            table.shown = table.rules.load(written["shown"])
        vars(table).update(written["kept"])

    def draw(self, index: int) -> None:
        events: list[Event] = []
        self.table.draw(index, events)
        self._tell(events)

    def make(self, play: Any) -> None:
        events: list[Event] = []
        self.table.make(play, events)
        self._tell(events)

    def _tell(self, events: Sequence[Event]) -> None:
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
        self.play = Play(Table(game.rules), game.settings)

    def current_player(self) -> int:
        table = self.play.table
        if table.draws is not None:
            return int(pyspiel.PlayerId.CHANCE)
        return table.due[0] if table.due else int(pyspiel.PlayerId.TERMINAL)

    def _legal_actions(self, player: int) -> list[int]:
        table = self.play.table
        return sorted(self.get_game().numbering.of(table.rules.legal(table.shown, player)))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        draws = self.play.table.draws or 0
        return [(index, 1.0 / draws) for index in range(draws)]

    def _apply_action(self, action: int) -> None:
        if self.play.table.draws is not None:
            self.play.draw(action)
        else:
            self.play.make(self.get_game().numbering.play(action))

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"draw {action}"
        game = self.get_game()
        return _text(game.rules.write_play(game.numbering.play(action))) if player >= 0 else str(action)

    def is_terminal(self) -> bool:
        return self.current_player() == pyspiel.PlayerId.TERMINAL

    def returns(self) -> list[float]:
        outcome = self.play.table.outcome
        return [0.0] * self.num_players() if outcome is None else outcome.worth

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
        self.tensor[:] = table.rules.numbers(table.rules.view(table.shown, player))

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
    rules = game(name)
    kind = pyspiel.GameType(
        short_name=PREFIX + name,
        long_name=rules.about,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
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


for _name in TO_PLAY:
    register(_name)
