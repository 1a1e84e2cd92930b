"""What games of Samurai have taught: the numbers by which positions are judged."""

from typing import NamedTuple


class Lore(NamedTuple):
    """What is believed of games for one number of seats."""

    odds: tuple
    """How battles go, by the number of empty land spaces around (1, 2, 3, 4 or more). For the seat that has the next
    turn, then for any other: the lead over its strongest rival at which its chance to win the piece is even, and how
    steeply the chance rises with the lead."""
    decided: tuple
    """Likewise, how many of the battles are decided before the game is over."""
    pull: float
    """How much a piece more draws a game without two majorities towards its owner."""
    played: float
    """How much a tile that is not played yet still counts: games of many end with tiles left."""
    doubt: float = 0.3
    """The standard deviation of a difference in pieces that seems certain."""
    one_caste: float = 0.06
    """How many pieces a point of value can be expected to win on a tile for one caste, that is not played yet."""
    samurai: float = 0.08
    """Likewise on a tile for every caste."""
    ship: float = 0.1
    """Likewise on a ship, which is fast."""
    ronin_switch_move: tuple = (0.2, 0.3, 0.24)
    """How many pieces these tiles can be expected to win, of each caste, whatever their value."""


LORE = {
    2: Lore(
        odds=(
            ((-1.98, 1.1), (2.3, 1.13)),
            ((0.12, 0.9), (0.21, 0.9)),
            ((-0.55, 0.66), (0.76, 0.67)),
            ((-0.13, 0.68), (0.32, 0.68)),
        ),
        decided=(0.85, 0.6, 0.5, 0.4),
        pull=1.0,
        played=1.0,
    ),
    3: Lore(
        odds=(
            ((-1.47, 0.94), (1.79, 0.76)),
            ((0.69, 0.86), (0.72, 0.87)),
            ((0.58, 0.57), (1.4, 0.58)),
            ((1.0, 0.35), (1.6, 0.35)),
        ),
        decided=(0.65, 0.5, 0.5, 0.5),
        pull=0.3,
        played=0.5,
    ),
    4: Lore(
        odds=(
            ((-1.37, 1.02), (1.69, 0.76)),
            ((1.05, 0.84), (1.09, 0.84)),
            ((1.66, 0.43), (2.38, 0.48)),
            ((2.46, 0.38), (2.54, 0.44)),
        ),
        decided=(0.63, 0.45, 0.5, 0.5),
        pull=0.15,
        played=0.2,
    ),
}
"""By the number of seats. Odds and `decided` come from hundreds of games of greedy."""
