"""Messages that cross, and games that are played again: sections 6 and 7 of the specification."""

from __future__ import annotations

from arena.conform.bench import Bench
from arena.conform.checks.common import short_game, still_there, trial
from arena.conform.finding import Finding
from arena.conform.games import Plan
from arena.conform.registry import Kit
from arena.conform.report import Level, Verdict
from arena.types import TimeControl

CHECKS = Kit()
_CROSSED = "Take a game_over at any time: what was owed has lapsed, and the next game may follow at once."


@CHECKS.check("sequences.crossing", "goes on when game_over crosses its action", "§6-4", owns=True, mend=_CROSSED)
def crossing(bench: Bench) -> str:
    """Another seat forfeits while it is asked; its action, if it still comes, has lapsed."""
    dialogue = bench.shared()
    played = trial(bench, dialogue)
    played.start()
    played.ask()
    played.over(forfeit=True)
    still_there(bench, dialogue)
    short_game(bench, dialogue)
    return ""


@CHECKS.check("sequences.unready", "goes on when game_over crosses its ready", "§6-4", owns=True, mend=_CROSSED)
def unready(bench: Bench) -> str:
    """The game is over before it was ready."""
    dialogue = bench.shared()
    played = trial(bench, dialogue)
    played.announce()
    played.over()
    still_there(bench, dialogue)
    short_game(bench, dialogue)
    return ""


@CHECKS.check("sequences.seed", "plays alike from the same bot_seed", "§8.3", level=Level.FULL)
def seed(bench: Bench) -> str:
    """The same game again in the same process, and in another."""
    plan = Plan(bench.rules[0], TimeControl(limit_ms=bench.budget.limit_ms), seed=80)
    dialogue = bench.shared()
    first = short_game(bench, dialogue, plan, decisions=8).actions
    again = short_game(bench, dialogue, plan, decisions=8).actions
    fresh = short_game(bench, bench.fresh(), plan, decisions=8).actions
    for actions, where in ((again, "the same process"), (fresh, "another process")):
        pairs = enumerate(zip(first, actions, strict=False), 1)
        at = next((number for number, (one, other) in pairs if one != other), None)
        if at is not None:
            raise Finding(
                f"expected the actions of the first time when the same game is played again in {where}, "
                f"got: another for decision {at}",
                "Seed all chance from game_start.bot_seed, at every game_start; a search that is ended by the clock "
                "cannot keep this.",
                verdict=Verdict.NON_STRICT,
            )
    return f"{len(first)} decisions, three times"
