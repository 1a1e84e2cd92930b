"""Measures the CPU time that a bot uses while it has no open request."""

from __future__ import annotations

from typing import Final

from arena.link.base import Link
from arena.types import NS_PER_MS, Level, Seat

MEASURED: Final = frozenset({Level.FENCED, Level.ISOLATED, Level.STRICT})
"""The levels at which it is measured."""
_LONG_NS: Final = 10 * NS_PER_MS
"""After a time as long as this a bot's processes are looked for again, which takes some 0.2 ms. After a shorter one
only those are asked that are known. A process that was started and ended within it may be counted to the wrong side,
so the error of a decision is below this on each core."""


class OffTurn:
    """What one seat uses in one game while others are to move. Before the game begins nothing is counted."""

    __slots__ = ("_at_ns", "_before_ns", "_link", "_seat", "_total_ns", "asked_ns")

    def __init__(self, link: Link, seat: Seat) -> None:
        self._link = link
        self._seat = seat
        self._at_ns = 0
        """When it was last found to be off turn."""
        self._before_ns: int | None = None
        """What it had used by then in its life; None while it is asked, and outside the game."""
        self._total_ns = 0
        self.asked_ns = 0
        """What it had used in its life when it was last asked."""

    @property
    def cpu_ms(self) -> int:
        """The CPU time so far, in milliseconds."""
        return self._total_ns // NS_PER_MS

    def begin(self) -> None:
        """Begins the game: nobody is to move yet."""
        self._total_ns = 0
        self.answered(_LONG_NS)

    def answered(self, used_ns: int) -> None:
        """Begins to count: its answer has come, after so many nanoseconds."""
        self._at_ns = self._link.now_ns()
        self._before_ns = self._used_ns(used_ns)

    def asked(self) -> None:
        """Ends counting: it is about to be asked, or its game is over."""
        if self._before_ns is not None:
            self.asked_ns = self._used_ns(self._link.now_ns() - self._at_ns)
            self._total_ns += self.asked_ns - self._before_ns
            self._before_ns = None

    def _used_ns(self, since_ns: int) -> int:
        """Returns what it has used in its life, `since_ns` after it was looked at last."""
        link = self._link
        return link.cpu_ns(self._seat) if since_ns >= _LONG_NS else link.known_cpu_ns(self._seat)
