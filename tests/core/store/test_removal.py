"""A tournament that is removed leaves nothing behind, and nothing else goes with it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.core.errors import StoreError
from arena.core.store.removal import count_rows
from arena.core.store.store import Store, open_store
from tests import instant

SETTINGS = instant.settings(deals=4)
OTHER = replace(SETTINGS, game=replace(SETTINGS.game, ruleset="basic"))


def play(store: Store, folder: Path, *, basic: bool = False) -> str:
    settings = OTHER if basic else SETTINGS
    begun = instant.start(store, settings, folder, new=True)
    for _ in instant.runner(store, begun, settings).run():
        pass
    id = begun.tournament.id
    with store._db:
        store._db.execute(
            "INSERT INTO fits SELECT tournament, number, 25, 1, 1 FROM entrants WHERE tournament = ?", (id,)
        )
        store._db.execute("INSERT INTO rounds VALUES (?, 0, 'round 1', 1, '[]', '[]', 0, 0, NULL)", (id,))
    return id


def content(store: Store) -> dict[str, list[tuple[object, ...]]]:
    tables = store._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {name: store._db.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for (name,) in tables}


def test_all_its_rows_go_and_no_others(store: Store, tmp_path: Path) -> None:
    kept = play(store, tmp_path)
    before = content(store)
    removed = play(store, tmp_path, basic=True)
    during = content(store)
    grown = {table for table in during if len(during[table]) > len(before[table])}
    assert grown == {"pools", *(table for table, rows in count_rows(store._db, removed).items() if rows)}
    assert grown == during.keys() - {"_sqlite_migrations"}, "the test does not fill this table, or it does not grow"
    store.remove([removed])
    assert content(store) == before
    assert store.has(kept)


def test_a_pool_stays_as_long_as_a_tournament_is_in_it(store: Store, tmp_path: Path) -> None:
    one, two = play(store, tmp_path), play(store, tmp_path)
    store.remove([one])
    assert len(content(store)["pools"]) == 1
    store.remove([two])
    assert {table: rows for table, rows in content(store).items() if rows}.keys() == {"_sqlite_migrations"}


def test_removing_is_all_or_nothing(store: Store, tmp_path: Path) -> None:
    ids = [play(store, tmp_path), play(store, tmp_path)]
    before = content(store)
    store._db.execute(
        "CREATE TEMP TRIGGER refuse BEFORE DELETE ON tournaments"
        f" WHEN old.id = '{ids[1]}' BEGIN SELECT raise(ABORT, 'refused'); END"
    )
    with pytest.raises(sqlite3.IntegrityError, match="refused"):
        store.remove(ids)
    assert content(store) == before


def test_what_is_freed_is_used_again_or_given_back(store: Store, tmp_path: Path) -> None:
    ids = [play(store, tmp_path) for _ in range(3)]
    store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = store.path.stat().st_size
    freed = store.remove(ids)
    assert 0 < freed < size
    store.vacuum()
    page = 4096  # VACUUM packs the schema anew, which may take a page more
    assert store.path.stat().st_size <= size - freed + page
    play(store, tmp_path)


def test_nothing_is_removed_while_another_process_writes(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="expected a database that nobody else writes to"), open_store(store.path):
        pass
