"""Logs of real games by real bots, read by those who know nothing of arena: the checker and the viewer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command_kit import arena


@pytest.mark.long
@pytest.mark.parametrize("game", [("samurai", "standard"), ("gardener", "race")], ids=" ".join)
def test_strangers_can_check_and_show_a_tournament(
    game: tuple[str, str], root: Path, tmp_path: Path, needs: Callable[..., None]
) -> None:
    needs("node")
    rules, ruleset = game
    words = ("tournament", "random", "greedy", "random", "--players", "3", "--deals", "1")
    played = arena(tmp_path, *words, "--rules", rules, "--ruleset", ruleset, "--json")
    logs = sorted((tmp_path / json.loads(played.stdout)["logs"]).glob("*.jsonl"))
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
