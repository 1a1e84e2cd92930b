"""Plays games of OpenSpiel in which nothing is hidden, by OpenSpiel's own Monte Carlo tree search."""

import os
import sys

import pyspiel

sys.path.insert(1, os.path.abspath(os.path.join(__file__, *[os.pardir] * 5, "bots", "python")))
sys.path.insert(1, os.path.abspath(os.path.join(__file__, *[os.pardir] * 3)))
from arena_bot import Bot, run
from arena_openspiel.family import OpenSpiel

SIMULATIONS = 300
UCT_C = 2.0
MOST_MIB = 200


class MctsBot(Bot):
    name = "spiel-mcts"
    version = "1.0"
    want = ("events",)

    def start(self, game):
        short = game["rules"].partition(":")[2]
        self.game = OpenSpiel().game(short)(game["seats"], game["options"]).game
        self.state = self.game.new_initial_state()
        seed = game["bot_seed"] % 2**31
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        self.search = pyspiel.MCTSBot(self.game, evaluator, UCT_C, SIMULATIONS, MOST_MIB, True, seed, False)

    def decide(self, request):
        for event in request["events"]:
            self.state.apply_action(event["last"]["action"])
        return {"plays": [{"action": self.search.step(self.state)}]}


if __name__ == "__main__":
    run(MctsBot())
