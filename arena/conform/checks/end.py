"""The end of a session: sections 4.3, 7 and 8.9 of the specification."""

from __future__ import annotations

from arena.conform.bench import Bench
from arena.conform.checks.common import short_game, trial
from arena.conform.dialogue import Dialogue
from arena.conform.finding import Finding
from arena.conform.registry import Kit
from arena.conform.report import Level, Verdict
from arena.wire.messages import Error, Goodbye

CHECKS = Kit()
_CLEAN = "exited with status 0"
_COMPLAINT = "the bot check says so: see what you do after an error"


@CHECKS.check("end.goodbye", "ends within a second of goodbye, with status 0", "§4.3-3", owns=True)
def goodbye(bench: Bench) -> str:
    """After a game."""
    dialogue = bench.shared()
    short_game(bench, dialogue, decisions=1)
    return _leave(bench, dialogue)


@CHECKS.check(
    "end.early",
    "ends so too when goodbye comes instead of welcome",
    "§4.3-3",
    "§6-1",
    owns=True,
    needs=("end.goodbye",),
)
def early(bench: Bench) -> str:
    """There are no games for it."""
    dialogue = bench.fresh(greet=False)
    dialogue.greet()
    return _leave(bench, dialogue)


@CHECKS.check(
    "end.shutdown", "ends so too when a game is interrupted while it is asked", "§4.3-3", "§6-4", owns=True,
    needs=("end.goodbye",),
)  # fmt: skip
def shutdown(bench: Bench) -> str:
    """game_over and goodbye follow the request at once."""
    dialogue = bench.fresh()
    played = trial(bench, dialogue)
    played.start()
    played.ask()
    played.over()
    return _leave(bench, dialogue)


@CHECKS.check("end.error", "writes an error to its standard error and ends", "§8.9", level=Level.FULL, owns=True)
def error(bench: Bench) -> str:
    """As after an illegal action."""
    dialogue = bench.fresh()
    played = trial(bench, dialogue)
    played.start()
    played.ask()
    dialogue.send(Error(code="illegal_action", message=_COMPLAINT))
    end = dialogue.end(bench.budget.error_ms)
    written = _COMPLAINT in "\n".join(dialogue.last_words())
    if end is None or not written:
        lacks = [] if written else ["the message of the error in its output"]
        lacks += [] if end else [f"its end within {bench.budget.error_ms:,} ms"]
        raise Finding(
            f"expected {' and '.join(lacks)}, got: neither" if len(lacks) > 1 else f"expected {lacks[0]}, got: nothing",
            "Write `code` and `message` of an error to standard error, and exit: nothing more will come.",
            verdict=Verdict.NON_STRICT,
        )
    return end.detail


def _leave(bench: Bench, dialogue: Dialogue) -> str:
    dialogue.send(Goodbye(reason="the check is over"))
    end = dialogue.end(bench.budget.farewell_ms)
    if end is None:
        raise Finding(
            f"expected an end within {bench.budget.farewell_ms:,} ms of goodbye, got: a process that lives",
            "Leave the loop at goodbye, and let no thread, child or unsent message (ZMQ_LINGER) hold up the exit.",
        )
    if end.detail != _CLEAN:
        raise Finding(f"expected exit status 0 after goodbye, got: it {end.detail}", "End with status 0.")
    return ""
