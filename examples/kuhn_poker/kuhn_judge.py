"""The judge of Kuhn poker, for `arena analyse`: an equilibrium (Kuhn 1950), against which no seat can do better."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

from arena.learn.analysis.judges import Judge, Stage

BLUFF = Fraction(1, 3)
"""How often seat 0 bets with a jack; anything from 0 to 1/3 makes an equilibrium."""
CHANCES = {
    ("J", ""): BLUFF, ("Q", ""): 0, ("K", ""): 3 * BLUFF,
    ("J", "check"): Fraction(1, 3), ("Q", "check"): 0, ("K", "check"): 1,
    ("J", "bet"): 0, ("Q", "bet"): Fraction(1, 3), ("K", "bet"): 1,
    ("J", "check bet"): 0, ("Q", "check bet"): BLUFF + Fraction(1, 3), ("K", "check bet"): 1,
}  # fmt: skip
"""By card and moves so far: how often to bet, or to call a bet."""


class Equilibrium:
    """Plays it."""

    def start(self, game: dict[str, Any]) -> None:
        """Begins a game."""

    def decide(self, request: dict[str, Any]) -> dict[str, Any]:
        """Returns the action for a request; chance is drawn from its `id`."""
        view = request["view"]
        bold = Random(request["id"]).random() < CHANCES[view["card"], " ".join(view["moves"])]
        if "bet" in view["moves"]:
            return {"plays": [{"move": "call" if bold else "fold"}]}
        return {"plays": [{"move": "bet" if bold else "check"}]}


JUDGE = Judge(name="equilibrium", players=(Stage(Equilibrium),), infers=True)
