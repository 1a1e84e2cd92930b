"""The example of a bot that learns: its README's commands make one that is better than chance, for certain."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "learn"


@pytest.mark.long
@pytest.mark.parametrize(
    "block", [pytest.param(0, id="by watching"), pytest.param(1, id="by playing", marks=pytest.mark.thorough)]
)
def test_the_bot_that_learnt_enters_a_tournament(block: int, tmp_path: Path) -> None:
    """The one that learnt from others' games is better than chance, for certain."""
    if block:
        pytest.importorskip(
            "sb3_contrib", reason="needs sb3-contrib, whose PyTorch is too large for every run of tests"
        )
    text = re.findall(r"```sh\n(.*?)```", (EXAMPLE / "README.md").read_text(encoding="utf-8"), re.DOTALL)[block]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for line in text.splitlines():
        words = shlex.split(line.replace("--deals 40", "--deals 4").replace("--alpha 0.01", "--alpha 0.1"))
        if words[0] == "arena":
            words[:1] = [sys.executable, "-m", "arena"]
        elif words[0] == "python":
            words[0] = sys.executable
        if "examples/learn/ppo.py" in words:
            words += ["--steps", "64"]
        if "compare" in words:
            words += ["--json"]
        if "tournament" in words:
            words += ["--deals", "1", "--json"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if "compare" in words:
            assert json.loads(done.stdout)["verdict"] == "better"
        if "tournament" in words:
            rows = json.loads(done.stdout)["standings"]
            assert {row["bot"]: row["forfeits"] for row in rows} == dict.fromkeys([words[4], "greedy", "random"], 0)
