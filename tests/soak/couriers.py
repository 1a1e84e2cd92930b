"""Brings bots to the league as their authors do: by `arena league submit`, here or through the door, until it is taken.

An author whose submission fails tries again: the league was killed, the disk was full, the limit was reached.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.soak.scenario import Arrival
from tests.soak.stage import Stage

REST_S: Final = 2.0  # how long an author waits before the next try
AT_ONCE: Final = 3  # how many try at the same time


class Couriers:
    """Everybody who has something to submit.

    Args:
        stage: The league.
        make: Returns the folder of a version.
    """

    def __init__(self, stage: Stage, make: Callable[[Arrival], Path]) -> None:
        self._stage = stage
        self._make = make
        self._waiting: list[tuple[float, Arrival, Path]] = []
        self._running: list[tuple[subprocess.Popen[str], Arrival, Path]] = []
        self.accepted: list[Arrival] = []
        self.failed = 0
        """How many tries failed."""
        self.last = ""
        """What the last failure said."""

    def send(self, arrival: Arrival) -> None:
        """Has a version submitted from now on."""
        self._waiting.append((time.monotonic(), arrival, self._make(arrival)))

    @property
    def busy(self) -> list[str]:
        """What is not accepted yet, by name."""
        here = [arrival for _, arrival, _ in self._running] + [arrival for _, arrival, _ in self._waiting]
        return [f"{arrival.bot.name}/{arrival.number}" for arrival in here]

    def look(self) -> None:
        """Begins tries that are due, and hears what came of others."""
        for process, arrival, path in list(self._running):
            if process.poll() is None:
                continue
            self._running.remove((process, arrival, path))
            said, _ = process.communicate()
            if process.returncode == 0:
                self.accepted.append(arrival)
            else:
                self.failed += 1
                self.last = f"{arrival.bot.name}/{arrival.number}: {said.strip()[-300:]}"
                self._waiting.append((time.monotonic() + REST_S, arrival, path))
        for due in sorted(self._waiting, key=lambda one: one[0]):
            at, arrival, path = due
            # Versions of one bot come one after another.
            names = {running.bot.name for _, running, _ in self._running}
            if at <= time.monotonic() and len(self._running) < AT_ONCE and arrival.bot.name not in names:
                self._waiting.remove(due)
                self._running.append((self._submit(arrival, path), arrival, path))

    def _submit(self, arrival: Arrival, path: Path) -> subprocess.Popen[str]:
        author = arrival.bot.author
        if arrival.by_door:
            where = ("--at", self._stage.address, "--token", str(self._stage.tokens / f"{author}.token"))
        else:
            where = ("--league", str(self._stage.cup), "--author", author)
        return self._stage.popen("league", "submit", str(path), *where)

    def end(self) -> None:
        """Ends the tries that run."""
        for process, _, _ in self._running:
            process.kill()
            process.communicate()
