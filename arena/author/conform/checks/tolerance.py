"""Checks what a later version of the protocol, or another msgpack library, may send: sections 5 and 11."""

from __future__ import annotations

import msgpack  # type: ignore[import-untyped]

from arena.author.conform import frames
from arena.author.conform.dialogue import Dialogue
from arena.author.conform.tested_bot import Checks, TestedBot
from arena.core.face import wire_messages

TOLERANCE = Checks()
UNKNOWN_MESSAGES = (
    {"type": "pause", "until_ms": 10},
    {"type": "x_chat", "id": 1, "game": 1, "text": "こんにちは", "clock": {}, "legal": None},
)
"""Messages that no version has."""


def _add_form(id: str, title: str, form: frames.Form, spec: str, remedy: str) -> None:
    @TOLERANCE.check(f"tolerance.{id}", title, spec, owns=True, remedy=remedy)
    def run(tested_bot: TestedBot) -> str:
        """Plays a game in which every message has this form."""
        dialogue = tested_bot.shared()
        tested_bot.short_game(dialogue, form=form)
        tested_bot.still_plays(dialogue)
        return ""


_BY_NAME = "Look fields up by name, wherever they stand, and skip those that you do not know."
_FORMS = "Read messages with a msgpack library, or every form that msgpack has for a value."
_add_form("fields", "ignores fields that it does not know", frames.unknown_fields, "§5.3-4", _BY_NAME)
_add_form("order", "reads the fields of a map in any order", frames.reversed_fields, "§5.2-7", _BY_NAME)
_add_form("integers", "reads the long forms of integers", frames.long_integers, "§5.2-7", _FORMS)
_add_form("strings", "reads the long forms of strings", frames.long_strings, "§5.2-7", _FORMS)
_add_form("containers", "reads the long forms of maps and arrays", frames.long_containers, "§5.2-7", _FORMS)
_add_form(
    "nil", "takes nil for a field that is left out", frames.explicit_nils, "§5.3-3",
    "Treat nil as you treat a field that is missing.",
)  # fmt: skip


@TOLERANCE.check(
    "tolerance.messages",
    "ignores messages of unknown types, in every state",
    "§5.3-5",
    owns=True,
    remedy="Do nothing about a message whose type you do not know, and go on reading.",
)
def messages(tested_bot: TestedBot) -> str:
    """Sends some before and after welcome, before and after ready, while the bot is asked and while it is not."""
    dialogue = tested_bot.fresh(greet=False)
    dialogue.greet()
    _confuse(dialogue)
    dialogue.welcome()
    _confuse(dialogue)
    played = tested_bot.trial(dialogue)
    played.announce()
    _confuse(dialogue)
    dialogue.ready(tested_bot.rules[0])
    _confuse(dialogue)
    if played.ask() is not None:
        _confuse(dialogue)
        played.answer(tested_bot.budget.patience_ms)
    _confuse(dialogue)
    played.over()
    _confuse(dialogue)
    dialogue.listen()
    tested_bot.still_plays(dialogue)
    return ""


@TOLERANCE.check(
    "tolerance.size", f"reads a message of {wire_messages.MAX_REFEREE_FRAME:,} bytes", "§5.1-5", "§5.3-5", owns=True,
    needs=("tolerance.messages",), remedy="Make every buffer for a message at least 1 MiB.",
)  # fmt: skip
def size(tested_bot: TestedBot) -> str:
    """Sends one of an unknown type that is as long as a message may be."""
    dialogue = tested_bot.shared()
    empty = len(msgpack.packb({"type": "pause", "pad": "x" * 2**16}))
    dialogue.send_frame(
        msgpack.packb({"type": "pause", "pad": "x" * (wire_messages.MAX_REFEREE_FRAME - empty + 2**16)})
    )
    tested_bot.still_plays(dialogue)
    return ""


@TOLERANCE.check(
    "tolerance.numbers",
    "holds integers of up to 2^53 - 1",
    "§5.2-5",
    owns=True,
    remedy="Hold integers in 64 bits, or in doubles.",
)
def numbers(tested_bot: TestedBot) -> str:
    """Sends them as `bot_seed`, which the bot may use as it likes."""
    dialogue = tested_bot.shared()
    for number in (0, 2**31, 2**32, wire_messages.MAX_INT):
        tested_bot.short_game(dialogue, bot_seed=number, decisions=2)
    return ""


def _confuse(dialogue: Dialogue) -> None:
    for message in UNKNOWN_MESSAGES:
        dialogue.send_frame(msgpack.packb(message))
