"""Shows how far a command is: a bar where stderr is a terminal, else now and then a line."""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Protocol

from arena.cli import signals
from arena.cli.output import redrawn, say
from arena.core.text import plain

if TYPE_CHECKING:
    from rich.console import Console

WINDOW_S: Final = 60.0
"""Seconds over which the rate is taken, ..."""
LEAST_RESULTS: Final = 10
"""... or the number of results, if they took longer."""
LINE_S: Final = 30.0
"""Without a terminal: seconds between two lines, ..."""
LINE_SHARE: Final = 0.1
"""... or after this share of the whole, ..."""
LEAST_LINE_S: Final = 5.0
"""... but no two lines in fewer seconds: a short tournament has none."""
REMARK_S: Final = 0.5
"""A bar's remark is made so often: what it says may take longer to find out than a game takes."""
UNKNOWN: Final = "…"
_SHOWN: Final = b"\x1b[?25h"  # shows the cursor

Clock = Callable[[], float]


class Advance(Protocol):
    """What is called when one more is done."""

    def __call__(self, remark: Callable[[], str], total: int | None = None) -> None:
        """Shows it, with `remark` (called only if shown) beside the numbers; `total` is how many there are now."""


class Pace:
    """Measures how fast results come, smoothed over the last minute. What was done before it began does not count."""

    def __init__(self, total: int, done: int, clock: Clock = time.monotonic) -> None:
        self.total = total
        self.done = done
        self._clock = clock
        self._times = deque([clock()])
        """When the window began, and when each result in it came."""

    def advance(self, total: int | None = None) -> None:
        """Counts a result."""
        now = self._clock()
        self.done += 1
        self.total = self.total if total is None else total
        self._times.append(now)
        while len(self._times) > LEAST_RESULTS + 1 and self._times[1] <= now - WINDOW_S:
            self._times.popleft()

    @property
    def rate(self) -> float | None:
        """Results a second, or None before the first."""
        results = len(self._times) - 1
        took = self._clock() - self._times[0]
        return results / took if results and took > 0 else None

    def rate_text(self) -> str:
        """Returns the rate in the unit that suits it."""
        rate = self.rate
        if rate is None:
            return UNKNOWN
        if rate >= 1:
            return f"{rate:.1f}/s"
        return f"{rate * 60:.1f}/min" if rate * 60 >= 1 else f"{rate * 3600:.1f}/h"

    def left_text(self) -> str:
        """Returns the time that is left, as h:mm:ss."""
        rate = self.rate
        if rate is None:
            return UNKNOWN
        seconds = round(max(0, self.total - self.done) / rate)
        minutes, seconds = divmod(seconds, 60)
        return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"

    def text(self, unit: str) -> str:
        """Returns all of it in one line."""
        return f"{self.done}/{self.total} {unit}, {self.rate_text()}, {self.left_text()} left"


@contextmanager
def progress_bar(total: int, done: int, unit: str = "games", *, quiet: bool = False) -> Iterator[Advance]:
    """Shows what is done, the rate, the time left and a remark, on stderr.

    On a terminal that can redraw a line it is a bar, there from the first moment. Elsewhere a line is printed every 30
    seconds, or every tenth of the whole; a command that takes a few seconds prints none.

    Args:
        total: How many there are, as far as is known.

    Yields:
        The function to call after each one that is done.
    """
    if quiet:
        yield lambda remark, total=None: None
    elif (screen := redrawn(stderr=True)) is None:
        yield line_printer(Pace(total, done), unit)
    else:
        with _bar(screen, Pace(total, done), unit) as advance:
            yield advance


def line_printer(pace: Pace, unit: str, clock: Clock = time.monotonic) -> Advance:
    """Returns the function that counts a result and prints a line if one is due."""
    last, last_done = clock(), pace.done

    def advance(remark: Callable[[], str], total: int | None = None) -> None:
        nonlocal last, last_done
        pace.advance(total)
        waited = clock() - last
        share = (pace.done - last_done) / max(1, pace.total)
        if waited >= LINE_S or (waited >= LEAST_LINE_S and share >= LINE_SHARE):
            last, last_done = clock(), pace.done
            said = remark()
            say(plain(f"{pace.text(unit)}{said and f': {said}'}"))

    return advance


@contextmanager
def cursor_kept(screen: Console) -> Iterator[None]:
    """Gives the shell its cursor while Ctrl-Z stops the command. Rich hides it."""

    def write(codes: bytes) -> None:
        with suppress(OSError):
            file = screen.file.fileno()
            if codes == _SHOWN or signals.in_front(file):
                os.write(file, codes)

    with signals.suspended(lambda: write(_SHOWN), lambda: write(b"\x1b[?25l")):
        yield


@contextmanager
def _bar(screen: Console, pace: Pace, unit: str) -> Iterator[Advance]:
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.table import Column
    from rich.text import Text

    class PaceColumn(ProgressColumn):
        """Draws the numbers anew at each refresh: time passes between two results, too."""

        def render(self, task: Task) -> Text:
            return Text(pace.text(unit))

    columns = (
        BarColumn(bar_width=None),
        PaceColumn(table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[remark]}", markup=False),
    )
    with Progress(*columns, console=screen, transient=True, expand=True) as progress, cursor_kept(screen):
        task = progress.add_task("", total=pace.total, completed=pace.done, remark="")

        said, said_at = "", -math.inf

        def advance(remark: Callable[[], str], total: int | None = None) -> None:
            nonlocal said, said_at
            pace.advance(total)
            if time.monotonic() >= said_at + REMARK_S:
                said, said_at = plain(remark()), time.monotonic()
            progress.update(task, total=pace.total, completed=pace.done, remark=said)

        yield advance


@contextmanager
def moving_line(*, quiet: bool = False) -> Iterator[Callable[[str], None] | None]:
    """Shows one line on stderr that changes, below what is printed meanwhile, where stderr is a terminal.

    Yields:
        The function that changes it; None where no line is shown.
    """
    screen = None if quiet else redrawn(stderr=True)
    if screen is None:
        yield None
        return
    from rich.live import Live
    from rich.text import Text

    with (
        Live(
            Text(), console=screen, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        ) as live,
        cursor_kept(screen),
    ):
        yield lambda line: live.update(Text(plain(line), no_wrap=True, overflow="ellipsis"), refresh=True)
