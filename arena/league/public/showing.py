"""Has the league's pages made, in a process of its own: `arena site` writes them into the folder `site`.

Laws:
1. Whatever happens to that process, the service goes on. What went wrong is told once, until it is another thing.
2. The process reads the database and what is published, as anybody could, and stands back behind games.
3. The loop never waits for it, but for a while at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.core.face import Reader, errors, files, need, plain
from arena.league.folder import Folder
from arena.league.settings import load
from arena.league.store import league_of

FIRST_S: Final = 5.0
"""The first pages are made after this time, so that a league has a face from its first minute."""
NICENESS: Final = 10
"""How far it stands back behind games (`nice`)."""
REPLAYS_S: Final = 30.0
"""After this time it begins no more replays; the next one goes on."""
MOST_S: Final = 600.0
"""A process that takes longer is ended."""
PATIENCE_S: Final = 20.0
"""How long the last pages are waited for when the service ends."""
_REASON: Final = 500
"""Characters of what a process wrote that are told."""


class Showing:
    """Has the pages made again and again.

    Args:
        every_s: How long it waits between two times, in seconds; 0: no pages are made.
        rated: Returns how many games were rated.
        command: What makes them; None means `arena site`.
    """

    def __init__(
        self,
        folder: Path,
        every_s: float,
        tell: Callable[[str], object],
        rated: Callable[[], int],
        command: Sequence[str] | None = None,
    ) -> None:
        self._command = command or [
            *(sys.executable, "-m", "arena", "site", "--league", str(folder.absolute())),
            *("--replays", "all", "--seconds", f"{REPLAYS_S:g}", "--jobs", "1", "--quiet"),
        ]
        self._tell = tell
        self._every_s = every_s
        self._due = time.monotonic() + min(every_s, FIRST_S)
        self._process: subprocess.Popen[bytes] | None = None
        self._began = 0.0
        self._told = ""
        self._rated = rated
        self._seen = rated()
        """How many games were rated when a process was started last."""
        if every_s > 0:
            try:
                need("pages", "the league's site")
            except errors.ConfigError as error:
                self._every_s = 0.0
                self._tell(f"No pages are made: {error}; or set every_s = 0 in [site]")

    def look(self) -> None:
        """Starts a process if it is time for that, and sees whether one has ended."""
        now = time.monotonic()
        if self._process is not None:
            if self._process.poll() is not None:
                self._ended(self._process)
            elif now > self._began + MOST_S:
                self.drop(f"it took more than {MOST_S:g} s")
        elif self._every_s > 0 and now >= self._due:
            self._start(NICENESS)

    def finish(self) -> None:
        """Has the pages made for the last time if a game was rated since, and waits for them a while."""
        goes_on = self._process is not None
        self.drop()
        if self._every_s <= 0 or (self._rated() == self._seen and not goes_on):
            return
        self._start(0)
        if self._process is not None:
            try:
                self._process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.drop("the service ends")
            else:
                self._ended(self._process)

    def _start(self, niceness: int) -> None:
        self._seen = self._rated()
        self._began = time.monotonic()
        self._due = self._began + self._every_s
        try:
            # In a session of its own: Ctrl-C is for the service, which waits for it.
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self._say(f"The pages are not made: {error}")
            return
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, os.getpriority(os.PRIO_PROCESS, 0) + niceness)

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        _, said = process.communicate()
        self._process = None
        if process.returncode == 0:
            self._told = ""
            return
        lines = [f"status {process.returncode}", *said.decode(errors="replace").splitlines()]
        reason = next((line for line in reversed(lines) if line.startswith("Error: ")), lines[-1])
        self._say(f"The pages are not made: {plain(reason)[:_REASON]}")

    def drop(self, why: str = "") -> None:
        """Ends the process, if pages are being made. What it has made stays."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process = None
        if why:
            self._say(f"The pages are not all made: {why}")

    def _say(self, sentence: str) -> None:
        if sentence != self._told:
            self._told = sentence
            self._tell(sentence)


class ShownLeague(Folder):
    """A league's folder, and what is shown of it (`plugs.ShownFolder`). Raises ConfigError: there is none."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder.absolute())
        self.check()

    def told(self) -> tuple[str, str, bool]:
        """Returns its name, the address of its door, and whether it has remote bots."""
        settings = load(self)
        at = self.door / "authors"  # as `arena league open` has left it
        known = files.read_text(at, "a door's address", files.MIB, errors.ConfigError) if at.exists() else ""
        return plain(settings.name), settings.door.url or known.partition("#")[0], settings.bots.remote

    def current(self, reader: Reader) -> str | None:
        """Returns the tournament of the open season."""
        season = league_of(reader).seasons.current()
        return None if season is None else season.tournament
