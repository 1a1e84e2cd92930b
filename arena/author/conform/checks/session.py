"""Checks how a bot starts and keeps a session: sections 4, 5, 6 and 8 of the specification.

Most of it is watched in all dialogues.
"""

from __future__ import annotations

import math
from typing import get_args

from arena.author.conform.dialogue import Dialogue
from arena.author.conform.frames import unknown_fields
from arena.author.conform.tested_bot import Checks, TestedBot
from arena.core.face import NS_PER_MS, errors, value_types, wire_messages

START = Checks()
SESSION = Checks()
LATER = Checks()
"""Checks that need a bot that plays."""
_WANTS = get_args(value_types.Want)
_GAMES = 3
_FIRST_GAME = "session.action"
"""The check in which a bot gets ready and answers for the first time."""

START.watch("start.token", "greets with the token that it was given", "§8.1-2")
START.watch("start.version", "speaks version 1 of the protocol", "§8.1-3")
START.watch("start.once", "says hello once, and first", "§8.1-1")

SESSION.watch("frames.parts", "sends each message as one frame", "§5.1-1")
SESSION.watch("frames.value", "sends one whole msgpack map a frame", "§5.1-2", "§5.1-3")
SESSION.watch("frames.size", f"keeps to {wire_messages.MAX_FRAME:,} bytes a frame", "§5.1-4")
SESSION.watch("frames.keys", "uses strings as keys, each once", "§5.2-1", "§5.2-2")
SESSION.watch(
    "frames.values", "sends no float, binary or extension, and keeps the limits of values",
    "§5.2-3", "§5.2-4", "§5.2-5", "§5.2-6",
)  # fmt: skip
SESSION.watch(
    "frames.fields", "sends the fields that are required, of the right types",
    "§5.3-1", "§5.3-2", "§5.3-3", "§5.2-8",
)  # fmt: skip
SESSION.watch("frames.sender", "sends a bot's messages only", "§5.3-6")
SESSION.watch("frames.note", f"keeps to {wire_messages.MAX_NOTE:,} bytes a note", "§8.6-3", seen=_FIRST_GAME)

SESSION.watch("session.game", "repeats the number of the game in ready", "§8.4-1", seen=_FIRST_GAME)
SESSION.watch("session.id", "repeats the number of the request in its action", "§8.6-1", seen=_FIRST_GAME)
SESSION.watch("session.once", "answers each request once", "§8.6-2", seen=_FIRST_GAME)
SESSION.watch("session.order", "sends nothing unasked", "§6-1", seen=_FIRST_GAME)
SESSION.watch(
    "session.connection", "keeps one connection, and keeps it open", "§4.1-2", "§4.3-2", "§4.1-3",
    "§4.1-4", "§4.1-6", seen=_FIRST_GAME,
)  # fmt: skip
SESSION.watch("session.remarks", "sends few messages that ask for nothing", "§5.3-7", seen=_FIRST_GAME)


@START.check("start.hello", "says hello within its start-up time", "§4.3-1", "§4.1-1", "§8.1-1", fatal=True)
def hello(tested_bot: TestedBot) -> str:
    """Lets a fresh process greet; it becomes the shared one."""
    dialogue = tested_bot.fresh(greet=False)
    said = dialogue.greet()
    dialogue.welcome()
    dialogue.listen()
    tested_bot.share(dialogue)
    tested_bot.start_ms = dialogue.start_ms
    words = f"{math.ceil(dialogue.start_ms):,} ms of {dialogue.spec.start_ms:,}"
    wanted = [name for names in said.want.values() for name in names] if isinstance(said.want, dict) else said.want
    unknown = [name for name in wanted if name not in _WANTS]
    if unknown:
        words += f"; it wants {unknown[0]!r}, which this version does not have{errors.did_you_mean(unknown[0], _WANTS)}"
    return words


@SESSION.check("session.ready", "answers game_start with ready in time", "§9-6", fatal=True)
def ready(tested_bot: TestedBot) -> str:
    """Announces a game, and calls it off when the bot is ready."""
    dialogue = tested_bot.shared()
    game = tested_bot.trial(dialogue)
    game.start()
    dialogue.listen()
    game.over()
    return ""


@SESSION.check("session.action", "answers a request with an action", "§9-3", "§8.5-1", fatal=True)
def action(tested_bot: TestedBot) -> str:
    """Sends the first request of a process. Whether the action is any good is for other checks."""
    dialogue = tested_bot.fresh()
    tested_bot.share(dialogue)
    used_ns = _first_decision(tested_bot, dialogue)
    return f"{used_ns / NS_PER_MS:.1f} ms" if used_ns else ""


@SESSION.check("session.games", "plays several games in one session", "§4.3-2", "§6-6", fatal=True)
def games(tested_bot: TestedBot) -> str:
    """Plays the first decision of one game after another."""
    for _ in range(_GAMES):
        _first_decision(tested_bot, tested_bot.shared())
    return f"{_GAMES} more games"


def _first_decision(tested_bot: TestedBot, dialogue: Dialogue) -> int:
    """Plays the first decision of a game, and returns its time in nanoseconds; 0 if the bot sent an `error` instead."""
    game = tested_bot.trial(dialogue)
    game.start()
    game.ask()
    message = dialogue.action(tested_bot.budget.patience_ms)
    if message is None and not dialogue.remarks:
        raise game.no_answer(tested_bot.budget.patience_ms)
    dialogue.listen()
    game.over()
    return dialogue.used_ns if message else 0


def _add_start(id: str, title: str, rule: str, remedy: str, *, tcp: bool = False, bare: bool = False) -> None:
    @LATER.check(id, title, rule, needs=("session.ready",), owns=True, remedy=remedy)
    def start(tested_bot: TestedBot) -> str:
        tested_bot.short_game(tested_bot.fresh(tcp=tcp, bare=bare), decisions=1)
        return ""


_add_start(
    "start.tcp", "connects over TCP as well", "§4.1-1",
    "Pass $ARENA_ENDPOINT to `connect` as it is, whatever it begins with.", tcp=True,
)  # fmt: skip
_add_start(
    "start.environment", "needs no variable but PATH and its own two", "§4.2-2",
    "Read no variable but ARENA_ENDPOINT and ARENA_TOKEN, or do without where it is missing.", bare=True,
)  # fmt: skip


@LATER.check(
    "start.minor",
    "accepts a referee of a higher minor version",
    "§11-3",
    "§5.3-4",
    "§8.2-1",
    owns=True,
    needs=("session.ready",),
    remedy="Compare no more than the major number of welcome.protocol, and ignore fields that you do not know.",
)
def minor(tested_bot: TestedBot) -> str:
    """Says 1.9, allows more than this version, and sends fields that this version does not have."""
    dialogue = tested_bot.fresh(greet=False)
    dialogue.greet()
    dialogue.welcome(unknown_fields, minor=9)
    tested_bot.short_game(dialogue, decisions=1)
    return ""
