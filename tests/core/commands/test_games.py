"""`arena games` as a person and as a script call it; and a game's id where a log's path is expected."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from arena.cli import cli
from arena.cli.output import console
from arena.core.commands.games import SEAT_COLUMNS, moment
from arena.core.store.finding import Finder
from arena.core.store.store import open_store
from arena.core.types import Payload
from tests import instant

HOSTILE = '=HYPERLINK("x")'
EVIL = "evil\x1b[31m\nname"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database in which a tournament is done; two of its bots have evil names."""
    folder = tmp_path_factory.mktemp("played")
    settings = instant.settings((HOSTILE, EVIL, "bob"), deals=30)
    with open_store(folder / "arena.db") as store:
        begun = instant.start(store, settings, folder / "logs")
        for _ in instant.runner(store, begun, settings).run():
            pass
    return folder


@pytest.fixture(autouse=True)
def _here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)
    console.cache_clear()


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def found(*arguments: object) -> list[dict[str, object]]:
    document = json.loads(run("games", "--json", *arguments).stdout)
    assert set(document) == {"games", "more", "void"}
    return list(document["games"])


def rows(query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect("arena.db")) as connection:
        return connection.execute(query).fetchall()


def test_the_path_of_a_log_is_the_one_that_opens() -> None:
    [game] = found("--limit", "1")
    log = Path(str(game["log"]))
    packed = log.rename(log.with_name(f"{log.name}.zst"))
    assert found("--limit", "1") == [{**game, "log": str(packed)}]
    packed.rename(log)


def test_a_script_finds_the_lost_games_of_a_bot() -> None:
    games = found("--bot", "bob", "--lost")
    expected = rows("SELECT game FROM v_seats WHERE bot = 'bob' AND outcome = 'lost' ORDER BY game DESC")
    assert [(game["game"],) for game in games] == expected != []
    assert (
        run("games", "--bot", "bob", "--won", "--lost", "--json").stdout
        == run("games", "--bot", "bob", "--lost", "--json").stdout
    )


def test_json_has_the_columns_of_the_views() -> None:
    [game] = found("--limit", 1)
    columns = {table: [row[1] for row in rows(f"PRAGMA table_info({table})")] for table in ("v_games", "v_seats")}
    assert list(game) == [*columns["v_games"], "seats"]
    for seat in game["seats"]:  # type: ignore[attr-defined]
        assert list(seat) == [column for column in columns["v_seats"] if column not in game]


def test_games_are_written_one_at_a_time_in_the_same_document(monkeypatch: pytest.MonkeyPatch) -> None:
    written, describe = [], Finder.describe

    def watched(finder: Finder, games: Iterable[str]) -> Iterator[Payload]:
        for row in describe(finder, games):
            sys.stdout.flush()
            written.append(len(sys.stdout.buffer.getvalue()))  # type: ignore[attr-defined]
            yield row

    monkeypatch.setattr(Finder, "describe", watched)
    text = run("games", "--json").stdout
    assert text == msgspec.json.format(text, indent=2) + "\n", "as every JSON document of ours is written"
    lines = run("games", "--jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == json.loads(text)["games"]
    assert len(set(written[:180])) == len(set(written[180:])) == 180, "none is kept for the next"


def test_scripts_get_all_and_people_the_latest() -> None:
    assert len(found()) == 180
    shown = run("games")
    assert shown.stdout.count("logs/") == 20
    assert shown.stderr == "There are more: --limit shows more than 20.\n"
    assert json.loads(run("games", "--json", "--limit", 180).stdout)["more"] is False
    assert json.loads(run("games", "--json", "--limit", 179).stdout)["more"] is True


def test_csv_has_a_line_for_each_seat_and_no_formula() -> None:
    done = run("games", "--csv", "--forfeited")
    lines = list(csv.DictReader(StringIO(done.stdout)))
    games = found("--forfeited")
    assert len(lines) == 2 * len(games) > 0
    assert tuple(lines[0]) == SEAT_COLUMNS
    assert {line["bot"] for line in lines} <= {f"'{HOSTILE}", r"evil\x1b[31m\nname", "bob"}
    assert f"'{HOSTILE}" in {line["bot"] for line in lines}
    assert "\x1b" not in done.stdout
    assert {line["forfeit"] for line in lines} == {"timeout", ""}
    documented = [row[1] for row in rows("PRAGMA table_info(v_seats)")]
    assert set(SEAT_COLUMNS) <= set(documented)


def test_under_the_games_are_the_commands_for_those_that_forfeited() -> None:
    forfeits = rows("SELECT game, seat FROM v_forfeits ORDER BY finished DESC, game DESC")
    assert len(forfeits) > 5
    shown = run("games", "--forfeited", "--limit", 20).stdout
    assert "\x1b" not in shown
    game, seat = forfeits[0]
    assert f"{game}: " in shown
    assert f"(seat {seat}, turn 7) exceeded its time by 240 ms\n" in shown
    assert r"  its last words: still \x1b[31mthinking" in shown
    assert f"  ask it again: arena bot rerun {game} " in shown
    assert f"  see it: arena replay {game} --seat {seat}\n" in shown
    assert shown.count("ask it again") == 5
    assert shown.count("exceeded its time") == min(20, len(forfeits))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_the_table_fits_a_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    console.cache_clear()
    table = run("games", "--bot", "bob", "--won").stdout.split("\n\n")[0]
    assert "bob" in table
    if width >= 60:
        assert max(map(len, table.splitlines())) <= width
    assert ("slowest" in table) == (width >= 80)
    assert ("logs/" in table) == (width >= 200)


def test_nothing_found_is_said(tmp_path: Path) -> None:
    done = run("games", "--slow", 1_000)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "No game is like that.\n")
    assert found("--slow", 1_000) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bot", "bab"], r"got: 'bab' - at arena.db (did you mean 'bob'?); use --bot"),
        (["--forfeited", "slow"], "Invalid value for '--forfeited'"),
        (["--since", "tomorrow"], "expected today, yesterday, a number of min, h, d or w"),
        (["--where", "name = 'bob'"], "no such column: name - at --where; the columns are game, tournament"),
        (["--tournament", "zz"], "expected the id of a tournament, got: 'zz'"),
        (["--json", "--csv"], "expected one of --json, --jsonl and --csv, got: --json and --csv"),
    ],
)
def test_what_cannot_be_found_is_refused(arguments: list[str], said: str) -> None:
    done = run("games", *arguments)
    assert done.exit_code in (1, 2)
    assert said in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_causes_days_and_tournaments_narrow_it_down() -> None:
    assert found("--forfeited", "timeout") == found("--forfeited") != []
    assert found("--forfeited", "crashed") == []
    assert len(found("--tournament", "latest")) == len(found("--since", "yesterday")) == 180
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="seconds")
    assert found("--since", later) == []


def test_a_day_begins_at_midnight_of_the_operators_zone() -> None:
    noon = datetime.fromisoformat("2026-11-21T12:00:00+09:00")
    expected = {
        "today": "2026-11-21T00:00:00+09:00",
        "yesterday": "2026-11-20T00:00:00+09:00",
        "2026-11-01": "2026-11-01T00:00:00+09:00",
        "2026-11-01T18:30Z": "2026-11-01T18:30:00+00:00",
        "90min": "2026-11-21T10:30:00+09:00",
        "3h": "2026-11-21T09:00:00+09:00",
        "2d": "2026-11-19T12:00:00+09:00",
        "1w": "2026-11-14T12:00:00+09:00",
    }
    for text, iso in expected.items():
        assert moment(text, noon) == datetime.fromisoformat(iso), text
    for text in ("", "d", "-1d", "2 days", "99999d", "2026-13-01", "1e5"):
        assert moment(text, noon) is None, text


@pytest.fixture
def game(play_log: object, folder: Path) -> str:
    """The id of a game whose log is that of a real game."""
    [(id, log)] = rows("SELECT game, log FROM v_games WHERE number = 7")
    play_log(Path(str(log)))  # type: ignore[operator]
    return str(id)


@pytest.mark.wing("author")
def test_an_id_is_as_good_as_a_path(game: str) -> None:
    [(log,)] = rows(f"SELECT log FROM v_games WHERE game = '{game}'")
    shown = run("replay", log, "--turn", 1)
    assert shown.exit_code == 0
    for text in (game, f"{game.rpartition('-')[0]}:7", "latest:7", game.partition("-")[2]):
        assert run("replay", text, "--turn", 1).stdout == shown.stdout
    assert run("replay", game, "--turn", 1, "--db", Path("arena.db").absolute()).stdout == shown.stdout
    assert run("verify", "latest:7").stdout == run("verify", log).stdout != ""
    asked = run("bot", "rerun", game, "random", "--seat", 5)
    assert "expected a seat of the game, 0 to 1, got: 5" in asked.stderr
    assert "which holds many" in run("bot", "rerun", "latest", "random", "--seat", 0).stderr


def test_logs_that_have_moved_are_found_where_they_are_now(game: str, folder: Path) -> None:
    tournament = game.rpartition("-")[0]
    shown = run("replay", game, "--turn", 1).stdout
    shutil.move(folder / "logs", folder / "moved")
    try:
        gone = run("replay", game)
        assert gone.exit_code == 1
        assert (
            f"expected the log of game {game}, got: no such file - at {folder}/logs/{tournament}/{game}" in gone.stderr
        )
        assert f"if {folder}/logs has moved, give the folder that it is now with --logs" in gone.stderr
        for logs in ("moved", f"moved/{tournament}"):
            assert run("replay", game, "--turn", 1, "--logs", logs).stdout == shown
            assert run("verify", "latest", "--logs", logs).stdout.startswith(f"moved/{tournament}: ")
        assert "expected the logs of tournament" in run("verify", "latest").stderr
    finally:
        shutil.move(folder / "moved", folder / "logs")


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["replay", "nope"], "expected the id of a finished game or of a tournament, got: 'nope' - at arena.db", 1),
        (["replay", "no/such.jsonl"], "expected a game's log, or a folder of logs, got: no/such.jsonl", 2),
        (["verify", "such.jsonl"], "expected a game's log, or a folder of logs, got: such.jsonl", 2),
        (["replay", "nope", "--db", "no.db"], "there is no database at no.db; use --db", 2),
        (["bot", "rerun", "nope", "random", "--seat", "0", "--db", "no.db"], "there is no database at no.db", 2),
    ],
)
@pytest.mark.wing("author")
def test_what_is_neither_a_path_nor_an_id_is_refused(arguments: list[str], said: str, code: int) -> None:
    done = run(*arguments)
    assert said in " ".join(done.stderr.split())
    assert done.exit_code == code


def test_a_bot_that_lost_is_told_how_to_find_out_where() -> None:
    [lost, *_] = found("--bot", "bob", "--lost")
    told = run("games", "--bot", "bob", "--lost").stdout.splitlines()
    [seat] = [seat["seat"] for seat in lost["seats"] if seat["bot"] == "bob"]  # type: ignore[attr-defined]
    assert told[-1] == f"where it lost the latest: arena analyse {lost['game']} --seat {seat}"
    assert "arena analyse" not in run("games", "--bot", "bob", "--won").stdout


def test_the_table_says_how_far_ahead_the_first_was() -> None:
    [game, *_] = found("--won", "--bot", "bob")
    lead = max(seat["margin"] for seat in game["seats"])  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("COLUMNS", "120")
        console.cache_clear()
        lines = run("games", "--won", "--bot", "bob").stdout.splitlines()
    assert "ahead" in lines[0]
    assert str(lead) in lines[3].split()


def test_games_of_a_match_are_in_no_database_and_it_is_said_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "`arena tournament` makes one" in run("games", "--lost").stderr
    (tmp_path / "logs" / "match-abc").mkdir(parents=True)
    assert "`arena replay logs/match-abc` shows them" in run("games", "--lost").stderr
