"""Unusual but valid forms of a message (§5.2-7): what other msgpack libraries may make of it, and this one never does.

A frame goes in as the referee's encoder wrote it, and comes out saying the same in another way.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias

import msgpack  # type: ignore[import-untyped]

from arena.types import Payload
from arena.wire.codec import encode

Form: TypeAlias = Callable[[bytes], bytes]
"""Makes another frame of a frame."""


def long_integers(frame: bytes) -> bytes:
    """Every integer in nine bytes; those that are not negative signed and unsigned by turns."""
    return _Long(integers=True).pack(msgpack.unpackb(frame))


def long_strings(frame: bytes) -> bytes:
    """Every string with a length of four bytes, keys too."""
    return _Long(strings=True).pack(msgpack.unpackb(frame))


def long_containers(frame: bytes) -> bytes:
    """Every map and array with a length of four bytes."""
    return _Long(containers=True).pack(msgpack.unpackb(frame))


def reversed_fields(frame: bytes) -> bytes:
    """The fields of every map the other way round, so that `type` is last."""

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(item) for key, item in reversed(value.items())}
        return [turned(item) for item in value] if isinstance(value, list) else value

    return encode(turned(msgpack.unpackb(frame)))


UNKNOWN: Payload = {
    "x_unknown": None,
    "x_list": [1, [True, {"x": -(2**53) + 1}]],
    "x_map": {"type": "goodbye", "id": 0, "": ""},
    "x_text": "知らない " * 20,
}
"""Fields that no version has. What they hold is allowed, and none of a receiver's business."""
_INNER = ("time", "clock")


def unknown_fields(frame: bytes) -> bytes:
    """Fields that no version has before and after those of the message, and in its inner maps. Payloads are left."""
    message = msgpack.unpackb(frame)
    for name in _INNER:
        if isinstance(message.get(name), dict):
            message[name] = UNKNOWN | message[name]
    message["forfeits"] = [notice | UNKNOWN for notice in message["forfeits"]] if message.get("forfeits") else []
    if message["type"] != "game_over":
        del message["forfeits"]
    return encode({"a_first": 1} | message | UNKNOWN)


def explicit_nils(frame: bytes) -> bytes:
    """Nil in every field that may be left out and was (§5.3-3)."""
    message = msgpack.unpackb(frame)
    optional = {"request": ("view", "events", "legal"), "game_over": ("events",), "error": ("id",)}
    return encode(message | {name: message.get(name) for name in optional.get(message["type"], ())})


class _Long:
    """A msgpack encoder that takes the longest form of what it is told to, and msgspec's for the rest."""

    def __init__(self, *, integers: bool = False, strings: bool = False, containers: bool = False) -> None:
        self._integers = integers
        self._strings = strings
        self._containers = containers
        self._signed = False

    def pack(self, value: Any) -> bytes:
        """The bytes of a value."""
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
        return encode(value)

    def _head(self, long: bytes, short: Callable[[int], bytes], size: int) -> bytes:
        """The header of a map or an array."""
        return long + struct.pack(">I", size) if self._containers else short(size)
