"""Stops a command in the same way after Ctrl-C, `kill` or the closing of its terminal.

Laws:
1. The first signal raises `Stopped` in the command, which cleans up, says what is kept, and ends.
2. Signals that follow at once change nothing: a second Ctrl-C does not cut the clean-up short.
   A command that works in a loop calls `check` in it: Python swallows an exception that a signal raises in a finalizer.
3. The exit code is 128 plus the number of the signal, as shells have it: 130 after Ctrl-C.
"""

from __future__ import annotations

import signal
import time
from types import FrameType
from typing import Final

STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, `kill`, and the end of the terminal."""
CLEAN_UP_S: Final = 10.0
"""Longer than any clean-up. A later signal raises again, in case the first exception was swallowed on its way."""

_first: tuple[int, float] | None = None
"""The signal that was heeded, and when."""


class Stopped(KeyboardInterrupt):
    """The command was asked to stop, and not only by Ctrl-C."""


def heed() -> None:
    """Makes each signal raise `Stopped`, except those that our parent switched off (`nohup`, `&`)."""
    for number in STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def ignore() -> None:
    """Switches the signals off: the command is over, and the rest takes only a moment."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)


def check() -> None:
    """Raises `Stopped` if the command was asked to stop but still runs; else does nothing.

    Raises:
        Stopped: The exception of its signal was swallowed.
    """
    if _first is not None:
        raise Stopped


def exit_code() -> int | None:
    """Returns the exit code for the signal that was heeded, or None if there was none."""
    return None if _first is None else 128 + _first[0]


def _stop(number: int, frame: FrameType | None) -> None:
    global _first
    now = time.monotonic()
    if _first is None or now > _first[1] + CLEAN_UP_S:
        _first = (number, now)
        raise Stopped
