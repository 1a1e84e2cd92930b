"""Planner's decisions in one game: a method for each kind, which returns plays and a note."""

from garden_prospects import POINT
from garden_table import Table
from gardener import KINDS

from arena.games.gardener.geometry import point
from arena.games.gardener.rounds import BONUS, POINTS, turn_down

GLANCED = 6
"""So many plantings of each card are looked at in the gardens of opponents."""
LOOK = 0.5
"""The part of the time for a draft in which own plantings are looked at."""
THEIRS = 0.75
"""The part after which those of opponents are no longer."""
PLANTING = 0.6
"""The part of the time for planting that goes to it if there is a race to prepare."""


class PlannerPlayer:
    """Decides for one seat of one game."""

    def __init__(self, game, prospects):
        self.table = Table(game, prospects)
        self._spite = prospects.weights.spite
        self._cards = {}
        """What cards are worth in the next race."""

    def seize(self, budget):
        """Takes the card that is best for oneself, and leaves little to opponents who choose after it."""
        offer = self.table.view["offer"]
        if len(offer) == 1:
            return [{"card": offer[0]}], "the last one"
        return self._race(offer) if self.table.race else self._draft(offer, budget)

    def _draft(self, offer, budget):
        plans = self.table.plans(self.table.seat)
        own = plans.weigh(offer, lambda: budget.left(LOOK))
        wishes = []
        for seat in self.table.later():
            if not budget.left(THEIRS):
                break
            theirs = self.table.plans(seat).weigh(offer, lambda: budget.left(THEIRS), GLANCED)
            wishes.append({card: best(theirs[card]) for card in offer})
        games = self._play_on(plans, own, budget.left)
        values = {card: best(own[card]) for card in offer}

        def gain(card):
            return values[card] - self._spite * left_over(wishes, offer, card) / (self.table.seats - 1)

        card = max(offer, key=gain)
        note = f"worth {values[card] / POINT:.1f} points in the best of {counted(own)} plantings, {games} games"
        return [{"card": card}], note

    def _play_on(self, plans, weighed, more):
        table = self.table
        return plans.play_on(weighed, table.rounds_left() - 1, more, table.view["round"])

    def _race(self, offer):
        """Takes a card at once: who is first has it. What cards are worth was worked out before, if it could be."""
        if not self._cards.keys() >= set(offer):
            plantings = self.table.plans(self.table.seat).weigh(offer, lambda: False)
            self._cards = {card: best(plantings[card]) for card in offer}
        card = max(offer, key=self._cards.__getitem__)
        return [{"card": card}], f"worth {self._cards[card] / POINT:.1f} points"

    def _prepare_race(self, plot, features, budget):
        if self.table.race:
            self._cards = self.table.plans_in(plot, features, self.table.seat).glance(budget.left)

    def plant(self, budget):
        """Plants for the points of this round and for what the garden promises then."""
        table = self.table
        plans = table.plans(table.seat)
        card = table.view["taken"][table.seat]
        until = PLANTING if table.race else 1.0
        rivals = table.rivals()
        weighed = plans.weigh([card], lambda: budget.left(until))
        games = self._play_on(plans, weighed, lambda: budget.left(until))

        def outlook(weighed):
            value, planting = weighed
            return table.outlook(rivals, planting.points, value / POINT - planting.points), value

        value, planting = max(weighed[card], key=outlook)
        self._prepare_race(plans.after(planting), planting.features, budget)
        later = value / POINT - planting.points
        note = f"{planting.points} points now, {later:.1f} later, best of {counted(weighed)} plantings, {games} games"
        return [{"at": list(point(planting.position)), "turned": planting.turned}], note

    def score(self, budget):
        """Scores the rows in the order that brings points and leaves good feature cards."""
        table = self.table
        plans = table.plans(table.seat)
        rows = table.view["rows"][table.seat]
        rivals = table.rivals()

        def outlook(way):
            order, points, features = way
            future = plans.future(plans.plot, features) / POINT
            return table.outlook(rivals, points, future), -len(order)

        kinds = [(KINDS.index(row["kind"]), row["length"]) for row in rows]
        order, points, features = max(orders(kinds, plans.features), key=outlook)
        self._prepare_race(plans.plot, features, budget)
        return [{"at": rows[i]["at"], "along": rows[i]["along"]} for i in order], f"{points} points"


def best(plantings):
    """Returns the value of the best of some weighed plantings."""
    return plantings[0][0]


def counted(weighed):
    """Returns how many plantings were weighed."""
    return sum(map(len, weighed.values()))


def left_over(wishes, offer, card):
    """Returns what seats get who choose one after the other by their wishes, once a card is taken."""
    rest, total = [other for other in offer if other != card], 0.0
    for wish in wishes:
        taken = max(rest, key=wish.__getitem__)
        rest.remove(taken)
        total += wish[taken]
    return total


def orders(rows, features, kinds=0, points=0, order=()):
    """Yields every order in which rows can be scored, with its points and the feature cards face up after it."""
    yield order, points + BONUS[kinds.bit_count()], features
    for i, (kind, length) in enumerate(rows):
        if i not in order and features >> kind & 1:
            left = turn_down(features, kind)
            yield from orders(rows, left, kinds | 1 << kind, points + POINTS[length], (*order, i))
