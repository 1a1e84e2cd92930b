"""Databases that something else than arena has altered: each command ends with an answer or a clear error."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from arena.cli import cli
from arena.cli.output import console
from tests import site_kit
from tests.fuzz.choices import Choices
from tests.fuzz.commands import within

Alteration = list[Any]
"""What is done: the number of a table, of a column and of a row, how it is altered, and the value for it."""

HOWS = ("one", "one", "all", "copy", "delete", "empty")
VALUES = (
    *(None, 0, 1, -1, 7, 1_000, 2**62, -(2**63), 1.5, 1e308, 9e999, "", "x", "nan", "done", "\x1b[2J", "ff" * 32),
    *("[]", "{}", "null", "[0,0]", "[1,7]", '{"a":1}', "[" * 3_000, "2026-01-01T00:00:00+00:00", "9" * 400),
)  # fmt: skip
COMMANDS = (
    ("standings",), ("standings", "--pool"), ("standings", "--crosstable", "--json"), ("tournaments", "list"),
    ("tournaments", "show", "latest"), ("games",), ("games", "--json"), ("site", "--quiet"),
)  # fmt: skip


def prepare(folder: Path) -> None:
    """Makes a sound database, with a tournament that is over and one that is not."""
    (folder / "sound").mkdir()
    site_kit.tournament(folder / "sound", deals=2, real=0)
    site_kit.tournament(folder / "sound", deals=2, real=0, games=3, seed="autumn")


def make_database(data: bytes) -> list[Alteration]:
    """What is done to a database, and at last the number of the command that reads it."""
    choices = Choices(data)
    many = (choices.number(64), choices.number(32), choices.number(256), choices.number(len(HOWS)))
    made = [[*many, choices.number(len(VALUES))]]
    if choices.number(4) == 3:
        made.append([choices.number(64), choices.number(32), choices.number(256), 0, choices.number(len(VALUES))])
    return [*made, [choices.number(len(COMMANDS))]]


def check_database(made: list[Alteration], folder: Path) -> None:
    """Alters a database, and reads it by a command, which ends as `check_command` demands."""
    *alterations, [command] = made
    here = folder / "altered"
    shutil.rmtree(here, ignore_errors=True)
    shutil.copytree(folder / "sound", here)
    with closing(sqlite3.connect(here / "arena.db", isolation_level=None)) as database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        for alteration in alterations:
            _alter(database, *alteration)
    console.cache_clear()
    with within(here):
        result: Result = CliRunner().invoke(cli, COMMANDS[command])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code in (0, 1, 2, 3), (COMMANDS[command], result.exit_code, result.output[-500:])
    assert all(one.isprintable() for one in result.output.split("\n")), ascii(result.output)


def _alter(database: sqlite3.Connection, table: int, column: int, row: int, how: int, value: int) -> None:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
    tables = [name for (name,) in database.execute(query) if database.execute(f'SELECT 1 FROM "{name}"').fetchone()]
    name = tables[table % len(tables)]
    columns = [each for _, each, *_ in database.execute(f'PRAGMA table_info("{name}")')]
    chosen, keys = columns[column % len(columns)], ", ".join(f'"{each}"' for each in columns)
    (count,) = database.execute(f'SELECT count(*) FROM "{name}"').fetchone()
    where = f'({keys}) IS (SELECT {keys} FROM "{name}" LIMIT 1 OFFSET {row % count})'
    match HOWS[how]:
        case "one":
            statement, values = f'UPDATE "{name}" SET "{chosen}" = ? WHERE {where}', (VALUES[value],)
        case "all":
            statement, values = f'UPDATE "{name}" SET "{chosen}" = ?', (VALUES[value],)
        case "copy":
            found = f'(SELECT "{chosen}" FROM "{name}" LIMIT 1 OFFSET {value % count})'
            statement, values = f'UPDATE "{name}" SET "{chosen}" = {found} WHERE {where}', ()
        case "delete":
            statement, values = f'DELETE FROM "{name}" WHERE {where}', ()
        case _:
            statement, values = f'DELETE FROM "{name}"', ()
    with suppress(sqlite3.IntegrityError, sqlite3.OperationalError):  # figures that are no JSON are refused too
        database.execute(statement, values)
