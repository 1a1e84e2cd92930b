"""What shogun believes of games of two: fitted to the results of games of daimyo, which beats what greedy taught."""

from samurai_lore import LORE, Lore

LORE_OF_DAIMYO = LORE | {
    2: Lore(
        odds=(
            ((-1.51, 1.24), (1.23, 1.27)),
            ((0.14, 0.9), (0.19, 0.9)),
            ((-0.16, 0.66), (0.67, 0.67)),
            ((0.55, 0.85), (0.84, 0.85)),
        ),
        decided=(0.68, 0.48, 0.62, 0.62),
        pull=0.8,
        played=1.0,
        doubt=0.19,
        one_caste=0.075,
        samurai=0.064,
        ship=0.08,
        ronin_switch_move=(0.31, 0.47, 0.375),
    ),
}
"""By the number of seats. For three and four nothing better is known yet than what greedy taught."""
