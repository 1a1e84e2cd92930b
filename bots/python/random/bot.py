"""Plays by chance, any game: one play a request, and every legal one is equally likely."""

import os
import sys
from math import comb, prod
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
        return {"plays": [self.pick(request["legal"])]}

    def pick(self, products):
        """Returns one of the plays that can be made of some products, each as likely as any other.

        It picks a product, the likelier the more plays it makes, and then a value for each key. The keys are in order
        of name, because a map's keys have no order.
        """
        (product,) = self.random.choices(products, [prod(map(ways, product.values())) for product in products])
        return {key: self.choose(product[key]) for key in sorted(product)}

    def choose(self, values):
        """Returns one of the values of a key, or several where the product says so."""
        if isinstance(values, dict):
            return self.random.sample(values["of"], values["choose"])
        return self.random.choice(values)


def ways(values):
    """Returns how many choices the values of a key offer."""
    return comb(len(values["of"]), values["choose"]) if isinstance(values, dict) else len(values)


if __name__ == "__main__":
    run(RandomBot())
