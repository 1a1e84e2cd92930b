"""What planner reads off a view: gardens, cards that may still come, who is next, and how the game stands."""

from functools import lru_cache
from math import exp

from garden_plans import Plans
from garden_plot import Plot
from garden_prospects import count_rows, scorings
from gardener import KINDS, face_up, uses_features

from arena.games.gardener.geometry import EMPTY, plant, square

USUAL = 3
"""The points that a seat scores in a round, about."""
LATE = 4 * USUAL
"""So near to the target it is worked out what opponents score in this round: it may be the last one."""


class Table:
    """The seats of one game as a view shows them."""

    def __init__(self, game, prospects):
        options = game["options"]
        self.seat, self.seats = game["seat"], game["seats"]
        self.target = int(options["target"])
        self.race = options["seize"] == "race"
        self._exactly_over = options["exactly_over"] == "yes"
        self._uses_features = [uses_features(options, seat) for seat in range(self.seats)]
        self._prospects = prospects
        self._layout = lru_cache(maxsize=256)(self._plant)

    def see(self, view):
        """Looks at the view of a request. The methods below are about the last one."""
        self.view = view
        gone = {card for garden in view["gardens"] for card, *_ in garden} | {*view["offer"], *view["taken"]}
        self.unseen = [card for card in range(len(self._prospects.deck)) if card not in gone]

    def _plant(self, garden):
        if not garden:
            return EMPTY
        card, x, y, turned = garden[-1]
        face = self._prospects.deck[card]
        return plant(self._layout(garden[:-1]), face[::-1] if turned else face, square(x, y), self._exactly_over)

    def features(self, seat):
        """Returns the feature cards of a seat that are face up; 0: they are ignored."""
        return face_up(self.view["features"][seat]) if self._uses_features[seat] else 0

    def plans(self, seat):
        """Returns the plantings in a seat's garden."""
        layout = self._layout(tuple(map(tuple, self.view["gardens"][seat])))
        return self.plans_in(Plot(self._prospects, layout, self._exactly_over), self.features(seat), seat)

    def plans_in(self, plot, features, seat):
        """Returns the plantings in a garden, if it were that of a seat."""
        return Plans(plot, self.unseen, features, self.choices(seat))

    def _order(self, starter):
        """Returns the seats in the game in the order of a draft."""
        seats = [(starter + i) % self.seats for i in range(self.seats)]
        return [seat for seat in seats if seat not in self.view["forfeited"]]

    def later(self):
        """Returns the seats that take a card of this draft after the own one, in order."""
        order = self._order(self.view["starter"])
        return order[order.index(self.seat) + 1 :]

    def choices(self, seat):
        """How many cards a seat will have to choose from in the next round. In a race it is somewhere in the middle."""
        order = self._order(self.view["starter"] + 1)
        return (len(order) + 1) // 2 if self.race else len(order) - order.index(seat)

    def rounds_left(self):
        """Returns how many rounds there will be, this one included, about."""
        to_target = (self.target + 1 - max(self.view["scores"])) / USUAL + 0.5
        return max(1.0, min(to_target, 1 + self.view["deck"] / self.seats))

    def rivals(self):
        """Returns the scores of the others after this round, about."""
        late = max(self.view["scores"]) + LATE > self.target
        seats = [seat for seat in self._order(0) if seat != self.seat]
        return [self.view["scores"][seat] + (self._gain(seat) if late else USUAL) for seat in seats] or [0]

    def _gain(self, seat):
        """Returns the most points that a seat can score in this round with what it has."""
        features = self.features(seat)
        if (card := self.view["taken"][seat]) is not None:
            return max(planting.points for planting in self.plans(seat).plantings(card))
        rows = [(KINDS.index(row["kind"]), row["length"]) for row in self.view["rows"][seat]]
        return max(scorings(count_rows(rows), features).values()) if features else 0

    def outlook(self, rivals, points, future):
        """Returns how good it is to have scored so many points in this round.

        Args:
            rivals: The scores of the others after this round.
            points: The points.
            future: What the garden then promises, in points.

        Returns:
            The chance to win, about; of sure wins and losses those by more points are better.
        """
        ahead = self.view["scores"][self.seat] + points - max(rivals)
        last = max(ahead, 0) + max(rivals) > self.target or self.view["deck"] < self.seats
        if last:
            return (ahead > 0) - (ahead < 0) + ahead / 1000
        return 2 / (1 + exp(-(ahead + future - USUAL) / self._prospects.weights.spread)) - 1
