"""Battles of Samurai: who may win each piece on the board, by what lies around it and whose turn is next.

What daimyo and shogun share begins here. `samurai_lore` holds the numbers that games have taught, `samurai_majorities`
makes chances to win the game of the chances to win pieces, `samurai_turns` looks for turns, `samurai_requests` reads
what the referee sends.

As in the engine, castes and tiles are numbers, their index in `CASTES` and `TILES`, and what lies on a space is a
**code**: 0 for nothing, else 1 + seat * 17 + tile.
"""

from math import exp
from operator import itemgetter

from samurai import CASTES, INFLUENCES, SETTLEMENTS, TILES, VALUE
from samurai_lore import LORE

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


def tile_code(seat, tile):
    """Returns what lies where this seat has this tile."""
    return 1 + seat * KINDS + tile


def promises(lore):
    """By tile and caste: how many pieces a tile that is not played yet can be expected to win."""
    alike = dict(zip((NUMBER["ronin1"], SWITCH, MOVE), lore.ronin_switch_move, strict=True))
    table = []
    for tile, strength in enumerate(STRENGTH):
        rate = lore.ship if tile in SHIPS else lore.samurai if all(strength) else lore.one_caste
        table.append((alike[tile],) * len(CASTES) if tile in alike else tuple(rate * value for value in strength))
    return table


class Garrisons:
    """The settlements that hold pieces."""

    __slots__ = ("masks", "touching")

    def __init__(self, masks, touching):
        self.masks = masks
        """By settlement, the mask of its castes."""
        self.touching = touching
        """By space, those of them that are next to it."""

    def exchange(self, space, caste, other, other_caste):
        """Returns the same after two pieces changed places."""
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
        self.lore = LORE[seats]
        self.promises = promises(self.lore)
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
        """Returns the settlements that hold `pieces`: by caste, the settlements as bytes."""
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
            chances = self._outcome(totals) if not empty else self._outlook(empty, totals, following)
            self._chances[key] = chances
        return chances

    def _outlook(self, empty, totals, following):
        lore, row = self.lore, min(empty, len(self.lore.steep)) - 1
        steep, turn = lore.steep[row], lore.turn[row]
        weights = [exp(steep * total + turn[(seat - following) % self.seats]) for seat, total in enumerate(totals)]
        share = lore.decided[row] / (sum(weights) + exp(lore.nobody[row]))
        return tuple(share * weight for weight in weights)

    @staticmethod
    def _outcome(totals):
        highest = max(totals)
        return tuple(float(total == highest and totals.count(total) == 1) for total in totals)
