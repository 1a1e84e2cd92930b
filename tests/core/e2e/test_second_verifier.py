"""The second verifier, by protocol/FORMATS.md in another language, agrees with arena about every format it has."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.core.record.compressed import expand
from tests.command_kit import Run
from tests.core.standings.test_releases import RELEASES, unpacked

FORMATS = {
    "round-robin": ["--deals", "1"],
    "gauntlet": ["--challengers", "2", "--deals", "1"],
    "swiss": ["--rounds", "3", "--deals", "1"],
    "knockout": ["--deals", "1", "--third-place"],
    "ladder": ["--matches", "10"],
    "adaptive": ["--deals", "1", "--budget", "30"],
}


def second(root: Path, logs: Path, code: int = 0) -> dict[str, Any]:
    words = ["node", root / "examples" / "verifier" / "verify.js", logs]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr + done.stdout
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.long
@pytest.mark.parametrize("format", FORMATS)
def test_rounds_and_ratings(arena: Run, needs: Callable[..., None], root: Path, tmp_path: Path, format: str) -> None:
    needs("node")
    bots = [f"b{number}" for number in range(5)]
    for bot in bots:
        (tmp_path / bot).mkdir()
        command = f'["{{python}}", "{root / "bots" / "python" / "random" / "bot.py"}"]'
        (tmp_path / bot / "bot.toml").write_text(f'name = "{bot}"\ncommand = {command}\n')
    rules = ["--rules", "gardener", "--rule", "target=5", "--seed", "second", "--json"]
    standings = json.loads(arena("tournament", *bots, "--format", format, *FORMATS[format], *rules).stdout)["standings"]
    (logs,) = (tmp_path / "logs").iterdir()
    found = second(root, logs)
    assert (found["notChecked"], found["faults"], found["games"]) == (None, [], len(list(logs.glob("*.jsonl"))))
    others = {row["bot"]: row for row in found["standings"]}
    for row in standings:
        for key in ("rating", "half_width", "mu", "games"):
            assert others[row["bot"]][key] == pytest.approx(row[key], abs=0.0015), (row["bot"], key)

    log = next(logs.glob("*-000001.jsonl"))
    log.write_text(re.sub('"rotation":1|"deal":1', '"deal":7', log.read_text(), count=1))
    assert second(root, logs, code=1)["faults"], "a game that is not the planned one"


@pytest.mark.parametrize("archive", RELEASES, ids=lambda path: path.name)
def test_what_releases_wrote(needs: Callable[..., None], root: Path, tmp_path: Path, archive: Path) -> None:
    needs("node")
    for folder in (unpacked(archive, tmp_path) / "tournaments").iterdir():
        for log in folder.glob("*.zst"):
            assert "expand them in their places" in second(root, folder)["notChecked"]
            log.with_suffix("").write_bytes(expand(log.read_bytes(), log.name))
            log.unlink()
        found, logs = second(root, folder), len(list(folder.glob("*.jsonl")))
        assert (found["notChecked"], found["games"]) in ((None, logs), ("pairings of a bot that entered twice", 0))


def test_void_games_and_strange_logs(needs: Callable[..., None], root: Path, tmp_path: Path) -> None:
    needs("node")
    logs = Path(shutil.copytree(root / "protocol" / "vectors" / "tournaments" / "clock", tmp_path / "logs"))
    committed = logs / "commitment.json"
    committed.write_text(committed.read_text().replace('"settings": {', '"settings": {"on_overload": "void",', 1))
    assert [row["games"] for row in second(root, logs)["standings"]] == [2, 2]
    first, other = sorted(logs.glob("*.jsonl"))
    *lines, outcome = first.read_text().splitlines()
    first.write_text("\n".join([*lines, '{"record":"forfeit","forfeits":[{"seat":0,"overloaded":true}]}', outcome]))
    assert [row["games"] for row in second(root, logs)["standings"]] == [1, 1]
    shutil.copy(other, logs / "20260101-0003-000002.jsonl")
    assert "under its name" in second(root, logs, code=1)["faults"][0]
