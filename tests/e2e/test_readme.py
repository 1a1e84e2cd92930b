"""Everything that the README shows works, in its order."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from arena.errors import BotError
from arena.link.bots import load_bot

ROOT = Path(__file__).parents[2]
TOUR = runpy.run_path(str(ROOT / "docs" / "tour.py"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = TOUR["commands"](README)
WITH_BUILT_BOTS = [command for command in COMMANDS if re.search(r"greedy-", command)]
OTHERS = [command for command in COMMANDS if command not in WITH_BUILT_BOTS and not command.startswith("make ")]


def follow(commands: list[str], folder: Path) -> None:
    assert commands
    TOUR["prepare"](README, folder)
    for command in commands:
        done = TOUR["run"](command, folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        assert re.search(r"Traceback|internal error|forfeited", done.stdout) is None, f"{command}\n{done.stdout}"


def test_the_tour_works(tmp_path: Path) -> None:
    follow(OTHERS, tmp_path)


def test_its_match_can_be_played_and_replayed_again(tmp_path: Path) -> None:
    again = [command for command in COMMANDS if " games" in command]
    assert {command.split()[1] for command in again} == {"match", "replay", "verify"}
    follow(again, tmp_path)
    (tmp_path / "bots").unlink()
    follow(again, tmp_path)


@pytest.mark.long
def test_what_it_shows_with_built_bots_works(tmp_path: Path) -> None:
    try:
        for name in re.findall(r"greedy-\w+", " ".join(WITH_BUILT_BOTS)):
            load_bot(name)
    except BotError as error:
        pytest.skip(str(error))
    follow(WITH_BUILT_BOTS, tmp_path)
