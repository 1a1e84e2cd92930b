"""Logs of real games by real bots, read by those who know nothing of arena: the checker and the viewer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.long
@pytest.mark.parametrize("game", [("samurai", "standard"), ("gardener", "race")], ids=" ".join)
def test_strangers_can_check_and_show_a_tournament(
    game: tuple[str, str], root: Path, tmp_path: Path, needs: Callable[..., None]
) -> None:
    needs("node")
    rules, ruleset = game
    played = subprocess.run(
        [sys.executable, "-m", "arena", "tournament", "random", "greedy", "random", "--players", "3", "--deals", "1",
         "--rules", rules, "--ruleset", ruleset, "--json"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert played.returncode == 0, played.stderr
    logs = sorted(Path(json.loads(played.stdout)["logs"]).glob("*.jsonl"))
    assert len(logs) == 3
    checked = subprocess.run(
        [sys.executable, "-I", "-S", str(root / "protocol" / "check_log.py"), "--json", *map(str, logs)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout
    found = [json.loads(line) for line in checked.stdout.splitlines()]
    assert all(one["ok"] and one["draws_checked"] and one["draws"] for one in found)
    viewer = root / "examples" / "log-viewer" / "view.js"
    for log in logs:
        for seat in ([], ["--seat", "2"]):
            shown = subprocess.run(["node", str(viewer), str(log), *seat], capture_output=True, text=True, check=False)
            assert (shown.returncode, shown.stderr) == (0, "")
            assert "rank 1: seat" in shown.stdout
