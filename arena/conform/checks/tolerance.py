"""What a later version of the protocol, or another msgpack library, may send: sections 5 and 11."""

from __future__ import annotations

import msgpack  # type: ignore[import-untyped]

from arena.conform import encodings
from arena.conform.bench import Bench
from arena.conform.checks.common import short_game, still_there, trial
from arena.conform.dialogue import Dialogue
from arena.conform.encodings import Form
from arena.conform.registry import Kit
from arena.wire.messages import MAX_INT, MAX_REFEREE_FRAME

CHECKS = Kit()
UNKNOWN_MESSAGES = (
    {"type": "pause", "until_ms": 10},
    {"type": "x_chat", "id": 1, "game": 1, "text": "こんにちは", "clock": {}, "legal": None},
)
"""Messages that no version has."""


def _form(id: str, title: str, form: Form, spec: str, mend: str) -> None:
    @CHECKS.check(f"tolerance.{id}", title, spec, owns=True, mend=mend)
    def run(bench: Bench) -> str:
        """A game in which every message is written so."""
        dialogue = bench.shared()
        short_game(bench, dialogue, form=form)
        still_there(bench, dialogue)
        return ""


_BY_NAME = "Look fields up by name, wherever they stand, and skip those that you do not know."
_FORMS = "Read messages with a msgpack library, or every form that msgpack has for a value."
_form("fields", "ignores fields that it does not know", encodings.unknown_fields, "§5.3-4", _BY_NAME)
_form("order", "reads the fields of a map in any order", encodings.reversed_fields, "§5.2-7", _BY_NAME)
_form("integers", "reads the long forms of integers", encodings.long_integers, "§5.2-7", _FORMS)
_form("strings", "reads the long forms of strings", encodings.long_strings, "§5.2-7", _FORMS)
_form("containers", "reads the long forms of maps and arrays", encodings.long_containers, "§5.2-7", _FORMS)
_form(
    "nil", "takes nil for a field that is left out", encodings.explicit_nils, "§5.3-3",
    "Take nil for what you would take the field's absence for.",
)  # fmt: skip


@CHECKS.check(
    "tolerance.messages",
    "ignores messages of unknown types, in every state",
    "§5.3-5",
    owns=True,
    mend="Do nothing about a message whose type you do not know, and go on reading.",
)
def messages(bench: Bench) -> str:
    """Before and after welcome, before and after ready, while it is asked and while it is not."""
    dialogue = bench.fresh(greet=False)
    dialogue.greet()
    _confuse(dialogue)
    dialogue.welcome()
    _confuse(dialogue)
    played = trial(bench, dialogue)
    played.announce()
    _confuse(dialogue)
    dialogue.ready(bench.rules[0])
    _confuse(dialogue)
    if played.ask() is not None:
        _confuse(dialogue)
        played.answer(bench.budget.patience_ms)
    _confuse(dialogue)
    played.over()
    _confuse(dialogue)
    dialogue.listen()
    still_there(bench, dialogue)
    return ""


@CHECKS.check(
    "tolerance.size", "reads a message of 1,048,576 bytes", "§5.1-5", "§5.3-5", owns=True,
    needs=("tolerance.messages",), mend="Let no buffer for a message be smaller than 1 MiB.",
)  # fmt: skip
def size(bench: Bench) -> str:
    """As long as a message may be, and of an unknown type."""
    dialogue = bench.shared()
    empty = len(msgpack.packb({"type": "pause", "pad": "x" * 2**16}))
    dialogue.send_frame(msgpack.packb({"type": "pause", "pad": "x" * (MAX_REFEREE_FRAME - empty + 2**16)}))
    still_there(bench, dialogue)
    return ""


@CHECKS.check(
    "tolerance.numbers",
    "holds integers of up to 2^53 - 1",
    "§5.2-5",
    owns=True,
    mend="Hold integers in 64 bits, or in doubles.",
)
def numbers(bench: Bench) -> str:
    """As `bot_seed`, which it may use as it likes."""
    dialogue = bench.shared()
    for number in (0, 2**31, 2**32, MAX_INT):
        short_game(bench, dialogue, bot_seed=number, decisions=2)
    return ""


def _confuse(dialogue: Dialogue) -> None:
    for message in UNKNOWN_MESSAGES:
        dialogue.send_frame(msgpack.packb(message))
