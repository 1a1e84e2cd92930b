"""Enters the bots that the command line names, and says which of a folder's it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from arena.cli.output import say
from arena.core.text import plain


def enter(bots: Sequence[str], rules: str, *, bundled: bool = False, quiet: bool = False) -> tuple[str, ...]:
    """Returns the names of the bots that enter, each of one bot, and prints the others with the reasons.

    Args:
        rules: The game that they are to play.
        bundled: Whether all bundled bots enter that can play.

    Raises:
        ConfigError: As for `arena.core.tournament.entrants.choose`.
    """
    from arena.core.tournament.entrants import choose

    chosen = choose(bots, rules, bundled=bundled)
    for left in () if quiet else chosen.left_out:
        say(plain(f"Left out: {left.bot}: {left.reason}"))
    return chosen.refs
