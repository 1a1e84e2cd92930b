"""A person at a terminal: types into a command that runs on a pseudo-terminal, and reads what it shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.command_kit import ARENA, environment

_HOME = "\x1b[H"
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")
LIMIT_S = 60.0  # how long a page may take that must come: a fault is found by that, not a speed


class Person:
    """Somebody at a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], end: int) -> None:
        self.process = process
        self._end = end
        self.said = ""
        """All that the command has printed."""

    def types(self, keys: str) -> None:
        """Presses keys."""
        os.write(self._end, keys.encode())

    def resizes(self, width: int, height: int) -> None:
        """Gives the terminal another size, of which the command is told by a signal."""
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def page(self) -> str:
        """The last whole page, without colours and spaces at the ends of lines."""
        last = self.said.rpartition(_HOME)[2]
        return "\n".join(line.rstrip() for line in _CODES.sub("", last).replace("\r", "").split("\n"))

    def sees(self, wanted: str | Callable[[str], object]) -> str:
        """Waits for a page that has some text, or that is as wanted, and returns it."""
        until = time.monotonic() + LIMIT_S
        while True:
            self.reads()
            page = self.page()
            if wanted in page if isinstance(wanted, str) else wanted(page):
                return page
            assert self.process.poll() is None or self.reads(), f"ended without {wanted!r}:\n{self.said[-4000:]}"
            assert time.monotonic() < until, f"no {wanted!r} in:\n{page}"

    def reads(self, seconds: float = 0.1) -> bool:
        """Reads what comes, until nothing more does. Returns whether anything came."""
        came = False
        while select.select([self._end], [], [], seconds)[0]:
            try:
                data = os.read(self._end, 65_536)
            except OSError:  # how Linux says that nobody holds the other end
                return came
            if not data:
                return came
            came, seconds = True, 0.02
            self.said += data.decode(errors="replace")
        return came

    def ends(self) -> int:
        """Waits for the end of the command, and returns its exit code."""
        until = time.monotonic() + LIMIT_S
        while self.process.poll() is None:
            self.reads()
            assert time.monotonic() < until, f"still there:\n{self.page()}"
        self.reads()
        return self.process.returncode

    def interrupts(self) -> None:
        """Presses Ctrl-C, which reaches every process of the terminal."""
        self.types("\x03")

    def leaves(self) -> None:
        """Closes the terminal."""
        os.close(self._end)
        self._end = -1


def _own_terminal() -> None:
    """Makes stdin the terminal of a new session. Whoever started the tests may have switched Ctrl-\\ off."""
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def at_terminal(
    folder: Path, *words: str, width: int = 80, height: int = 24, program: Sequence[str] = ARENA
) -> Iterator[Person]:
    """Starts a command at a terminal of some size. It does not outlive the block."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    given = {name: value for name, value in environment().items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [*program, *words],
        cwd=folder, env=given | {"TERM": "xterm-256color"}, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True, preexec_fn=_own_terminal,
    )  # fmt: skip
    os.close(theirs)
    person = Person(process, ours)
    try:
        yield person
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if person._end >= 0:
            os.close(person._end)
