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
def test_the_bot_that_learnt_beats_chance_and_enters_a_tournament(tmp_path: Path) -> None:
    [block] = re.findall(r"```sh\n(.*?)```", (EXAMPLE / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for line in block.splitlines():
        words = shlex.split(line.replace("--deals 40", "--deals 12"))
        if words[0] == "arena":
            words[:1] = [sys.executable, "-m", "arena"]
        elif words[0] == "python":
            words[0] = sys.executable
        if "compare" in words:
            words += ["--json"]
        if "tournament" in words:
            words += ["--deals", "2", "--json"]
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if "compare" in words:
            assert json.loads(done.stdout)["verdict"] == "better"
        if "tournament" in words:
            rows = json.loads(done.stdout)["standings"]
            assert {row["bot"]: row["forfeits"] for row in rows} == {"learnt": 0, "greedy": 0, "random": 0}
