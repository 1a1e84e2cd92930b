"""A league on a machine whose clock jumps: nothing is removed and nobody is barred by it, and games go on."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from arena.league.store import read_league
from tests.command_kit import ARENA, arena, environment

pytestmark = pytest.mark.skipif(
    shutil.which("faketime") is None, reason="needs faketime (Debian: apt install faketime)"
)


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """A league before its first game."""
    init = ("--ruleset", "basic", "--time", "5/move", "--level", "trusted")
    arena(tmp_path, "league", "init", "cup", *init)
    settings = tmp_path / "cup" / "league.toml"
    settings.write_text(re.sub(r"every_s = \d+", "every_s = 0", settings.read_text()))
    return tmp_path


def at(folder: Path, when: str, *words: str, code: int = 0) -> str:
    """Runs a command while the clock is so far off, and returns what it prints."""
    wrapped = ["faketime", "-f", when] if when else []
    done = subprocess.run(
        [*wrapped, *ARENA, *words], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout
    return done.stdout


def run(folder: Path, when: str, games: int = 2) -> str:
    return at(folder, when, "league", "run", "cup", "--games", str(games))


def logs(folder: Path) -> int:
    return len(list((folder / "cup" / "logs").glob("*/*.jsonl*")))


@pytest.mark.long
def test_a_clock_that_goes_back_removes_nothing_and_games_go_on(cup: Path) -> None:
    run(cup, "")
    assert "Nothing is removed for its age" in run(cup, "-40d")
    assert logs(cup) >= 4
    assert "Nothing is removed for its age" in at(cup, "", "league", "status", "cup"), "the operator finds it later"
    said = run(cup, "")
    assert "Nothing is removed" not in said, "the clock is right again"
    assert logs(cup) >= 6, "nor does what was played meanwhile go"


@pytest.mark.long
def test_the_operator_says_once_that_the_clock_is_right(cup: Path) -> None:
    run(cup, "")
    assert "trust-clock" in run(cup, "+40d")
    at(cup, "", "league", "trust-clock", "cup")
    assert "Nothing is removed" in run(cup, "+40d"), "what was said of another clock is not said of this one"
    assert logs(cup) >= 6
    at(cup, "+40d", "league", "trust-clock", "cup")
    assert "The logs of" in run(cup, "+40d")
    assert "Nothing is removed" not in run(cup, "+40d")


def test_an_author_never_waits_longer_than_a_day(cup: Path) -> None:
    arena(cup, "league", "author", "add", "anna", "--league", "cup", "--quota", "submissions=2", "--quota", "pending=9")
    arena(cup, "bot", "new", "fox")
    for number, (when, code) in enumerate((("+40d", 0), ("+40d", 0), ("+40d", 1), ("", 0), ("", 0), ("", 1))):
        (cup / "fox" / "change").write_text(str(number))
        said = at(cup, when, "league", "submit", "fox", "--league", "cup", "--author", "anna", code=code)
        if code:
            found = re.search(r"try again in (\d+) s", said)
            assert found is not None, said
            assert 86_000 < int(found[1]) <= 86_400
    with read_league(cup / "cup" / "league.db") as league:
        assert len(league.versions.of_author("anna")) == 4
