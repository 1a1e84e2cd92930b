"""Plays what a policy that was learnt takes to be best. It needs nothing but Python, and `policy.json` beside it.

At a table for which it has not learnt, with other numbers of players or on another board, it plays what is legal first.
"""

import json
import math
import os
import sys
from array import array
from base64 import b64decode
from operator import mul

from arena_bot import Bot, run
from gardener import Table

ACTIVATIONS = {"tanh": math.tanh, "relu": lambda value: max(0.0, value), "identity": lambda value: value}


class Network:
    """Layers of neurons, read from `policy.json`."""

    def __init__(self, policy):
        self.active = ACTIVATIONS[policy["activation"]]
        self.first = policy["first"]
        """By number, the input of its least value where each value has an input; None where a number is an input."""
        *hidden, (out, self.bias) = [self._layer(layer) for layer in policy["layers"]]
        self.hidden = [([weights[at::size] for at in range(size)], bias) for (weights, size), bias in hidden]
        """By input, its weights to the neurons of a layer; and their biases."""
        self.out, self.width = out

    def _layer(self, layer):
        weights, bias = (array("f", b64decode(layer[name])) for name in ("weights", "bias"))
        if sys.byteorder == "big":
            weights.byteswap()
            bias.byteswap()
        return (weights, layer["inputs"]), bias

    def worths(self, numbers, actions):
        """Returns how much the policy likes each of some actions; only differences count."""
        if self.first is None:
            values = dict(enumerate(numbers))
        else:
            values = {first + number: 1 for first, number in zip(self.first, numbers, strict=True)}
        for columns, bias in self.hidden:
            sums = list(bias)
            for at, value in values.items():
                if value:
                    sums = [one + value * weight for one, weight in zip(sums, columns[at], strict=True)]
            values = dict(enumerate(map(self.active, sums)))
        dense = [0.0] * self.width
        for at, value in values.items():
            dense[at] = value
        rows = (self.out[action * self.width : (action + 1) * self.width] for action in actions)
        return [self.bias[action] + sum(map(mul, row, dense)) for action, row in zip(actions, rows, strict=True)]


class Policy(Bot):
    """Takes the action that is liked best, play by play."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.policy = json.load(file)
        self.network = Network(self.policy)
        self.rules = ((self.policy["rules"], self.policy["rules_version"]),)

    def start(self, game):
        """Reads what the game is played on."""
        self.strange = ""
        """Why it has not learnt for this table; empty if it has."""
        if game["seats"] != self.policy["players"]:
            self.strange = f"I learnt for {self.policy['players']} players, and there are {game['seats']}"
        elif (game["board"] or {}).get("hash", "") != self.policy["board"]:
            self.strange = "I learnt on another board"
        else:
            self.table = Table(game)

    def decide(self, request):
        """Answers a request."""
        if self.strange:
            first = {
                key: values[0] if isinstance(values, list) else values["of"][: values["choose"]]
                for key, values in request["legal"][0].items()
            }
            return {"plays": [first]}, self.strange
        view, made = request["view"], []
        plays = self.table.plays(view, request["legal"])
        while plays:
            worths = self.network.worths(self.table.numbers(view), plays)
            play = plays[max(zip(worths, plays, strict=True))[1]]
            if not play:
                break
            made.append(play)
            view, plays = self.table.after(view, play, plays)
        return {"plays": made}


if __name__ == "__main__":
    run(Policy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "policy.json")))
