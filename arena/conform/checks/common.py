"""What the checks have in common: games to try something in."""

from __future__ import annotations

from arena.conform.bench import Bench
from arena.conform.dialogue import Dialogue
from arena.conform.encodings import Form
from arena.conform.games import Plan, TrialGame
from arena.types import TimeControl

DECISIONS = 4
"""So many decisions show whether something matters to a bot."""


def trial(
    bench: Bench,
    dialogue: Dialogue,
    plan: Plan | None = None,
    *,
    form: Form | None = None,
    bot_seed: int | None = None,
) -> TrialGame:
    """Returns a game that is not about time, of the first of the rules unless said otherwise."""
    return TrialGame(
        dialogue,
        plan or Plan(bench.rules[0], TimeControl(limit_ms=bench.budget.limit_ms)),
        avoided=bench.avoided,
        form=form,
        bot_seed=bot_seed,
    )


def short_game(
    bench: Bench,
    dialogue: Dialogue,
    plan: Plan | None = None,
    *,
    form: Form | None = None,
    bot_seed: int | None = None,
    decisions: int = DECISIONS,
) -> TrialGame:
    """Plays the first decisions of a game, which is then interrupted. Returns the game."""
    game = trial(bench, dialogue, plan, form=form, bot_seed=bot_seed)
    game.start()
    game.play(bench.budget.patience_ms, most=decisions)
    return game


def still_there(bench: Bench, dialogue: Dialogue) -> None:
    """Sees whether the bot still plays: announces a game as always, and calls it off when the bot is ready."""
    game = trial(bench, dialogue)
    game.start()
    game.over()
