"""Keeps the door open: starts its process, and starts it again when it falls over.

Whatever ends the door's process, which has limits of its own, one that no network reaches opens it again: `arena league
open` does nothing else, and `arena league run` looks at it now and then.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

LONGEST_PAUSE_S: Final = 60
"""The longest pause before it is opened again. Each is twice the one before, from a second on."""
CALM_S: Final = 300.0
"""After so long without a fall the pauses begin anew."""
_FAREWELL_S: Final = 10.0
_LOOK_S: Final = 0.1
_AT_ONCE: Final = 65_536
"""Bytes that are read from a pipe at a time; no longer line is kept."""


def door_command(folder: Path, bind: str, url: str, tls: Sequence[str], falls: int = 0) -> list[str]:
    """Returns the command that is the door of a league until it falls over.

    Args:
        bind: Where it listens: `HOST:PORT`.
        url: The address that authors use; empty: that at which it listens.
        tls: The files of a certificate and its key, or `self`; empty: none.
        falls: How often it fell over before.
    """
    options = ["--bind", bind, *(["--url", url] if url else []), *(["--tls", *tls] if any(tls) else [])]
    return [sys.executable, "-m", "arena", "league", "open", str(folder), *options, "--once", "--falls", str(falls)]


class DoorSupervisor(msgspec.Struct, eq=False):
    """Keeps a door open beside other work: `look` starts it, and starts it again, and never waits.

    Args:
        command: Returns what starts it, from how often it fell over.
        tell: Called with sentences for the operator, those of the door too.
        announce: Called with the address for authors, when the door is opened first.
    """

    command: Callable[[int], Sequence[str]]
    tell: Callable[[str], object]
    announce: Callable[[str], object] = lambda address: None
    clock: Callable[[], float] = time.monotonic
    _announced: bool = False
    _pause: int = 1
    _falls: int = 0
    _child: _Door | None = None
    _began: float = 0.0
    _due: float = 0.0

    def look(self, *, lasts: bool = True) -> int | None:
        """Passes on what the door says. Starts it, if it is not open and its pause is over.

        Args:
            lasts: Whether it is opened again whatever ended it.

        Returns:
            If it does not last: the exit status of a door that was closed, or could not be opened at first; else None.

        Raises:
            OSError: It cannot be started now.
        """
        if self._child is not None:
            status = self._child.process.poll()
            self._hear(self._child)
            if status is not None:
                self._child.close()
                self._child = None
                if not lasts and (status == 0 or (status > 0 and not self._falls)):
                    return status
                self._fell(status)
        if self._child is None and (now := self.clock()) >= self._due:
            self._began = now
            self._child = _Door(self.command(self._falls))
        return None

    def _fell(self, status: int) -> None:
        """Says when the door opens again that has ended with a status."""
        now = self.clock()
        if now - self._began > CALM_S:
            self._pause = 1
        self._falls += 1
        self._due = now + self._pause
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"
        self.tell(f"The door {how}; it opens again in {self._pause} s. The league plays on.")
        self._pause = min(2 * self._pause, LONGEST_PAUSE_S)

    def _hear(self, door: _Door) -> None:
        for address in door.addresses():
            if not self._announced:
                self._announced = True
                self.announce(address)
        for sentence in door.sentences():
            self.tell(sentence)

    def close(self) -> None:
        """Closes the door."""
        if self._child is not None:
            _end(self._child.process)
            self._hear(self._child)
            self._child.close()
            self._child = None


def keep_open(supervisor: DoorSupervisor) -> int:
    """Keeps a door open until it is closed, or cannot be opened at first. Returns its exit status."""
    try:
        while (status := supervisor.look(lasts=False)) is None:
            time.sleep(_LOOK_S)
        return status
    finally:
        supervisor.close()


class _Door:
    """A door's process, with what it prints: its address on standard output, sentences on the other."""

    def __init__(self, command: Sequence[str]) -> None:
        # In a group of its own: Ctrl-C is for who keeps it, and games of bots elsewhere may go on for a while.
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.addresses = _Lines(self.process.stdout.fileno())
        self.sentences = _Lines(self.process.stderr.fileno())

    def close(self) -> None:
        """Closes the pipes. The process has ended."""
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


class _Lines:
    """Returns the lines that can be read from a pipe now."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._begun = b""
        """A line without its end."""

    def __call__(self) -> list[str]:
        with suppress(BlockingIOError):
            while data := os.read(self._descriptor, _AT_ONCE - len(self._begun)):
                self._begun += data
        *lines, rest = self._begun.split(b"\n")
        self._begun = rest if len(rest) < _AT_ONCE else b""
        return [line.decode(errors="replace") for line in lines]


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(_FAREWELL_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
