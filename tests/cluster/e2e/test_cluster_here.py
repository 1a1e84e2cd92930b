"""`--cluster local:2` as a user types it: the same tournament as without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="needs the packages of the extra `cluster`")

from tests.cluster_kit import digests
from tests.command_kit import Run

OF_TIME = {"mean_ms", "max_ms", "mean_off_turn_ms", "off_turn_share"}
"""What of a row of the standings depends on how long bots took."""


def told(text: str) -> dict[str, Any]:
    """What a tournament's JSON says of its settings and results."""
    report = json.loads(text)
    rows = [{key: value for key, value in row.items() if key not in OF_TIME} for row in report["standings"]]
    return {key: report[key] for key in ("settings", "games", "order")} | {"standings": rows}


@pytest.mark.long
def test_the_standings_of_a_cluster_here_are_those_without(arena: Run, tmp_path: Path) -> None:
    what = ("tournament", "random", "greedy", "--deals", "2", "--seed", "x", "--json")
    alone = arena(*what, "--db", "a.db", "--logs", "a")
    there = arena(*what, "--db", "b.db", "--logs", "b", "--cluster", "local:2")
    assert told(there.stdout) == told(alone.stdout)
    assert digests(tmp_path / "b") == digests(tmp_path / "a")
