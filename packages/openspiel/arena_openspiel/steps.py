"""Prints what a step of the rules costs beside one of OpenSpiel's: `python -m arena_openspiel.steps [GAME ...]`.

A step of OpenSpiel's is `State.child` and what may be done then; one of the rules is `draw` or `apply` without events.
Both lead from the same positions of games at random by the same actions.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

from arena.core.face import courses
from arena_openspiel.family import OpenSpiel
from arena_openspiel.game import Move, Spiel, State

GAMES: Final = (
    "kriegspiel", "bridge", "cribbage", "hearts", "hanabi", "gin_rummy", "dark_hex", "liars_dice", "go", "chess",
)  # fmt: skip
STEPS: Final = 500
"""The number of steps that are timed at least."""
ROUNDS: Final = 7
"""Each way is timed so often, in turn; the best counts."""


def main() -> None:
    """Prints the table."""
    print("| game | steps in a game | OpenSpiel's, in µs | the arena's | times |")  # noqa: T201
    print("|---|---|---|---|---|")  # noqa: T201
    for name in sys.argv[1:] or GAMES:
        kind, entry = OpenSpiel().game(name), OpenSpiel().catalogue[name]
        assert issubclass(kind, Spiel)
        rules = kind(entry.least, next(iter(kind.rulesets.values())).options)
        steps, games = list[tuple[State, int]](), 0
        while len(steps) < STEPS:
            state = rules.start()
            for _, after in courses.playout(rules, random.Random(games).randrange):
                if len(after.history) == len(state.history) + 1:  # else several seats decided at once
                    steps.append((state, after.history[-1]))
                state = after
            games += 1
        ways = _own(rules, steps), _ours(rules, steps)
        times = [[_seconds(way) for way in ways] for _ in range(ROUNDS)]
        own, ours = (min(found) / len(steps) * 1e6 for found in zip(*times, strict=True))
        print(f"| `{name}` | {len(steps) / games:.0f} | {own:.1f} | {ours:.1f} | {ours / own:.1f} |")  # noqa: T201


def _own(rules: Spiel, steps: list[tuple[State, int]]) -> Callable[[], None]:
    """Returns what makes the steps as OpenSpiel does."""
    positions = [(rules.node(state).spiel, action) for state, action in steps]

    def run() -> None:
        for spiel, action in positions:
            after = spiel.child(action)
            if after.is_chance_node():
                zip(*after.chance_outcomes(), strict=True)
            else:
                after.legal_actions()

    return run


def _ours(rules: Spiel, steps: list[tuple[State, int]]) -> Callable[[], None]:
    """Returns what makes the steps as the rules do."""
    calls: list[tuple[Callable[..., State], tuple[Any, ...]]] = []
    for state, action in steps:
        node = rules.node(state)
        if node.draw is None:
            calls.append((rules.apply, (state, node.player, Move(action))))
        else:
            actions, ends = node.draws
            calls.append((rules.draw, (state, ends[actions.index(action)] - 1)))

    def run() -> None:
        for make, arguments in calls:
            make(*arguments)

    return run


def _seconds(way: Callable[[], None]) -> float:
    began = perf_counter()
    way()
    return perf_counter() - began


if __name__ == "__main__":
    main()
