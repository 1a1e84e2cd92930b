"""Random games through the rules as a library, beside OpenSpiel's games of similar size, all as seen from Python.

A step is a play or a draw of chance, as OpenSpiel counts them; all costs of a driver in Python are in: asking what is
due, the legal plays, choosing one, applying it. The libraries take turns, because the speed of a machine drifts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from time import process_time

from rows import Row, pin

from arena.core.catalogue import make_settings, rules_of
from arena.core.rules.course import playout

ROUNDS = 9
GAMES = 30
PEERS = ("gin_rummy", "backgammon")
"""Hidden cards, and a game of the same length; both are C++."""

Game = Callable[[Callable[[], float]], tuple[int, int]]
"""Plays a random game; how many plays and how many draws it had."""


def ours(name: str, seats: int) -> Game:
    rules = rules_of(make_settings(name, seats))

    def game(rand: Callable[[], float]) -> tuple[int, int]:
        plays = draws = 0
        for decision, _ in playout(rules, lambda n: int(rand() * n)):
            if decision is None:
                draws += 1
            else:
                plays += 1
        return plays, draws

    return game


def peer(name: str) -> Game:
    import pyspiel  # a wheel of its own: make bench installs it

    loaded = pyspiel.load_game(name)

    def game(rand: Callable[[], float]) -> tuple[int, int]:
        state = loaded.new_initial_state()
        plays = draws = 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()  # of equal chance, or nearly
                action = outcomes[int(rand() * len(outcomes))][0]
                draws += 1
            else:
                legal = state.legal_actions()
                action = legal[int(rand() * len(legal))]
                plays += 1
            state.apply_action(action)
        return plays, draws

    return game


def measure(game: Game, seed: int) -> tuple[float, float]:
    """Microseconds for a step, and for a play."""
    rand = random.Random(seed).random
    plays = draws = 0
    begun = process_time()
    for _ in range(GAMES):
        more = game(rand)
        plays += more[0]
        draws += more[1]
    microseconds = (process_time() - begun) * 1e6
    return microseconds / (plays + draws), microseconds / plays


def rows() -> Iterator[Row]:
    """Yields rows for Samurai's steps beside those of each peer that is installed, and for its plays."""
    pin()
    games = {f"{seats} players": ours("samurai", seats) for seats in (2, 3, 4)}
    games |= {name: peer(name) for name in PEERS if find_spec("pyspiel")}
    for game in games.values():
        measure(game, seed=0)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in games}
    for number in range(ROUNDS):
        for name, game in games.items():
            found[name].append(measure(game, seed=number))
    steps = {name: tuple(step for step, _ in each) for name, each in found.items()}
    plays = {name: tuple(play for _, play in each) for name, each in found.items()}
    for name in PEERS:
        if name in steps:
            yield Row("a step of Samurai, 2 players", "us", steps["2 players"], f"OpenSpiel's {name}", steps[name])
    for name in ("3 players", "4 players"):
        yield Row(f"a step of Samurai, {name}", "us", steps[name], "2 players", steps["2 players"])
    yield Row("a play of Samurai, 2 players", "us", plays["2 players"], "a step", steps["2 players"])
