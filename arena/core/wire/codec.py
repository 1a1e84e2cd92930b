"""Encodes and decodes messages as strictly as the specification demands. No I/O and no state.

Laws:
1. Everything a bot can send either decodes to a message, is ignored (an unknown type), or raises
   `RemoteProtocolError`; any other exception is a bug here.
2. A frame is read twice: msgpack shows what is really in it (msgspec would silently keep the last of two equal keys,
   and turn a timestamp into a date), then msgspec gives it types.
3. The nesting of a long frame is checked before msgpack reads it: msgpack trusts each header and allocates memory for
   everything that it announces, so that a few KiB of nested headers would cost 70 MB.
4. Whatever a reason quotes from a frame is cut short, so that a bot cannot swell the referee's logs.
5. Each error carries the number of the rule that the frame breaks. If a frame breaks several rules, the first one found
   counts: by its size, then as msgpack, then value by value from the start, then field by field.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias, get_args

import msgpack  # type: ignore[import-untyped]
import msgspec
from msgspec import Meta, Struct

from arena.core.errors import RemoteProtocolError
from arena.core.wire import messages

_LONGEST_QUOTE: Final = 80
_SHORT: Final = 1_024  # frames up to this many bytes cannot cost much memory, whatever their nesting


def types_of(union: Any) -> frozenset[str]:
    """Returns the `type` of each message of a union."""
    return frozenset(str(message.__struct_config__.tag) for message in get_args(union))


_BOT_TYPES: Final = types_of(messages.FromBot)
_REFEREE_TYPES: Final = types_of(messages.FromReferee)
_BOT_DECODER: Final = msgspec.msgpack.Decoder(messages.FromBot)
_REFEREE_DECODER: Final = msgspec.msgpack.Decoder(messages.FromReferee)

_Single: TypeAlias = str | bool | Annotated[int, Meta(ge=-messages.MAX_INT, le=messages.MAX_INT)] | None
_Low: TypeAlias = _Single | list[_Single] | dict[str, _Single]
_Middle: TypeAlias = _Single | list[_Low] | dict[str, _Low]
_High: TypeAlias = _Single | list[_Middle] | dict[str, _Middle]


class _PlainAction(Struct, frozen=True, tag_field="type", tag="action"):
    """An action without a note and with few levels, which is all that most bots send."""

    id: messages.PositiveInt
    action: dict[str, _High]


_PLAIN_DECODER: Final = msgspec.msgpack.Decoder(_PlainAction)

encode: Final = msgspec.msgpack.Encoder().encode
"""Returns the frame of a message, `type` first. Payloads are trusted to hold only what the protocol allows."""


def decode(frame: bytes) -> messages.FromBot | None:
    """Reads a frame from a bot.

    Returns:
        The message, or None if its type is unknown: by the specification (§5.3), receivers ignore those.

    Raises:
        RemoteProtocolError: The frame is `malformed` or `oversized`, or its type is one that only the referee
            sends (`protocol_violation`). The text ends with the place, such as ` - at $.action.plays[0].space`.
            Send the code back in an `error`; the seat forfeits.
    """
    if len(frame) > messages.MAX_FRAME:
        raise _oversized(frame, messages.MAX_FRAME, "§5.1-4")
    plain = _read_plain(frame)
    if plain is not None:
        return plain
    kind = type_of(read_map(frame))
    if kind not in _BOT_TYPES:
        if kind in _REFEREE_TYPES:
            reason = f"expected a type that a bot sends, got: {kind!r} - at $.type"
            raise RemoteProtocolError("protocol_violation", reason, "§5.3-6")
        return None
    message: messages.FromBot = typed(_BOT_DECODER, frame)
    if type(message) is messages.Action and message.note is not None and len(message.note.encode()) > messages.MAX_NOTE:
        raise _malformed(
            f"at most {messages.MAX_NOTE} bytes", f"{len(message.note.encode())} bytes", "$.note", "§8.6-3"
        )
    return message


def _read_plain(frame: bytes) -> messages.Action | None:
    """Returns the action of a frame that is exactly what `encode` would write, at a third of the cost; else None.

    Nearly every frame is such a frame. It repeats no key, because a decoder keeps only one of two equal keys. The type
    of a plain action allows no other fault: its keys are strings, its integers are small, and it does not nest deeply.
    If any of that is in doubt, the result is None, and `decode` finds out what is wrong.
    """
    if len(frame) > _SHORT:
        return None
    try:
        plain = _PLAIN_DECODER.decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    message = messages.Action(id=plain.id, action=plain.action)
    return message if encode(message) == frame else None


def decode_from_referee(frame: bytes) -> messages.FromReferee | None:
    """Reads a frame from the referee, as `decode` reads one from a bot. It is for clients and tests.

    Raises:
        RemoteProtocolError: The referee broke the protocol.
    """
    if len(frame) > messages.MAX_REFEREE_FRAME:
        raise _oversized(frame, messages.MAX_REFEREE_FRAME, "§5.1-5")
    if type_of(read_map(frame)) not in _REFEREE_TYPES:
        return None
    message: messages.FromReferee = typed(_REFEREE_DECODER, frame)
    return message


_Pairs: TypeAlias = list[tuple[Any, Any]]


def _map(pairs: _Pairs) -> dict[str, Any] | _Fault:
    """Returns a map, or a fault in its place if its keys are not allowed. `_check` raises it when it gets there."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        if type(key) is not str:
            return _Fault("a string as key", _kind(key), "§5.2-1")
        if key in made:
            return _Fault("each key once", f"{_cut(repr(key))} again", "§5.2-2")
        made[key] = value
    return made


def read_map(frame: bytes, *, more: frozenset[type] = frozenset()) -> dict[str, Any]:
    """Returns the frame's map, checked against everything that the specification says of frames (§5.1, §5.2).

    Args:
        more: Types of values that another protocol allows beside those of the specification.

    Raises:
        RemoteProtocolError: It is `malformed`.
    """
    if len(frame) > _SHORT and nests_too_deeply(frame):
        raise _malformed(f"at most {messages.MAX_DEPTH} levels of nesting", "more", "$", "§5.2-6")
    try:
        value = msgpack.unpackb(frame, object_pairs_hook=_map, strict_map_key=False)
    except msgpack.ExtraData as error:
        raise _malformed("one value", f"{len(error.extra)} bytes after it", "$", "§5.1-2") from None
    except ValueError as error:
        # Everything that msgpack raises for bad input is a ValueError. It does not say where.
        rules = {UnicodeDecodeError: "§5.2-4", msgpack.StackError: "§5.2-6"}
        got = str(error) or type(error).__name__
        raise _malformed("one msgpack map", got, "$", rules.get(type(error), "§5.1-2")) from None
    if type(value) not in (dict, _Fault):
        raise _malformed("a map", _kind(value), "$", "§5.1-3")
    try:
        _check(value, 1, more)
    except _Fault as fault:
        raise _malformed(fault.expected, fault.got, "$" + "".join(reversed(fault.place)), fault.rule) from None
    message: dict[str, Any] = value
    return message


_PAYLOAD: Final = dict(
    zip(range(0xC4, 0xE0), b"\1\2\4\1\2\4\4\x08\1\2\4\x08\1\2\4\x08\2\3\5\x09\x11\1\2\4\2\4\2\4", strict=True)
)
"""Number of bytes that follow a first byte or, for a kind with a length, that hold the length."""


def nests_too_deeply(frame: bytes) -> bool:
    """Says, from the headers alone, whether a frame nests too deeply. Other faults are left for msgpack to find."""
    left = [1]  # values still to come at each open level
    at = 0
    while left and at < len(frame):
        if not left[-1]:
            left.pop()
            continue
        left[-1] -= 1
        first = frame[at]
        at += 1
        if 0x80 <= first < 0xA0:  # map or array, short
            left.append((first & 15) * (2 if first < 0x90 else 1))
        elif first < 0xC0:  # string, short (integers below 0x80 end here too)
            at += first & 31 if first >= 0xA0 else 0
        elif first in _PAYLOAD:
            width = _PAYLOAD[first]
            size = int.from_bytes(frame[at : at + width], "big")
            at += width
            if first >= 0xDC:  # array 16, 32, map 16, 32
                left.append(size * (2 if first >= 0xDE else 1))
            elif first >= 0xD9 or first < 0xC7:  # string, binary
                at += size
            elif first < 0xCA:  # extension: a byte for its type
                at += size + 1
        if len(left) > messages.MAX_DEPTH + 1:
            return True
    return False


class _Fault(Exception):
    """A value that the msgpack subset does not allow. Each level that it passes through adds its step to the place."""

    def __init__(self, expected: str, got: str, rule: str) -> None:
        self.expected = expected
        self.got = got
        self.rule = rule
        self.place: list[str] = []


def _check(value: Any, depth: int, more: frozenset[type]) -> None:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return
    if kind is int:
        if not -messages.MAX_INT <= value <= messages.MAX_INT:
            raise _Fault(f"an integer of at most {messages.MAX_INT} in absolute value", str(value), "§5.2-5")
    elif kind is dict or kind is _Fault:
        if depth > messages.MAX_DEPTH:
            raise _Fault(f"at most {messages.MAX_DEPTH} levels of nesting", "another map", "§5.2-6")
        if kind is _Fault:
            raise value
        for key, item in value.items():
            try:
                _check(item, depth + 1, more)
            except _Fault as fault:
                fault.place.append(f".{_cut(key)}")
                raise
    elif kind is list:
        if depth > messages.MAX_DEPTH:
            raise _Fault(f"at most {messages.MAX_DEPTH} levels of nesting", "another array", "§5.2-6")
        for index, item in enumerate(value):
            try:
                _check(item, depth + 1, more)
            except _Fault as fault:
                fault.place.append(f"[{index}]")
                raise
    elif kind not in more or value != value:  # NaN is none of the numbers
        raise _Fault("a string, integer, boolean, nil, array or map", _kind(value), "§5.2-3")


_KINDS: Final = {
    bool: "boolean", int: "integer", float: "float", str: "string", bytes: "binary", type(None): "nil",
    list: "array", dict: "map", _Fault: "map",
}  # fmt: skip


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "extension")


def type_of(message: dict[str, Any]) -> str:
    """Returns the `type` of a message that `read_map` returned; without one the frame is `malformed`."""
    kind = message.get("type")
    if type(kind) is not str:
        raise _malformed("a string", _kind(kind) if "type" in message else "nothing", "$.type", "§5.3-1")
    return kind


def typed(decoder: msgspec.msgpack.Decoder[Any], frame: bytes) -> Any:
    """Returns the message of a frame that `read_map` took; it is `malformed` if a field is not as it must be."""
    try:
        return decoder.decode(frame)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).replace("`", "").partition(" - at ")
        text = f"{reason[:1].lower()}{reason[1:]}"
        raise RemoteProtocolError("malformed", f"{_cut(text)} - at {_cut(place) or '$'}", _rule_of(text)) from None


def _rule_of(text: str) -> str:
    """Returns the number of the broken rule, from the text of msgspec's error."""
    if text.startswith("object missing required field"):
        return "§5.3-2"
    return "§5.2-8" if text.endswith("got bool") else "§5.3-3"


def _malformed(expected: str, got: str, place: str, rule: str) -> RemoteProtocolError:
    return RemoteProtocolError("malformed", f"expected {expected}, got: {_cut(got)} - at {place}", rule)


def _oversized(frame: bytes, limit: int, rule: str) -> RemoteProtocolError:
    return RemoteProtocolError("oversized", f"expected at most {limit} bytes, got: {len(frame)}", rule)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"
