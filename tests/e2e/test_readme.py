"""Everything that the README shows works, in its order."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from arena.errors import BotError
from arena.link.bots import load_bot
from arena.link.sandbox.doctor import level_in_force
from arena.types import Level
from tests.ordinary import others_can_run

ROOT = Path(__file__).parents[2]
TOUR = runpy.run_path(str(ROOT / "docs" / "tour.py"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = TOUR["commands"](README)
WITH_BUILT_BOTS = [command for command in COMMANDS if re.search(r"greedy-", command)]
OF_LEAGUE = TOUR["commands"](README.split("## Run a league\n")[1].split("\n## ")[0])
OTHERS = [
    command for command in COMMANDS if command not in (*WITH_BUILT_BOTS, *OF_LEAGUE) and not command.startswith("make ")
]


def follow(commands: list[str], folder: Path) -> list[str]:
    """Runs commands in a folder, and returns what each printed."""
    assert commands
    TOUR["prepare"](README, folder)
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
def test_six_commands_lead_to_a_league_of_three_bots(tmp_path: Path) -> None:
    submitted = [command.split()[3] for command in OF_LEAGUE if " league submit " in command]
    assert (len(submitted), submitted[0]) == (3, "fox")
    assert " league run " in OF_LEAGUE[5]
    if missing := level_in_force(Level.ISOLATED):
        pytest.skip(f"this machine does not give level isolated: {missing[0]}")
    try:
        for name in submitted[1:]:
            load_bot(name)
    except BotError as error:
        pytest.skip(str(error))
    if not others_can_run("perl"):
        pytest.skip("needs perl in a folder that is open to all: bots do not see where it is")
    printed = dict(zip(OF_LEAGUE, follow(OF_LEAGUE, tmp_path), strict=True))
    run, standings = printed[OF_LEAGUE[5]], printed["arena league standings cup"]
    for bot in submitted:
        if re.search(rf"^{bot}/1: the \w+ is tried again: .*overloaded", run, re.MULTILINE):
            continue  # this machine did not let it run
        assert f"{bot}/1 plays" in run, run
        assert f"{bot}/1" in standings


@pytest.mark.long
def test_its_match_can_be_played_and_replayed_again(tmp_path: Path) -> None:
    again = [command for command in OTHERS if " games" in command]
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
