"""Plays Samurai Gardener with the next rounds in mind.

Of plantings that look good it works out what each card of the deck could do then, and plays on with the best of them.
Run with a number, it thinks for that share of its time (0.6): to see what time is worth.
"""

import gc
import os
import sys
from functools import lru_cache

sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.dirname(sys.path[1]))
from arena_bot import Bot, run
from garden_prospects import Prospects, Weights
from gardener import read_deck
from planner_budget import SHARE, Budget
from planner_player import PlannerPlayer

DECISIONS = 3
"""The most decisions of a round."""


@lru_cache(maxsize=4)
def prospects_of(deck, weights):
    """Returns the prospects of a deck: they serve every game with it."""
    return Prospects(deck, weights)


def read_weights(game):
    """Returns the weights of a game: `arena tune` and `arena compare planner@spite=0.5` send others than the usual."""
    return Weights(**{name: Weights.__annotations__[name](text) for name, text in game.get("parameters", {}).items()})


class Planner(Bot):
    name = "planner"
    version = "1.0"
    rules = (("gardener", 1),)
    want = ("view",)
    budget = Budget
    """What measures its thinking; a `Count` makes it the same on every machine."""

    def __init__(self, share=SHARE):
        self.share = share

    def start(self, game):
        prospects = prospects_of(tuple(bytes(card) for card, _ in read_deck(game)), read_weights(game))
        prospects.forget()
        self.player = PlannerPlayer(game, prospects)
        self.increment_ms = game["time"]["increment_ms"]
        # Nothing here refers to itself in a circle, so that memory is given back at once: no pauses while a clock runs.
        gc.collect()
        gc.disable()

    def decide(self, request):
        budget = self.budget()
        table = self.player.table
        table.see(request["view"])
        budget.grant(request["clock"], self.increment_ms, DECISIONS * table.rounds_left(), self.share)
        plays, note = getattr(self.player, request["kind"])(budget)
        return {"plays": plays}, note


if __name__ == "__main__":
    run(Planner(*map(float, sys.argv[1:])))
