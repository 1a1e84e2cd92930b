"""Weighs the plantings of cards in one garden: by the points they bring now, and by what the garden then promises.

A *look* at a garden goes one round ahead: what may come next is known exactly, by card. Beyond that the game is *played
on* with sampled cards, for the plantings that look best and while there is time. Each such game is the same for all of
them but for the planting, so few tell the better one; and it counts what is expected in each round, not what came.
"""

from itertools import islice
from random import Random
from typing import NamedTuple

from garden_plot import best_of
from garden_prospects import POINT, score_worth, scorings

FUTURE_WITHOUT_FEATURES = 1.1
"""What a point that a garden promises is worth beside one scored now, where feature cards are ignored: what makes rows
now will do so again."""
KEPT = 20
"""So many plantings of a card are looked at, those with the highest aims."""
FINALISTS = 6
"""So many plantings are played on, those that look best."""
ROUNDS = 2
"""So many rounds they are played on."""
MOST_GAMES = 60
"""So many games are played on with each; more tell little."""
TRUST = 8
"""So many games played on count as much as the look."""


class Planting(NamedTuple):
    """One way to plant a card and score."""

    points: int
    features: int
    """The feature cards that are face up afterwards."""
    position: int
    turned: bool
    card: int


class Plans:
    """The plantings in one garden."""

    def __init__(self, plot, unseen, features, choices):
        """Looks at a garden.

        Args:
            plot: The garden.
            unseen: The cards that may still come.
            features: The feature cards that are face up; 0: they are ignored.
            choices: How many cards there will probably be to choose from in the next round.
        """
        self.plot, self.unseen, self.features, self.choices = plot, unseen, features, choices
        weights = plot.prospects.weights
        self._weight = weights.future if features else FUTURE_WITHOUT_FEATURES
        self._face_up = weights.face_up
        self._after = {}

    def plantings(self, card):
        """Returns the plantings of a card, those with the highest aims first."""
        for _, position, face in sorted(self.plot.aims([card], self.features), reverse=True)[:KEPT]:
            yield from self._at(position, face, card)

    def _at(self, position, face, card):
        """Returns the ways to score there, the best first."""
        ways = scorings(self.plot.rows(position, face), self.features)
        for features in sorted(ways, key=lambda left: score_worth(ways[left], left, self._face_up), reverse=True):
            yield Planting(ways[features], features, position, face != card, card)

    def after(self, planting):
        """Returns the garden after a planting."""
        key = planting.position, planting.card + planting.turned * len(self.plot.prospects.deck)
        if key not in self._after:
            self._after[key] = self.plot.after(*key)
        return self._after[key]

    def expected(self, plot, features, unseen):
        """Returns what the next round is worth in a garden."""
        return best_of(plot.promise(features, unseen), self.choices)

    def future(self, plot, features):
        """Returns what a garden is worth for what it promises."""
        return self._weight * self.expected(plot, features, self.unseen)

    def value(self, planting):
        """Returns what a planting is worth, now and later."""
        return POINT * planting.points + self.future(self.after(planting), planting.features)

    def weigh(self, cards, more, most=None):
        """Looks at plantings of cards, of each card in turn the next.

        Args:
            cards: The cards.
            more: Whether there is time for one more; the first one of each card is looked at in any case.
            most: At most so many of each card.

        Returns:
            By card: the plantings looked at, each with what it is worth now and later, the best first.
        """
        weighed = {card: [] for card in cards}
        waiting = {card: islice(self.plantings(card), most) for card in cards}
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

    def play_on(self, weighed, rounds, more, seed):
        """Plays on with the best of weighed plantings, and weighs them anew: the more games, the more these count.

        Args:
            weighed: What `weigh` returned; it is changed.
            rounds: How many rounds there are to come, about.
            more: Whether there is time for one more round of a game.
            seed: Of the cards that come.

        Returns:
            How many games were played with each.
        """
        rounds = min(ROUNDS, int(rounds), len(self.unseen) // self.choices - 1)
        finalists = sorted((entry for entries in weighed.values() for entry in entries), reverse=True)[:FINALISTS]
        if rounds < 1 or len(finalists) < 2:
            return 0
        chance, sums, games = Random(seed), [0.0] * len(finalists), 0
        while games < MOST_GAMES:
            cards = chance.sample(self.unseen, len(self.unseen))
            results = []
            for _, planting in finalists:
                if not more():
                    break
                results.append(POINT * planting.points + self._play(planting, cards, rounds))
            if len(results) < len(finalists):
                break
            sums, games = [total + result for total, result in zip(sums, results, strict=True)], games + 1
        if games:
            self._correct(weighed, finalists, [total / games for total in sums], games / (games + TRUST))
        return games

    def _play(self, planting, cards, rounds):
        """Returns what later rounds are worth if these cards come."""
        plot, features, total, last = self.after(planting), planting.features, 0.0, rounds * self.choices
        for first in range(0, last, self.choices):
            total += self.expected(plot, features, cards[first:])
            _, position, face = max(plot.aims(cards[first : first + self.choices], features))
            ways = scorings(plot.rows(position, face), features)
            features = max(ways, key=lambda left: score_worth(ways[left], left, self._face_up))
            plot = plot.after(position, face)
        return total + self._weight * self.expected(plot, features, cards[last:])

    def _correct(self, weighed, finalists, means, trust):
        """Mixes what finalists look like with what games say; the mean of all of them stays as it is."""
        shift = sum(value - mean for (value, _), mean in zip(finalists, means, strict=True)) / len(finalists)
        played = {planting: mean + shift for (_, planting), mean in zip(finalists, means, strict=True)}
        for plantings in weighed.values():
            mixed = [(value + trust * (played.get(planting, value) - value), planting) for value, planting in plantings]
            plantings[:] = sorted(mixed, reverse=True)

    def glance(self, more):
        """By unseen card: what it is worth, about. Of each only the planting with the highest aim is looked at.

        Args:
            more: Whether there is time for one more. Where there is not, the future is taken to be the usual one.
        """
        worths = dict(zip(self.unseen, self.plot.promise(self.features, self.unseen), strict=True))
        values = {}
        for card in sorted(worths, key=worths.__getitem__, reverse=True):
            if not more():
                break
            values[card] = max(map(self.value, islice(self.plantings(card), 1)))
        usual = sum(value - worths[card] for card, value in values.items()) / max(1, len(values))
        return {card: worth + usual for card, worth in worths.items()} | values
