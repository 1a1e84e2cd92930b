"""What is computed once for a board, a number of seats and a set of options, and never changes."""

from __future__ import annotations

from collections.abc import Mapping

from arena.rules.base import Decision, Draw
from arena.rules.samurai.board import PIECES, Board
from arena.rules.samurai.scoring import SCORES
from arena.rules.samurai.state import State, tile_code
from arena.rules.samurai.tiles import CASTES, EVERY_KIND, FAST_KINDS, FULL_SET, KINDS, MOVE, ONE, TILES

PLACED = [[ONE[tile_code(seat, tile)] for tile in range(KINDS)] for seat in range(4)]
"""By seat and tile: what `State.at` holds for it, as one byte to splice in."""
MOVABLE = [
    frozenset(tile_code(seat, index) for index, tile in enumerate(TILES) if not tile.fast and index != MOVE)
    for seat in range(4)
]
"""By seat: what `State.at` holds for those of its tiles that a move may take from the board."""
_STRENGTHS = [tuple(tile.value * (caste in tile.castes) for caste in range(len(CASTES))) for tile in TILES]
INFLUENCE = [(0, (0, 0, 0))] + [(seat, strength) for seat in range(4) for strength in _STRENGTHS]
"""By what `State.at` holds: whose tile it is, and how much it influences each caste."""


class Tables:
    """The board as the rules read it, and the objects that would otherwise be made again at every step."""

    def __init__(self, board: Board, seats: int, options: Mapping[str, str]) -> None:
        self.seats = seats
        self.options = dict(options)
        self.instant = options["captures"] == "instant"
        self.chosen_order = options["capture_order"] == "chosen"
        self.must_follow = options["fast"] == "must_follow"
        self.near_pieces = options["placement"] == "near_pieces"
        self.score = SCORES[options["scoring"]]
        self.fast = FAST_KINDS + ONE[MOVE] if options["move_is_fast"] == "yes" else FAST_KINDS
        """The kinds of tiles that are fast."""
        self.allowed = (EVERY_KIND, self.fast)
        """The kinds of tiles that may be played, by `State.fast_only`."""
        kinds = [space.kind for space in board.spaces]
        by_kind = {kind: bytes(i for i, k in enumerate(kinds) if k == kind) for kind in ("land", "sea", *PIECES)}
        self.land, self.villages, self.cities = by_kind["land"], by_kind["village"], by_kind["city"]
        edos = by_kind["edo"]
        self.around = [tuple(n for n in space.neighbours if kinds[n] in ("land", "sea")) for space in board.spaces]
        """By space: the neighbours that can hold tiles."""
        self.land_around = [tuple(n for n in space.neighbours if kinds[n] == "land") for space in board.spaces]
        """By settlement: the spaces that must be full for it to be surrounded. The sea need not be."""
        self.settlements_near = [
            tuple(n for n in space.neighbours if kinds[n] in PIECES) if space.kind == "land" else ()
            for space in board.spaces
        ]
        """By land space: the settlements that it helps to surround."""
        self.everyone = tuple(range(seats))
        self.others = [tuple(other for other in range(seats) if other != seat) for seat in range(seats)]
        self.draws = [[Draw(f"stack/{seat}", n) for n in range(len(FULL_SET) + 1)] for seat in range(seats)]
        """By seat and size of its stack: the draw of a tile."""
        self.decisions = {kind: [(Decision(seat, kind),) for seat in range(seats)] for kind in ("setup", "turn")}
        per_caste = sum(PIECES.get(kind, 0) for kind in kinds) // len(CASTES) - len(edos)
        self.start = State(
            phase="hand" if self.options["hand"] == "chosen" else "deal",
            turn=0,
            to_move=0,
            land=self.land,
            sea=by_kind["sea"],
            at=bytes(len(kinds)),
            pieces=(edos, edos, edos),
            supply=(per_caste, per_caste, per_caste),
            hands=(b"",) * seats,
            stacks=(FULL_SET,) * seats,
            captured=((0, 0, 0),) * seats,
            set_aside=(0, 0, 0),
        )
        """Every piece in the supply but those of Edo, every tile in its owner's stack."""
