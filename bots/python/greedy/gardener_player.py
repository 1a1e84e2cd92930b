"""Greedy at Samurai Gardener: plants for the points of the round, then for rows that can grow.

`bots/README.md` has it number by number.
"""

from functools import lru_cache, partial

from gardener import ACROSS, BONUS, KINDS, LINES, POINTS, Garden, face_up, read_deck, turn_down, uses_features

POINT = 100
"""What a point is worth."""
END = 15
"""What an open end of a run is worth: the run can grow there."""
FACE_UP = 10
"""What a feature card that stays face up is worth."""
PLOTS = 64
"""So many gardens are kept as they were worked out, those that were met last."""


class GardenerPlayer:
    """Greedy's decisions in one game: a method for each kind, which returns plays and a note."""

    def __init__(self, game):
        self.deck = read_deck(game)
        self.seat = game["seat"]
        self.scoring = best_scoring if uses_features(game["options"], self.seat) else whole_scoring
        self.exactly_over = game["options"].get("exactly_over") == "yes"
        self.plots = lru_cache(maxsize=PLOTS)(partial(Plot, self.deck))

    def seize(self, view, legal):
        """Takes the card with the best planting."""
        cards = [card for product in legal for card in product["card"]]
        plot = self.plot(view)
        worth, card, *_ = self.best_planting(plot, cards, plot.garden.positions(self.exactly_over))
        return [{"card": card}], f"worth {worth}"

    def plant(self, view, legal):
        """Plants where it is worth most."""
        positions = sorted(tuple(at) for product in legal for at in product["at"])
        worth, _, at, turned = self.best_planting(self.plot(view), [view["taken"][self.seat]], positions)
        return [{"at": list(at), "turned": bool(turned)}], f"worth {worth}"

    def score(self, view, legal):
        """Scores rows in the order that is worth most."""
        rows = view["rows"][self.seat]
        lines = tuple((KINDS.index(row["kind"]), row["length"]) for row in rows)
        worth, order = best_scoring(lines, face_up(view["features"][self.seat]))
        return [{"at": rows[i]["at"], "along": rows[i]["along"]} for i in order], f"worth {worth}"

    def plot(self, view):
        """Returns its garden; a card is seized for the garden in which it is planted, so that one is kept."""
        return self.plots(face_up(view["features"][self.seat]), tuple(map(tuple, view["gardens"][self.seat])))

    def best_planting(self, plot, cards, positions):
        """Returns the planting that is worth most: its worth, the card, the position, and whether it is turned.

        Of equals it is that with the smallest card, then position, as it is before turned.
        """
        # A card as the kinds on its five lines.
        faces = [
            (card, turned, [tuple(self.deck[card][turned][i] for i in line) for _, _, line in LINES])
            for card in cards
            for turned in (0, 1)
        ]
        best, nothing = None, self.scoring((), plot.features)[0]
        for at in positions:
            lines, before = plot.lines(at)
            for card, turned, kinds in faces:
                rows, worth = (), -before
                for new, hope in map(dict.__getitem__, lines, kinds):
                    worth += hope
                    if new:
                        rows += new
                worth += self.scoring(rows, plot.features)[0] if rows else nothing
                if best is None or worth > best[0] or (worth == best[0] and (card, at, turned) < best[1:]):
                    best = worth, card, at, turned
        return best


class Plot:
    """A garden, and what can lie on the lines of cards in it, which is worked out once."""

    def __init__(self, deck, features, cards):
        self.garden = Garden(deck, cards)
        self.features = features
        self._at = {}
        across, down = {}, {}
        self._lines = [
            (x, y, step, len(squares), across if step == ACROSS else down) for (x, y), step, squares in LINES
        ]

    def lines(self, at):
        """Returns the `Weighed` of each line of a card at a position, and what all open ends there now are worth."""
        if at not in self._at:
            found = []
            for x, y, step, length, known in self._lines:  # cards at several positions have lines on the same squares
                square = at[0] + x, at[1] + y
                if square not in known:
                    known[square] = self._line(square, step, length)
                found.append(known[square])
            self._at[at] = [weighed for weighed, _ in found], sum(now for _, now in found)
        return self._at[at]

    def _line(self, square, step, length):
        (x, y), (dx, dy), garden = square, step, self.garden
        before = garden.run_from((x - dx, y - dy), (-dx, -dy))
        after = garden.run_from((x + length * dx, y + length * dy), step)
        weighed = weighed_between(before, after, self.features)
        return weighed, weighed[tuple([garden.kinds.get((x + i * dx, y + i * dy)) for i in range(length)])][1]


class Weighed(dict):
    """By the kinds of the squares between two runs what `weigh` says of them; worked out at the first question."""

    def __init__(self, *around):
        self.around = around

    def __missing__(self, line):
        before, after, features = self.around
        found = self[line] = weigh(before, after, line, features)
        return found


@lru_cache(maxsize=1 << 12)
def weighed_between(before, after, features):
    """Returns what can lie between two runs."""
    return Weighed(before, after, features)


def weigh(before, after, line, features):
    """Returns the rows with a square of `line`, each as (kind, length), and what the open ends of runs are worth.

    `line` holds the kinds of the squares between `before` and `after`, two runs as `Garden.run_from` has them. None is
    an empty square.
    """
    runs = [[before[0], before[1], False]]
    for kind in line:
        if kind == runs[-1][0]:
            runs[-1][1:] = runs[-1][1] + 1, True
        else:
            runs.append([kind, 1, True])
    if after[0] == runs[-1][0]:
        runs[-1][1] += after[1]
    else:
        runs.append([after[0], after[1], False])
    # A run can grow over a neighbour that is empty, or too short to be a row.
    can_give_way = [kind is None or length < 3 for kind, length, _ in runs]
    is_open = [before[2], *can_give_way, after[2]]
    hope = 0
    for i, (kind, length, _) in enumerate(runs):
        if kind is not None and 2 <= length <= 4 and features >> kind & 1:
            hope += END * (is_open[i] + is_open[i + 2])
    rows = tuple((kind, length) for kind, length, own in runs if own and kind is not None and length in POINTS)
    return rows, hope


@lru_cache(maxsize=1 << 14)
def best_scoring(rows, features, kinds=0, left=None):
    """Returns the best order in which to score rows: its worth, and the indices of the rows.

    Args:
        rows: The kind and length of each new row.
        features: The feature cards.
        kinds: The kinds scored before in this round, a bit for each.
        left: The indices of the rows that are not scored yet; None: all.
    """
    left = tuple(range(len(rows))) if left is None else left
    best = POINT * BONUS[kinds.bit_count()] + FACE_UP * features.bit_count(), ()
    for i in left:
        kind, length = rows[i]
        if features >> kind & 1:
            rest = tuple(j for j in left if j != i)
            worth, order = best_scoring(rows, turn_down(features, kind), kinds | 1 << kind, rest)
            worth += POINT * POINTS[length]
            if worth > best[0]:
                best = worth, (i, *order)
    return best


def whole_scoring(rows, features):
    """Returns the same with `features: off`: every row scores."""
    kinds = len({kind for kind, _ in rows})
    return POINT * (sum(POINTS[length] for _, length in rows) + BONUS[kinds]) + FACE_UP * features.bit_count(), None
