"""What a garden promises: what each card could score in it next. The heart of planner.

Only the *ends* of a card's five lines matter for the rows that it makes: the run of alike squares that begins beside
each end. Most positions share their ends with positions met before, so what all cards score between some ends is worked
out once and kept; and a planting changes the ends of few positions, so a garden's promise is quickly had from that of
the garden before.

Squares and positions are numbers as in `arena.rules.gardener.geometry`, whose layouts are used here.
"""

from functools import cache, lru_cache
from itertools import product
from operator import add

from arena.rules.gardener.geometry import STRIDE, point
from arena.rules.gardener.scoring import BONUS, POINTS, turn_down

POINT = 10
"""What a point is worth: values are in tenths of a point."""
FACE_UP = 2
"""What a feature card that stays face up is worth."""
LONGEST = 5
"""The longest row that scores; longer runs are all alike."""
# A card's five lines: from its position to the first square before the line and the first after it, the step from one
# square to the next, and which of the card's squares lie on it.
LINES = (
    *((y - STRIDE, y + 2 * STRIDE, STRIDE, (2 * y, 2 * y + 1)) for y in range(3)),
    *((x * STRIDE - 1, x * STRIDE + 3, 1, (x, x + 2, x + 4)) for x in range(2)),
)
ENDS = tuple((offset, step) for before, after, step, _ in LINES for offset, step in ((before, -step), (after, step)))
"""The ends of these lines in order: from a card's position to the square there, and the step from there outward."""
NO_ENDS = (0,) * len(ENDS)
ALL_ENDS = tuple(enumerate(ENDS))
LEFT, RIGHT, UP, DOWN = ALL_ENDS[0:6:2], ALL_ENDS[1:6:2], ALL_ENDS[6::2], ALL_ENDS[7::2]


def look(kinds, position, which=ALL_ENDS, known=NO_ENDS):
    """The ends of the lines of a card at a position: for each the run that begins there, 0 if there is none.

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


def count_rows(rows):
    """Rows, each a kind and a length, as one number: three binary digits count those of each kind and length.

    So numbers of rows may be added, which is how those of a card's lines come together.
    """
    return sum(1 << 3 * (3 * kind + length - 3) for kind, length in rows)


@cache
def new_rows(before, after, line):
    """The rows, counted, that a line of kinds makes between two ends."""
    runs = [[(before - 1) // LONGEST, (before - 1) % LONGEST + 1, False]] if before else []
    for kind in line:
        if runs and runs[-1][0] == kind:
            runs[-1][1:] = runs[-1][1] + 1, True
        else:
            runs.append([kind, 1, True])
    if after and runs[-1][0] == (after - 1) // LONGEST:
        runs[-1][1] += (after - 1) % LONGEST + 1
    return count_rows((kind, length) for kind, length, own in runs if own and length in POINTS)


@lru_cache(maxsize=1 << 16)
def scorings(rows, features):
    """How rows can be scored: the most points for each set of feature cards that may be face up afterwards.

    Args:
        rows: The rows, counted.
        features: The feature cards that are face up; 0: they are ignored, and every row scores.
    """
    if not features:
        counted = [(kind, length, rows >> 3 * (3 * kind + length - 3) & 7) for kind in range(4) for length in POINTS]
        bonus = BONUS[len({kind for kind, _, count in counted if count})]
        return {0: bonus + sum(POINTS[length] * count for _, length, count in counted)}
    best = {}
    open_ends = [(rows, features, 0, 0)]
    while open_ends:
        rows, features, kinds, points = open_ends.pop()
        best[features] = max(best.get(features, 0), points + BONUS[kinds.bit_count()])
        for kind in range(4):
            if features >> kind & 1:
                for length in POINTS:
                    digit = 3 * (3 * kind + length - 3)
                    if rows >> digit & 7:
                        rest = rows - (1 << digit)
                        state = rest, turn_down(features, kind), kinds | 1 << kind, points + POINTS[length]
                        open_ends.append(state)
    return best


def score_worth(points, features):
    """What points and the feature cards that are face up are worth."""
    return POINT * points + FACE_UP * features.bit_count()


class Worths(dict):
    """By rows, counted: what scoring them is worth with these feature cards face up.

    It is at most 255, so that it fits into a byte.
    """

    def __init__(self, features):
        self.features = features

    def __missing__(self, rows):
        worth = max(score_worth(points, left) for left, points in scorings(rows, self.features).items())
        worth = self[rows] = min(worth, 255)
        return worth


class Prospects:
    """What the cards of one deck can do at any position of any garden; what was worked out is kept."""

    def __init__(self, deck):
        self.deck = deck
        faces = [*deck, *(card[::-1] for card in deck)]
        ends = range(4 * LONGEST + 1)
        self._lines = []
        """By line and its two ends: the rows that each card makes on it, or None if no card makes any."""
        for *_, line in LINES:
            kinds = [tuple(face[i] for i in line) for face in faces]
            made = {pair: [new_rows(*pair, on_line) for on_line in kinds] for pair in product(ends, ends)}
            self._lines.append({pair: rows if any(rows) else None for pair, rows in made.items()})
        self._made = {}
        self._worths = [Worths(features) for features in range(16)]
        self._known = {}

    def rows(self, ends):
        """The rows that each card makes between some ends, first as it is, then turned; None if no card makes any."""
        across, down = self._rows(ends[:6], 0), self._rows(ends[6:], 3)
        return list(map(add, across, down)) if across and down else across or down

    def _rows(self, ends, first):
        """The same for some of its lines: those from the first on that run the same way."""
        key = ends, first
        if key not in self._made:
            total = None
            for line, pair in enumerate(zip(ends[::2], ends[1::2], strict=True), first):
                if rows := self._lines[line][pair]:
                    total = list(map(add, total, rows)) if total else rows
            self._made[key] = total
        return self._made[key]

    def worth(self, ends, features):
        """By card: what it is worth between some ends, whichever way it is turned; None if no card makes a row."""
        key = ends, features
        if key not in self._known:
            worth = self.rows(ends)
            if worth:
                worth = list(map(self._worths[features].__getitem__, worth))
                cards = len(self.deck)
                worth = bytes(map(max, worth[:cards], worth[cards:]))
            self._known[key] = worth
        return self._known[key]

    def nothing(self, features):
        """What it is worth to score nothing."""
        return self._worths[features][0]

    def forget(self):
        """Give back the memory that a game took."""
        self._made.clear()
        self._known.clear()


class Plot:
    """A garden as it lies, and what each card that may come is worth at each position."""

    def __init__(self, prospects, layout, unseen):
        self.prospects = prospects
        self.layout = layout
        self.unseen = unseen
        self.ends = {position: look(layout.kinds, position) for position in layout.positions}
        self._ranked = {}

    def ranked(self, features):
        """By card: its worths above nothing with the positions where it has them, the best first."""
        if features not in self._ranked:
            nothing = self.prospects.nothing(features)
            table = [[] for _ in self.prospects.deck]
            for position, ends in self.ends.items():
                if worth := self.prospects.worth(ends, features):
                    for card in self.unseen:
                        if worth[card] > nothing:
                            table[card].append((worth[card], position))
            for entries in table:
                entries.sort(reverse=True)
            self._ranked[features] = table
        return self._ranked[features]

    def promise(self, features):
        """By unseen card: what it is worth at best."""
        ranked, nothing = self.ranked(features), self.prospects.nothing(features)
        return [ranked[card][0][0] if ranked[card] else nothing for card in self.unseen]

    def promise_after(self, layout, position, features):
        """The same in the garden that `layout` is, which differs from this one by a card put at `position`."""
        before, kinds = self.ends, layout.kinds
        changed = set(before).difference(layout.positions)
        fresh = {bytes([self.prospects.nothing(features)]) * len(self.prospects.deck)}
        card_x, card_y = point(position)
        for near in layout.positions:
            known = before.get(near)
            if known is None:
                ends = look(kinds, near)
            else:
                x, y = point(near)
                which = facing(x - card_x, y - card_y)
                if which is None or (ends := look(kinds, near, which, known)) == known:
                    continue
            changed.add(near)
            if worth := self.prospects.worth(ends, features):
                fresh.add(worth)
        best = list(map(max, *fresh)) if len(fresh) > 1 else list(*fresh)
        ranked = self.ranked(features)
        promise = []
        for card in self.unseen:
            value = best[card]
            for worth, where in ranked[card]:
                if worth <= value:
                    break
                if where not in changed:
                    value = worth
                    break
            promise.append(value)
        return promise


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
    """The expected highest of so many values, drawn at random from these without putting any back."""
    total, chance, left = 0.0, 1.0, len(values)
    for value in sorted(values, reverse=True):
        drawn = min(1.0, choices / left)
        total += chance * drawn * value
        chance *= 1.0 - drawn
        left -= 1
        if chance < 1e-6:
            break
    return total
