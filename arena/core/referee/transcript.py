"""Keeps one seat's messages of one game in memory, and writes them only if the seat forfeits.

What is kept is bounded in bytes, whatever a bot sends: it is for people.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgpack  # type: ignore[import-untyped]
import msgspec

from arena.core import files
from arena.core.types import NS_PER_MS, Seat
from arena.core.wire.codec import nests_too_deeply

KEPT_BYTES: Final = 262_144
"""Bytes of a seat's messages in a game that are kept, in memory and in the file: the first quarter, and the last."""
_FIRST_BYTES: Final = KEPT_BYTES // 4
_LAST_BYTES: Final = KEPT_BYTES - _FIRST_BYTES
_LONGEST: Final = 32_768  # how many bytes of a frame are kept
_OVERHEAD: Final = 64  # bytes that a frame counts for beside its own
_LONGEST_LINE: Final = 32_768  # Bytes of the longest line of the file. A longer message is written as hex.
_LONGEST_HEX: Final = 4_096  # how many bytes of a frame are written as hex


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"sender": "from"}):
    """One message."""

    ms: int
    """When it was sent or received, since the game began."""
    sender: Literal["referee", "bot"]
    message: Any = None
    """Its content, or None if it cannot be decoded or shown as JSON."""
    hex: str | None = None
    bytes: int | None = None
    """Its length in bytes, in that case; `hex` may be cut."""


Tap: TypeAlias = Callable[[Seat, Entry], None]
"""Called with each message, between decisions: no clock runs while it works."""


class _Kept(msgspec.Struct, frozen=True):
    sender: Literal["referee", "bot"]
    frame: bytes  # it may be cut
    size: int  # the whole frame's length in bytes
    at_ns: int


class Transcript:
    """The frames of one seat in the order of sending and receiving: the first and the last `KEPT_BYTES` of them."""

    def __init__(self) -> None:
        self._first: list[_Kept] = []
        self._last: deque[_Kept] = deque()
        self._first_bytes = 0
        self._last_bytes = 0
        self._left_out = 0  # how many frames between the first and the last are not kept

    def __len__(self) -> int:
        """Returns how many frames were added."""
        return len(self._first) + self._left_out + len(self._last)

    def add(self, sender: Literal["referee", "bot"], frame: bytes, at_ns: int) -> None:
        """Adds a frame and the moment at which it was sent or received."""
        size = len(frame)
        kept = _Kept(sender, frame if size <= _LONGEST else frame[:_LONGEST], size, at_ns)
        size = len(kept.frame) + _OVERHEAD
        if not self._last and self._first_bytes + size <= _FIRST_BYTES:
            self._first.append(kept)
            self._first_bytes += size
            return
        self._last.append(kept)
        self._last_bytes += size
        while self._last_bytes > _LAST_BYTES:
            self._last_bytes -= len(self._last.popleft().frame) + _OVERHEAD
            self._left_out += 1

    def write(self, path: Path, begun_ns: int) -> str:
        """Writes JSON Lines: `ms` since the game began, `from`, and `message`, or `hex` for what cannot be decoded.

        Where messages are left out, a line says how many.

        Returns:
            The file's name.
        """
        # JSON may be longer than the frames were.
        first = _within(_FIRST_BYTES, (_line(kept, begun_ns) for kept in self._first))
        last = _within(_LAST_BYTES, (_line(kept, begun_ns) for kept in reversed(self._last)))
        left_out = len(self) - len(first) - len(last)
        gap = [msgspec.json.encode({"left_out": left_out}) + b"\n"] if left_out else []
        files.write(path, b"".join([*first, *gap, *reversed(last)]))
        return path.name

    def entries(self, begun_ns: int, first: int = 0) -> list[tuple[int, Entry]]:
        """Returns the messages from number `first` on, counted from 0, each with its moment in nanoseconds."""
        last = first - len(self._first) - self._left_out
        kept = (*self._first[first:], *islice(self._last, max(0, last), None))
        return [(each.at_ns, _entry(each, begun_ns)) for each in kept]


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


def _within(size: int, lines: Iterable[bytes]) -> list[bytes]:
    found = []
    for line in lines:
        size -= len(line)
        if size < 0:
            break
        found.append(line)
    return found


def _line(kept: _Kept, begun_ns: int) -> bytes:
    line = msgspec.json.encode(_entry(kept, begun_ns)) + b"\n"
    return line if len(line) <= _LONGEST_LINE else msgspec.json.encode(_hex(kept, begun_ns)) + b"\n"


def _entry(kept: _Kept, begun_ns: int) -> Entry:
    if kept.size > len(kept.frame) or nests_too_deeply(kept.frame):
        return _hex(kept, begun_ns)
    try:
        message = msgpack.unpackb(kept.frame)
        msgspec.json.encode(message)
    except (ValueError, TypeError, RecursionError):
        return _hex(kept, begun_ns)
    return Entry(ms=(kept.at_ns - begun_ns) // NS_PER_MS, sender=kept.sender, message=message)


def _hex(kept: _Kept, begun_ns: int) -> Entry:
    ms = (kept.at_ns - begun_ns) // NS_PER_MS
    return Entry(ms=ms, sender=kept.sender, hex=kept.frame[:_LONGEST_HEX].hex(), bytes=kept.size)
