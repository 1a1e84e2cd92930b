"""Shows frames to a person, whatever is wrong with them; and writes messages in unusual but valid forms (§5.2-7).

A form takes a frame as the referee's encoder wrote it, and returns one that says the same in another way: what other
msgpack libraries may write, and this one never does.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final, TypeAlias, get_args

import msgpack  # type: ignore[import-untyped]
import msgspec

from arena.core.face import Payload, codec, plain, wire_messages

LONGEST_HEX: Final = 160
"""Bytes of a frame that are shown."""
LONGEST_DECODED: Final = 1_000
"""Characters of a message that are shown."""


class _Pairs(list[tuple[Any, Any]]):
    """A map as it stands in a frame: in order, with repeated keys."""


def _read(frame: bytes) -> Any:
    """Returns a frame's value, with maps as `_Pairs`. Raises ValueError: it is not one msgpack value."""
    return msgpack.unpackb(frame, object_pairs_hook=_Pairs, strict_map_key=False)


def type_is_first(frame: bytes) -> bool:
    """Returns whether a frame that the codec accepts begins with `type`."""
    value = _read(frame)
    return bool(value) and value[0][0] == "type"


def decoded(frame: bytes) -> str:
    """Returns a frame as JSON for a person, cut off if it is long; or why it cannot be read."""
    try:
        text = plain(_json(_read(frame)))
    except RecursionError:
        return "(nests too deeply to be shown)"
    except (ValueError, TypeError) as error:
        return f"(not one msgpack value: {plain(str(error) or type(error).__name__)[:200]})"
    return text if len(text) <= LONGEST_DECODED else f"{text[:LONGEST_DECODED]}…"


def hexed(frame: bytes) -> str:
    """Returns the bytes of a frame, in groups; only the beginning if it is long."""
    text = frame[:LONGEST_HEX].hex(" ", -4)
    return text if len(frame) <= LONGEST_HEX else f"{text} …"


def _json(value: Any) -> str:
    """Returns a value as JSON, and also what JSON does not have: repeated keys stay, binaries and extensions are named.

    >>> _json(_Pairs([("a", 1), ("a", b"x")]))
    '{"a":1,"a":(binary 78)}'
    """
    if isinstance(value, _Pairs):
        return "{" + ",".join(f"{_json(key)}:{_json(item)}" for key, item in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json, value)) + "]"
    if isinstance(value, bytes):
        return f"(binary {value[:32].hex()})"
    if isinstance(value, str):
        return msgspec.json.encode(value).decode()
    names = {None: "null", True: "true", False: "false"}
    return names[value] if value is None or isinstance(value, bool) else str(value)


Form: TypeAlias = Callable[[bytes], bytes]
"""Makes another frame of a frame."""


def long_integers(frame: bytes) -> bytes:
    """Writes every integer in nine bytes; those that are not negative in turn as signed and as unsigned."""
    return _Long(integers=True).pack(msgpack.unpackb(frame))


def long_strings(frame: bytes) -> bytes:
    """Writes every string, keys too, with a length of four bytes."""
    return _Long(strings=True).pack(msgpack.unpackb(frame))


def long_containers(frame: bytes) -> bytes:
    """Writes every map and array with a length of four bytes."""
    return _Long(containers=True).pack(msgpack.unpackb(frame))


def reversed_fields(frame: bytes) -> bytes:
    """Writes the fields of every map in reverse order, so that `type` is last."""

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(item) for key, item in reversed(value.items())}
        return [turned(item) for item in value] if isinstance(value, list) else value

    return codec.encode(turned(msgpack.unpackb(frame)))


UNKNOWN: Final[Payload] = {
    "x_unknown": None,
    "x_list": [1, [True, {"x": -wire_messages.MAX_INT}]],
    "x_map": {"type": "goodbye", "id": 0, "": ""},
    "x_text": "知らない " * 20,
}
"""Fields that no version has. Their values are allowed, and a receiver must not care about them."""
_INNER: Final = ("time", "clock")
_OPTIONAL: Final = {
    message.__struct_config__.tag: [field.name for field in msgspec.structs.fields(message) if field.default is None]
    for message in get_args(wire_messages.FromReferee)
}
"""Fields that may be left out, or be nil, by the type of their message."""


def unknown_fields(frame: bytes) -> bytes:
    """Adds unknown fields before and after those of the message, and to its inner maps. Payloads stay as they are."""
    message = msgpack.unpackb(frame)
    for name in _INNER:
        if isinstance(message.get(name), dict):
            message[name] = UNKNOWN | message[name]
    if "forfeits" in message:
        message["forfeits"] = [notice | UNKNOWN for notice in message["forfeits"]]
    return codec.encode({"a_first": 1} | message | UNKNOWN)


def explicit_nils(frame: bytes) -> bytes:
    """Writes nil in every field that may be left out and was (§5.3-3)."""
    message = msgpack.unpackb(frame)
    return codec.encode(message | {name: message.get(name) for name in _OPTIONAL[message["type"]]})


class _Long:
    """A msgpack encoder that writes some kinds of values in their longest form, and the rest as msgspec does."""

    def __init__(self, *, integers: bool = False, strings: bool = False, containers: bool = False) -> None:
        self._integers = integers
        self._strings = strings
        self._containers = containers
        self._signed = False

    def pack(self, value: Any) -> bytes:
        """Returns the bytes of a value."""
        if isinstance(value, dict):
            items = b"".join(self.pack(key) + self.pack(item) for key, item in value.items())
            return self._head(b"\xdf", msgpack.Packer().pack_map_header, len(value)) + items
        if isinstance(value, list):
            return self._head(b"\xdd", msgpack.Packer().pack_array_header, len(value)) + b"".join(map(self.pack, value))
        if isinstance(value, str) and self._strings:
            data = value.encode()
            return b"\xdb" + struct.pack(">I", len(data)) + data
        if type(value) is int and self._integers:
            self._signed = not self._signed
            signed = self._signed or value < 0
            return b"\xd3" + struct.pack(">q", value) if signed else b"\xcf" + struct.pack(">Q", value)
        return codec.encode(value)

    def _head(self, long: bytes, short: Callable[[int], bytes], size: int) -> bytes:
        """Returns the header of a map or an array."""
        return long + struct.pack(">I", size) if self._containers else short(size)
