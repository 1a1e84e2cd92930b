"""Databases that something else has altered: an error names the place, and a bug of ours stays one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arena.core.errors import StoreError
from arena.core.store.soundness import altered
from arena.core.store.store import open_reader
from tests import site_kit


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with a tournament that is over and one that is not."""
    folder = tmp_path_factory.mktemp("sound")
    site_kit.tournament(folder, deals=2, real=0)
    site_kit.tournament(folder, deals=2, real=0, games=3, seed="autumn")
    return (folder / "arena.db").read_bytes()


@pytest.fixture
def path(sound: bytes, tmp_path: Path) -> Path:
    (tmp_path / "arena.db").write_bytes(sound)
    return tmp_path / "arena.db"


def test_a_database_that_arena_wrote_is_sound(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        assert altered(database, path) is None


def test_an_error_that_a_sound_database_leads_to_is_ours(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), open_reader(path):
        1 / 0  # noqa: B018


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("UPDATE tallies SET total_ms = 'x'", "'x' as tallies.total_ms"),
        ("UPDATE tallies SET games = -1", "-1 as tallies.games"),
        ("UPDATE pairs SET equal = 9e999", "inf as pairs.equal"),
        ("UPDATE entrants SET spec = '{'", "'{' as entrants.spec"),
        ("UPDATE games SET finished = 'soon'", "'soon' as games.finished"),
        ("UPDATE games SET termination = NULL", "a game that is over without a result"),
        ("DELETE FROM entrants WHERE number = 0", "that refers to none of entrants"),
        ("DELETE FROM seats WHERE seat = 1", "a game whose seats are not those that it was played in: "),
        ("DELETE FROM tallies", "sums that are not those of the games: "),
        ("UPDATE tournaments SET secret = '00'", "whose secret is not the one that it was committed to: "),
        (
            "UPDATE tournaments SET settings = json_set(settings, '$.x', 1)",
            "whose settings are not those that it began with: ",
        ),
    ],
)
def test_what_was_altered_is_named_with_its_place(path: Path, statement: str, place: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute(statement)
    expected = "expected a database that only arena has written to, got: "
    with pytest.raises(StoreError, match=expected) as caught, open_reader(path):
        raise KeyError(0)
    assert place in str(caught.value)
    assert str(caught.value).endswith(f" - at {path}; go back to a copy of it")
