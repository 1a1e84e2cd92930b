"""What bots for Samurai share: the tiles, the board, and who influences what. It imports nothing."""

CASTES = ("buddha", "rice", "castle")
TILES = (
    *(f"{caste}{value}" for caste in CASTES for value in (2, 3, 4)),
    *("samurai1", "samurai2", "samurai3", "ship1", "ship2", "ronin1", "switch", "move"),
)
VALUE = {tile: int(tile[-1]) if tile[-1].isdigit() else 0 for tile in TILES}
INFLUENCES = {tile: (tile[:-1],) if tile[:-1] in CASTES else CASTES for tile in TILES}
"""The castes that a tile's value counts for."""
FAST = frozenset({"ship1", "ship2", "ronin1", "switch"})
"""The tiles that are fast by the table of tiles; `fast_tiles` returns those of a game."""
SETTLEMENTS = ("village", "city", "edo")


def fast_tiles(options):
    """Returns the tiles that are fast under a game's options, and those that may follow one that is not."""
    if options["fast"] == "specials":
        return frozenset({"switch", "move"}), frozenset()
    fast = FAST | {"move"} if options["move_is_fast"] == "yes" else FAST
    return fast, fast


class Board:
    """The board of a game and those of its options that matter here, from the message `game_start`."""

    def __init__(self, game):
        spaces, options = game["board"]["spaces"], game["options"]
        self.fast, self.after_slow = fast_tiles(options)
        self.instant = options["captures"] == "instant"
        """Whether pieces are captured within a turn, which changes what else can be played."""
        self.seat = game["seat"]
        self.seats = range(game["seats"])
        self.is_land = [space["kind"] == "land" for space in spaces]
        self.settlements = [i for i, space in enumerate(spaces) if space["kind"] in SETTLEMENTS]
        self.around = {i: spaces[i]["neighbours"] for i in self.settlements}
        """The spaces next to a settlement."""
        self.beside = [
            frozenset() if i in self.around else frozenset(self.around.keys() & set(space["neighbours"]))
            for i, space in enumerate(spaces)
        ]
        """The settlements next to a space that takes tiles."""


class Position:
    """What lies on the board, and each settlement's balance of influence as one seat sees it."""

    def __init__(self, board, pieces, tiles):
        self.board = board
        self.pieces = pieces
        """The castes of the pieces at each settlement."""
        self.tiles = tiles
        """The seat and the tile on each space that holds one."""
        self.empty = {}
        """How many land spaces around each settlement with pieces hold no tile."""
        self.lead = {}
        """By settlement and caste: this seat's influence minus that of its strongest rival."""
        for settlement, castes in pieces.items():
            if castes:
                around = board.around[settlement]
                self.empty[settlement] = sum(board.is_land[space] and space not in tiles for space in around)
                self.lead[settlement] = self.leads([tiles[space] for space in around if space in tiles])

    @classmethod
    def of(cls, board, view):
        """Returns the position that a request's view shows."""
        pieces = {settlement: [] for settlement in board.settlements}
        for caste in CASTES:
            for settlement in view["pieces"][caste]:
                pieces[settlement].append(caste)
        return cls(board, pieces, {space: (seat, tile) for space, seat, tile in view["tiles"]})

    def leads(self, tiles):
        """Returns this seat's lead in each caste where these tiles, pairs of seat and tile, lie around."""
        totals = {caste: [0 for _ in self.board.seats] for caste in CASTES}
        for seat, tile in tiles:
            for caste in INFLUENCES[tile]:
                totals[caste][seat] += VALUE[tile]
        return {caste: total.pop(self.board.seat) - max(total) for caste, total in totals.items()}

    def captures(self):
        """Returns whether a settlement with pieces is surrounded."""
        return 0 in self.empty.values()

    def after(self, play):
        """Returns the position after a play of this seat, in the form of `plays`."""
        tile, space, *rest = play
        pieces, tiles = self.pieces, dict(self.tiles)
        if tile == "move":
            tiles[rest[0]] = tiles[space]
        if tile == "switch":
            caste, other, other_caste = rest
            pieces = {settlement: list(castes) for settlement, castes in pieces.items()}
            pieces[space][pieces[space].index(caste)] = other_caste
            pieces[other][pieces[other].index(other_caste)] = caste
        else:
            tiles[space] = (self.board.seat, tile)
        return Position(self.board, pieces, tiles)


def plays(legal):
    """Returns the legal first plays of a turn, as tuples.

    (tile, space) places, ("move", from, to) moves, and ("switch", space, caste, with, with_caste) switches.
    """
    for product in legal:
        for tile in product["tile"]:
            if tile == "move":
                yield from ((tile, source, target) for source in product["from"] for target in product["to"])
            elif tile == "switch":
                yield from (
                    (tile, space, caste, other, other_caste)
                    for space in product["space"]
                    for caste in product["caste"]
                    for other in product["with"]
                    for other_caste in product["with_caste"]
                )
            else:
                yield from ((tile, space) for space in product["space"])


def wire(play):
    """Returns a play as an action holds it."""
    keys = {"move": ("tile", "from", "to"), "switch": ("tile", "space", "caste", "with", "with_caste")}
    return dict(zip(keys.get(play[0], ("tile", "space")), play, strict=True))


def remaining(candidates, hand, played, board):
    """Returns those of a turn's first plays that are still legal after the plays `played`.

    Nothing can be said of the plays after one that captures pieces within the turn.
    """
    left = list(hand)
    taken = set()
    for tile, *rest in played:
        left.remove(tile)
        if tile != "switch":
            taken.add(rest[-1])
    able = left if all(play[0] in board.fast for play in played) else board.after_slow.intersection(left)
    return [play for play in candidates if play[0] in able and (play[0] == "switch" or play[-1] not in taken)]
