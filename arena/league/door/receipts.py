"""Keeps the receipts of a bot that plays elsewhere, from the frames that pass: the bot need not know of them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.core.face import Kept, Payload, files, log_records, receipts, record_files, wire_messages

_REFEREE: Final = msgspec.msgpack.Decoder(wire_messages.GameStart | wire_messages.Request | wire_messages.GameOver)
_BOT: Final = msgspec.msgpack.Decoder(wire_messages.Action)
_WRONG: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Errors that another message raises, or what is none."""


class ReceiptRecorder:
    """The receipts of the games of one session. `arena verify --receipts` compares them with logs."""

    def __init__(self, path: Path) -> None:
        """Takes the file to which a line is added for each game that is over."""
        self._path = path
        self._start: wire_messages.GameStart | None = None
        self._asked: wire_messages.Request | None = None
        self._answers: list[Payload] = []
        self._notes: list[str | None] = []
        self._events: list[Payload] | None = []

    def hear(self, frame: bytes) -> None:
        """Takes a frame of the referee.

        Raises:
            OSError: The receipt cannot be written.
        """
        try:
            message = _REFEREE.decode(frame)
        except _WRONG:
            return
        if isinstance(message, wire_messages.GameStart):
            self._start, self._asked = message, None
            self._answers, self._notes, self._events = [], [], []
            return
        if message.events is None:
            self._events = None
        elif self._events is not None:
            self._events += message.events
        if isinstance(message, wire_messages.Request):
            self._asked = message
        elif self._start is not None and message.ranks:
            line = msgspec.json.encode(self._kept(self._start, message)) + b"\n"
            files.append_lines(self._path, line)

    def say(self, frame: bytes) -> None:
        """Takes a frame of the bot."""
        try:
            message = _BOT.decode(frame)
        except _WRONG:
            return
        if self._asked is not None and message.id == self._asked.id:
            self._answers.append({"action": _ordered(message.action), "kind": self._asked.kind})
            self._notes.append(message.note)
            self._asked = None

    def _kept(self, start: wire_messages.GameStart, over: wire_messages.GameOver) -> Kept:
        told = over.receipt
        used = [] if told is None else told.used_ns
        notes = self._notes[: len(used)]
        own = None
        if told is not None and self._events is not None:
            names = ("board", "bot_seed", "options", "rules", "rules_version", "ruleset", "seat", "seats")
            answers = [answer | {"used_ns": ns} for answer, ns in zip(self._answers, used, strict=False)]
            result = {name: getattr(over, name) for name in ("ranks", "scores", "termination")}
            result["forfeits"] = [{"code": one.code, "seat": one.seat} for one in over.forfeits]
            begun = {name: getattr(start, name) for name in names}
            own = _digest({"answers": answers, "events": self._events, "over": result, "start": begun})
        return Kept(
            format=record_files.FORMAT, bot_seed=start.bot_seed, seat=start.seat, own=own,
            told=None if told is None else told.digest,
            notes=None if all(note is None for note in notes) else _digest(notes), termination=over.termination,
            ranks=over.ranks,
            forfeits=None if told is None or told.forfeits is None else receipts.forfeits_digest(over.forfeits),
        )  # fmt: skip


def _ordered(action: Payload) -> Payload:
    try:
        return receipts.ordered(action)
    except (KeyError, TypeError, AttributeError):
        return action  # it is none, and so the game has no receipt


def _digest(value: Any) -> str:
    return sha256(log_records.canonical(value)).hexdigest()
