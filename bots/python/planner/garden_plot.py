"""What a garden promises: what each card could score in it next.

A planting changes the ends of few positions, so a garden is quickly had from the one before. Squares and positions are
numbers as in `arena.games.gardener.geometry`, whose layouts are used here.
"""

from itertools import repeat

from garden_prospects import LINES, LONGEST

from arena.games.gardener.geometry import plant, point

ENDS = tuple((offset, step) for before, after, step, _ in LINES for offset, step in ((before, -step), (after, step)))
"""The ends of these lines in order: from a card's position to the square there, and the step from there outward."""
NO_ENDS = (0,) * len(ENDS)
ALL_ENDS = tuple(enumerate(ENDS))
LEFT, RIGHT, UP, DOWN = ALL_ENDS[0:6:2], ALL_ENDS[1:6:2], ALL_ENDS[6::2], ALL_ENDS[7::2]


def look(kinds, position, which=ALL_ENDS, known=NO_ENDS):
    """Returns the ends of the lines of a card at a position: for each the run that begins there, 0 if there is none.

    Args:
        kinds: The kinds of a garden's squares.
        position: The position.
        which: The ends to look at.
        known: The others as they are known.
    """
    ends = list(known)
    get = kinds.get
    for i, (offset, step) in which:
        at = position + offset
        kind = get(at)
        if kind is None:
            ends[i] = 0
            continue
        run = 1
        at += step
        while run < LONGEST and get(at) == kind:
            run += 1
            at += step
        ends[i] = LONGEST * kind + run
    return tuple(ends)


class Plot:
    """A garden as it lies, with the ends of the lines of a card at each position."""

    def __init__(self, prospects, layout, exactly_over=False, ends=None):
        self.prospects = prospects
        self.layout = layout
        self.exactly_over = exactly_over
        self.ends = ends or {position: look(layout.kinds, position) for position in layout.positions}

    def after(self, position, face):
        """Returns the garden after a face of a card, a number as in `Prospects.faces`, was put at a position."""
        layout = plant(self.layout, self.prospects.faces[face], position, self.exactly_over)
        before, kinds, ends = self.ends, layout.kinds, {}
        card_x, card_y = point(position)
        for near in layout.positions:
            known = before.get(near)
            if known is None:
                ends[near] = look(kinds, near)
            else:
                x, y = point(near)
                which = facing(x - card_x, y - card_y)
                ends[near] = look(kinds, near, which, known) if which else known
        return Plot(self.prospects, layout, self.exactly_over, ends)

    def promise(self, features, cards):
        """By card: what it is worth at best."""
        found = set(map(self.prospects.worth[features].__getitem__, self.ends.values())) - {None}
        found.add(bytes([self.prospects.nothing(features)]) * len(self.prospects.deck))
        best = list(map(max, *found)) if len(found) > 1 else list(*found)
        return [best[card] for card in cards]

    def aims(self, cards, features):
        """Yields where to put a card, roughly: what each planting of some cards aims at, its position and its face."""
        for face in self.sides(cards):
            aims = map(self.prospects.aims(features, face).__getitem__, self.ends.values())
            yield from zip(aims, self.ends, repeat(face))

    def sides(self, cards):
        """Returns both faces of some cards."""
        return [*cards, *(card + len(self.prospects.deck) for card in cards)]

    def rows(self, position, face):
        """Returns the rows, counted, that a planting makes."""
        return self.prospects.rows(self.ends[position], face)


def facing(x, y):
    """Which ends of a card's lines another card may change that lies so far to the left and above; None if none."""
    if -2 <= y <= 2:
        if -1 <= x <= 1:
            return ALL_ENDS
        return LEFT if x > 0 else RIGHT
    if -1 <= x <= 1:
        return UP if y > 0 else DOWN
    return None


def best_of(values, choices):
    """Returns the expected highest of so many values, drawn at random from these without putting any back."""
    total, chance, left = 0.0, 1.0, len(values)
    for value in sorted(values, reverse=True):
        drawn = min(1.0, choices / left)
        total += chance * drawn * value
        chance *= 1.0 - drawn
        left -= 1
        if chance < 1e-6:
            break
    return total
