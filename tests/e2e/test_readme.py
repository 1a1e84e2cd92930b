"""Everything that the README shows works, in its order."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tour_works(tmp_path: Path) -> None:
    tour = runpy.run_path(str(ROOT / "docs" / "tour.py"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    tour["prepare"](text, tmp_path)
    commands = tour["commands"](text)
    assert commands
    for command in commands:
        done = tour["run"](command, tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        assert re.search(r"Traceback|internal error", done.stdout) is None, f"{command}\n{done.stdout}"
