"""Battles of Samurai: who may win each piece on the board, by what lies around it and whose turn is next.

What daimyo and shogun share begins here. `samurai_majorities` makes chances to win the game of the chances to win
pieces, `samurai_turns` looks for turns, `samurai_requests` reads what the referee sends.

As in the engine, castes and tiles are numbers, their index in `CASTES` and `TILES`, and what lies on a space is a
**code**: 0 for nothing, else 1 + seat * 17 + tile.
"""

from math import exp
from operator import itemgetter

from samurai import CASTES, INFLUENCES, SETTLEMENTS, TILES, VALUE

KINDS = len(TILES)
NUMBER = {tile: number for number, tile in enumerate(TILES)}
SWITCH, MOVE = NUMBER["switch"], NUMBER["move"]
SHIPS = frozenset(number for tile, number in NUMBER.items() if tile.startswith("ship"))
STRENGTH = [tuple(VALUE[tile] * (caste in INFLUENCES[tile]) for caste in CASTES) for tile in TILES]
"""By tile: its value for each caste."""
FULL_SET = tuple(tile for tile in range(KINDS) for _ in range(1 + (TILES[tile] in ("samurai1", "samurai2", "ship1"))))
"""The tiles that every seat begins with."""
CASTES_OF = [tuple(caste for caste in range(3) if mask >> caste & 1) for mask in range(8)]
"""The castes in a mask of three bits."""
ODDS = {
    2: (
        ((-1.98, 1.1), (2.3, 1.13)),
        ((0.12, 0.9), (0.21, 0.9)),
        ((-0.55, 0.66), (0.76, 0.67)),
        ((-0.13, 0.68), (0.32, 0.68)),
    ),
    3: (
        ((-1.47, 0.94), (1.79, 0.76)),
        ((0.69, 0.86), (0.72, 0.87)),
        ((0.58, 0.57), (1.4, 0.58)),
        ((1.0, 0.35), (1.6, 0.35)),
    ),
    4: (
        ((-1.37, 1.02), (1.69, 0.76)),
        ((1.05, 0.84), (1.09, 0.84)),
        ((1.66, 0.43), (2.38, 0.48)),
        ((2.46, 0.38), (2.54, 0.44)),
    ),
}
"""How battles went in hundreds of games of greedy, by the number of seats and of empty land spaces around (1, 2, 3, 4
or more). For the seat that has the next turn, then for any other: the lead over its strongest rival at which its chance
to win the piece is even, and how steeply the chance rises with the lead."""
DECIDED = {2: (0.85, 0.6, 0.5, 0.4), 3: (0.65, 0.5, 0.5, 0.5), 4: (0.63, 0.45, 0.5, 0.5)}
"""Likewise, how many of the battles were decided before the game was over."""


def tile_code(seat, tile):
    """What lies where this seat has this tile."""
    return 1 + seat * KINDS + tile


class Garrisons:
    """The settlements that hold pieces."""

    __slots__ = ("masks", "touching")

    def __init__(self, masks, touching):
        self.masks = masks
        """By settlement, the mask of its castes."""
        self.touching = touching
        """By space, those of them that are next to it."""

    def exchange(self, space, caste, other, other_caste):
        """The same after two pieces changed places."""
        masks, both = dict(self.masks), 1 << caste | 1 << other_caste
        masks[space] ^= both
        masks[other] ^= both
        return Garrisons(masks, self.touching)

    def pieces(self):
        """By caste, the settlements."""
        return tuple(bytes(s for s, mask in self.masks.items() if mask >> caste & 1) for caste in range(3))


class Realm:
    """The board of a game, and what was worked out about it: the same fronts come up again and again."""

    def __init__(self, spaces, seats):
        """`spaces` are those of `game_start.board`."""
        self.seats = seats
        self.is_land = [space["kind"] == "land" for space in spaces]
        settlements = [number for number, space in enumerate(spaces) if space["kind"] in SETTLEMENTS]
        self.around = {s: [near for near in spaces[s]["neighbours"] if near not in settlements] for s in settlements}
        """By settlement, the spaces next to it that can hold tiles."""
        self.near = [tuple(s for s in settlements if number in self.around[s]) for number in range(len(spaces))]
        """By space that can hold a tile, the settlements next to it."""
        # With one argument itemgetter returns no tuple: the first space is asked for twice, `_front` skips the last.
        self._codes = {s: itemgetter(*around, around[0]) for s, around in self.around.items()}
        self._fronts = {settlement: {} for settlement in settlements}
        self._chances = {}
        self._garrisons = {}

    def garrisons(self, pieces):
        """The settlements that hold `pieces`: by caste, the settlements as bytes."""
        if pieces not in self._garrisons:
            masks = {}
            for caste, settlements in enumerate(pieces):
                for settlement in settlements:
                    masks[settlement] = masks.get(settlement, 0) | 1 << caste
            touching = [tuple(settlement for settlement in near if settlement in masks) for near in self.near]
            self._garrisons[pieces] = Garrisons(masks, touching)
        return self._garrisons[pieces]

    def front(self, settlement, at):
        """What matters of the tiles around: the number of empty land spaces, and by caste each seat's influence."""
        codes = self._codes[settlement](at)
        known = self._fronts[settlement]
        front = known.get(codes)
        if front is None:
            front = known[codes] = self._front(settlement, codes)
        return front

    def _front(self, settlement, codes):
        totals = [[0] * self.seats for _ in CASTES]
        empty = 0
        for space, code in zip(self.around[settlement], codes, strict=False):
            if code:
                seat, tile = divmod(code - 1, KINDS)
                for total, strength in zip(totals, STRENGTH[tile], strict=True):
                    total[seat] += strength
            else:
                empty += self.is_land[space]
        return empty, *map(tuple, totals)

    def chances(self, empty, totals, following):
        """Each seat's chance to win a piece for which its influence is in `totals`; `following` has the next turn."""
        key = empty, totals, following
        chances = self._chances.get(key)
        if chances is None:
            chances = tuple(self._chance(empty, totals, seat, following) for seat in range(self.seats))
            self._chances[key] = chances
        return chances

    def _chance(self, empty, totals, seat, following):
        lead = totals[seat] - max(total for other, total in enumerate(totals) if other != seat)
        if not empty:
            return float(lead > 0)
        odds = ODDS[self.seats]
        row = min(empty, len(odds)) - 1
        even, steep = odds[row][seat != following]
        return DECIDED[self.seats][row] / (1 + exp(steep * (even - lead)))
