"""Moves a second of arena's games as environments of PettingZoo, beside PettingZoo's own Hanabi."""

from __future__ import annotations

import random
import time
from typing import Any

from pettingzoo.classic import hanabi_v5

from arena.learn.adapters import pettingzoo

SECONDS = 3.0
ROUNDS = 3
"""Each is measured so often, in turn; the best counts."""
TABLES = (("samurai", "standard", 2), ("samurai", "standard", 4), ("gardener", "draft", 2), ("gardener", "race", 5))


def moves_a_second(env: Any) -> float:
    """Plays at random for some time."""
    chance, moves, games, begun = random.Random(1), 0, 0, time.perf_counter()
    while (passed := time.perf_counter() - begun) < SECONDS:
        env.reset(seed=games)
        games += 1
        for _ in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
                continue
            legal = observation["action_mask"].view(bool).nonzero()[0]  # ten times as fast as with numbers
            env.step(int(legal[chance.randrange(len(legal))]))
            moves += 1
    return moves / passed


def main() -> None:
    """Prints the table."""
    environments = {"PettingZoo's Hanabi": hanabi_v5.env()} | {
        f"{rules} {ruleset}, {players} players": pettingzoo.env(rules, ruleset=ruleset, players=players)
        for rules, ruleset, players in TABLES
    }
    best = dict.fromkeys(environments, 0.0)
    for _ in range(ROUNDS):
        for name, env in environments.items():
            best[name] = max(best[name], moves_a_second(env))
    of = best["PettingZoo's Hanabi"]
    print("| environment | moves a second | of Hanabi |")
    print("|---|---|---|")
    for name, found in best.items():
        print(f"| {name} | {found:,.0f} | {found / of:.1f} |")


if __name__ == "__main__":
    main()
