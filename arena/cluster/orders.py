"""What a lane asks of its player, and what comes back: msgpack, in frames on the player's pipes.

Both ends are of the same version of arena: that is checked when a lane opens.
"""

from __future__ import annotations

import os
from typing import Final, TypeAlias

import msgspec

from arena.cluster.delivery import Delivery
from arena.referee.job import Job

_HEAD: Final = 4
"""Bytes of a frame's length."""


class Play(msgspec.Struct, frozen=True, tag=True):
    """Play a game."""

    job: Job
    here: bool
    """Whether the bots are where the job says; else they are looked for by their digests."""


class Attend(msgspec.Struct, frozen=True, tag=True):
    """See to the bots that wait."""


class Done(msgspec.Struct, frozen=True, tag=True):
    """What was asked was done."""

    delivery: Delivery | None = None
    """The game, if one was to be played."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """It could not be done; the player goes on."""

    reason: str
    of_machine: bool
    """Whether the machine lacks something, so that nobody but its owner can help."""


class Ended(msgspec.Struct, frozen=True, tag=True):
    """The player ended before it answered."""

    how: str
    killed: bool
    """Whether it was killed from outside: nothing in a game sends SIGKILL or SIGTERM to it."""


Order: TypeAlias = Play | Attend
Answer: TypeAlias = Done | Failed | Ended

encode = msgspec.msgpack.Encoder().encode
"""Returns an order or an answer as bytes."""
decode_order = msgspec.msgpack.Decoder(Order).decode
decode_answer = msgspec.msgpack.Decoder(Answer).decode


def write_frame(pipe: int, content: bytes) -> None:
    """Writes a frame to a pipe.

    Raises:
        OSError: Nobody reads it.
    """
    data = memoryview(len(content).to_bytes(_HEAD, "big") + content)
    while data:
        data = data[os.write(pipe, data) :]


def read_frame(pipe: int) -> bytes | None:
    """Returns the next frame from a pipe, or None at its end, even amid a frame."""
    head = _read(pipe, _HEAD)
    return None if head is None else _read(pipe, int.from_bytes(head, "big"))


def _read(pipe: int, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = os.read(pipe, min(size - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return bytes(data)
