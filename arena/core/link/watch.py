"""Watches one bot process and says what became of it, once that is settled.

A process that ends closes its connection, and the two are seen in either order. On a busy machine they may be seen far
apart: an interpreter that shuts down closes its sockets first and ends much later. So a closed connection is no fault
until the process has had ample time to end, and the same crash has the same name on every machine. No clock of a seat
runs during that time.
"""

from __future__ import annotations

from typing import Final

from arena.core.link.base import Cause
from arena.core.link.process import BotProcess
from arena.core.types import NS_PER_MS, Termination

SETTLE_MS: Final = 2_000
"""Time in which a process may still end after its connection closed, or its connection may close after its end."""
GREETING_MS: Final = 250
"""The same after the end of a process that has not greeted: there is no known connection whose closing tells that
nothing more comes."""
LOOK_MS: Final = 50  # the longest time between two looks at a process
FAILING_LOOK_MS: Final = 5  # the same while it is failing


class Watch:
    """What is known of one process: its end, its connection, its limits. All moments in nanoseconds.

    To lose nothing, first `look`, then read what the bot sent, and only then ask for the `failure`: an answer that was
    sent before the end is read before the end is reported.
    """

    def __init__(self, process: BotProcess) -> None:
        """Takes the process."""
        self._process = process
        self._connected = False
        self._excess: str | None = None  # what it used more of than it may
        self._closed_ns: int | None = None
        self._ended_ns: int | None = None
        self._sample_ns = 0  # when its limits are looked at again

    def connect(self) -> None:
        """Notes that the bot has greeted, so that its end closes a connection."""
        self._connected = True

    def disconnect(self, now: int) -> None:
        """Notes that the bot's connection is closed, and all that it sent was received."""
        if self._closed_ns is None:
            self._closed_ns = now

    @property
    def is_closed(self) -> bool:
        """Tells whether the bot's connection is known to be closed."""
        return self._closed_ns is not None

    @property
    def is_failing(self) -> bool:
        """Tells whether there is a failure, settled or not. If so, wait for it: `failure` returns it in the end."""
        return self._closed_ns is not None or self._ended_ns is not None or self.is_too_big

    @property
    def is_too_big(self) -> bool:
        """Tells whether the bot has used more memory than it may."""
        return self._excess is not None

    @property
    def most_mib(self) -> int:
        """Returns the most memory that was seen."""
        return self._process.fence.most_mib

    def look(self, now: int) -> None:
        """Looks whether the process has ended, and from time to time whether the bot keeps to its limits.

        The rest of its processes are killed with it, so that no child keeps its connection open. Whether the system
        ended it for its memory must be known before its end is told.
        """
        has_ended = self._ended_ns is None and self._process.end() is not None
        if self._excess is None and (has_ended or now >= self._sample_ns):
            self._sample_ns = now + LOOK_MS * NS_PER_MS
            self._excess = self._process.fence.excess()
        if has_ended:
            self._ended_ns = now
            self._process.kill()

    def failure(self, now: int) -> Cause | None:
        """Returns the process's failure, or None while it has none, or none whose nature is settled."""
        if self._excess is not None:
            return Cause(Termination.OUT_OF_MEMORY, self._excess)
        if self._ended_ns is not None:
            wait_ms = SETTLE_MS if self._connected else GREETING_MS
            end = self._process.end()
            if end is not None and (self._closed_ns is not None or now - self._ended_ns >= wait_ms * NS_PER_MS):
                return Cause(end.code, end.detail)
        elif self._closed_ns is not None and now - self._closed_ns >= SETTLE_MS * NS_PER_MS:
            return Cause(Termination.DISCONNECTED, "closed its connection", "§4.3-2")
        return None
