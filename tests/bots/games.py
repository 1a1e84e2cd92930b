"""Games of the bundled Python bots in this process: no referee, no sockets, no clock."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from acting import act
from kit import Table

from arena.core.rules.base import Event, Rules

ROOT = Path(__file__).resolve().parents[2]
BOTS = ROOT / "bots/python"
LIMIT_MS = 1000
"""What the bots are told of their time. Nobody measures it."""

Message = dict[str, Any]
Ask = Callable[[int, Any, Message, Message], Message]
"""What a bot answers, by seat, bot, `game_start` and request: the action."""
Told = tuple[Message, list[Event]]


@contextmanager
def bots_on_path() -> Iterator[None]:
    """The folder of the Python bots and of greedy are on the path, for this long."""
    path = sys.path[:]
    sys.path[:0] = [str(BOTS / "greedy"), str(BOTS)]
    try:
        yield
    finally:
        sys.path[:] = path


def _bot_class(name: str, cls: str) -> type[Any]:
    with bots_on_path():
        spec = importlib.util.spec_from_file_location(f"bot_{name}", BOTS / name / "bot.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    bot: type[Any] = getattr(module, cls)
    return bot


def bot_module(name: str) -> Any:
    """A module that lies beside the bots or beside greedy's `bot.py`."""
    with bots_on_path():
        return importlib.import_module(name)


GREEDY = _bot_class("greedy", "Greedy")
BANZAI = _bot_class("banzai", "Banzai")
RANDOM = _bot_class("random", "RandomBot")
DAIMYO = _bot_class("daimyo", "Daimyo")
SHOGUN = _bot_class("shogun", "Shogun")
PLANNER = _bot_class("planner", "Planner")


class CountingShogun(SHOGUN):  # type: ignore[misc, valid-type]
    """Shogun that takes so many rollouts for a turn, however long that takes."""

    rollouts = 8

    def start(self, game: Message) -> None:
        super().start({**game, "time": {"bank_ms": None, "increment_ms": 0, "limit_ms": 100}})


class CountingPlanner(PLANNER):  # type: ignore[misc, valid-type]
    """Planner that looks and plays on so many times a decision, however long that takes."""

    steps = 4
    limit_ms = 30

    def budget(self) -> Any:
        return importlib.import_module("planner_budget").Count(self.steps)

    def start(self, game: Message) -> None:
        super().start({**game, "time": {"bank_ms": None, "increment_ms": 0, "limit_ms": self.limit_ms}})

    def decide(self, request: Message) -> Any:
        return super().decide({**request, "clock": {"limit_ms": self.limit_ms, "bank_ms": None}})


IN_PYTHON = {
    "banzai": BANZAI,
    "daimyo": DAIMYO,
    "greedy": GREEDY,
    "planner": CountingPlanner,
    "random": RANDOM,
    "shogun": CountingShogun,
}
"""The bundled bots that play in this process, by name."""


def answer(seat: int, bot: Any, start: Message, request: Message) -> Message:
    """What the bot itself answers."""
    answered = bot.decide(request)
    return answered[0] if isinstance(answered, tuple) else answered


def play_game(
    bots: Sequence[Any], rules: Rules[Any], seed: int, ask: Ask = answer, told: list[Told] | None = None
) -> tuple[int, ...]:
    """Play a game; the ranks. A bot's illegal action raises.

    Args:
        bots: By seat.
        rules: What is played.
        seed: Of the game's chance.
        ask: How a bot is asked.
        told: Each request, with what its action brought about, is appended to it.
    """
    chance = Random(seed)
    starts = [
        {
            "rules": rules.name,
            "options": dict(rules.options),
            "seat": seat,
            "seats": rules.seats,
            "board": rules.board.payload(),
            "time": {"bank_ms": None, "increment_ms": 0, "limit_ms": LIMIT_MS},
            "bot_seed": 10 * seed + seat,
        }
        for seat in range(rules.seats)
    ]
    for bot, start in zip(bots, starts, strict=True):
        bot.start(start)
    state = rules.start()
    news: list[list[Message]] = [[] for _ in bots]

    def tell(events: list[Event]) -> None:
        for seat, learnt in enumerate(news):
            learnt += [event.data for event in events if event.reaches(seat)]

    while (outcome := rules.outcome(state)) is None:
        if draw := rules.draw_wanted(state):
            drawn: list[Event] = []
            state = rules.draw(state, chance.randrange(draw.n), drawn)
            tell(drawn)
            continue
        decision = rules.pending(state)[0]
        seat = decision.seat
        request = {
            "kind": decision.kind,
            "clock": {"limit_ms": LIMIT_MS, "bank_ms": None},
            "view": rules.view(state, seat),
            "events": news[seat],
            "legal": rules.write_legal(state, seat),
        }
        news[seat] = []
        events: list[Event] = []
        action = ask(seat, bots[seat], starts[seat], request)
        state = act(rules, state, seat, action, events)
        tell(events)
        if told is not None:
            told.append((request, events))
    return outcome.ranks


def share_won(one: type[Any], others: type[Any], table: Table, deals: int) -> float:
    """The share of games in which `one` alone is first, over all rotations of the seats."""
    won, rules = [], table.rules
    for deal in range(deals):
        for seat in range(rules.seats):
            ranks = play_game([one() if i == seat else others() for i in range(rules.seats)], rules, deal)
            won.append(ranks[seat] == 1 and ranks.count(1) == 1)
    return sum(won) / len(won)
