"""The bot's side of a session: sections 5, 6 and 8 of the specification. Most of it is watched in all dialogues."""

from __future__ import annotations

from arena.conform.bench import Bench
from arena.conform.checks.common import trial
from arena.conform.dialogue import Dialogue
from arena.conform.registry import Kit

CHECKS = Kit()
_GAMES = 3

CHECKS.watch("frames.parts", "sends each message as one frame", "§5.1-1")
CHECKS.watch("frames.value", "sends one whole msgpack map a frame", "§5.1-2", "§5.1-3")
CHECKS.watch("frames.size", "keeps to 65,536 bytes a frame", "§5.1-4")
CHECKS.watch("frames.keys", "uses strings as keys, each once", "§5.2-1", "§5.2-2")
CHECKS.watch(
    "frames.values", "sends no float, binary or extension, and keeps the limits of values",
    "§5.2-3", "§5.2-4", "§5.2-5", "§5.2-6",
)  # fmt: skip
CHECKS.watch(
    "frames.fields", "sends the fields that are required, of the right types",
    "§5.3-1", "§5.3-2", "§5.3-3", "§5.2-8",
)  # fmt: skip
CHECKS.watch("frames.sender", "sends a bot's messages only", "§5.3-6")
CHECKS.watch("frames.note", "keeps to 1,024 bytes a note", "§8.6-3")

CHECKS.watch("session.game", "repeats the number of the game in ready", "§8.4-1")
CHECKS.watch("session.id", "repeats the number of the request in its action", "§8.6-1")
CHECKS.watch("session.once", "answers each request once", "§8.6-2")
CHECKS.watch("session.order", "sends nothing unasked", "§6-1")
CHECKS.watch("session.connection", "keeps one connection, and keeps it open", "§4.1-2", "§4.3-2", "§4.1-3")
CHECKS.watch("session.remarks", "sends few messages that ask for nothing", "§5.3-7")


@CHECKS.check("session.ready", "answers game_start with ready in time", "§9-6", fatal=True)
def ready(bench: Bench) -> str:
    """A game is announced, and called off when it is ready."""
    dialogue = bench.shared()
    game = trial(bench, dialogue)
    game.start()
    dialogue.listen()
    game.over()
    return ""


@CHECKS.check("session.action", "answers a request with an action", "§9-3", "§8.5-1", fatal=True)
def action(bench: Bench) -> str:
    """The first request of a process. Whether the action is any good is for other checks."""
    dialogue = bench.fresh()
    bench.share(dialogue)
    used_ns = _first_decision(bench, dialogue)
    return f"{used_ns / 1e6:.1f} ms" if used_ns else ""


@CHECKS.check("session.games", "plays several games in one session", "§4.3-2", "§6-6", fatal=True)
def games(bench: Bench) -> str:
    """The first decision of one game after another."""
    for _ in range(_GAMES):
        _first_decision(bench, bench.shared())
    return f"{_GAMES} more games"


def _first_decision(bench: Bench, dialogue: Dialogue) -> int:
    """Play so much of a game; how long the action took, in nanoseconds, or 0 if the bot had a remark instead."""
    game = trial(bench, dialogue)
    game.start()
    game.ask()
    message = dialogue.action(bench.budget.patience_ms)
    if message is None and not dialogue.remarks:
        raise game.no_answer(bench.budget.patience_ms)
    dialogue.listen()
    game.over()
    return dialogue.used_ns if message else 0
