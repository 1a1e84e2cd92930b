"""What bots for Samurai Gardener share: cards, gardens and their rows, and where cards may go. It imports nothing.

A kind is a number here, its index in `KINDS`; a square is a pair (x, y), x to the right and y down. Feature cards are a
number with a bit for each kind, which is set if that card is face up.
"""

KINDS = ("tatami", "path", "pond", "garden")
ALL = 0b1111
"""All four feature cards face up."""
POINTS = {3: 1, 4: 2, 5: 4}
"""What a row brings, by its length."""
BONUS = (0, 0, 2, 4, 6)
"""What is added, by the number of different kinds scored in a round."""
SQUARES = tuple((x, y) for y in range(3) for x in range(2))
"""The squares of a card, in the order in which its kinds are given."""
ACROSS, DOWN = (1, 0), (0, 1)
NOTHING = None, 0, True
"""The run from an empty square on."""
LINES = (
    *(((0, y), ACROSS, (2 * y, 2 * y + 1)) for y in range(3)),
    *(((x, 0), DOWN, (x, x + 2, x + 4)) for x in range(2)),
)
"""The five lines of a card: the first square, the direction, and which of the card's squares lie on it."""
# Where the upper left corner of a card may lie, seen from a square that the card covers or lies beside.
_CORNERS = {(-x - dx, -y - dy) for x, y in SQUARES for dx, dy in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))}


def read_deck(game):
    """Returns the cards of a game, from the message `game_start`: the kinds of each as it is, and turned."""
    cards = [tuple(KINDS.index(kind) for kind in card) for card in game["board"]["cards"]]
    return [(card, card[::-1]) for card in cards]


def uses_features(options, seat):
    """Returns whether the feature cards matter for a seat: the option has one value for all, or one for each."""
    values = options["features"].split(",")
    return values[seat % len(values)] == "on"


def face_up(kinds):
    """Returns the feature cards, from the names of the kinds that are face up."""
    return sum(1 << KINDS.index(kind) for kind in kinds)


def turn_down(features, kind):
    """Returns the feature cards after a row of a kind was scored."""
    return features & ~(1 << kind) or ALL


class Garden:
    """What is seen of one garden, from the deck and the garden's entry in a view."""

    def __init__(self, deck, cards):
        self.kinds = {}
        """The kind of each square."""
        for card, x, y, turned in cards:
            self.kinds.update(zip(squares(x, y), deck[card][turned], strict=True))
        self.corners = {(x, y) for _, x, y, _ in cards}
        """Where cards were put."""
        self.lengths = {step: self._lengths(step) for step in (ACROSS, DOWN)}
        self.rows = set()
        """The squares that belong to a row: nothing may cover them."""
        for (dx, dy), lengths in self.lengths.items():
            for (x, y), length in lengths.items():
                if length >= 3:
                    self.rows.update((x + i * dx, y + i * dy) for i in range(length))

    def run_from(self, square, step):
        """Returns the run that goes from a square on: its kind, its length, and whether its far end is open.

        Of an empty square they are None, 0 and True.
        """
        if square not in self.kinds:
            return NOTHING
        if step not in self.lengths:
            self.lengths[step] = self._lengths(step)
        (x, y), (dx, dy), length = square, step, self.lengths[step][square]
        return self.kinds[square], length, (x + dx * length, y + dy * length) not in self.rows

    def _lengths(self, step):
        """Returns by square how many squares of one kind there are from it on, itself included."""
        kinds, (dx, dy), lengths = self.kinds, step, {}
        for square in sorted(kinds, reverse=step in (ACROSS, DOWN)):
            following = square[0] + dx, square[1] + dy
            lengths[square] = 1 + (lengths[following] if kinds.get(following) == kinds[square] else 0)
        return lengths

    def positions(self, exactly_over=False):
        """Returns where a card may be put, in ascending order. `exactly_over`: exactly over one beside others, too."""
        near = {(x + dx, y + dy) for x, y in self.kinds for dx, dy in _CORNERS}
        over_row = {(x - dx, y - dy) for x, y in self.rows for dx, dy in SQUARES}
        barred = set() if exactly_over and len(self.corners) > 1 else self.corners
        return sorted(near - over_row - barred)


def squares(x, y):
    """Returns the squares under a card at a position."""
    return [(x + dx, y + dy) for dx, dy in SQUARES]
