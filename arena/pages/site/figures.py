"""Computes what pages show as pictures made of elements: scales, shades, bars, curves. Pure numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from arena.core.face import Payload

SHADES: Final = 20
"""The last shade of a heat map; the middle one is even."""
BINS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0)
"""The bounds of a histogram of times, in milliseconds."""


class Scale(msgspec.Struct, frozen=True):
    """A range of numbers, drawn from left to right."""

    low: float
    high: float

    def at(self, number: float) -> float:
        """Returns where a number stands, in per cent of the width."""
        return round(100 * (min(max(number, self.low), self.high) - self.low) / (self.high - self.low), 2)

    def ticks(self) -> list[int]:
        """Returns three to seven round numbers within it.

        >>> Scale(7.0, 42.0).ticks()
        [10, 20, 30, 40]
        """
        step = next(step for size in range(9) for step in (10**size, 2 * 10**size, 5 * 10**size) if self._fits(step))
        return list(range(math.ceil(self.low / step) * step, math.floor(self.high) + 1, step))

    def _fits(self, step: int) -> bool:
        return (self.high - self.low) / step <= 6


def scale_of(intervals: Iterable[tuple[float, float]]) -> Scale:
    """Returns the scale on which intervals, each a middle and its half width, are seen whole.

    An interval that is very wide, as before the first games, is cut: the others would be dots.
    """
    found = list(intervals)
    middles = [middle for middle, _ in found] or [0.0]
    most = 1.5 * (max(middles) - min(middles)) + 8
    low = min((middle - min(width, most) for middle, width in found), default=0.0)
    high = max((middle + min(width, most) for middle, width in found), default=1.0)
    room = max(0.5, 0.03 * (high - low))
    return Scale(low - room, high + room)


def shade(share: float) -> int:
    """Returns the shade of a share from 0 to 1.

    >>> [shade(share) for share in (0.0, 0.49, 0.5, 1.0)]
    [0, 10, 10, 20]
    """
    return round(share * SHADES)


def histogram(times: Iterable[float]) -> list[int]:
    """Returns how many times lie below each bound of `BINS`, and how many above the last.

    >>> histogram([0.5, 1.5, 1.6, 99999.0])
    [1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    """
    counts = [0] * (len(BINS) + 1)
    for time in times:
        counts[next((place for place, bound in enumerate(BINS) if time < bound), len(BINS))] += 1
    return counts


def bars(counts: Sequence[int]) -> list[Payload]:
    """Returns the bars of a histogram of times, without the empty ones at both ends; each is labelled by its bound.

    A height is in per cent of the highest.
    """
    labels = [f"< {time_text(bound)}" for bound in BINS] + [f"≥ {time_text(BINS[-1])}"]
    filled = [place for place, count in enumerate(counts) if count]
    if not filled:
        return []
    most = max(counts)
    return [
        {"label": labels[place], "count": counts[place], "height": round(100 * counts[place] / most, 1)}
        for place in range(filled[0], filled[-1] + 1)
    ]


def time_text(ms: float) -> str:
    """Returns a time for people.

    >>> [time_text(ms) for ms in (0.04, 2.71, 48.6, 1250.0, 75000.0)]
    ['0.0 ms', '2.7 ms', '49 ms', '1.2 s', '75 s']
    """
    if ms < 1000:
        return f"{ms:.1f} ms" if (ms < 10 and ms != int(ms)) or ms == 0 else f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s" if ms < 10_000 and ms % 1000 else f"{ms / 1000:.0f} s"


_WIDTH: Final = 600
_HEIGHT: Final = 160
_LEFT: Final = 30


def curve(points: Sequence[tuple[int, float, float]]) -> Payload | None:
    """Returns the course of a rating as SVG paths, given by game, mean and half width; None for less than two points.

    `ticks` are round ratings, and at which height they lie.
    """
    if len(points) < 2:
        return None
    scale = scale_of((mean, width) for _, mean, width in points)
    last = max(1, points[-1][0])

    def x(game: int) -> float:
        return round(_LEFT + (_WIDTH - _LEFT) * game / last, 1)

    def y(rating: float) -> float:
        return round(_HEIGHT - _HEIGHT * scale.at(rating) / 100, 1)

    def steps(values: Sequence[float]) -> str:
        return "".join(f"H{x(game)}V{y(value)}" for (game, _, _), value in zip(points[1:], values[1:], strict=True))

    means = [mean for _, mean, _ in points]
    upper = [mean + width for _, mean, width in points]
    lower = [mean - width for _, mean, width in points]
    back = "".join(
        f"V{y(low)}H{x(game)}"
        for (game, _, _), low in zip(reversed(points[:-1]), list(reversed(lower))[1:], strict=True)
    )
    start, end = x(points[0][0]), x(points[-1][0])
    return {
        "line": f"M{start},{y(means[0])}{steps(means)}",
        "band": f"M{start},{y(upper[0])}{steps(upper)}L{end},{y(lower[-1])}{back}Z",
        "ticks": [(tick, y(tick)) for tick in scale.ticks()],
        "games": last,
    }
