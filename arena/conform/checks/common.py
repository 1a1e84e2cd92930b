"""What the checks have in common: games to try something in."""

from __future__ import annotations

from arena.conform.bench import Bench
from arena.conform.dialogue import Dialogue
from arena.conform.encodings import Form
from arena.conform.games import Table
from arena.conform.setting import Clock, Setting

DECISIONS = 4
"""So many decisions show whether something matters to a bot."""


def table(
    bench: Bench,
    dialogue: Dialogue,
    setting: Setting | None = None,
    *,
    form: Form | None = None,
    bot_seed: int | None = None,
) -> Table:
    """A game that is not about time, of the first of the rules unless said otherwise."""
    return Table(
        dialogue,
        setting or Setting(bench.rules[0]),
        Clock(bench.budget.limit_ms),
        avoided=bench.avoided,
        form=form,
        bot_seed=bot_seed,
    )


def short_game(
    bench: Bench,
    dialogue: Dialogue,
    setting: Setting | None = None,
    *,
    form: Form | None = None,
    bot_seed: int | None = None,
    decisions: int = DECISIONS,
) -> Table:
    """Play the first decisions of a game, which is then interrupted; the game as it was."""
    game = table(bench, dialogue, setting, form=form, bot_seed=bot_seed)
    game.start()
    game.play(bench.budget.patience_ms, most=decisions)
    return game


def still_there(bench: Bench, dialogue: Dialogue) -> None:
    """See whether the bot still plays: announce a game as always, and call it off when it is ready."""
    game = table(bench, dialogue)
    game.start()
    game.over()
