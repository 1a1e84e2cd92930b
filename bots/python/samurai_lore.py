"""What games of Samurai have taught: the numbers by which daimyo and shogun judge positions.

They came in two steps. First they were fitted to thousands of games of daimyo with some plays at random: so that, in
positions before a turn, what is said of each battle and of the game is as likely as can be. Then they were tuned by
play: two daimyos with all numbers a little changed, one of them the other way, sat down at one table, and the numbers
took a small step towards those that did better (simultaneous perturbation, SPSA); again and again. That matters most
for tiles kept back: of what they are worth, games tell little, because nobody plays differently for no reason.
"""

from typing import NamedTuple


class Lore(NamedTuple):
    """What is believed of games for one number of seats."""

    steep: tuple
    """How battles go, by the number of empty land spaces around: 1, 2, 3, 4, and 5 or more. A seat's chance to win a
    piece is proportional to e to the power of `steep` times its influence plus `turn`. This is `steep`."""
    turn: tuple
    """What it adds to have the next turn, the one after it, and so on."""
    nobody: tuple
    """The exponent for nobody: the piece is set aside."""
    decided: tuple
    """How many of the battles are decided at all before the game is over."""
    spread: float
    """How much the outcomes of the battles differ: their variance, as a multiple of that of independent battles."""
    doubt: float
    """The standard deviation of a difference in pieces that seems certain."""
    lead: float
    """From which difference in pieces on a caste is led. A half by rights: it is a whole number."""
    pull: float
    """How much a lead in other pieces, in standard deviations, draws a game without two majorities towards a seat."""
    pull_doubt: float
    """What is added to their standard deviation."""
    outside: float
    """How much pieces of castes that are led count less among these: all of it would be 1."""
    slack: float
    """The weight that a seat without a majority has in such a game, beside 1 for a seat with one."""
    one_caste: float
    """How many pieces a point of value can be expected to win on a tile for one caste, that is not played yet."""
    samurai: float
    """Likewise on a tile for every caste."""
    ship: float
    """Likewise on a ship, which is fast."""
    ronin_switch_move: tuple
    """How many pieces these tiles can be expected to win, of each caste, whatever their value."""


LORE = {
    2: Lore(
        steep=(0.69, 0.55, 0.48, 0.47, 0.39),
        turn=((0.96, -0.15), (0.59, 0.63), (0.65, 0.48), (0.36, 0.31), (0.55, 0.49)),
        nobody=(-0.44, -2.34, -1.44, -0.32, -0.39),
        decided=(0.77, 0.63, 0.59, 0.7, 0.91),
        spread=0.24,
        doubt=0.41,
        lead=0.61,
        pull=1.74,
        pull_doubt=0.1,
        outside=0.99,
        slack=0.22,
        one_caste=0.175,
        samurai=0.071,
        ship=0.067,
        ronin_switch_move=(0.49, 0.4, 0.35),
    ),
    3: Lore(
        steep=(0.76, 0.51, 0.41, 0.57, 0.59),
        turn=(
            (1.26, -0.26, -0.78),
            (0.8, -0.17, -0.17),
            (0.97, -0.34, -0.39),
            (0.96, -0.32, -0.38),
            (1.15, 0.02, -0.02),
        ),
        nobody=(-0.06, -2.88, 1.0, 0.53, -0.6),
        decided=(0.84, 0.65, 0.88, 0.94, 0.96),
        spread=0.96,
        doubt=0.03,
        lead=0.32,
        pull=1.04,
        pull_doubt=0.12,
        outside=0.81,
        slack=0.35,
        one_caste=0.087,
        samurai=0.011,
        ship=0.065,
        ronin_switch_move=(0.23, 0.33, 0.19),
    ),
    4: Lore(
        steep=(0.81, 0.62, 0.64, 0.57, 0.69),
        turn=(
            (1.25, -0.15, -0.48, -0.79),
            (0.76, -0.12, -0.12, -0.15),
            (0.89, -0.16, -0.17, -0.25),
            (0.73, -0.2, -0.21, -0.29),
            (0.73, -0.08, -0.18, -0.25),
        ),
        nobody=(-0.62, -2.97, -1.01, 0.73, 0.58),
        decided=(0.83, 0.7, 0.68, 0.83, 0.91),
        spread=1.09,
        doubt=0.35,
        lead=0.45,
        pull=0.75,
        pull_doubt=1.67,
        outside=0.77,
        slack=0.05,
        one_caste=0.078,
        samurai=0.049,
        ship=0.076,
        ronin_switch_move=(0.27, 0.38, 0.27),
    ),
}
"""By the number of seats."""
