"""`arena tournaments` as a person and as a script call it."""

from __future__ import annotations

import csv
import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from arena.cli import cli
from arena.cli.output import console
from arena.core.commands.tournaments import COLUMNS
from arena.core.store.store import open_store
from arena.core.tournament.steering import steered
from arena.core.types import Termination
from tests import instant

EVIL = "evil\x1b[31m\nname"


@pytest.fixture
def ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The identifiers of three tournaments in a folder's database, the earliest first; the last one is unfinished."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    console.cache_clear()
    found = []
    with open_store(Path("arena.db")) as store:
        for number in range(3):
            settings = instant.settings((EVIL, "=bob", "cid"), deals=1, seed=f"seed {number}")
            begun = instant.start(store, settings, Path("logs"))
            games = instant.runner(store, begun, settings, lanes=1).run()
            if number < 2:
                for _ in games:
                    pass
                store.finish(begun.tournament.id)
            else:
                next(games)
                games.close()
            found.append(begun.tournament.id)
    return found


def run(*arguments: str, typed: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["tournaments", *arguments], input=typed)


def listed(*arguments: str) -> list[dict[str, Any]]:
    return list(json.loads(run("list", "--json", *arguments).stdout)["tournaments"])


def test_the_latest_comes_first_with_what_was_played_and_how_far_it_is(ids: list[str]) -> None:
    rows = listed()
    assert [row["tournament"] for row in rows] == ids[::-1]
    assert [(row["status"], row["games"], row["planned"]) for row in rows] == [
        ("unfinished", 1, 6),
        ("finished", 6, 6),
        ("finished", 6, 6),
    ]
    shown = run("list").stdout
    assert "\x1b" not in shown
    for row, line in zip(rows, shown.splitlines()[-3:], strict=True):
        assert line.startswith(row["tournament"])
        assert r"samurai standard, round-robin: evil\x1b[31m\nname, =bob, cid" in line
        assert f"  {row['status']} " in line
        size = sum(file.stat().st_size for file in Path("logs", row["tournament"]).iterdir())
        assert row["logs_size"]["bytes"] == size > 0
    assert " 1/6 " in shown


def test_the_one_that_is_played_now_is_running(ids: list[str]) -> None:
    with open_store(Path("arena.db")) as store:
        with steered(store.path, ids[2], 1, print):
            assert [row["status"] for row in listed()] == ["running", "finished", "finished"]
            assert "To go on" not in run("show", ids[2]).stdout
        assert listed()[0]["status"] == "unfinished"
    assert "To go on" in run("show", ids[2]).stdout


def test_the_list_is_what_is_done_if_nothing_is_said(ids: list[str]) -> None:
    assert run().stdout == run("list").stdout != ""
    assert run("--json").stdout == run("list", "--json").stdout
    assert run("--help").stdout.startswith("Usage: cli tournaments")
    assert "No such command 'lst'" in run("lst").stderr


def test_the_list_as_csv_has_no_formula(ids: list[str]) -> None:
    lines = list(csv.DictReader(StringIO(run("list", "--csv").stdout)))
    assert tuple(lines[0]) == COLUMNS
    assert [line["tournament"] for line in lines] == ids[::-1]
    assert {line["bots"] for line in lines} == {r"evil\x1b[31m\nname =bob cid"}
    assert "\x1b" not in run("list", "--csv").stdout


@pytest.mark.parametrize("width", [50, 80, 120])
def test_the_list_fits_a_terminal(ids: list[str], width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    console.cache_clear()
    lines = run("list").stdout.splitlines()
    assert max(map(len, lines)) <= width
    assert any(line.startswith(ids[0]) for line in lines)


def test_one_is_shown_with_all_that_belongs_to_it(ids: list[str]) -> None:
    document = json.loads(run("show", ids[0], "--json").stdout)
    assert document["tournament"] == ids[0]
    assert document["seed"] == "seed 0"
    assert [entrant["bot"] for entrant in document["entrants"]] == [EVIL, "=bob", "cid"]
    assert document["database"]["rows"]["games"] == 6
    assert document["database"]["rows"]["seats"] == 12
    assert document["database"]["bytes"] > 1_000
    assert document["command"].endswith("--seed 'seed 0' --new")
    shown = run("show", ids[0]).stdout
    assert "\x1b" not in shown
    for text in (
        "samurai standard, 2 players, board Japan",
        "6 of 6 done",
        f"logs       logs/{ids[0]}: {document['logs_size']['files']} files",
        document["commitment"],
        "To play it again:\n  arena tournament ",
        f"arena standings --tournament {ids[0]}",
    ):
        assert text in shown
    assert "To go on:\n" in run("show", "latest").stdout


def test_one_file_is_no_files(ids: list[str]) -> None:
    for file in sorted(Path("logs", ids[0]).iterdir())[1:]:
        file.unlink()
    assert f"logs       logs/{ids[0]}: 1 file, " in run("show", ids[0]).stdout


def test_who_forfeited_is_shown(ids: list[str]) -> None:
    with open_store(Path("arena.db")) as store:
        forfeit = msgspec.json.encode(replace(instant.forfeit(0), code=Termination.CRASHED)).decode()
        store._db.execute("UPDATE seats SET figures = json_set(figures, '$.forfeit', json(?))", (forfeit,))
    [line] = [line for line in run("show", ids[0]).stdout.splitlines() if line.startswith("cid ")]
    assert line.endswith("  forfeited: crashed 4")
    assert json.loads(run("show", ids[0], "--json").stdout)["forfeits"]["cid"] == {"crashed": 4}


def test_a_tournament_goes_with_its_logs_and_no_other(ids: list[str]) -> None:
    before = {id: run("show", id, "--json").stdout for id in ids}
    Path("logs", ids[1], "notes.txt").touch()
    done = run("remove", ids[0], ids[1], ids[0], "--yes")
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"{ids[0]}: removed with 6 games, and " in done.stdout
    assert "that folder was not removed: it holds notes.txt" in done.stdout
    assert [row["tournament"] for row in listed()] == [ids[2]]
    assert run("show", ids[2], "--json").stdout == before[ids[2]]
    assert sorted(os.listdir("logs")) == sorted(ids[1:])
    assert os.listdir(Path("logs", ids[1])) == ["notes.txt"]


def test_logs_are_kept_if_that_is_asked(ids: list[str]) -> None:
    files = sorted(os.listdir(Path("logs", ids[0])))
    done = run("remove", ids[0], "--keep-logs", "--yes")
    assert f"{ids[0]}: removed with 6 games; its logs are still in {Path('logs', ids[0]).absolute()}" in done.stdout
    assert sorted(os.listdir(Path("logs", ids[0]))) == files


def test_a_script_learns_what_was_removed(ids: list[str]) -> None:
    size = listed()[0]["logs_size"]
    document = json.loads(run("remove", "latest", "--yes", "--vacuum", "--json").stdout)
    assert document["removed"] == [ids[2]]
    assert document["logs"] == [{"folder": str(Path("logs", ids[2]).absolute()), "removed": size, "kept": None}]
    assert set(document) == {"removed", "free_bytes", "given_back_bytes", "logs"}


def test_vacuum_makes_the_file_smaller(ids: list[str]) -> None:
    before = Path("arena.db").stat().st_size
    with open_store(Path("arena.db")) as store:
        store._db.execute("UPDATE entrants SET spec = zeroblob(300000)")
    assert "are free for new games; --vacuum gives them back" in run("remove", ids[0], "--yes").stdout
    grown = Path("arena.db").stat().st_size
    done = run("remove", *ids[1:], "--yes", "--vacuum")
    assert "arena.db: smaller by " in done.stdout
    page = 4096  # VACUUM packs the schema anew, which may take a page more
    assert Path("arena.db").stat().st_size <= before + page < grown


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: True, raising=False)


@pytest.mark.parametrize(("typed", "code", "left"), [("y\n", 0, 2), ("n\n", 1, 3), ("", 130, 3)])
def test_one_is_asked_first(ids: list[str], monkeypatch: pytest.MonkeyPatch, typed: str, code: int, left: int) -> None:
    on_a_terminal(monkeypatch)
    done = run("remove", ids[2], typed=typed)
    assert done.exit_code == code
    assert rf"{ids[2]} (unfinished): 1 game of evil\x1b[31m\nname, =bob, cid, " in done.stderr
    assert ("Nothing is removed." in done.stderr) == (code == 1)
    assert len(listed()) == left
    assert Path("logs", ids[2]).exists() == (left == 3)


def test_nobody_can_be_asked_without_a_terminal(ids: list[str]) -> None:
    done = run("remove", ids[0])
    assert done.exit_code == 2
    assert "expected --yes, because there is no terminal on which to ask" in done.stderr
    assert len(listed()) == 3


def test_nothing_is_removed_while_a_tournament_is_played(ids: list[str]) -> None:
    files = sorted(os.listdir(Path("logs", ids[0])))
    with open_store(Path("arena.db")):
        done = run("remove", ids[0], "--yes")
        assert done.exit_code == 1
        assert f"expected a database that nobody else writes to, got one in use by process {os.getpid()}" in done.stderr
        assert len(listed()) == 3
    assert sorted(os.listdir(Path("logs", ids[0]))) == files


def test_one_unknown_id_and_none_is_removed(ids: list[str]) -> None:
    done = run("remove", ids[0], "nope", "--yes")
    assert done.exit_code == 1
    assert "expected the id of a tournament, got: 'nope'" in done.stderr
    assert len(listed()) == 3


def test_a_database_without_tournaments_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(Path("arena.db")):
        pass
    assert run("list").stderr == "There is no tournament in arena.db.\n"
    assert listed() == []
    assert "expected a tournament, got none" in run("show", "latest").stderr
    assert "no such file - at nope.db" in run("list", "--db", "nope.db").stderr
