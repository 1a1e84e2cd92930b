"""Translates between the protocol's frames and the JSON lines of the program below the bridge. No I/O here.

The rules are those of `protocol/SPEC.md`, section 4.4.
"""

from __future__ import annotations

import json
from collections import deque
from typing import Any, Final, NamedTuple

import msgspec

from arena.core.face import codec, errors, wire_messages

MAX_LINE: Final = wire_messages.MAX_FRAME
"""Bytes that a line of the program may have."""
_QUOTE: Final = 60
_ANSWER: Final = '{"action": {...}} in one line, and remarks on standard error'


class Heard(NamedTuple):
    """What follows from a message of the referee."""

    line: bytes = b""
    reply: bytes = b""
    """The frame to send to the referee."""
    complaint: str = ""
    """Text of the referee's `error`, if it sent one. That ends the session."""
    is_over: bool = False


class Translator:
    """Turns frames into lines and lines into frames, with no I/O. It knows which requests still wait for a line."""

    def __init__(self) -> None:
        self._max_note = wire_messages.MAX_NOTE
        self._lines = 0
        self._owed: deque[int | None] = deque()
        """The `id` of each request that still waits for its line; None for a request that has lapsed."""

    def from_referee(self, frame: bytes) -> Heard:
        """Returns what to do about a frame from the referee; nothing, if its type is unknown.

        Raises:
            RemoteProtocolError: It is not a message of the protocol: a bug of the referee.
        """
        try:
            message = msgspec.msgpack.decode(frame)
            return self._hear(message["type"], message)
        except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError) as error:
            reason = f"expected a message of the protocol from the referee, got: {frame[:_QUOTE]!r} ({error})"
            raise errors.RemoteProtocolError("malformed", reason, "§5.3-3") from None

    def _hear(self, kind: str, message: dict[str, Any]) -> Heard:
        match kind:
            case "request":
                self._owed.append(message["id"])
                return Heard(_line(message))
            case "game_start":
                return Heard(_line(message), reply=codec.encode(wire_messages.Ready(game=message["game"])))
            case "game_over":
                self._owed = deque(None for _ in self._owed)
                return Heard(_line(message))
            case "welcome":
                self._max_note = message["max_note"]
            case "error":
                complaint = f"referee: {message['code']}: {message.get('message', '')}"
                return Heard(complaint=complaint, is_over=True)
            case "goodbye":
                return Heard(is_over=True)
        return Heard()

    def from_program(self, line: bytes) -> bytes | None:
        """Returns the frame for a line of the program, or None if its request has lapsed.

        Raises:
            RemoteProtocolError: The line is not what the program owes. The text says which line, and what was expected.
        """
        self._lines += 1
        if len(line) > MAX_LINE:
            raise self._fault(f"at most {MAX_LINE} bytes", _quote(line), "§5.1-4")
        if not self._owed:
            raise self._fault("no line, as no request waits for one", _quote(line), "§6-1")
        request = self._owed[0]
        if request is None:
            self._owed.popleft()
            return None
        answer = self._read(line)
        try:
            note = answer.get("note")
            if isinstance(note, str):
                answer["note"] = note.encode()[: self._max_note].decode(errors="ignore")
            frame = codec.encode(wire_messages.Action(id=request, action=answer["action"], note=answer.get("note")))
            codec.decode(frame)
        except UnicodeEncodeError:
            raise self._fault("text that has a form in UTF-8", "half of a surrogate pair", "§5.2-4") from None
        except OverflowError:
            raise self._fault("integers within ±(2^53 - 1)", _quote(line), "§5.2-5") from None
        except RecursionError:
            raise self._too_deep() from None
        except errors.RemoteProtocolError as error:
            raise errors.RemoteProtocolError(error.error_code, f"{self._place()}: {error}", error.rule) from None
        self._owed.popleft()
        return frame

    def _read(self, line: bytes) -> dict[str, Any]:
        """Reads the JSON object of a line, which must hold an action."""
        try:
            answer = _JSON.decode(line.decode())
        except json.JSONDecodeError as error:
            raise self._fault(_ANSWER, f"{_quote(line)} ({error.msg}, column {error.colno})") from None
        except ValueError as error:
            raise self._fault(_ANSWER, f"{_quote(line)} ({error})") from None
        except RecursionError:  # at which depth is the interpreter's affair
            raise self._too_deep() from None
        if not isinstance(answer, dict) or not isinstance(answer.get("action"), dict):
            raise self._fault(_ANSWER, _quote(line))
        return answer

    def _too_deep(self) -> errors.RemoteProtocolError:
        return self._fault("at most 16 levels of nesting", "more", "§5.2-6")

    def _fault(self, expected: str, got: str, rule: str = "§5.3-3") -> errors.RemoteProtocolError:
        return errors.RemoteProtocolError("malformed", f"{self._place()}: expected {expected}, got: {got}", rule)

    def _place(self) -> str:
        request = f", for request {self._owed[0]}" if self._owed else ""
        return f"line {self._lines} of the program's output{request}"


def _line(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode(message) + b"\n"


def _quote(line: bytes) -> str:
    """Quotes a line in a message: cut short, and with nothing in it that a terminal could act on."""
    text = line.decode(errors="backslashreplace")
    return ascii(text if len(text) <= _QUOTE else f"{text[:_QUOTE]}...")


def _map(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} twice")
    return made


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_JSON: Final = json.JSONDecoder(object_pairs_hook=_map, parse_constant=_no_constant)
