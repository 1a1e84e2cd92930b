"""`arena league` as its operator calls it, with no service running: each command obeys its order itself."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.command_kit import Run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a league and a bot."""
    from tests import command_kit

    folder = tmp_path_factory.mktemp("league")
    command_kit.arena(folder, "league", "init", "cup", "--players", "2,3", "--time", "1m+1", "--level", "trusted")
    command_kit.arena(folder, "bot", "new", "fox")
    return folder


@pytest.fixture
def run(home: Path) -> Run:
    from functools import partial

    from tests import command_kit

    return partial(command_kit.arena, home)


def told(run: Run, *words: str) -> dict[str, object]:
    document = json.loads(run("league", *words, "--json").stdout)
    assert isinstance(document, dict)
    return document


def test_a_bot_is_submitted_found_and_retired(run: Run, home: Path) -> None:
    done = run("league", "submit", "fox", "--league", "cup")
    assert done.stdout == "fox/1 is received; it is next\n"
    assert done.stderr.endswith("What comes of it: arena league report fox/1 --league cup\n")
    assert "has these files already, and is received" in run("league", "submit", "fox", "--league", "cup").stdout
    assert told(run, "status", "cup")["states"]["received"] == 1  # type: ignore[index]
    assert "fox/1" in run("league", "status", "cup", "--author", "local").stdout
    report = told(run, "report", "fox", "--league", "cup")
    assert (report["version"], report["state"], report["reports"]) == ("fox/1", "received", [])
    assert [change["state"] for change in report["history"]] == ["received"]  # type: ignore[attr-defined]
    assert "received: it is next" in run("league", "report", "fox", "--league", "cup", "--verbose").stdout
    assert (
        "fox/1 is received: no step of it has come to its end yet."
        in run("league", "report", "fox", "--league", "cup").stderr
    )
    assert run("league", "retire", "fox", "--league", "cup").stdout == "retired: fox/1\n"


@pytest.mark.long
def test_standings_and_games_are_documents(run: Run) -> None:
    standings = told(run, "standings", "cup")
    assert (standings["season"], standings["method"]) == ("first", "refit of versions, ranks by all pairs")
    assert [item["name"] for item in standings["items"]] == ["random/1", "greedy/1"]  # type: ignore[attr-defined]
    assert "random/1" in run("league", "standings", "cup").stdout
    assert told(run, "games", "cup") == {"games": []}
    for only in ("--lost", "--forfeited", "--forfeits"):
        assert "of the open season is like that" in run("league", "games", "cup", "--bot", "random", only).stderr
    assert "did you mean 'random'" in run("league", "games", "cup", "--bot", "randon", code=1).stderr
    assert "expected a season that is closed" in run("league", "standings", "cup", "--season", "x", code=2).stderr


def test_a_season_is_a_tournament_in_the_database(run: Run) -> None:
    shown = run("tournaments", "show", "latest", "--db", "cup/league.db").stdout
    assert "arena league status cup" in shown
    assert (
        "the results of seasons stay"
        in run("tournaments", "remove", "latest", "--yes", "--db", "cup/league.db", code=1).stderr
    )


@pytest.mark.long
def test_authors_have_tokens_and_quotas(run: Run, home: Path) -> None:
    run("league", "token", "new", "anna")
    assert stat.S_IMODE((home / "anna.token").stat().st_mode) == 0o600
    run("league", "author", "add", "anna", "--token", "anna.hash", "--quota", "bots=9", "--league", "cup")
    run("league", "token", "new", "laptop")
    run("league", "token", "add", "anna", "laptop.hash", "--league", "cup")
    run("league", "token", "revoke", "anna.hash", "--league", "cup")
    [anna] = [each for each in told(run, "author", "list", "--league", "cup")["authors"] if each["name"] == "anna"]  # type: ignore[attr-defined]
    assert anna["quotas"] == {"bots": 9}
    assert [key["revoked"] is None for key in anna["keys"]] == [False, True]
    assert "anna" in run("league", "author", "list", "--league", "cup").stdout
    assert (
        "did you mean 'bots'"
        in run("league", "author", "add", "b", "--quota", "bot=9", "--league", "cup", code=2).stderr
    )
    assert "expected NAME=N" in run("league", "author", "add", "b", "--quota", "bots", "--league", "cup", code=2).stderr
    assert "expected --yes" in run("league", "author", "remove", "anna", "--league", "cup", code=2).stderr
    run("league", "author", "remove", "anna", "--yes", "--league", "cup")


@pytest.mark.long
def test_the_operator_steers(run: Run) -> None:
    run("league", "pause", "cup")
    assert told(run, "status", "cup")["paused"] is True
    assert "not running, paused" in run("league", "status", "cup").stdout
    run("league", "resume", "cup")
    run("league", "concurrency", "cup", "3", "--force-concurrency")
    status = told(run, "status", "cup")
    assert (status["paused"], status["workers"]) == (False, 3)
    for words in (("suspend", "cup", "random"), ("lift", "cup", "random"), ("retire", "random", "--league", "cup")):
        assert "the house" in run("league", *words, code=1).stderr
    assert "expected a match of the season" in run("league", "replay-games", "cup", "7", code=1).stderr


def test_what_is_no_league_is_said(run: Run, home: Path) -> None:
    assert "expected a folder without a league" in run("league", "init", "cup", code=2).stderr
    assert "`arena league init FOLDER` makes one" in run("league", "status", "fox", code=2).stderr
    assert "give its FOLDER, or --at ADDRESS" in run("league", "status", code=2).stderr
    assert "expected numbers of players" in run("league", "init", "x", "--players", "two", code=2).stderr
    text = (home / "cup" / "league.toml").read_text()
    (home / "cup" / "league.toml").write_text(text.replace("forfeits = 5", "forfits = 5"))
    try:
        assert "did you mean 'forfeits'" in run("league", "pause", "cup", code=2).stderr
    finally:
        (home / "cup" / "league.toml").write_text(text)
