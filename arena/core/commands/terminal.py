"""Reads keys from a terminal and shows pages on it: what `replay` and `play` need of one.

Laws:
1. Whatever happens, the terminal is left as it was. While Ctrl-Z stops the command, the shell has its own screen.
2. A change of the terminal's size is an event like a key, so that the page is drawn anew at once.
3. Keys that are held down arrive several at a time; each counts.
"""

from __future__ import annotations

import errno
import os
import re
import select
import signal
import sys
import termios
import textwrap
import tty
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from types import FrameType, TracebackType
from typing import Any, Final

from rich.console import Console, Group, ScreenContext
from rich.control import Control
from rich.text import Text

from arena.cli import signals
from arena.core.show.scene import LEAST_HEIGHT, LEAST_WIDTH

MOST_WIDTH: Final = 100
"""The widest frame, however wide the terminal is."""
_KEY: Final = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])|.", re.DOTALL)
_HALF: Final = re.compile(r"\x1b(?:\[[0-9;]*|O)?\Z")  # matches the beginning of a key that sends several characters
_REST_MS: Final = 50  # how long the rest of such a key may take; without it, it was Escape
ESCAPE: Final = "\x1b"
END: Final = ""
"""Stands for the end of input: Ctrl-D, or a terminal that is gone."""


def can_step(screen: Console) -> bool:
    """Returns whether there is a person at a terminal who can press keys."""
    return screen.is_terminal and not screen.is_dumb_terminal and sys.stdin.isatty()


def too_small(screen: Console, more: str = "") -> list[Text]:
    """Returns lines that say what to do, and `more`, if the terminal is too small for a board, else nothing."""
    width, height = screen.size
    if width >= LEAST_WIDTH and height >= LEAST_HEIGHT:
        return []
    needed = f"{LEAST_WIDTH} columns and {LEAST_HEIGHT} lines"
    told = f"The board needs {needed}, and this terminal has {width} and {height}. Make it larger. {more}"
    return [Text(line) for line in textwrap.wrap(told, max(1, width))]


class Terminal:
    """The terminal while a command has all of it. Use it in a `with` statement."""

    def __init__(self, screen: Console) -> None:
        self.screen = screen
        self._in = sys.stdin.fileno()
        self._typed = ""
        self._context: ScreenContext | None = None
        self._kept: Any = None
        self._taken: Any = None
        self._away = False
        """Whether Ctrl-Z has given the terminal back."""

    def __enter__(self) -> Terminal:
        self._kept = termios.tcgetattr(self._in)
        self._changed, self._change = os.pipe()
        os.set_blocking(self._change, False)
        self._before = signal.signal(signal.SIGWINCH, self._resized)
        self._stack = ExitStack()
        try:
            self._stack.callback(self._restore)
            self._stack.enter_context(signals.suspended(self._leave, self._back))
            tty.setcbreak(self._in)
            self._taken = termios.tcgetattr(self._in)
            self._context = self._stack.enter_context(self.screen.screen())
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def show(self, lines: Sequence[Text]) -> None:
        """Shows a page. Lines that are too long, and those too many, are cut."""
        assert self._context is not None
        for line in lines:
            line.no_wrap, line.overflow = True, "crop"
        with self.screen:  # in one go, so that nobody sees half a page
            self.screen.control(Control.home())
            self._context.update(Group(*lines[: self.screen.height]))

    def wait(self, *others: int, timeout_s: float | None = None) -> tuple[list[str], set[int]]:
        """Waits until something was typed, the size has changed, or one of some descriptors can be read.

        Returns:
            The keys, in order, the last one `END` if there will be no more; and the descriptors that can be read. Both
            are empty if only the size or the time has changed.
        """
        ready, _, _ = select.select([self._in, self._changed, *others], [], [], timeout_s)
        if self._changed in ready:
            os.read(self._changed, 1024)
        return self._keys() if self._in in ready else [], {*others} & {*ready}

    def _keys(self) -> list[str]:
        over = not self._read()
        while not over and _HALF.search(self._typed) and select.select([self._in], [], [], _REST_MS / 1000)[0]:
            over = not self._read()
        keys = [END if key == "\x04" else key for key in _KEY.findall(self._typed)]
        self._typed = ""
        return [*keys, END] if over else keys

    def _read(self) -> bool:
        """Reads what was typed. Returns whether there may be more."""
        try:
            data = os.read(self._in, 1024)
        except OSError:  # how Linux says that the terminal is gone
            data = b""
        self._typed += data.decode(errors="replace")
        return bool(data)

    def _resized(self, number: int, frame: FrameType | None) -> None:
        with suppress(BlockingIOError):  # it is full: that the size has changed is known already
            os.write(self._change, b".")

    def _leave(self) -> None:
        if self._context is not None and not self._away:
            self._write("\x1b[?1049l\x1b[?25h")
        self._away = True
        self._set(self._kept)

    def _back(self) -> None:
        if self._context is not None:
            self._set(self._taken)  # in the background this stops us again, until the shell gives us the terminal
            self._write("\x1b[?1049h\x1b[?25l" if self._away else "\x1b[?25l")
            self._away = False
            self._resized(0, None)

    def _write(self, codes: str) -> None:
        with suppress(OSError):  # not through rich, which may be in the middle of a page
            os.write(self.screen.file.fileno(), codes.encode())

    def _set(self, attributes: Any) -> None:
        while True:
            try:
                termios.tcsetattr(self._in, termios.TCSADRAIN, attributes)
            except termios.error as error:  # EINTR: it was stopped and goes on; else the terminal is gone
                if error.args[0] == errno.EINTR:
                    continue
            return

    def _restore(self) -> None:
        signal.signal(signal.SIGWINCH, self._before)
        os.close(self._changed)
        os.close(self._change)
        if not self._away and signals.in_front(self._in):  # else it is the shell's already
            self._set(self._kept)
