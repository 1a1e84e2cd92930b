"""The kit for authors of games: plays a game at random, and says which law of its interface it breaks.

`check_game(MyGame)` is all that a game's own test needs; `arena rules check NAME` does the same for an installed game.
It uses neither pytest nor any other test framework: what is wrong is raised as a `GameFault`, whose message names the
law, the place and the remedy. `docs/games.md` explains every law.

    >>> from arena.core.catalogue import game
    >>> check_game(game("gardener"), games=1, ruleset="draft", players=2)
"""

from __future__ import annotations

from arena.core.testing.checks import (
    check_declaration,
    check_fold,
    check_forfeits,
    check_legality,
    check_numbers,
    check_outcome,
    check_purity,
)
from arena.core.testing.messages import check_actions, check_payloads, check_wild_actions
from arena.core.testing.secrecy import check_secrecy, seen
from arena.core.testing.variants import Variant, check_game, check_variant, variants
from arena.core.testing.walks import GameFault, Step, play_to_end, walk

__all__ = [
    "GameFault",
    "Step",
    "Variant",
    "check_actions",
    "check_declaration",
    "check_fold",
    "check_forfeits",
    "check_game",
    "check_legality",
    "check_numbers",
    "check_outcome",
    "check_payloads",
    "check_purity",
    "check_secrecy",
    "check_variant",
    "check_wild_actions",
    "play_to_end",
    "seen",
    "variants",
    "walk",
]
