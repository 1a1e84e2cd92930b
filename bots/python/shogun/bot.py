"""Searches its turn against guessed hands of the others, as long as its clock allows.

Run with a number, it thinks for that share of its time (0.72): to see what time is worth.
"""

import gc
import os
import sys

sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.dirname(sys.path[1]))
from arena_bot import run
from samurai_commander import Commander, Outlook
from samurai_requests import told, wire
from shogun_pace import SHARE, Stopwatch, seconds
from shogun_rollouts import Rollouts
from shogun_search import compare
from shogun_worlds import Worlds, rules_of, state_of


class Shogun(Commander):
    name = "shogun"
    version = "1.0"
    rules = (("samurai", 1),)
    finalists = 40
    watch = Stopwatch
    rollouts = None
    """How many rollouts a turn is worth, instead of the clock: then the same requests have the same answers."""

    def __init__(self, share=SHARE):
        self.share = share

    def start(self, game):
        super().start(game)
        self.rules = rules_of(game)
        self.seed, self.increment_ms = game["bot_seed"], game["time"]["increment_ms"]
        # What a search leaves behind holds no circles, so memory is given back without it: no pauses in a decision.
        gc.collect()
        gc.disable()

    def decide(self, request):
        watch = self.watch()
        self.spent = self.by_clock(watch, request) if self.rollouts is None else lambda count: count / self.rollouts
        return super().decide(request)

    def by_clock(self, watch, request):
        """Returns the share of its time that is spent, however many rollouts that was."""
        view = request["view"]
        tiles = view["hands"][view["seat"]] + view["stacks"][view["seat"]]
        time = seconds(request["clock"], self.increment_ms, tiles, self.share)
        return lambda count: watch.spent(time)

    def turn(self, view, legal):
        outlook = Outlook(self.reader, view)
        turns = self.ranked(outlook, view, legal, lambda: self.spent(0) > 0.4)
        state = state_of(self.rules, view, outlook.position.captured)
        worlds = Worlds(self.rules, state, view["seat"], f"{self.seed}/{view['turn']}")
        best, count = compare(turns, Rollouts(self.rules, self.reader, outlook), state, worlds, self.spent)
        note = f"{best.chance:.0%} to win after {told(best.plays)}; {best.tried} of {count} rollouts"
        return [wire(play) for play in best.plays], note


if __name__ == "__main__":
    run(Shogun(*map(float, sys.argv[1:])))
