"""Checks messages that cross, games that are played again, and the end: sections 4.3, 6, 7 and 8.9."""

from __future__ import annotations

from collections.abc import Callable

from arena.author.conform.dialogue import Dialogue
from arena.author.conform.findings import Finding, NotReached
from arena.author.conform.games import Plan, TrialGame
from arena.author.conform.report import Grade, Verdict
from arena.author.conform.tested_bot import Checks, TestedBot
from arena.core.face import TimeControl, counted, wire_messages

SEQUENCES = Checks()
END = Checks()
_CROSSED = "Accept a game_over at any time: what you owed has lapsed, and the next game may follow at once."
_CLEAN = "exited with status 0"
_MORE_TIME = 10  # factor of the usual limit, for a bot whose chance alone should decide
_COMPLAINT = "the bot check says so: see what you do after an error"


@SEQUENCES.check("sequences.crossing", "goes on when game_over crosses its action", "§6-4", owns=True, remedy=_CROSSED)
def crossing(tested_bot: TestedBot) -> str:
    """Interrupts a game while the bot is asked. Its action, if it still comes, has lapsed."""
    return _cut_short(tested_bot, TrialGame.start, TrialGame.ask)


@SEQUENCES.check("sequences.unready", "goes on when game_over crosses its ready", "§6-4", owns=True, remedy=_CROSSED)
def unready(tested_bot: TestedBot) -> str:
    """Ends a game before the bot is ready."""
    return _cut_short(tested_bot, TrialGame.announce)


def _cut_short(tested_bot: TestedBot, *steps: Callable[[TrialGame], object]) -> str:
    dialogue = tested_bot.shared()
    played = tested_bot.trial(dialogue)
    for step in steps:
        step(played)
    played.over()
    tested_bot.still_plays(dialogue)
    tested_bot.short_game(dialogue)
    return ""


@SEQUENCES.check("sequences.seed", "plays alike from the same bot_seed", "§8.3", level=Grade.FULL)
def seed(tested_bot: TestedBot) -> str:
    """Plays the same game again in the same process, and in another; a bot that differs, once more with more time.

    On a busy machine the clock may have cut short a bot that never needs its time elsewhere.
    """
    try:
        return _alike(tested_bot, tested_bot.budget.limit_ms)
    except Finding as finding:
        if finding.verdict is not Verdict.NON_STRICT:
            raise
        return _alike(tested_bot, _MORE_TIME * tested_bot.budget.limit_ms)


def _alike(tested_bot: TestedBot, limit_ms: int) -> str:
    plan = Plan(tested_bot.rules[0], TimeControl(limit_ms=limit_ms), seed=80)
    dialogue = tested_bot.shared()
    first = tested_bot.short_game(dialogue, plan, decisions=8).actions
    again = tested_bot.short_game(dialogue, plan, decisions=8).actions
    fresh = tested_bot.short_game(tested_bot.fresh(), plan, decisions=8).actions
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
    if not first:
        raise NotReached("no game comes to a decision that did not fail")
    return f"{counted(len(first), 'decision')}, three times"


@END.check("end.goodbye", "ends within a second of goodbye, with status 0", "§4.3-3", owns=True)
def goodbye(tested_bot: TestedBot) -> str:
    """Says goodbye after a game."""
    dialogue = tested_bot.shared()
    tested_bot.short_game(dialogue, decisions=1)
    return _leave(tested_bot, dialogue)


@END.check(
    "end.early",
    "ends so too when goodbye comes instead of welcome",
    "§4.3-3",
    "§6-1",
    owns=True,
    needs=("end.goodbye",),
)
def early(tested_bot: TestedBot) -> str:
    """Says that there are no games for it."""
    dialogue = tested_bot.fresh(greet=False)
    dialogue.greet()
    return _leave(tested_bot, dialogue)


@END.check(
    "end.shutdown", "ends so too when a game is interrupted while it is asked", "§4.3-3", "§6-4", owns=True,
    needs=("end.goodbye",),
)  # fmt: skip
def shutdown(tested_bot: TestedBot) -> str:
    """Sends game_over and goodbye at once after a request."""
    dialogue = tested_bot.fresh()
    played = tested_bot.trial(dialogue)
    played.start()
    played.ask()
    played.over()
    return _leave(tested_bot, dialogue)


@END.check("end.error", "writes an error to its standard error and ends", "§8.9", level=Grade.FULL, owns=True)
def error(tested_bot: TestedBot) -> str:
    """Sends an error, as after an illegal action."""
    dialogue = tested_bot.fresh()
    played = tested_bot.trial(dialogue)
    played.start()
    played.ask()
    dialogue.send(wire_messages.Error(code="illegal_action", message=_COMPLAINT))
    end = dialogue.end(tested_bot.budget.error_ms)
    written = _COMPLAINT in "\n".join(dialogue.last_words())
    if end is None or not written:
        lacks = [] if written else ["the message of the error in its output"]
        lacks += [] if end else [f"its end within {tested_bot.budget.error_ms:,} ms"]
        raise Finding(
            f"expected {' and '.join(lacks)}, got: neither" if len(lacks) > 1 else f"expected {lacks[0]}, got: nothing",
            "Write `code` and `message` of an error to standard error, and exit: nothing more will come.",
            verdict=Verdict.NON_STRICT,
            excuse=dialogue.excuse(tested_bot.budget.error_ms) if end is None else None,
        )
    return end.detail


def _leave(tested_bot: TestedBot, dialogue: Dialogue) -> str:
    dialogue.send(wire_messages.Goodbye(reason="the check is over"))
    end = dialogue.end(tested_bot.budget.farewell_ms)
    if end is None:
        raise Finding(
            f"expected an end within {tested_bot.budget.farewell_ms:,} ms of goodbye, got: a process that lives",
            "Leave the loop at goodbye, and let no thread, child or unsent message (ZMQ_LINGER) hold up the exit.",
            excuse=dialogue.excuse(tested_bot.budget.farewell_ms),
        )
    if end.detail != _CLEAN:
        raise Finding(f"expected exit status 0 after goodbye, got: it {end.detail}", "End with status 0.")
    return ""
