"""Plays Samurai Gardener as greedy does, but remembers the order in which the deck of every deal came.

When a process meets a deal again, it knows the cards of the next round before they are turned up, and plants for them.
That is cheating: not one line here plays a deal better that is new to it. With the argument `forget` it remembers
nothing, which makes an equal to compare it with. It tells its own output which process met which deal.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[2] / "bots" / "python"
sys.path[1:1] = [str(PYTHON / "greedy"), str(PYTHON)]

from arena_bot import Bot, run  # noqa: E402
from gardener import LINES, turn_down  # noqa: E402
from gardener_player import GardenerPlayer, best_scoring  # noqa: E402

CANDIDATES = 6  # how many plantings are tried with the cards of the next round

PROCESS = hashlib.sha256(os.environ["ARENA_TOKEN"].encode()).hexdigest()[:16]


class Remembers(Bot):
    want = ("view", "legal", "events")

    def __init__(self, remembers):
        self.name = "remembers" if remembers else "forgets"
        self.remembers = remembers
        self.memory = {}
        """By what is seen of a deal before the first decision: the cards in the order in which they were turned up."""

    def start(self, game):
        self.player = Player(game)
        self.deal = None
        self.dealt, self.came = [], []

    def decide(self, request):
        self.see(request["events"])
        if self.deal is None:
            self.deal = (*self.dealt, *self.came)
            self.player.known = self.memory.get(self.deal, ())
            meets = "again" if self.deal in self.memory else "first"
            print("process", PROCESS, "deal", "-".join(map(str, self.deal)), meets, file=sys.stderr, flush=True)
        plays, note = getattr(self.player, request["kind"])(request["view"], request["legal"])
        return {"plays": plays}, note

    def over(self, result):
        self.see(result["events"])
        if self.remembers and len(self.came) > len(self.memory.get(self.deal, ())):
            self.memory[self.deal] = self.came

    def see(self, events):
        for event in events:
            if event["event"] == "garden":
                self.dealt.append(event["card"])
            elif event["event"] == "turned_up":
                self.came.append(event["card"])


class Player(GardenerPlayer):
    """Greedy, which looks one round further if it knows the cards of that round."""

    known = ()
    """The cards of the game in the order in which they are turned up, as far as they are known."""

    def plot(self, view):
        self.view = view
        return super().plot(view)

    def best_planting(self, plot, cards, positions):
        seats = len(self.view["gardens"])
        coming = self.known[self.view["round"] * seats : (self.view["round"] + 1) * seats]
        best = super().best_planting
        if not coming:
            return best(plot, cards, positions)
        plantings = [best(plot, [card], [at]) for card in cards for at in positions]
        likely = sorted(plantings, reverse=True)[:CANDIDATES]
        return max(likely, key=lambda planting: (planting[0] + self.hope(plot, planting, coming), planting))

    def hope(self, plot, planting, coming):
        """Returns what the cards of the next round are worth after a planting: the mean of the best and the worst."""
        _, card, at, turned = planting
        features, rows = plot.features, ()
        for weighed, line in zip(plot.lines(at)[0], LINES, strict=True):
            rows += weighed[tuple(self.deck[card][turned][i] for i in line[2])][0]
        for index in best_scoring(rows, features)[1]:
            features = turn_down(features, rows[index][0])
        after = self.plots(features, (*map(tuple, self.view["gardens"][self.seat]), (card, *at, turned)))
        positions = after.garden.positions(self.exactly_over)
        worths = [GardenerPlayer.best_planting(self, after, [card], positions)[0] for card in coming]
        return (max(worths) + min(worths)) / 2


run(Remembers("forget" not in sys.argv))
