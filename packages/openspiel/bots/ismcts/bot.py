"""Plays games of OpenSpiel that hide something, by OpenSpiel's own information-set Monte Carlo tree search.

The search wants worlds that agree with what the seat has been told. The bot follows the game in one such world, and
exchanges in it what it has not seen (`arena_openspiel.worlds`). Where it finds none it plays at random, and says so.
"""

import os
import sys
from random import Random

import numpy as np
from open_spiel.python.algorithms import ismcts, mcts

sys.path.insert(1, os.path.abspath(os.path.join(__file__, *[os.pardir] * 5, "bots", "python")))
sys.path.insert(1, os.path.abspath(os.path.join(__file__, *[os.pardir] * 3)))
from arena_bot import Bot, run
from arena_openspiel.family import OpenSpiel
from arena_openspiel.worlds import other_world, world_where

SIMULATIONS = 100
UCT_C = 2.0
WORLDS = 20
"""The number of worlds that a search looks at."""
TRIES = 8
"""The number of attempts at a way through a game that agrees with what was told."""
EXCHANGES = 3_000
"""The number of exchanges in each attempt that bring it nearer to that."""
MIXED = 20
"""How often the world is exchanged before the next attempt."""
FURTHEST = 200
"""The most steps of a game between two things that the seat is told."""


class Follower:
    """A game as one seat may take it to have gone: a state that agrees with all that it was told, if there is one."""

    def __init__(self, rules, seat, random):
        self.rules, self.seat, self.random, self.choose = rules, seat, random, random.randrange
        self.state = rules.start()
        self._own = []

    def play(self, play):
        """Notes an own play: it is made as soon as the seat's turn comes."""
        self._own.append(play)

    def hear(self, event):
        """Goes on to where the seat is told something."""
        rules, seat = self.rules, self.seat
        wanted = rules.fold(rules.view(self.state, seat), event)
        for _ in range(TRIES):
            state, own = self._followed(event)
            if state is not None:
                state = world_where(rules, state, seat, wanted, self.choose, EXCHANGES)
            if state is not None:
                self.state, self._own = state, own
                return
            for _ in range(MIXED if self.state.history else 0):  # it was another world
                self.state = other_world(rules, self.state, seat, self.choose)
        self.state = None

    def _followed(self, event):
        """Returns a state in which the seat has just been told something, this if it can be, and its plays left."""
        state, own = self.state, self._own
        for _ in range(FURTHEST):
            told, silent, other = [], [], []
            for after, left, events in self._steps(state, own):
                heard = [one.data for one in events if one.reaches(self.seat)]
                (told if heard == [event] else other if heard else silent).append((after, left))
            if silent and (self.choose(4) or not other):
                other = silent
            if not told and not other:
                break
            state, own = self.random.choice(told or other)
            if told or other is not silent:
                return state, own
        return None, own

    def _steps(self, state, own):
        """Yields every next state, the own plays that are left, and what happened."""
        rules, wanted = self.rules, self.rules.draw_wanted(state)
        if wanted is not None:
            for index in range(wanted.n):
                events = []
                yield rules.draw(state, index, events), own, events
            return
        for decision in rules.pending(state):
            mine = decision.seat == self.seat
            for play in own[:1] if mine else rules.legal(state, decision.seat):
                events = []
                yield rules.apply(state, decision.seat, play, events), own[1:] if mine else own, events


class IsmctsBot(Bot):
    name = "spiel-ismcts"
    version = "1.0"
    want = ("view", "events")

    def start(self, game):
        short = game["rules"].partition(":")[2]
        self.rules = OpenSpiel().game(short)(game["seats"], game["options"])
        self.seat = game["seat"]
        self.random = Random(game["bot_seed"])
        self.follower = Follower(self.rules, self.seat, self.random)
        chance = np.random.RandomState(game["bot_seed"] % 2**32)
        remembers = self.rules.remembers
        self.search = ismcts.ISMCTSBot(
            self.rules.game, mcts.RandomRolloutEvaluator(1, chance), UCT_C, SIMULATIONS, WORLDS, chance,
            use_observation_string=not remembers, allow_inconsistent_action_sets=not remembers,
        )  # fmt: skip
        self.search.set_resampler(lambda state, seat: self.spiel(self.world()))

    def spiel(self, state):
        """Returns OpenSpiel's position of a state."""
        return self.rules.node(state).spiel.clone()

    def world(self):
        """Returns a state that agrees with all that the seat was told."""
        follower = self.follower
        follower.state = other_world(self.rules, follower.state, self.seat, self.random.randrange)
        return follower.state

    def decide(self, request):
        for event in request["events"]:
            if self.follower.state is not None:
                self.follower.hear(event)
        view, note = request["view"], None
        if self.follower.state is None:
            action, note = self.random.choice(view["actions"]), "no world agrees with what I was told"
        else:
            action = int(self.search.step(self.spiel(self.follower.state)))
        self.follower.play(self.rules.play_type(action))
        return {"plays": [{"action": action}]}, note


if __name__ == "__main__":
    run(IsmctsBot())
