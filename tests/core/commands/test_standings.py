"""`arena standings` as a person and a program call it."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena.cli import cli
from arena.cli.output import console
from arena.core.record.log import cost_of
from arena.core.store.finding import open_finder
from arena.core.store.store import Store, open_store
from arena.core.tournament.formats.knockout import Knockout
from arena.core.tournament.settings import Settings
from tests import instant


def play(store: Store, logs: Path, settings: Settings) -> str:
    begun = instant.start(store, settings, logs, new=True)
    list(instant.runner(store, begun, settings).run())
    return begun.tournament.id


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tournaments of one pool: `ann` and `bob`, then both with `cid`."""
    folder = tmp_path_factory.mktemp("standings")
    with open_store(folder / "arena.db") as store:
        play(store, folder, instant.settings(("ann", "bob"), seed="other", deals=1))
        play(store, folder, instant.settings(deals=12))
    return folder / "arena.db"


@pytest.fixture(autouse=True)
def fresh_console() -> Iterator[None]:
    console.cache_clear()
    yield
    console.cache_clear()


def standings(database: Path, *words: str, width: int = 120, code: int = 0) -> Result:
    done = CliRunner(env={"COLUMNS": str(width)}).invoke(cli, ["standings", "--db", str(database), *words])
    assert done.exit_code == code, done.output
    return done


def test_the_latest_tournament_is_shown_with_what_is_settled(database: Path) -> None:
    heading, *table = standings(database).stdout.splitlines()
    assert heading.startswith("samurai standard, 2 players, board Japan: tournament ")
    assert [line.split()[1] for line in table[3:6]] == ["ann", "bob", "cid"]
    assert "(95 %, all pairs at once)" in table[6]
    assert table[8].split() == ["#", "bot", "1", "2", "3"]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_they_fit_the_terminal(database: Path, width: int) -> None:
    _, *lines = standings(database, width=width).stdout.splitlines()
    assert max(map(len, lines)) <= width


def test_the_course_of_each_rating_is_drawn(database: Path) -> None:
    lines = [re.findall("[▁-█]+", line) for line in standings(database, "-v", width=160).stdout.splitlines()]
    drawn = [found[0] for found in lines if found]
    assert [len(line) for line in drawn] == [8, 8, 8]
    assert "█" in drawn[0], "the best rating of all is one that the winner had"
    assert "▁" in "".join(drawn), "the scale ends with the least"
    assert "course" not in standings(database, "--pool", "-v", width=160).stdout
    assert "▁" not in standings(database, "--csv").stdout


def test_all_columns_are_shown_on_request(database: Path) -> None:
    assert "sigma" in standings(database, width=80).stdout
    assert "ahead" not in standings(database, width=200).stdout
    assert "ahead" in standings(database, "-v", width=200).stdout


def test_csv_is_what_json_has(database: Path) -> None:
    document = json.loads(standings(database, "--json").stdout)
    rows = list(csv.DictReader(standings(database, "--csv").stdout.splitlines()))
    assert rows == [{key: "" if row[key] is None else str(row[key]) for key in row} for row in document["standings"]]
    cells = list(csv.DictReader(standings(database, "--csv", "--crosstable").stdout.splitlines()))
    assert {(cell["bot"], cell["against"]): float(cell["share"]) for cell in cells} == {
        (row["bot"], score["bot"]): score["score"] for row in document["crosstable"] for score in row["against"]
    }
    assert document["order"]["enough"]


def test_what_games_have_cost_by_the_notes_of_bots_is_shown_where_there_is_some(database: Path, tmp_path: Path) -> None:
    assert not {"tokens", "dollars", "retries"} & set(standings(database).stdout.split())
    copy = Path(shutil.copy(database, tmp_path))
    cost = cost_of("I think\ncost: tokens_in=1200 tokens_out=34 microdollars=9100 strange=1")
    with closing(sqlite3.connect(copy)) as connection, connection:
        told = "UPDATE seats SET figures = json_set(figures, '$.cost', json(?)) WHERE entrant = 0"
        connection.execute(told, (json.dumps(cost),))
    rows = {row["bot"]: row for row in json.loads(standings(copy, "--json").stdout)["standings"]}
    games = rows["ann"]["games"]
    assert (rows["ann"]["tokens"], rows["ann"]["retries"]) == (games * 1_234, 0)
    assert rows["ann"]["dollars"] == pytest.approx(games * 0.0091)
    assert (rows["bob"]["tokens"], rows["bob"]["dollars"]) == (0, 0.0)
    table = standings(copy).stdout
    assert {"tokens", "dollars", "retries", f"{games * 1_234:,}"} <= set(table.split())
    for note in (
        None,
        "",
        "cost:",
        "cost: tokens_in=x",
        "cost: tokens_in=-1",
        "cost: tokens_in=5 ",
        "x cost: retries=1",
    ):
        assert cost_of(note) == {}, note


def test_a_pool_has_all_its_tournaments(database: Path) -> None:
    heading, *table = standings(database, "--pool").stdout.splitlines()
    assert heading == "samurai standard, 2 players: 2 tournaments, 74 games"
    document = json.loads(standings(database, "--pool", "--json").stdout)
    assert {row["bot"]: row["games"] for row in document["standings"]} == {"ann": 50, "bob": 50, "cid": 48}
    assert [line.split()[1] for line in table[3:6]] == [row["bot"] for row in document["standings"]]
    assert "sigma" not in "".join(table)


def test_a_bot_is_taken_out_with_its_games(database: Path) -> None:
    whole = {row["bot"]: row for row in json.loads(standings(database, "--json").stdout)["standings"]}
    part = json.loads(standings(database, "--without", "bob", "--json").stdout)
    rows = {row["bot"]: row for row in part["standings"]}
    assert set(rows) == {"ann", "cid"}
    assert all(row["games"] * 2 == whole[name]["games"] for name, row in rows.items())
    assert (rows["cid"]["mu"], part["games"], part["reused"]) == (whole["cid"]["mu"], rows["ann"]["games"], [])
    assert "without the games of bob" in standings(database, "--without", "bob").stdout
    said = standings(database, "--without", "bop", code=2).stderr
    assert "got: 'bop' (did you mean 'bob'?)" in said
    assert "expected two entrants or more, got: 1" in (
        standings(database, "--without", "bob", "--without", "cid", code=2).stderr
    )
    assert standings(database, "--without", "bob", "--pool", code=2)


def test_an_anchor_is_shown_as_given(database: Path) -> None:
    for words in ((), ("--pool",)):
        rows = json.loads(standings(database, *words, "--anchor", "bob=40", "--json").stdout)["standings"]
        assert next((row["rating"], row["half_width"]) for row in rows if row["bot"] == "bob") == (40, 0)


@pytest.mark.parametrize("anchor", ["bob", "bob=", "=40", "bob=forty", "bob=nan", "bob=inf"])
def test_an_anchor_is_a_bot_and_a_number(database: Path, anchor: str) -> None:
    done = standings(database, "--anchor", anchor, code=2)
    assert f"expected BOT=RATING, got: '{anchor}' - at --anchor; give a bot and a number: greedy=25" in done.stderr


def test_an_anchor_must_have_played(database: Path) -> None:
    assert (
        "expected a bot of these standings, got: 'eva' - at --anchor"
        in standings(database, "--anchor", "eva=1", code=2).stderr
    )


def test_an_id_may_be_abbreviated(database: Path) -> None:
    with open_finder(database) as finder:
        latest, first = (row["tournament"] for row in finder.tournaments())
    assert first in standings(database, "--tournament", first.partition("-")[2]).stdout
    assert latest in standings(database, "--tournament", "latest").stdout
    assert "expected the id of a tournament, got: 'nope'" in standings(database, "--tournament", "nope", code=1).stderr


def test_a_knockout_says_that_its_order_is_that_of_places(tmp_path: Path) -> None:
    with open_store(tmp_path / "arena.db") as store:
        play(store, tmp_path, instant.settings(format=Knockout(deals=1)))
    assert "# is the place reached." in standings(tmp_path / "arena.db").stdout
    with open_store(tmp_path / "arena.db") as store:
        play(store, tmp_path, instant.settings())
    assert "# is the place reached." not in standings(tmp_path / "arena.db").stdout


def test_one_form_at_a_time(database: Path) -> None:
    assert "expected one of --csv and --json, got: both" in standings(database, "--csv", "--json", code=2).stderr


def test_a_crosstable_of_many_bots_is_made_on_request(tmp_path: Path) -> None:
    names = tuple(f"bot-{number}" for number in range(101))
    with open_store(tmp_path / "arena.db") as store:
        begun = instant.start(store, instant.settings(names, deals=1), tmp_path)
        games = instant.runner(store, begun, instant.settings(names, deals=1)).run()
        for _ in range(3):
            next(games)
        games.close()
    short = standings(tmp_path / "arena.db", width=80)
    assert "101 bots: --crosstable prints the cross-table" in short.stdout
    assert json.loads(standings(tmp_path / "arena.db", "--json").stdout)["crosstable"] is None
    whole = json.loads(standings(tmp_path / "arena.db", "--json", "--crosstable").stdout)["crosstable"]
    assert [score["games"] for score in whole[0]["against"]] == [2]
    assert "is not finished" in short.stderr


def test_every_column_is_explained(database: Path) -> None:
    text = " ".join(standings(database, "--help").stdout.split())
    table = standings(database, width=300).stdout.splitlines()
    for word in {word for line in table[1:4] for word in line.split()} - {"─" * len(table[4])}:
        assert word in text
    assert "docs/ratings.md" in text
