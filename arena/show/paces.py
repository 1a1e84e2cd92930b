"""Says on which workers of a cluster bots were quick, and on which slow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from arena.show.tables import Column, fitted
from arena.text import plain


def paces_table(workers: Sequence[Mapping[str, Any]], width: int) -> Text | None:
    """Returns by bot the mean time of a decision on the worker where it was quickest and where it was slowest.

    Returns None if there are not two workers to compare.

    Args:
        workers: Each has `worker` and `bots`, and of these each `bot` and `mean_ms`.
        width: Of the terminal.
    """
    if len(workers) < 2:
        return None
    means: dict[str, dict[str, float]] = {}
    games: Counter[str] = Counter()
    for each in workers:
        for row in each["bots"]:
            means.setdefault(row["bot"], {})[each["worker"]] = row["mean_ms"]
            games[row["bot"]] += row["games"]
    rows = []
    for bot, found in means.items():
        quick, slow = min(found, key=lambda worker: found[worker]), max(found, key=lambda worker: found[worker])
        times = f"{found[slow] / found[quick]:.2f}" if found[quick] else ""
        rows.append((str(games[bot]), f"{found[quick]:.2f}", plain(quick), f"{found[slow]:.2f}", plain(slow), times))
    cells = list(zip(*rows, strict=True))
    return fitted(
        [
            Column(title="games", cells=cells[0]),
            Column(title="quickest\nmean ms", cells=cells[1]),
            Column(title="on\nworker", cells=cells[2], leaves=1, left=True),
            Column(title="slowest\nmean ms", cells=cells[3]),
            Column(title="on\nworker", cells=cells[4], leaves=1, left=True),
            Column(title="times\nas slow", cells=cells[5], leaves=2),
        ],
        list(means),
        width,
    )
