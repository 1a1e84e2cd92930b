"""Plays by chance, in whichever game: one play a request, and every legal one is equally likely."""

import os
import sys
from math import prod
from random import Random

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from arena_bot import Bot, run


class RandomBot(Bot):
    name = "random"
    version = "1.0"
    want = ("legal",)

    def start(self, game):
        self.random = Random(game["bot_seed"])

    def decide(self, request):
        kind, legal = request["kind"], request["legal"]
        if kind == "hand":
            return {"hand": self.random.sample(legal["hand"], legal["choose"])}
        if kind == "turn":
            return {"plays": [self.pick(legal["plays"])]}
        if kind == "score":
            return {"rows": [self.pick(legal["score"])]}
        return self.pick(legal[kind])

    def pick(self, products):
        """One of the combinations of all products, each as likely as any other.

        A product maps keys to lists of values: choose one value for each key. First one product is chosen, the likelier
        the more combinations it has; then a value for each key, in order of name, for a map's keys have no order.
        """
        sizes = [prod(map(len, product.values())) for product in products]
        (product,) = self.random.choices(products, sizes)
        return {key: self.random.choice(product[key]) for key in sorted(product)}


if __name__ == "__main__":
    run(RandomBot())
