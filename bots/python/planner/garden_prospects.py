"""What each card of a deck can do at a position of a garden. The heart of planner.

Only the *ends* of a card's five lines matter for the rows that it makes: the run of alike squares that begins beside
each end. Most positions share their ends with positions met before, so what all cards score between some ends is worked
out once and kept.
"""

from functools import cache, lru_cache, partial
from itertools import product
from operator import add
from typing import NamedTuple

from arena.games.gardener.geometry import STRIDE
from arena.games.gardener.rounds import BONUS, POINTS, turn_down
from arena.games.gardener.state import ALL_KINDS

POINT = 10
"""What a point is worth: values are in tenths of a point."""
MANY = 10_000
"""So many different ends may be remembered when a game begins, with all that belongs to them about 5 KiB each."""
LONGEST = 5
"""The longest row that scores; longer runs are all alike."""
# A card's five lines: from its position to the first square before the line and the first after it, the step from one
# square to the next, and which of the card's squares lie on it.
LINES = (
    *((y - STRIDE, y + 2 * STRIDE, STRIDE, (2 * y, 2 * y + 1)) for y in range(3)),
    *((x * STRIDE - 1, x * STRIDE + 3, 1, (x, x + 2, x + 4)) for x in range(2)),
)


class Weights(NamedTuple):
    """What planner's judgement rests on. `bot.toml` declares the same: `arena tune` looks for better ones."""

    face_up: int = 2
    """What a feature card that stays face up is worth."""
    open_end: float = 1.5
    """What the open end of a run of two, three or four squares is worth: the run can grow there."""
    future: float = 0.6
    """What a point that a garden promises is worth beside one scored now."""
    spite: float = 1.0
    """What it is worth to keep cards from opponents: this much of what they lose on average."""
    spread: float = 4.0
    """So many points ahead, a game that goes on is won with a chance of 73 % (1 / (1 + 1 / e))."""


def count_rows(rows):
    """Rows, each a kind and a length, as one number: three binary digits count those of each kind and length.

    So numbers of rows may be added, which is how those of a card's lines come together.
    """
    return sum(1 << 3 * (3 * kind + length - 3) for kind, length in rows)


def run_of(end):
    """Returns the kind and the length of the run that an end stands for."""
    return (end - 1) // LONGEST, (end - 1) % LONGEST + 1


def runs_between(before, after, line):
    """The runs of a line of kinds together with those at its two ends: kind, length, and whether any of it is new."""
    runs = [[*run_of(before), False]] if before else []
    for kind in line:
        if runs and runs[-1][0] == kind:
            runs[-1][1:] = runs[-1][1] + 1, True
        else:
            runs.append([kind, 1, True])
    if after:
        kind, length = run_of(after)
        if runs[-1][0] == kind:
            runs[-1][1] += length
        else:
            runs.append([kind, length, False])
    return runs


@cache
def new_rows(before, after, line):
    """Returns the rows, counted, that a line of kinds makes between two ends."""
    runs = runs_between(before, after, line)
    return count_rows((kind, length) for kind, length, new in runs if new and length in POINTS)


@lru_cache(maxsize=1 << 17)
def open_ends(before, after, line, features):
    """Returns how many open ends a line of kinds adds between two ends: of runs that can grow to rows that score.

    An end is open unless it meets a row, as far as can be told from here. Before, the runs at the ends count as open on
    both sides.
    """
    runs = runs_between(before, after, line)
    give_way = [True, *(length < min(POINTS) for _, length, _ in runs), True]
    had = sum(2 for end in (before, after) if end and _grows(*run_of(end), features))
    return sum(give_way[i] + give_way[i + 2] for i, (*run, _) in enumerate(runs) if _grows(*run, features)) - had


def _grows(kind, length, features):
    """Returns whether a run may become a row, or a longer one, that can be scored."""
    return 2 <= length < LONGEST and features >> kind & 1


@lru_cache(maxsize=1 << 16)
def scorings(rows, features):
    """Returns how rows can be scored: the most points for each set of feature cards that may be face up afterwards.

    Args:
        rows: The rows, counted.
        features: The feature cards that are face up; 0: they are ignored, and every row scores.
    """
    if not features:
        counted = [(kind, length, rows >> 3 * (3 * kind + length - 3) & 7) for kind in range(4) for length in POINTS]
        bonus = BONUS[len({kind for kind, _, count in counted if count})]
        return {0: bonus + sum(POINTS[length] * count for _, length, count in counted)}
    best = {}
    waiting = [(rows, features, 0, 0)]
    while waiting:
        rows, features, kinds, points = waiting.pop()
        best[features] = max(best.get(features, 0), points + BONUS[kinds.bit_count()])
        for kind in range(4):
            if features >> kind & 1:
                for length in POINTS:
                    digit = 3 * (3 * kind + length - 3)
                    if rows >> digit & 7:
                        rest = rows - (1 << digit)
                        state = rest, turn_down(features, kind), kinds | 1 << kind, points + POINTS[length]
                        waiting.append(state)
    return best


def score_worth(points, features, face_up):
    """Returns what points are worth, and the feature cards that are face up, each of which is worth `face_up`."""
    return POINT * points + face_up * features.bit_count()


class Worths(dict):
    """By rows, counted: what scoring them is worth with these feature cards face up.

    It is at most 255, so that it fits into a byte.
    """

    def __init__(self, features, face_up):
        self.features, self.face_up = features, face_up

    def __missing__(self, rows):
        worth = max(score_worth(points, left, self.face_up) for left, points in scorings(rows, self.features).items())
        worth = self[rows] = min(worth, 255)
        return worth


class Known(dict):
    """What was worked out, by what it was worked out for."""

    def __init__(self, work_out):
        self._work_out = work_out

    def __missing__(self, key):
        value = self[key] = self._work_out(key)
        return value


class Prospects:
    """What the cards of one deck can do at any position of any garden; what was worked out is kept."""

    def __init__(self, deck, weights):
        self.deck, self.weights = deck, weights
        self.faces = [*deck, *(card[::-1] for card in deck)]
        """The cards, first as they are, then turned."""
        self._kinds = [[tuple(face[i] for i in line) for *_, line in LINES] for face in self.faces]
        """By face: the kinds on its lines."""
        ends = range(4 * LONGEST + 1)
        self._lines = []
        """By line and its two ends: the rows that each face makes on it, or None if none makes any."""
        for kinds in zip(*self._kinds, strict=True):
            made = {pair: [new_rows(*pair, on_line) for on_line in kinds] for pair in product(ends, ends)}
            self._lines.append({pair: rows if any(rows) else None for pair, rows in made.items()})
        self._worths = [Worths(features, weights.face_up) for features in range(ALL_KINDS + 1)]
        self._rows = Known(self._work_out_rows)
        self._made = Known(self._work_out_made)
        self.worth = [Known(partial(self._work_out_worth, features)) for features in range(ALL_KINDS + 1)]
        """By feature cards and ends: what each card is worth there, whichever way it is turned; None if none makes a
        row."""
        self._aims = {}

    def rows(self, ends, face):
        """Returns the rows, counted, that a face makes between some ends."""
        made = self._made[ends]
        return made[face] if made else 0

    def aims(self, features, face):
        """By ends: what it is worth to put a face there, for its points and for the runs that can grow."""
        key = features, face
        if key not in self._aims:
            self._aims[key] = Known(partial(self._work_out_aim, features, face))
        return self._aims[key]

    def nothing(self, features):
        """Returns what it is worth to score nothing."""
        return self._worths[features][0]

    def forget(self):
        """Gives back memory if much is in use. A new game may as well go on with what is known."""
        if len(self._made) < MANY:
            return
        for known in (self._rows, self._made, self._aims, *self.worth):
            known.clear()

    def _work_out_made(self, ends):
        """Returns the rows that each face makes; None if none makes any."""
        across, down = self._rows[0, ends[:6]], self._rows[3, ends[6:]]
        return list(map(add, across, down)) if across and down else across or down

    def _work_out_rows(self, key):
        """Returns the same for some of its lines: those from the first on that run the same way."""
        first, ends = key
        total = None
        for line, pair in enumerate(zip(ends[::2], ends[1::2], strict=True), first):
            if rows := self._lines[line][pair]:
                total = list(map(add, total, rows)) if total else rows
        return total

    def _work_out_worth(self, features, ends):
        if not (made := self._made[ends]):
            return None
        worth, cards = list(map(self._worths[features].__getitem__, made)), len(self.deck)
        return bytes(map(max, worth[:cards], worth[cards:]))

    def _work_out_aim(self, features, face, ends):
        lines = zip(ends[::2], ends[1::2], self._kinds[face], strict=True)
        hope = sum([open_ends(before, after, kinds, features or ALL_KINDS) for before, after, kinds in lines])
        return self._worths[features][self.rows(ends, face)] + self.weights.open_end * hope
