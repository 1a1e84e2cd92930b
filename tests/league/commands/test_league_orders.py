"""The operator's commands: what cannot be obeyed is refused before an order is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena.cli import cli
from arena.league.folder import Folder
from arena.league.season.opening import make_league
from arena.league.settings import Settings
from arena.league.store import open_league, read_league


@pytest.fixture
def arena(cup: Folder) -> Callable[..., Result]:
    """Runs a command about the league, whose folder is CUP in the line."""

    def run(*words: str, code: int = 0) -> Result:
        line = [str(cup.path) if word == "CUP" else word for word in words]
        result = CliRunner().invoke(cli, ["league", *line])
        assert result.exit_code == code, (result.output, result.stderr)
        return result

    return run


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("author", "add", "bad name!", "--league", "CUP"), "as the name of an author, got: 'bad name!'"),
        (("author", "add", "cora", "--quota", "bot=3", "--league", "CUP"), "did you mean 'bots'?"),
        (("author", "add", "cora", "--quota", "bots=9999999999", "--league", "CUP"), "got: 'bots=9999999999'"),
        (("replay-games", "CUP", "9223372036854775808"), "is not in the range"),
        (("replay-games", "CUP", *map(str, range(201))), "expected at most 200 matches"),
        (("concurrency", "CUP", "1025"), "is not in the range"),
        (("season", "close", "first", "--league", "CUP", "--next", "a\nb"), "expected a name of at most 64 characters"),
        (("suspend", "CUP", "random", "--reason", "x" * 1001), "expected at most 1000 characters as reason, got: 1001"),
        (("suspend", "CUP", "fox\udcff"), r"expected a text in UTF-8 as version, got: 'fox\udcff'"),
    ],
)
def test_what_makes_no_sense_becomes_no_order(
    cup: Folder, arena: Callable[..., Result], line: tuple[str, ...], message: str
) -> None:
    with cup.running():  # so that an order would stay
        assert message in arena(*line, code=2).stderr
    assert list(cup.inbox.iterdir()) == []


def test_an_author_is_added_with_limits_of_their_own(cup: Folder, arena: Callable[..., Result]) -> None:
    arena("author", "add", "cora", "--quota", "bots=2147483647", "--league", "CUP")
    with read_league(cup.database) as league:
        assert league.authors.known("cora").quotas == {"bots": 2147483647}


def test_the_operators_notices_are_shown_until_they_were_read(cup: Folder, arena: Callable[..., Result]) -> None:
    with open_league(cup.database) as store:
        for number in range(30):
            store.notices.add(None, "note", f"notice {number}.")
        store.authors.add("anna")
        store.notices.add("anna", "note", "hers")
    shown = arena("status", "CUP").stdout
    assert ("notice 29." in shown, "notice 20." in shown, "notice 19." in shown) == (True, True, False)
    assert shown.index("notice 28.") < shown.index("notice 29."), "the latest last"
    read = arena("status", "CUP", "--read").stdout
    assert ("notice 29." in read, "notice 10." in read, "notice 9." in read) == (True, True, False)
    rest = json.loads(arena("status", "CUP", "--json", "--read").stdout)["notices"]
    assert [notice["text"] for notice in rest] == [f"notice {number}." for number in range(10)], "as many as were left"
    assert json.loads(arena("status", "CUP", "--json").stdout)["notices"] == []
    assert "hers" in arena("status", "CUP", "--author", "anna").stdout
    for more in (("--author", "anna"), ("--bot", "random")):
        assert "expected --read for the notices" in arena("status", "CUP", "--read", *more, code=2).stderr


@pytest.mark.parametrize(
    "line",
    [
        ("status", "--league", "CUP", "--json"),
        ("standings", "--json", "--league", "CUP"),
        ("season", "list", "--league", "CUP"),
        ("author", "list", "--league", "CUP"),
        ("author", "list", "--to", "CUP"),
        ("concurrency", "1", "--league", "CUP"),
        ("pause", "--league", "CUP"),
        ("season", "close", "first", "--no-final", "--league", "CUP"),
    ],
)
def test_every_command_takes_its_league_in_the_same_way(arena: Callable[..., Result], line: tuple[str, ...]) -> None:
    arena(*line)


def test_a_league_of_this_name_may_be_a_folder_that_begins_with_a_word(tmp_path: Path) -> None:
    make_league(tmp_path / "--league", Settings(name="cup"))
    done = CliRunner().invoke(cli, ["league", "status", f"--league={tmp_path / '--league'}", "--json"])
    assert done.exit_code == 0, done.stderr
