"""Greedy at Samurai: plays what gains most at once, by a count of influence.

`bots/README.md` has it number by number.
"""

from samurai import CASTES, INFLUENCES, TILES, VALUE, Board, Position, plays, remaining, wire

HAND = ("samurai3", "samurai2", "samurai2", "ship2", "ronin1")
"""The first hand."""
WORTH = (
    (-600, -600, -600, -600, -600, -600, 0, 600, 600, 600, 600, 600, 600),
    (-420, -360, -330, -300, -270, -240, -180, -60, 0, 60, 150, 300, 420),
    (-300, -260, -220, -180, -130, -60, 0, 70, 140, 200, 250, 290, 320),
    (-250, -210, -170, -130, -90, -45, 0, 50, 100, 150, 190, 230, 260),
    (-210, -175, -140, -105, -70, -35, 0, 40, 80, 115, 150, 180, 210),
)
"""What a piece is worth to a seat, by empty land spaces around (4 or more are one row) and by lead, from -6 to 6."""
COST = dict(zip(TILES, (30, 60, 100, 30, 60, 100, 30, 60, 100, 15, 60, 120, 30, 60, 45, 150, 150), strict=True))
"""What it costs to give a tile away."""
ORDER = {name: index for names in (TILES, CASTES) for index, name in enumerate(names)}


def key(play):
    """Returns the key of a play: of equal scores, the play with the smallest key is chosen."""
    return tuple(ORDER.get(part, part) for part in play)


def worth(empty, lead):
    """Returns what a piece is worth with `empty` land spaces left around it and this lead."""
    return WORTH[min(empty, 4)][max(-6, min(6, lead)) + 6]


class Scores:
    """The score of plays in one position."""

    def __init__(self, position):
        self.position = position
        self.beside = position.board.beside
        self.now = {
            settlement: {caste: worth(position.empty[settlement], lead[caste]) for caste in CASTES}
            for settlement, lead in position.lead.items()
        }
        """What a piece of each caste is, or would be, worth at each settlement with pieces."""
        self.placed = {}
        self.lifted = {}

    def __call__(self, play):
        tile, space, *rest = play
        if tile == "switch":
            gain = self.switch(space, *rest)
        elif tile == "move":
            gain = self.move(space, rest[0])
        else:
            gain = self.place(tile, space)
        return gain - COST[tile]

    def change(self, settlement, tile, added, filled):
        """Returns the gain at a settlement where the tile's influence is added (1), stays (0) or goes (-1)."""
        if settlement not in self.now:
            return 0
        empty = self.position.empty[settlement] - filled
        lead = self.position.lead[settlement]
        now = self.now[settlement]
        gain = 0
        for caste in self.position.pieces[settlement]:
            more = added * VALUE[tile] if caste in INFLUENCES[tile] else 0
            gain += worth(empty, lead[caste] + more) - now[caste]
        return gain

    def place(self, tile, space):
        if (tile, space) not in self.placed:
            filled = self.position.board.is_land[space]
            self.placed[tile, space] = sum(self.change(near, tile, 1, filled) for near in self.beside[space])
        return self.placed[tile, space]

    def move(self, source, target):
        tile = self.position.tiles[source][1]
        left, reached = self.beside[source], self.beside[target]
        if left.isdisjoint(reached):
            if source not in self.lifted:
                self.lifted[source] = sum(self.change(near, tile, -1, 0) for near in left)
            return self.lifted[source] + self.place(tile, target)
        return sum(
            self.change(near, tile, (near in reached) - (near in left), near in reached) for near in left | reached
        )

    def switch(self, space, caste, other, other_caste):
        here, there = self.now[space], self.now[other]
        return here[other_caste] - here[caste] + there[caste] - there[other_caste]


class SamuraiPlayer:
    """Greedy's decisions in one game: a method for each kind, which returns plays and a note."""

    def __init__(self, game):
        self.board = Board(game)

    def hand(self, view, legal):
        return [{"hand": list(HAND)}], "strength for every caste"

    def setup(self, view, legal):
        """Puts a caste near pieces of its own, so that one tile serves two; else keeps the supply even."""
        pieces = {(settlement, caste) for caste in CASTES for settlement in view["pieces"][caste]}
        beside = self.board.beside
        best = None
        for product in legal:
            for space in product["space"]:
                near = [other for around in self.board.around[space] for other in beside[around] if other != space]
                for caste in product["caste"]:
                    score = sum((other, caste) in pieces for other in near) * 2 + view["supply"][caste]
                    rank = (-score, ORDER[caste], space)
                    if best is None or rank < best[0]:
                        best = rank, {"caste": caste, "space": space}
        return [best[1]], f"score {-best[0][0]}"

    def turn(self, view, legal):
        """Takes the play with the highest score, then fast ones (and one that is not) as long as they gain."""
        position = Position.of(self.board, view)
        first = list(plays(legal))
        candidates = first
        chosen, notes = [], []
        while candidates:
            score = Scores(position)
            ranked = [(score(play), play) for play in candidates]
            best = max(value for value, _ in ranked)
            if chosen and best <= 0:
                break
            play = min((play for value, play in ranked if value == best), key=key)
            chosen.append(play)
            notes.append(f"{' '.join(map(str, play))} {best:+d}")
            position = position.after(play)
            if self.board.instant and position.captures():
                break
            candidates = remaining(first, view["hand"], chosen, self.board)
        return [wire(play) for play in chosen], "; ".join(notes)
