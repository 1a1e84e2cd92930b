"""Encodes and decodes the messages of remote bots, as strictly as `protocol/LEAGUE.md` demands. No I/O and no state.

Frames are held to the rules of `protocol/SPEC.md`, by the same functions: with bytes beside the other kinds of values.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from arena.core.face import codec, errors
from arena.league.door.messages import MAX_AUTHOR_FRAME, MAX_DOOR_FRAME, FromAuthor, FromDoor

__all__ = ["decode", "decode_from_door", "encode", "number_of"]

encode = codec.encode

_OF_AUTHORS: Final = codec.types_of(FromAuthor)
_OF_DOORS: Final = codec.types_of(FromDoor)
_AUTHOR_DECODER: Final = msgspec.msgpack.Decoder(FromAuthor)
_DOOR_DECODER: Final = msgspec.msgpack.Decoder(FromDoor)
_MORE: Final = frozenset({bytes})


def decode(frame: bytes) -> FromAuthor | None:
    """Reads a frame from an author.

    Returns:
        The message, or None if its type is unknown: receivers ignore those.

    Raises:
        RemoteProtocolError: It is `malformed`, larger than allowed, or of a type that only the door sends.
    """
    kind = _kind(frame, MAX_AUTHOR_FRAME)
    if kind in _OF_DOORS - _OF_AUTHORS:
        reason = f"expected a type that an author sends, got: {kind!r} - at $.type"
        raise errors.RemoteProtocolError("protocol", reason, "§5.3-6")
    message: FromAuthor | None = codec.typed(_AUTHOR_DECODER, frame) if kind in _OF_AUTHORS else None
    return message


def decode_from_door(frame: bytes) -> FromDoor | None:
    """Reads a frame from the door, as `decode` reads one from an author.

    Raises:
        RemoteProtocolError: The door broke the protocol.
    """
    kind = _kind(frame, MAX_DOOR_FRAME)
    message: FromDoor | None = codec.typed(_DOOR_DECODER, frame) if kind in _OF_DOORS else None
    return message


def _kind(frame: bytes, most: int) -> str:
    if len(frame) > most:
        raise errors.RemoteProtocolError("too_large", f"expected at most {most} bytes, got: {len(frame)}", "§D4-3")
    return codec.type_of(codec.read_map(frame, more=_MORE))


def number_of(frame: bytes) -> int | None:
    """Returns the `id` of a frame that cannot be taken, if that much of it can be read."""
    if len(frame) > MAX_AUTHOR_FRAME:
        return None
    try:
        number: Any = codec.read_map(frame, more=_MORE).get("id")
    except errors.RemoteProtocolError:
        return None
    return number if type(number) is int else None
