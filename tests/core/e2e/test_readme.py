"""Everything that the README shows works, in its order."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from arena.core.errors import BotError
from arena.core.link.bots import load_bot
from arena.core.types import Level
from arena.sandbox.levels import level_in_force

ROOT = Path(__file__).parents[3]
TOUR = runpy.run_path(str(ROOT / "docs" / "tour.py"))
README, PAGE = (path.read_text(encoding="utf-8") for path in TOUR["PAGES"])
COMMANDS = TOUR["commands"](PAGE)
WITH_BUILT_BOTS = [command for command in COMMANDS if re.search(r"greedy-", command)]
OTHERS = [command for command in COMMANDS if command not in WITH_BUILT_BOTS and not command.startswith("make ")]
OF_README = [command for command in TOUR["commands"](README) if not command.startswith("make ")]
OF_LEAGUE = [command for command in OF_README if command.startswith("arena league ")]
FIRST_MINUTE = [command for command in OF_README if command not in OF_LEAGUE]


def follow(commands: list[str], folder: Path) -> list[str]:
    """Runs commands in a folder, and returns what each printed."""
    assert commands
    TOUR["prepare"](PAGE, folder)
    printed = []
    for command in commands:
        done = TOUR["run"](command, folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        assert re.search(r"Traceback|internal error|forfeited", done.stdout) is None, f"{command}\n{done.stdout}"
        printed.append(str(done.stdout))
    return printed


@pytest.mark.long
def test_the_tour_works(tmp_path: Path) -> None:
    follow(OTHERS, tmp_path)


@pytest.mark.long
def test_the_first_minute_works_and_what_it_leaves_can_be_verified_elsewhere(tmp_path: Path) -> None:
    follow(FIRST_MINUTE, tmp_path)
    (tmp_path / "bots").unlink()
    follow([command for command in FIRST_MINUTE if " verify " in command], tmp_path)


@pytest.mark.long
def test_a_few_commands_lead_to_a_league(tmp_path: Path) -> None:
    submitted = [command.split()[3] for command in OF_LEAGUE if " league submit " in command]
    assert submitted == ["fox", "banzai"]
    if missing := level_in_force(Level.FENCED):
        pytest.skip(f"this machine does not give level fenced: {missing[0]}")
    new = [command for command in FIRST_MINUTE if " bot new " in command]
    *_, standings = follow([*new, *OF_LEAGUE], tmp_path)
    told = (tmp_path / "cup" / "league.log").read_text()
    for bot in submitted:
        if re.search(rf"{bot}/1: the \w+ is tried again: .*overloaded", told):
            continue  # this machine did not let it run
        assert f"{bot}/1" in standings, told


@pytest.mark.thorough
def test_what_it_shows_with_built_bots_works(tmp_path: Path) -> None:
    try:
        for name in re.findall(r"greedy-\w+", " ".join(WITH_BUILT_BOTS)):
            load_bot(name)
    except BotError as error:
        pytest.skip(str(error))
    follow(WITH_BUILT_BOTS, tmp_path)
