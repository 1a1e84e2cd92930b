"""Turns of Samurai: what each play would gain a seat, and which whole turns look best.

A play is a tuple: (tile, space) places, (MOVE, from, to) moves, (SWITCH, space, caste, with, with_caste) switches.
"""

from heapq import nlargest
from itertools import combinations

from samurai import fast_tiles
from samurai_battles import CASTES_OF, KINDS, MOVE, NUMBER, SHIPS, STRENGTH, SWITCH, tile_code
from samurai_majorities import Position, promise

CASTES = range(3)
WIDTHS = (10, 3, 2, 1)
"""How many plays of each kind, fast or not, are tried as the first of a turn, as the second, and so on."""
NOW = KINDS
"""Where a row holds what the pieces are worth, behind what each tile gains."""
PAIRS = tuple(combinations(CASTES, 2))
"""Every two castes."""


class Customs:
    """The options of a game that say how plays make up a turn."""

    def __init__(self, options):
        self.fast, self.after_slow = ({NUMBER[tile] for tile in tiles} for tiles in fast_tiles(options))
        """The tiles that are fast, and those that may follow one that is not."""
        self.instant = options["captures"] == "instant"
        self.must_follow = options["fast"] != "optional"

    def order(self, plays):
        """Returns the plays of a turn in an order in which they make up a whole one, if there is one."""
        if self.must_follow and not self.instant:
            return tuple(sorted(plays, key=lambda play: play[0] not in self.fast))
        return plays


class Choices:
    """What a seat may play first in its turn."""

    __slots__ = ("any", "hand", "places", "sources", "switch", "targets")

    def __init__(self, hand):
        self.hand = hand
        """Its tiles, with those that cannot be played."""
        self.places = []
        """Pairs of tiles and spaces: any of the ones may be placed on any of the others."""
        self.switch = False
        """Whether it may switch."""
        self.any = None
        """One legal play, for where there is no other."""
        self.sources, self.targets = (), ()
        """From where it may move a tile, and where to."""


class Gauge:
    """What plays gain a seat at fixed stakes: the change of its chance to win, as far as that is linear."""

    def __init__(self, realm, seat, following, stakes):
        self.realm, self.seat, self.following, self.stakes = realm, seat, following, stakes
        self.prices = [
            sum([stake[seat] * part for stake, part in zip(stakes, parts, strict=True)]) for parts in realm.promises
        ]
        """By tile, what it costs to play it."""
        self._rows = {}
        self._pieces = {}

    def piece(self, empty, totals, caste):
        """Returns what a piece of a caste is worth where the battle for it stands so."""
        key = empty, totals, caste
        worth = self._pieces.get(key)
        if worth is None:
            odds = self.realm.chances(empty, totals, self.following)
            worth = sum([chance * stake for chance, stake in zip(odds, self.stakes[caste], strict=True)])
            self._pieces[key] = worth
        return worth

    def row(self, front, mask):
        """By tile, what it gains next to a settlement with these pieces; last, at `NOW`, what they are worth."""
        key = front, mask
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = self._row(front, mask)
        return row

    def _row(self, front, mask):
        empty, *totals = front
        now = sum([self.piece(empty, totals[caste], caste) for caste in CASTES_OF[mask]])
        row = []
        for tile, strength in enumerate(STRENGTH):
            left = empty if tile in SHIPS else max(0, empty - 1)
            worth = 0.0
            for caste in CASTES_OF[mask]:
                worth += self.piece(left, self._more(totals[caste], strength[caste]), caste)
            row.append(worth - now)
        return [*row, now]

    def _more(self, totals, strength):
        if not strength:
            return totals
        seat = self.seat
        return (*totals[:seat], totals[seat] + strength, *totals[seat + 1 :])


class Node:
    """A position within a seat's turn, and what its tiles would gain from here."""

    __slots__ = ("at", "garrisons", "gauge", "rows")

    def __init__(self, gauge, at, garrisons, rows=None):
        self.gauge, self.at, self.garrisons = gauge, at, garrisons
        if rows is None:
            front, row = gauge.realm.front, gauge.row
            rows = {settlement: row(front(settlement, at), mask) for settlement, mask in garrisons.masks.items()}
        self.rows = rows
        """By settlement with pieces, `Gauge.row`."""

    def after(self, play):
        """Returns the position after a play."""
        seat = self.gauge.seat
        if play[0] == SWITCH:
            return self._exchange(*play[1:])
        if play[0] == MOVE:
            _, source, target = play
            return self._put((target, self.at[source]), (source, tile_code(seat, MOVE)))
        tile, space = play
        return self._put((space, tile_code(seat, tile)))

    def _put(self, *changes):
        at = bytearray(self.at)
        for space, code in changes:
            at[space] = code
        return self._changed(at, self.garrisons, [s for space, _ in changes for s in self.garrisons.touching[space]])

    def _exchange(self, space, caste, other, other_caste):
        return self._changed(self.at, self.garrisons.exchange(space, caste, other, other_caste), (space, other))

    def _changed(self, at, garrisons, settlements):
        rows, gauge = dict(self.rows), self.gauge
        for settlement in settlements:
            rows[settlement] = gauge.row(gauge.realm.front(settlement, at), garrisons.masks[settlement])
        return Node(gauge, at, garrisons, rows)

    def position(self, before, plays):
        """Returns the position after a turn of these plays, which began in the position `before`."""
        reserves = list(before.reserves)
        spent = promise(self.gauge.realm, [play[0] for play in plays])
        reserves[self.gauge.seat] = [r - s for r, s in zip(reserves[self.gauge.seat], spent, strict=True)]
        return Position(self.at, self.garrisons, before.captured, before.set_aside, reserves)

    def captures(self):
        """Returns whether a settlement with pieces is surrounded."""
        front = self.gauge.realm.front
        return any(not front(settlement, self.at)[0] for settlement in self.garrisons.masks)

    def placements(self, tiles, spaces):
        """What placing tiles gains: (gain less price, (tile, space)). Of spaces next to the same pieces one counts."""
        rows, prices, touching = self.rows, self.gauge.prices, self.garrisons.touching
        seen = set()
        found = []
        for space in spaces:
            near = touching[space]
            if near in seen:
                continue
            seen.add(near)
            if len(near) == 1:
                row = rows[near[0]]
                found += [(row[tile] - prices[tile], (tile, space)) for tile in tiles]
            elif len(near) == 2:
                row, other = rows[near[0]], rows[near[1]]
                found += [(row[tile] + other[tile] - prices[tile], (tile, space)) for tile in tiles]
            else:
                around = [rows[settlement] for settlement in near]
                found += [(sum([row[tile] for row in around]) - prices[tile], (tile, space)) for tile in tiles]
        return found

    def moves(self, sources, targets):
        """Returns what moving a tile gains, likewise."""
        gauge = self.gauge
        found = []
        for source in sources:
            lifted = self._put((source, tile_code(gauge.seat, MOVE)))
            tile = (self.at[source] - 1) % KINDS
            gain = gauge.prices[tile] - gauge.prices[MOVE]
            for settlement in self.garrisons.touching[source]:
                gain += lifted.rows[settlement][NOW] - self.rows[settlement][NOW]
            found += [(more + gain, (MOVE, source, to)) for more, (_, to) in lifted.placements((tile,), targets)]
        return found

    def switches(self):
        """Returns what it gains to exchange pieces of different castes."""
        gauge = self.gauge
        price = gauge.prices[SWITCH]
        holders = []
        for settlement, mask in self.garrisons.masks.items():
            empty, *totals = gauge.realm.front(settlement, self.at)
            holders.append((settlement, mask, [gauge.piece(empty, totals[caste], caste) for caste in CASTES]))
        found = []
        for caste, other_caste in PAIRS:
            one, two = 1 << caste, 1 << other_caste
            # What it gains to have the other caste here instead of the one, and the one there instead of the other.
            here = [(worth[other_caste] - worth[caste], s) for s, mask, worth in holders if mask & (one | two) == one]
            there = [(worth[caste] - worth[other_caste], s) for s, mask, worth in holders if mask & (one | two) == two]
            found += [
                (gain + more - price, (SWITCH, space, caste, other, other_caste))
                for gain, space in nlargest(3, here)
                for more, other in nlargest(3, there)
            ]
        return found


class TurnSearch:
    """The turns of a seat that gain most: a beam of plays, each from the position after those before."""

    def __init__(self, customs, choices, enough=None):
        """`enough` says when to stop looking; by itself the search ends after some hundred positions."""
        self.customs, self.choices = customs, choices
        self._enough = enough or (lambda: False)
        self._found = {}
        self._seen = set()

    def run(self, node):
        """Returns the turns from a position, at least one, the best first: (gain, plays in order, node after them)."""
        self._extend(node, 0.0, (), self.choices.hand, False)
        if not self._found:
            only = self.choices.any
            return [(0.0, (only,), node.after(only))]
        return sorted(self._found.values(), key=lambda turn: -turn[0])

    def _extend(self, node, gain, plays, hand, fast_only):
        customs = self.customs
        stop = customs.instant and bool(plays) and node.captures()
        # Pieces have gone then: what can be played now is another question, and for another request.
        options = [] if stop else self._options(node, plays, hand, fast_only)
        if plays and (fast_only or not customs.must_follow or not options):
            self._found[frozenset(plays)] = gain, customs.order(plays), node
        width = WIDTHS[min(len(plays), len(WIDTHS) - 1)]
        fast, slow = [], []
        for option in options:
            (fast if option[1][0] in customs.fast else slow).append(option)
        for group in (slow, fast):
            for more, play in nlargest(width, group):
                turn = frozenset((*plays, play))
                if (plays and more <= 0 and not (customs.must_follow and not fast_only)) or self._enough():
                    break
                if turn not in self._seen:
                    self._seen.add(turn)
                    left = list(hand)
                    left.remove(play[0])
                    self._extend(node.after(play), gain + more, (*plays, play), left, fast_only or group is slow)

    def _options(self, node, plays, hand, fast_only):
        choices = self.choices
        filled = {play[-1] for play in plays if play[0] != SWITCH}
        able = self.customs.after_slow.intersection(hand) if fast_only else set(hand)
        found = []
        for tiles, spaces in choices.places:
            if left := [tile for tile in tiles if tile in able]:
                found += node.placements(left, [space for space in spaces if space not in filled])
        if MOVE in able and choices.sources:
            found += node.moves(choices.sources, [space for space in choices.targets if space not in filled])
        if SWITCH in able and choices.switch:
            found += node.switches()
        return found
