"""A league's tables are made when a league opens a database, whatever of them is there already."""

from __future__ import annotations

from pathlib import Path

import pytest
from league_kit import active, league, play

from arena.core.errors import StoreError
from arena.core.store.store import open_reader, open_store
from arena.league.store import league_of, open_league
from arena.league.store.schema import OF_LEAGUES

STATEMENTS = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY name"


@pytest.mark.parametrize(
    "missing",
    [
        (),
        ("ALTER TABLE matches DROP COLUMN together",),
        ("ALTER TABLE matches DROP COLUMN together", "DROP TABLE remaking", "DROP TABLE rating_marks"),
        ("ALTER TABLE seasons DROP COLUMN final",),
    ],
)
def test_what_earlier_versions_made_is_completed(tmp_path: Path, missing: tuple[str, ...]) -> None:
    path = tmp_path / "league.db"
    with open_league(path) as store:
        whole = store._db.execute(STATEMENTS).fetchall()
        for statement in ("DELETE FROM _sqlite_migrations WHERE migration_set = 'league'", *missing):
            store._db.execute(statement)
    with open_league(path) as store:
        assert [(name, "".join(sql.split())) for name, sql in store._db.execute(STATEMENTS)] == [
            (name, "".join(sql.split())) for name, sql in whole
        ]
        made = store._db.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = 'league' ORDER BY id")
        assert [name for (name,) in made] == [*OF_LEAGUES.steps]


def test_a_mistake_of_ours_is_not_called_one_of_the_database(tmp_path: Path) -> None:
    with league(tmp_path, "anna") as store:
        play(store, active(store, "fox"), active(store, "owl"))
    with pytest.raises(ZeroDivisionError), open_league(tmp_path / "league.db"):
        1 / 0  # noqa: B018


def test_a_laptops_database_has_none_of_them(tmp_path: Path) -> None:
    with open_store(tmp_path / "arena.db") as store:
        assert store._db.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'").fetchone() == (11,)
    with open_reader(tmp_path / "arena.db") as reader, pytest.raises(StoreError, match="expected a league's database"):
        league_of(reader)
