"""Keeps one seat's messages of one game in memory, and writes them only if the seat forfeits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgpack  # type: ignore[import-untyped]
import msgspec

from arena import files
from arena.types import NS_PER_MS, Seat

_LONGEST = 65_536
"""How many bytes of a frame are kept."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"sender": "from"}):
    """One message."""

    ms: int
    """When it was sent or received, since the game began."""
    sender: Literal["referee", "bot"]
    message: Any = None
    """Its content, or None if it cannot be decoded or shown as JSON."""
    hex: str | None = None
    """The frame, in that case."""
    bytes: int | None = None
    """Its length in bytes, in that case; `hex` may be cut."""


Tap: TypeAlias = Callable[[Seat, Entry], None]
"""Called with each message, between decisions: no clock runs while it works."""


class Transcript:
    """The frames of one seat in the order of sending and receiving."""

    def __init__(self) -> None:
        self._frames: list[tuple[Literal["referee", "bot"], bytes, int]] = []

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, sender: Literal["referee", "bot"], frame: bytes, at_ns: int) -> None:
        """Adds a frame and the moment at which it was sent or received."""
        self._frames.append((sender, frame, at_ns))

    def write(self, path: Path, begun_ns: int) -> str:
        """Writes JSON Lines: `ms` since the game began, `from`, and `message`, or `hex` for what cannot be decoded.

        Returns:
            The file's name.
        """
        files.write(path, b"".join(msgspec.json.encode(entry) + b"\n" for _, entry in self.entries(begun_ns)))
        return path.name

    def entries(self, begun_ns: int, first: int = 0) -> list[tuple[int, Entry]]:
        """Returns the messages from number `first` on, counted from 0, each with its moment in nanoseconds."""
        return [(at_ns, _entry(sender, frame, at_ns - begun_ns)) for sender, frame, at_ns in self._frames[first:]]


class Wiretap:
    """Passes on the messages of all seats of a game in the order in which they were sent and received."""

    def __init__(self, transcripts: Sequence[Transcript], tap: Tap) -> None:
        self._transcripts = transcripts
        self._tap = tap
        self._told = [0 for _ in transcripts]

    def tell(self, begun_ns: int) -> None:
        """Passes on the new messages; `begun_ns` is when the game began."""
        new = [
            (at_ns, seat, entry)
            for seat, transcript in enumerate(self._transcripts)
            for at_ns, entry in transcript.entries(begun_ns, self._told[seat])
        ]
        self._told = [len(transcript) for transcript in self._transcripts]
        for _, seat, entry in sorted(new, key=lambda told: told[0]):
            self._tap(seat, entry)


def _entry(sender: Literal["referee", "bot"], frame: bytes, since_ns: int) -> Entry:
    ms = since_ns // NS_PER_MS
    try:
        message = msgpack.unpackb(frame)
        msgspec.json.encode(message)
    except (ValueError, TypeError, RecursionError):
        return Entry(ms=ms, sender=sender, hex=frame[:_LONGEST].hex(), bytes=len(frame))
    return Entry(ms=ms, sender=sender, message=message)
