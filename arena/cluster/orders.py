"""What a lane asks of its player, and what comes back: msgpack, in frames on the player's pipes.

Both ends are of the same version of arena: that is checked when a lane opens.
"""

from __future__ import annotations

import os
from typing import Final, TypeAlias

import msgspec

from arena.cluster.delivery import Delivery
from arena.link.bots import BotSpec
from arena.referee.job import Job
from arena.types import Level

GAMES: Final = "game"
"""The folder of a lane, in its own, in which games are played."""
BROUGHT: Final = "brought"
"""The folder for archives, which are called like their digests."""
_HEAD: Final = 4
"""Bytes of a frame's length."""


class Want(msgspec.Struct, frozen=True):
    """A bot that games need."""

    bot: BotSpec
    """As it is started where the games are ordered."""
    parcel: str = ""
    """The digest of its archive; empty if it cannot travel."""
    why: str = ""
    """Why it cannot."""


class Need(msgspec.Struct, frozen=True, tag=True):
    """Find bots, and say which are lacking."""

    wants: tuple[Want, ...]
    level: Level
    """How far they will be confined: whether the machine gives that is found out, too."""
    anew: bool
    """Whether those that were found before are not needed any more."""


class Build(msgspec.Struct, frozen=True, tag=True):
    """Build a bot whose archive was put into the lane's folder."""

    want: Want
    level: Level
    """How far the build is confined."""


class Play(msgspec.Struct, frozen=True, tag=True):
    """Play a game."""

    job: Job
    here: bool
    """Whether the bots are where the job says; else they are those that were found or built."""


class Attend(msgspec.Struct, frozen=True, tag=True):
    """See to the bots that wait."""


class Done(msgspec.Struct, frozen=True, tag=True):
    """What was asked was done."""

    delivery: Delivery | None = None
    """The game, if one was to be played."""


class Lacking(msgspec.Struct, frozen=True, tag=True):
    """These bots are not here: bring them."""

    digests: tuple[str, ...]
    """Those of their files; none if all are here."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """It could not be done; the player goes on."""

    reason: str
    of_machine: bool
    """Whether the machine lacks something, so that nobody but its owner can help."""
    bot: str = ""
    """The digest of the bot that cannot be started here, if that is why."""


class Ended(msgspec.Struct, frozen=True, tag=True):
    """The player ended before it answered."""

    how: str
    killed: bool
    """Whether it was killed from outside: nothing in a game sends SIGKILL or SIGTERM to it."""


Order: TypeAlias = Need | Build | Play | Attend
Answer: TypeAlias = Done | Lacking | Failed | Ended

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
