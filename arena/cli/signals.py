"""Stops a command in the same way after Ctrl-C, `kill` or the closing of its terminal.

Laws:
1. The first signal raises `Stopped` in the command, which cleans up, says what is kept, and ends.
2. Signals that follow at once change nothing: a second Ctrl-C does not cut the clean-up short.
   A command that works in a loop calls `check` in it: Python swallows an exception that a signal raises in a finalizer.
3. The exit code is 128 plus the number of the signal, as shells have it: 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

STOPPING: Final = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, Ctrl-\\, `kill`, and the end of the terminal."""
CLEAN_UP_S: Final = 10.0
"""Longer than any clean-up. A later signal raises again, in case the first exception was swallowed on its way."""

_first: tuple[int, float] | None = None  # the signal that was heeded, and when


class Stopped(KeyboardInterrupt):
    """The command was asked to stop, and not only by Ctrl-C."""


def heed() -> None:
    """Makes each signal raise `Stopped`, except those that our parent switched off (`nohup`, `&`)."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a parent may have switched it off: then no end of a bot is told
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


@contextmanager
def suspended(leave: Callable[[], None], back: Callable[[], None]) -> Iterator[None]:
    """Calls `leave` before Ctrl-Z stops the command, and `back` when it goes on.

    `back` may be called twice, and without `leave`: nobody is told of SIGSTOP.
    """
    if signal.getsignal(signal.SIGTSTP) is signal.SIG_IGN:
        yield
        return

    def go_on(number: int, frame: FrameType | None) -> None:
        if _first is None:  # what is to end draws nothing any more
            back()

    def stop(number: int, frame: FrameType | None) -> None:
        leave()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        signal.raise_signal(signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, stop)
        go_on(number, frame)  # without a shell that could continue it, a process is not stopped at all

    before = [(number, signal.signal(number, act)) for number, act in ((signal.SIGTSTP, stop), (signal.SIGCONT, go_on))]
    try:
        yield
    finally:
        for number, act in before:
            signal.signal(number, act)


def in_front(terminal: int) -> bool:
    """Returns whether the terminal is ours now, and not the shell's or another job's."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # it is not the one that we were started from: nobody else has it
        return True
