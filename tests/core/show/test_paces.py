"""On which workers bots were quick, and on which slow."""

from __future__ import annotations

from typing import Any

import pytest

from arena.core.show.tables import paces_table

FAST = {
    "worker": "w1",
    "bots": [{"bot": "fox", "games": 4, "mean_ms": 10.0}, {"bot": "owl", "games": 4, "mean_ms": 0.0}],
}
SLOW = {"worker": "w2", "bots": [{"bot": "fox", "games": 2, "mean_ms": 25.0}]}


def test_each_bot_has_the_workers_where_it_was_quickest_and_slowest() -> None:
    table = paces_table([FAST, SLOW], 100)
    assert table is not None
    fox, owl = (line.split() for line in table.plain.splitlines() if "w1" in line)
    assert fox == ["6", "fox", "10.00", "w1", "25.00", "w2", "2.50"]
    assert owl == ["4", "owl", "0.00", "w1", "0.00", "w1"]


@pytest.mark.parametrize("workers", [[], [FAST]])
def test_one_worker_is_compared_with_none(workers: list[dict[str, Any]]) -> None:
    assert paces_table(workers, 100) is None


@pytest.mark.parametrize("width", [40, 60])
def test_it_fits_and_shows_nothing_that_acts(width: int) -> None:
    hostile = {"worker": "\x1b[31mw3", "bots": [{"bot": "fox\x1b[0m", "games": 1, "mean_ms": 1.0}]}
    table = paces_table([FAST, SLOW, hostile], width)
    assert table is not None
    assert "\x1b" not in table.plain
    assert max(map(len, table.plain.splitlines())) <= width
