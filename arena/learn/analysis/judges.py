"""Judges: programs that say what should have been played, and that play games on to their end.

Laws:
1. A judge sees what a bot is shown, a view and the legal plays, and never a state. So it cannot use what its seat does
   not know.
2. A judge runs in this process, without a box: it is a bot of arena itself, or of an installed package that brings a
   game. No stranger's bot judges.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cache, partial
from types import ModuleType
from typing import Any, Final, Protocol

import msgspec

from arena.core.face import GameSettings, Payload, Seat, errors, game_kit, plugs, resources, telling

GROUP: Final = "arena.judges"
"""The group of entry points in which packages register the judges of their games, under the game's name."""
RANDOM: Final = "random"
"""The name of the judge that plays at random; it knows nothing better than to try what is legal."""
_CLOCK: Final = {"limit_ms": 1_000, "bank_ms": None}
_STEPS: Final = 40
_ROLLOUTS: Final = 60


class Player(Protocol):
    """A bot in this process: `Bot` of the Python client fits."""

    def start(self, game: Payload) -> object:
        """Begins a game; `game` is the message `game_start`."""

    def decide(self, request: Payload) -> Payload | tuple[Payload, str | None]:
        """Returns the action for a request with a view and legal plays, or a pair of it and a note.

        It must follow from this request alone, as positions come in any order. The `id` is another number at each
        call: what is played by chance is drawn from it.
        """


class Stage(msgspec.Struct, frozen=True):
    """A player that plays on for some time."""

    player: Callable[[], Player]
    """Makes what plays a seat; it must be quick."""
    decisions: int | None = None
    """The number of decisions of all seats that it makes; None means all that are left."""


class Judge(msgspec.Struct, frozen=True, kw_only=True):
    """A judge of the decisions of a game."""

    name: str
    """The name that people know: that of the adviser."""
    adviser: Callable[[], Player] | None = None
    """Makes what says for a seat what should have been played; None: what is legal is tried."""
    players: tuple[Stage, ...] = ()
    """The players of all seats, one after another; after the last the rest is played at random."""
    infers: bool = False
    """Whether what others did tells what they hold: then a trial begins in a world in which the first player would have
    done the same in their seats. For games with few plays; elsewhere no such world is found."""


class Mind:
    """A player that sits in each seat of a table."""

    def __init__(
        self, rules: game_kit.Rules[Any], settings: GameSettings, make: Callable[[], Player], what: str
    ) -> None:
        self._rules, self._settings, self._make, self._what = rules, settings, make, what
        self._players: dict[Seat, Player] = {}

    def decide(self, state: Any, decision: game_kit.Decision, id: int = 1) -> list[Any]:
        """Returns the plays of a decision, legal or not. `id` is what chance is drawn from.

        Raises:
            ConfigError: The player failed.
        """
        rules, seat = self._rules, decision.seat
        try:
            player = self._players.get(seat) or self._seated(seat)
            answer = player.decide(
                {
                    "type": "request",
                    "id": id,
                    "kind": decision.kind,
                    "clock": _CLOCK,
                    "view": rules.view(state, seat),
                    "legal": msgspec.to_builtins(rules.write_legal(state, seat)),
                }
            )
            return rules.read_action(state, seat, answer[0] if isinstance(answer, tuple) else answer)
        except errors.ActionError as error:
            raise self._failed(str(error)) from None
        except Exception as error:  # whatever a judge does wrong, the message says whose fault it is
            raise self._failed(f"{type(error).__name__}: {error}") from error

    def act(self, state: Any, decision: game_kit.Decision, plays: list[Any]) -> Any:
        """Returns the state after a decision that it made.

        Raises:
            ConfigError: It is not legal.
        """
        try:
            return self._rules.act(state, decision.seat, plays)
        except errors.ActionError as error:
            raise self._failed(str(error)) from None

    def _seated(self, seat: Seat) -> Player:
        player = self._players[seat] = self._make()
        start = telling.game_start(self._rules, self._settings, seat, game=1, commitment="0" * 64, bot_seed=seat + 1)
        player.start(msgspec.to_builtins(start))
        return player

    def _failed(self, reason: str) -> errors.ConfigError:
        return errors.ConfigError(f"expected the judge {self._what} to decide, got: {reason}; use --judge {RANDOM}")


def judge_of(game: str, name: str | None = None) -> Judge:
    """Returns the judge of a game.

    Args:
        name: A bundled Python bot that plays the game, or `RANDOM`; None means what suits the game best.

    Raises:
        ConfigError: There is no such judge, or a package's is broken. Show the message to the operator.
    """
    if name == RANDOM:
        return Judge(name=RANDOM)
    if name is None:
        if game in _JUDGES:
            return _JUDGES[game]
        found = {entry.name: entry for entry in plugs.entries(GROUP)}
        if game not in found:
            return Judge(name=RANDOM)
        judge = plugs.load(found[game].value, f"the judge of {game!r}", found[game].package)
        if not isinstance(judge, Judge):
            raise errors.ConfigError(
                f"expected the entry point {game!r} of {GROUP} to name an arena.learn.analysis.judges.Judge, "
                f"got: {found[game].value}; correct the entry point"
            )
        return judge
    known = [bot for bot, games in _BOTS.items() if game in games]
    if name not in known:
        raise errors.ConfigError(
            f"expected a judge of {game}, one of {', '.join([*known, RANDOM])}, got: {name!r}"
            f"{errors.did_you_mean(name, known)} - at --judge"
        )
    return Judge(name=name, adviser=_BOTS[name][game], players=_JUDGES[game].players)


@cache
def _module(bot: str) -> ModuleType:
    path = resources.bots_folder() / "python" / bot / "bot.py"
    spec = importlib.util.spec_from_file_location(f"_arena_judge_{bot}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    place = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = place  # a bot makes its folder importable for itself
    return module


def _bundled(bot: str, type_name: str) -> Player:
    player: Player = getattr(_module(bot), type_name)()
    return player


def planner(steps: int = _STEPS) -> Player:
    """Returns the bundled bot `planner`, which thinks for so many steps: the same on every machine."""
    module = _module("planner")
    player: Player = module.Planner()
    player.budget = partial(sys.modules[module.Budget.__module__].Count, steps)  # type: ignore[attr-defined]
    return player


def shogun(rollouts: int = _ROLLOUTS) -> Player:
    """Returns the bundled bot `shogun`, which makes so many rollouts for a turn: the same on every machine."""
    player = _bundled("shogun", "Shogun")
    player.rollouts = rollouts  # type: ignore[attr-defined]
    return player


_GREEDY: Final = partial(_bundled, "greedy", "Greedy")
_DAIMYO: Final = partial(_bundled, "daimyo", "Daimyo")
_BOTS: Final[dict[str, dict[str, Callable[[], Player]]]] = {
    "daimyo": {"samurai": _DAIMYO},
    "shogun": {"samurai": shogun},
    "planner": {"gardener": planner},
    "greedy": {"samurai": _GREEDY, "gardener": _GREEDY},
}
"""The bundled bots that can judge, with the games that they play."""
_JUDGES: Final = {
    "samurai": Judge(name="shogun", adviser=shogun, players=(Stage(_DAIMYO, 4), Stage(_GREEDY))),
    "gardener": Judge(name="planner", adviser=planner, players=(Stage(_GREEDY),)),
}
