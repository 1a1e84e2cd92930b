"""Plays what gains most at once, in whichever game. `bots/README.md` specifies it number by number."""

import os
import sys

sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.dirname(sys.path[1]))
from arena_bot import Bot, run
from gardener_player import GardenerPlayer
from samurai_player import SamuraiPlayer

PLAYERS = {"samurai": SamuraiPlayer, "gardener": GardenerPlayer}


class Greedy(Bot):
    name = "greedy"
    version = "1.0"
    rules = (("gardener", 1), ("samurai", 1))

    def start(self, game):
        self.player = PLAYERS[game["rules"]](game)

    def decide(self, request):
        plays, note = getattr(self.player, request["kind"])(request["view"], request["legal"])
        return {"plays": plays}, note


if __name__ == "__main__":
    run(Greedy())
