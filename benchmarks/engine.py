"""Random games through the rules as a library, beside OpenSpiel's games of similar size, all as seen from Python.

A step is a play or a draw of chance, as OpenSpiel counts them; all costs of a driver in Python are in: asking what is
due, the legal plays, choosing one, applying it. The libraries take turns, because the speed of a machine drifts.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from time import process_time

from arena.games import make_settings, rules_of
from arena.rules.course import playout

ROUNDS = 9
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


def measure(game: Game, games: int, seed: int) -> tuple[float, float, float]:
    """Seconds for a step, for a play, and for a game."""
    rand = random.Random(seed).random
    plays = draws = 0
    begun = process_time()
    for _ in range(games):
        more = game(rand)
        plays += more[0]
        draws += more[1]
    seconds = process_time() - begun
    return seconds / (plays + draws), seconds / plays, seconds / games


def main() -> None:
    games = {f"samurai, {seats} players": ours("samurai", seats) for seats in (2, 3, 4)}
    games |= {f"OpenSpiel {name}": peer(name) for name in PEERS}
    rows: dict[str, list[tuple[float, float, float]]] = {name: [] for name in games}
    for game in games.values():
        measure(game, 30, seed=0)
    for number in range(ROUNDS):
        for name, game in games.items():
            rows[name].append(measure(game, 30, seed=number))
    floor = statistics.median(row[0] for row in rows["OpenSpiel gin_rummy"])
    for name, measured in rows.items():
        step, play, whole = (statistics.median(column) for column in zip(*measured, strict=True))
        print(
            f"{name:22}  a step {step * 1e6:5.1f} us   a play {play * 1e6:5.1f} us   {1 / whole:6.0f} games/s"
            f"   a step is {step / floor:.2f} of gin rummy's"
        )


if __name__ == "__main__":
    main()
