"""What is computed once for a deck, a number of seats and a set of options, and never changes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from arena.rules.base import Decision, Draw
from arena.rules.gardener import geometry
from arena.rules.gardener.deck import Deck
from arena.rules.gardener.geometry import Layout
from arena.rules.gardener.state import ALL_KINDS, Garden, State


class Tables:
    """The deck as the rules read it, and the objects that would otherwise be made again at every step."""

    def __init__(self, deck: Deck, seats: int, options: Mapping[str, str]) -> None:
        self.seats = seats
        self.race = options["seize"] == "race"
        self.features = options["features"] == "on"
        self.target = int(options["target"])
        self.cards = [(card, card[::-1]) for card in deck.cards]
        """By number: the kinds of the squares of each card as it is, and turned."""
        self.everyone = tuple(range(seats))
        self.draws = [Draw("deck", n) for n in range(len(deck.cards) + 1)]
        """By the size of the deck: the draw of a card."""
        self.decisions = {
            kind: [Decision(seat, kind, race=self.race and kind == "seize") for seat in range(seats)]
            for kind in ("seize", "plant", "score")
        }
        """By kind and seat."""
        self.layout = lru_cache(maxsize=256)(self._layout)
        """A garden as it lies. Each is asked for several times, and is quickly made of the one before it."""
        self.start = State(
            phase="deal",
            round=0,
            starter=0,
            deck=bytes(range(len(deck.cards))),
            offer=(),
            taken=(None,) * seats,
            gardens=((),) * seats,
            rows=((),) * seats,
            scored=(0,) * seats,
            features=(ALL_KINDS,) * seats,
            scores=(0,) * seats,
        )
        """Every card in the deck."""

    def _layout(self, garden: Garden) -> Layout:
        if not garden:
            return geometry.EMPTY
        card, x, y, turned = garden[-1]
        return geometry.plant(self.layout(garden[:-1]), self.cards[card][turned], geometry.square(x, y))
