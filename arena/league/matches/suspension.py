"""Says when a version is taken out because it keeps failing. Pure.

Only what the bot did counts: a loss on time while the machine was overloaded is none of its faults, and a game that was
interrupted is no game.
"""

from __future__ import annotations

from typing import Final

from arena.league.settings import Suspension
from arena.store.league.records import Form
from arena.text import counted

_SHOWN: Final = 3
"""Of how many forfeits its author is told at once. `arena league games` lists all."""
_LONGEST: Final = 200


def verdict(form: Form, rule: Suspension) -> str:
    """Returns why a version is suspended, as the rest of a sentence; empty if it is not.

    Args:
        form: How it did in its last games.
        rule: How many forfeits are too many.
    """
    if form.in_a_row >= rule.in_a_row:
        return f"it forfeited its last {counted(form.in_a_row, 'game')}"
    if len(form.forfeits) >= rule.forfeits:
        return f"it forfeited {len(form.forfeits)} of its last {counted(form.games, 'game')}"
    return ""


def evidence(name: str, reason: str, form: Form) -> str:
    """Returns what the author is told: the games, what happened in them, and how to ask the bot again.

    Args:
        name: The version.
        reason: Why it is suspended.
        form: How it did.
    """
    lines = [f"{name} is suspended: {reason}."]
    for forfeit in form.forfeits[:_SHOWN]:
        words = f", last words: {' / '.join(forfeit.stderr[-2:])[-_LONGEST:]}" if forfeit.stderr else ""
        lines.append(f"{forfeit.game}, turn {forfeit.turn}, {forfeit.code}: {forfeit.sentence}{words}.")
    lines.append("`arena league log GAME` gets a game, and `arena bot rerun LOG BOT --seat N` asks the bot again.")
    return "\n".join(lines)
