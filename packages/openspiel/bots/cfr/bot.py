"""Plays small games of OpenSpiel as an equilibrium does: by the average policy of counterfactual regret minimisation.

Before its first game it solves the game: Kuhn poker in a moment, Leduc poker in some seconds.
"""

import os
import sys
from functools import cache
from random import Random
from time import monotonic

import pyspiel

sys.path.insert(1, os.path.abspath(os.path.join(__file__, *[os.pardir] * 5, "bots", "python")))
sys.path.insert(1, os.path.abspath(os.path.join(__file__, *[os.pardir] * 3)))
from arena_bot import Bot, run
from arena_openspiel.family import OpenSpiel

ITERATIONS = {"kuhn_poker": 1_000, "leduc_poker": 300}
"""How long games are solved; others as Leduc poker."""
LONGEST_S = 6.0
"""Seconds after which it takes what it has: a bot has ten seconds to be ready. On a busy machine it knows less."""


@cache
def solved(rules, seats, options):
    """Returns OpenSpiel's game and the policy for it: of an information state, the probabilities of its actions."""
    short = rules.partition(":")[2]
    game = OpenSpiel().game(short)(seats, dict(options)).game
    solver = pyspiel.CFRPlusSolver(game)
    end = monotonic() + LONGEST_S
    for _ in range(ITERATIONS.get(short, 300)):
        solver.evaluate_and_update_policy()
        if monotonic() > end:
            break
    return game, solver.tabular_average_policy()


class CfrBot(Bot):
    name = "spiel-cfr"
    version = "1.0"
    want = ("view",)

    def start(self, game):
        self.random = Random(game["bot_seed"])
        _, self.policy = solved(game["rules"], game["seats"], tuple(game["options"].items()))

    def decide(self, request):
        view = request["view"]
        chances = dict(self.policy.get_state_policy(view["text"]))
        (action,) = self.random.choices(view["actions"], [chances[action] for action in view["actions"]])
        return {"plays": [{"action": action}]}


if __name__ == "__main__":
    run(CfrBot())
