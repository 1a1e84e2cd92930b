"""Picks one battle a turn and throws into it every tile that can help: the sooner it is decided, the better."""

import os
import sys

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from arena_bot import Bot, run
from samurai import CASTES, INFLUENCES, VALUE, Board, Position, plays, remaining, wire

HAND = ("samurai3", "samurai2", "ship2", "ship1", "ronin1")
"""The first hand: as many as possible to be thrown at once."""
HEAT = (100, 12, 20, 10, 5)
"""How much a battle matters, by the empty land spaces that are left around (4 or more count as 4)."""


class Banzai(Bot):
    name = "banzai"
    version = "1.0"
    rules = (("samurai", 1),)

    def start(self, game):
        self.board = Board(game)

    def decide(self, request):
        plays, note = getattr(self, request["kind"])(request["view"], request["legal"])
        return {"plays": plays}, note

    def hand(self, view, legal):
        return [{"hand": list(HAND)}], "all at once"

    def setup(self, view, legal):
        """Puts pieces where the fewest land spaces must be filled: these battles end first."""
        board = self.board
        _, space, caste = min(
            (sum(board.is_land[near] for near in board.around[space]), space, CASTES.index(caste))
            for product in legal
            for space in product["space"]
            for caste in product["caste"]
        )
        return [{"caste": CASTES[caste], "space": space}], "a battle that ends soon"

    def turn(self, view, legal):
        position = Position.of(self.board, view)
        first = list(plays(legal))
        best, charge, target = None, None, None
        for settlement, castes in position.pieces.items():
            tiles = self.charge(settlement, castes, first, view["hand"])
            if castes and tiles:
                score = self.score(position, settlement, castes, tiles)
                if best is None or score > best:
                    best, charge, target = score, tiles, settlement
        if charge is None:
            return [wire(first[0])], "no battle to join"
        if self.board.instant:
            charge = self.up_to_capture(position, charge)
        return [wire(play) for play in charge], f"{len(charge)} tiles against {target}: {best:+d}"

    def charge(self, settlement, castes, first, hand):
        """Returns the plays that throw into a battle all that can be thrown: the strongest first."""
        around = set(self.board.around[settlement])

        def strength(tile):
            return VALUE[tile] * sum(caste in INFLUENCES[tile] for caste in castes)

        helpful = [play for play in first if len(play) == 2 and play[1] in around and strength(play[0])]
        chosen = []
        while left := remaining(helpful, hand, chosen, self.board):
            # One tile that is not fast may go along: it comes first, for it is the strongest.
            chosen.append(max(left, key=lambda play: (play[0] not in self.board.fast, strength(play[0]), -play[1])))
        return chosen

    def up_to_capture(self, position, charge):
        """Returns the plays up to the first that captures pieces: what can be played then is another question."""
        for count, play in enumerate(charge, start=1):
            position = position.after(play)
            if position.captures():
                return charge[:count]
        return charge

    def score(self, position, settlement, castes, charge):
        """Returns pieces won less pieces lost, the more heat the nearer the end; then by how much it leads."""
        board = self.board
        tiles = position.tiles | {space: (board.seat, tile) for tile, space in charge}
        around = board.around[settlement]
        empty = sum(board.is_land[space] and space not in tiles for space in around)
        leads = position.leads([tiles[space] for space in around if space in tiles])
        won = sum((leads[caste] > 0) - (leads[caste] < 0) for caste in castes)
        return HEAT[min(empty, 4)] * won + sum(max(-3, min(3, leads[caste])) for caste in castes)


if __name__ == "__main__":
    run(Banzai())
