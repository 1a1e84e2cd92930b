"""Plays Samurai Gardener with the network that `train.py` made. It needs nothing but Python."""

import json
from pathlib import Path

from arena_bot import Bot, run
from policy import KINDS, plantings, worth


class Learnt(Bot):
    """Plants what its network takes to be best."""

    name = "learnt"
    version = "1.0"
    rules = (("gardener", 1),)

    def __init__(self):
        self.network = json.loads((Path(__file__).parent / "network.json").read_text(encoding="utf-8"))

    def start(self, game):
        """Takes the deck."""
        self.cards = game["board"]["cards"]

    def decide(self, request):
        """Answers a request."""
        return {"plays": getattr(self, request["kind"])(request["view"], request["legal"])}

    def seize(self, view, legal):
        """Takes the first card: of the network it knows only how to plant one."""
        return [{"card": legal[0]["card"][0]}]

    def plant(self, view, legal):
        """Plants where the network likes it best."""
        found = plantings({"view": view, "legal": legal}, self.cards)
        (at, turned), _ = max(found, key=lambda planting: worth(self.network, planting[1]))
        return [{"at": at, "turned": turned}]

    def score(self, view, legal):
        """Scores the longest row of each kind that can be scored."""
        can = {(*at, along) for product in legal for at in product["at"] for along in product["along"]}
        rows = [row for row in view["rows"][view["seat"]] if (*row["at"], row["along"]) in can]
        best = {row["kind"]: row for row in sorted(rows, key=lambda row: row["length"])}
        return [{"at": best[kind]["at"], "along": best[kind]["along"]} for kind in KINDS if kind in best]


if __name__ == "__main__":
    run(Learnt())
