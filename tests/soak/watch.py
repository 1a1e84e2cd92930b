"""Looks at a league while it runs: how much memory its processes have, and what it announces."""

from __future__ import annotations

import sqlite3
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from tests.soak.evidence import done_games
from tests.soak.judge import Finding

EACH_S: Final = 1.0  # how often it looks
WARM_S: Final = 60.0  # how long a process may grow until it has everything that it works with
SHORTEST_S: Final = 60.0  # how long it must live after that for its growth to mean anything
MOST_MIB_PER_MIN: Final = 1.5
"""How much the memory of a process may grow: what is looked for grows with every game, of which there are several a
second, and a league plays for weeks."""
FILLING: Final = {"worker": 4.0}
"""The same for processes that need longer than a soak until they have everything: the rules of a game remember the
legal plays of some thousand hands."""
_KIB_PER_MIB: Final = 1024


class Sample(msgspec.Struct, frozen=True):
    """The memory of a process at a moment."""

    at: float
    """On the monotonic clock."""
    role: str
    pid: int
    mib: float


def memory_mib(pid: int) -> float | None:
    """Returns the resident memory of a process; None if it is gone, or the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / _KIB_PER_MIB
    return None


class Watch:
    """Collects samples, and results as the database announces them.

    Args:
        roles: Returns the living processes by what they are.
        database: The league's.
    """

    def __init__(self, roles: Callable[[], Mapping[str, Iterable[int]]], database: Path) -> None:
        self._roles = roles
        self._database = database
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.samples: list[Sample] = []
        self.told: dict[str, tuple[str, str, str]] = {}
        """By game its play digest, its log's SHA-256 and its ranks, as they were first seen."""

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(EACH_S):
            now = time.monotonic()
            for role, pids in self._roles().items():
                for pid in pids:
                    if (mib := memory_mib(pid)) is not None:
                        self.samples.append(Sample(now, role, pid, mib))
            with suppress(sqlite3.Error):  # the disk is full, or the service opens it at this moment
                self._read()

    def _read(self) -> None:
        database = sqlite3.connect(f"file:{self._database}?mode=ro", uri=True, timeout=1)
        try:
            for game, *result in done_games(database, self._last()):
                self.told.setdefault(game, (result[0], result[1], result[2]))
        finally:
            database.close()

    def _last(self) -> int:
        """Returns up to which number all was seen. Games end out of order, so the last hundred are read again."""
        return len(self.told) - 100


def growth(samples: Sequence[Sample]) -> list[Finding]:
    """Returns whether memory is flat: the slope of the longest life of each kind of process."""
    lives: dict[str, dict[int, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        lives[sample.role][sample.pid].append(sample)
    return [_growth(role, sorted(by_pid.values(), key=_lifetime)[-1], len(by_pid)) for role, by_pid in lives.items()]


def _growth(role: str, life: list[Sample], lives: int) -> Finding:
    promise = f"the memory of the {role} is flat"
    warm = [sample for sample in life if sample.at >= life[0].at + WARM_S]
    peak = max(sample.mib for sample in life)
    if not warm or _lifetime(warm) < SHORTEST_S:
        return Finding(promise=promise, seen=f"{lives} lived too short to tell; {peak:.0f} MiB at most")
    slope = 60 * statistics.linear_regression([one.at for one in warm], [one.mib for one in warm]).slope
    seen = f"{warm[0].mib:.1f} MiB, {_lifetime(warm):.0f} s later {warm[-1].mib:.1f} MiB, {slope:+.2f} a minute"
    wrong = (f"it grows by {slope:.2f} MiB a minute",) if slope > FILLING.get(role, MOST_MIB_PER_MIN) else ()
    return Finding(promise=promise, seen=f"{seen}; the longest of {lives} lives", wrong=wrong)


def _lifetime(life: Sequence[Sample]) -> float:
    return life[-1].at - life[0].at
