"""The messages between the referee and one seat in one game, kept in memory and written only if the seat forfeits."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgpack  # type: ignore[import-untyped]
import msgspec

from arena.referee.clock import NS_PER_MS

_LONGEST = 65_536
"""Bytes of a frame that are kept."""


class Transcript:
    """Frames as they went over the wire."""

    def __init__(self) -> None:
        self._frames: list[tuple[Literal["referee", "bot"], bytes, int]] = []

    def add(self, sender: Literal["referee", "bot"], frame: bytes, at_ns: int) -> None:
        """Note a frame and the moment at which it went over the wire."""
        self._frames.append((sender, frame, at_ns))

    def write(self, path: Path, begun_ns: int) -> str:
        """Write JSON Lines: `ms` since the game began, `from`, and `message`, or `hex` for what cannot be decoded.

        Returns:
            The file's name.
        """
        with path.open("wb") as file:
            for sender, frame, at_ns in self._frames:
                ms = (at_ns - begun_ns) // NS_PER_MS
                file.write(msgspec.json.encode({"ms": ms, "from": sender} | _decoded(frame)) + b"\n")
        return path.name


def _decoded(frame: bytes) -> dict[str, Any]:
    try:
        message = msgpack.unpackb(frame)
        msgspec.json.encode(message)
    except (ValueError, TypeError, RecursionError):
        return {"hex": frame[:_LONGEST].hex(), "bytes": len(frame)}
    return {"message": message}
