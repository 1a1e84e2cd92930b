"""Weighs the plantings of cards in one garden: by the points they bring now, and by what the garden then promises."""

from typing import NamedTuple

from garden_prospects import POINT, Plot, best_of, score_worth, scorings

from arena.rules.gardener.geometry import plant

FUTURE = 0.7
"""What a point that a garden promises is worth beside one scored now."""
FUTURE_WITHOUT_FEATURES = 0.5
"""The same where feature cards are ignored: rounds bring more, and games are shorter."""


class Planting(NamedTuple):
    """One way to plant a card and score. Of plantings that are worth the same the greater one is tried first."""

    worth: int
    """What its points and the feature cards that stay face up are worth."""
    points: int
    features: int
    """The feature cards that are face up afterwards."""
    position: int
    turned: bool
    card: int


class Plans:
    """The plantings in one garden."""

    def __init__(self, prospects, layout, unseen, features, choices):
        """Look at a garden.

        Args:
            prospects: Those of the deck.
            layout: The garden.
            unseen: The cards that may still come.
            features: The feature cards that are face up; 0: they are ignored.
            choices: How many cards there will probably be to choose from in the next round.
        """
        self.plot = Plot(prospects, layout, unseen)
        self.prospects, self.features, self.choices = prospects, features, choices
        self._weight = FUTURE if features else FUTURE_WITHOUT_FEATURES

    def plantings(self, card):
        """Every planting of a card, those worth most first."""
        found = [planting for position in self.plot.ends for planting in self._at(position, card)]
        found.sort(reverse=True)
        return found

    def _at(self, position, card):
        """The plantings of a card at a position."""
        made = self.prospects.rows(self.plot.ends[position])
        for turned in (False, True):
            rows = made[card + turned * len(self.prospects.deck)] if made else 0
            for features, points in scorings(rows, self.features).items():
                yield Planting(score_worth(points, features), points, features, position, turned, card)

    def layout_after(self, planting):
        """The garden after a planting."""
        card = self.prospects.deck[planting.card]
        return plant(self.plot.layout, card[::-1] if planting.turned else card, planting.position)

    def future(self, promise):
        """What a garden is worth that promises so much, by card."""
        return self._weight * best_of(promise, self.choices)

    def value(self, planting):
        """What a planting is worth, now and later."""
        layout = self.layout_after(planting)
        promise = self.plot.promise_after(layout, planting.position, planting.features)
        return POINT * planting.points + self.future(promise)

    def weigh(self, cards, more):
        """Weigh plantings of cards, of each card in turn the next that is worth most.

        Args:
            cards: The cards.
            more: Whether there is time for one more; the first one of each card is weighed in any case.

        Returns:
            By card: the plantings weighed, each with what it is worth now and later, the best first.
        """
        weighed = {card: [] for card in cards}
        waiting = {card: iter(self.plantings(card)) for card in cards}
        while waiting:
            for card in list(waiting):
                if weighed[card] and not more():
                    waiting.clear()
                    break
                planting = next(waiting[card], None)
                if planting is None:
                    del waiting[card]
                else:
                    weighed[card].append((self.value(planting), planting))
        for plantings in weighed.values():
            plantings.sort(reverse=True)
        return weighed

    def glance(self, more):
        """By unseen card: what it is worth, about. Of each only the planting that scores most is weighed.

        Args:
            more: Whether there is time to weigh one more. Where there is not, the future is taken to be the usual one.
        """
        ranked, promise = self.plot.ranked(self.features), self.plot.promise(self.features)
        worths = dict(zip(self.plot.unseen, promise, strict=True))
        values = {}
        for card in sorted(worths, key=worths.__getitem__, reverse=True):
            if not ranked[card] or not more():
                break
            values[card] = self.value(max(self._at(ranked[card][0][1], card)))
        usual = sum(value - worths[card] for card, value in values.items()) / max(1, len(values))
        return {card: worth + usual for card, worth in worths.items()} | values
