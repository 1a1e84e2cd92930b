"""Greedy at Samurai Gardener: plants for the points of the round, then for rows that can grow.

`bots/README.md` has it number by number.
"""

from functools import lru_cache

from gardener import BONUS, KINDS, LINES, POINTS, Garden, face_up, read_deck, turn_down, uses_features

POINT = 100
"""What a point is worth."""
END = 15
"""What an open end of a run is worth: the run can grow there."""
FACE_UP = 10
"""What a feature card that stays face up is worth."""


class GardenerPlayer:
    """Greedy's decisions in one game: a method for each kind, which returns plays and a note."""

    def __init__(self, game):
        self.deck = read_deck(game)
        self.seat = game["seat"]
        self.scoring = best_scoring if uses_features(game["options"], self.seat) else whole_scoring
        self.exactly_over = game["options"].get("exactly_over") == "yes"

    def seize(self, view, legal):
        """Takes the card with the best planting."""
        garden = Garden(self.deck, view["gardens"][self.seat])
        cards = [card for product in legal for card in product["card"]]
        worth, card, *_ = self.best_planting(view, garden, cards, garden.positions(self.exactly_over))
        return [{"card": card}], f"worth {worth}"

    def plant(self, view, legal):
        """Plants where it is worth most."""
        garden = Garden(self.deck, view["gardens"][self.seat])
        positions = sorted(tuple(at) for product in legal for at in product["at"])
        worth, _, at, turned = self.best_planting(view, garden, [view["taken"][self.seat]], positions)
        return [{"at": list(at), "turned": bool(turned)}], f"worth {worth}"

    def score(self, view, legal):
        """Scores rows in the order that is worth most."""
        rows = view["rows"][self.seat]
        lines = tuple((KINDS.index(row["kind"]), row["length"]) for row in rows)
        worth, order = best_scoring(lines, face_up(view["features"][self.seat]))
        return [{"at": rows[i]["at"], "along": rows[i]["along"]} for i in order], f"worth {worth}"

    def best_planting(self, view, garden, cards, positions):
        """Returns the planting that is worth most: its worth, the card, the position, and whether it is turned.

        Of equals it is that with the smallest card, then position, as it is before turned.
        """
        features = face_up(view["features"][self.seat])
        # A card as the kinds on its five lines.
        faces = [
            (card, turned, [tuple(self.deck[card][turned][i] for i in line) for _, _, line in LINES])
            for card in cards
            for turned in (0, 1)
        ]
        best = None
        for at in positions:
            stretches = [stretch(garden, at, line) for line in LINES]
            before = sum(weigh(*ends, seen, features)[1] for ends, seen in stretches)
            for card, turned, kinds in faces:
                rows, worth = (), -before
                for (ends, _), line in zip(stretches, kinds, strict=True):
                    new, hope = weigh(*ends, line, features)
                    rows += new
                    worth += hope
                worth += self.scoring(rows, features)[0]
                if best is None or worth > best[0] or (worth == best[0] and (card, at, turned) < best[1:]):
                    best = worth, card, at, turned
        return best


def stretch(garden, at, line):
    """Returns the run at either end of one of a card's lines, as `weigh` takes it, and the kinds seen there now."""
    (x, y), (dx, dy), on_line = line
    under = [(at[0] + x + i * dx, at[1] + y + i * dy) for i in range(len(on_line))]
    ends = (beyond(garden, under[0], (-dx, -dy)), beyond(garden, under[-1], (dx, dy)))
    return ends, tuple(garden.kinds.get(square) for square in under)


def beyond(garden, square, step):
    """Returns the run that begins next to a square: its kind, its length, and whether its far end is open."""
    (x, y), (dx, dy) = square, step
    first = x + dx, y + dy
    length = garden.run(first, step)
    far = x + dx * (length + 1), y + dy * (length + 1)
    return garden.kinds.get(first), length, far not in garden.rows


@lru_cache(maxsize=1 << 16)
def weigh(before, after, line, features):
    """Returns the rows with a square of `line`, each as (kind, length), and what the open ends of runs are worth.

    `line` holds the kinds of the squares between the runs `before` and `after`; None is an empty square.
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
