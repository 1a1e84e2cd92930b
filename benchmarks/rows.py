"""A row of the table of benchmarks: something of ours beside something else that did the same in turns with it."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec


class Row(msgspec.Struct, frozen=True):
    """Two things that were measured turn about, so that the ratio holds when the machine's speed drifts."""

    what: str
    """What is measured."""
    unit: str
    """Of both figures."""
    ours: tuple[float, ...]
    """Its figure in each round."""
    beside: str
    """What it stands beside: the least that anybody has to pay, a peer, or the same thing in another way."""
    other: tuple[float, ...]
    """The figure of that, by round."""

    @property
    def ratios(self) -> list[float]:
        """Ours in units of the other, by round."""
        return [mine / theirs for mine, theirs in zip(self.ours, self.other, strict=True)]


class Cost(NamedTuple):
    """What something took."""

    cpu_s: float
    """Seconds of processor time, of all its processes that have ended."""
    wall_s: float
    """Seconds by the clock."""

    def per(self, other: Cost, things: int, scale: float = 1e3) -> float:
        """Returns the processor time of each of so many things that `other` did not have; in milliseconds."""
        return (self.cpu_s - other.cpu_s) / things * scale


def turn_about(ways: Sequence[Callable[[], float]], rounds: int) -> list[tuple[float, ...]]:
    """Measures each way once a round, and returns the figures of each."""
    found = [[way() for way in ways] for _ in range(rounds)]
    return list(zip(*found, strict=True))


def processor_s() -> float:
    """Seconds of processor time of this process, and of all below it that have ended."""
    return sum(
        sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )  # fmt: skip


def living_processor_s() -> float:
    """Seconds of processor time of this process, of its children, and of all below them that have ended."""
    total = processor_s()
    for task in os.listdir("/proc/self/task"):
        for pid in Path(f"/proc/self/task/{task}/children").read_text().split():
            total += time.clock_gettime((~int(pid) << 3) | 2)  # the clock of that process: /proc counts in 10 ms
    return total


def cost(words: Sequence[str], folder: Path) -> Cost:
    """Runs a command in a folder, and returns what it took.

    Raises:
        RuntimeError: It failed.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2_000:]}")
    return Cost(sum(after[:2]) - sum(before[:2]), time.perf_counter() - began)


def arena(folder: Path, *words: str) -> Cost:
    """Runs a command of arena."""
    return cost([sys.executable, "-m", "arena", *words], folder)


def python(folder: Path) -> Cost:
    """Runs a Python that does nothing: the least that a command in it costs."""
    return cost([sys.executable, "-c", "pass"], folder)


def pin() -> None:
    """Binds this process, and all that it starts, to one processor: two that wake each other vary by too much."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def spread(figures: Sequence[float]) -> str:
    """Returns the median of figures, and their range.

    >>> spread([1.25, 1.0, 2.0])
    '1.25 (1.00 to 2.00)'
    """
    middle = statistics.median(figures)
    digits = 0 if middle >= 100 else 1 if middle >= 10 else 2
    return f"{middle:.{digits}f} ({min(figures):.{digits}f} to {max(figures):.{digits}f})"
