"""A database is held against the logs and the commitment: whatever follows from them is compared, and nothing else."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.core.errors import StoreError
from arena.core.record.published import COMMITMENT_FILE, Commitment, published
from arena.core.standings.audit import Auditor
from arena.core.standings.examined import Examined, examine
from arena.core.standings.rebuilt import GIVEN, LAST, TABLES, Record, Told, contradictions, rebuild
from arena.core.standings.verdicts import Audit
from arena.core.store import store as stores
from arena.core.store.database import Connection, connect
from arena.core.store.reader import Reader
from arena.core.store.removal import PARTS
from arena.core.store.store import open_reader
from arena.core.store.temporary import temporary_store
from arena.core.tournament.formats.compare import Compare
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.formats.swiss import Swiss
from arena.core.types import SeatResult
from tests.audit_kit import Folder, setup


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A tournament in rounds, with scores, and with a bot that crashes in each game."""
    return Folder(tmp_path_factory.mktemp("played"), setup(Swiss(rounds=2, deals=1), 4, 2, "gardener", "draft"))


@pytest.fixture(scope="module")
def examined(played: Folder) -> list[Examined]:
    return [examine(str(log)) for log in sorted(played.logs.glob("*.jsonl"))]


@pytest.fixture
def db(played: Folder, tmp_path: Path) -> Path:
    copy = tmp_path / "arena.db"
    with closing(connect(played.db, write=True)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    return copy


def forge(db: Path, statement: str) -> None:
    """Does what somebody does who may write to the file: no constraint holds them back."""
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for one in statement.split("; "):
            connection.execute(one.replace(" END", "; END"))


def audit(played: Folder, examined: list[Examined], db: Path) -> Audit:
    with open_reader(db) as reader:
        auditor = Auditor(played.logs, reader)
        for log in examined:
            auditor.add(log)
        return auditor.result(complete=True)


def test_an_honest_database_has_no_fault(played: Folder, examined: list[Examined], db: Path) -> None:
    result = audit(played, examined, db)
    assert result.faults == ()
    assert "database" in result.checked


def test_a_clock_that_went_back_makes_nobody_a_forger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "now", lambda: "2001-01-01T00:00:00+00:00")
    folder = Folder(tmp_path / "back", setup(RoundRobin(deals=2), 2, 2))
    logs = [examine(str(log)) for log in sorted(folder.logs.glob("*.jsonl"))]
    assert audit(folder, logs, folder.db).faults == ()


WITHOUT_MARGINS = "UPDATE seats SET figures = json_set(figures, '$.margin', NULL); UPDATE pairs SET margin = NULL"
FORGERIES = {
    "the last is the first": ("UPDATE fits SET rank = 5 - rank, rating = -rating", "expected rating"),
    "final ratings and what they follow from": (
        "UPDATE fits SET rank = 5 - rank, rating = -rating; UPDATE tallies SET wins = games - wins; "
        "UPDATE pairs SET better = worse, worse = better",
        "expected wins",
    ),
    "pairs": ("UPDATE pairs SET better = worse, worse = better", "expected better"),
    "no final ratings": ("DELETE FROM fits", "expected a row, got none"),
    "scores": ("UPDATE seats SET figures = json_set(figures, '$.score', score + 7) WHERE seat = 0", "expected score"),
    "times": ("UPDATE seats SET figures = json_set(figures, '$.total_ms', total_ms * 2)", "expected total_ms"),
    "an invented forfeit": (
        "UPDATE seats SET figures = json_set(figures, '$.forfeit', json_object('seat', seat, 'code', 'timeout',"
        " 'sentence', 'seat 0 slept', 'turn', 1, 'stderr', json('[]'))) WHERE forfeit IS NULL",
        "expected sentence None, got: seat 0 slept",
    ),
    "another sentence": (
        "UPDATE seats SET figures = json_set(figures, '$.forfeit.sentence', 'seat 1 gave up') WHERE forfeit NOT NULL",
        "expected sentence",
    ),
    "a key that a forfeit has": (
        "UPDATE seats SET figures = json_set(figures, '$.sentence', 'another') WHERE forfeit NOT NULL",
        "expected another sentence None, got: another",
    ),
    "no margins": (WITHOUT_MARGINS, "expected margin"),
    "longer games": ("UPDATE games SET seconds = seconds + 0.05", "expected seconds"),
    "overloaded": (
        "UPDATE seats SET figures = json_set(figures, '$.forfeit.overloaded', json('true')) WHERE forfeit IS NOT NULL",
        "expected overloaded False, got: True",
    ),
    "names": ("UPDATE entrants SET name = name || '!' WHERE number = 2", "expected name bot2, got: bot2!"),
    "digests": ("UPDATE entrants SET digest = hex(zeroblob(32)) WHERE number = 1", "expected digest"),
    "the digest in a manifest": ("UPDATE entrants SET spec = replace(spec, '111', '222')", "expected spec"),
    "a rating to begin with": ("UPDATE entrants SET mu0 = 99 WHERE number = 0", "expected mu0"),
    "level": ("UPDATE games SET level = 'strict'", "expected level trusted, got: strict"),
    "the day": ("UPDATE tournaments SET created = '2020-01-01T00:00:00+00:00'", "as its identifier says"),
    "the end of a game": ("UPDATE games SET finished = '2020-01-01T00:00:00+00:00'", "expected an end between"),
    "the end": ("UPDATE tournaments SET finished = '2020-01-01T00:00:00+00:00'", "its end after that"),
    "a date that is none": ("UPDATE games SET finished = 7", "expected an end between"),
    "beacon": ("UPDATE tournaments SET beacon = 'round 7'", "expected beacon , got: round 7"),
    "entropy": ("UPDATE tournaments SET entropy = '[\"00\"]'", "expected entropy [null,null,null,null], got: "),
    "secret": ("UPDATE tournaments SET secret = hex(zeroblob(32))", "expected the secret of the commitment"),
    "seed": ("UPDATE tournaments SET seed = 'winter'", "expected the seed of the commitment"),
    "no seed": ("UPDATE tournaments SET seed = NULL", "expected a seed, got: None"),
    "earlier ratings": ("UPDATE ratings SET mu = mu - 1 WHERE number = 0", "number 0: expected mu"),
    "a rating that was never": ("DELETE FROM ratings WHERE number = 1 AND entrant > 0", "expected a row, got none"),
    "a round": ("UPDATE rounds SET byes = '[3]'", "expected byes [], got: [3]"),
    "a game that does not count": (
        "UPDATE games SET status = 'void', termination = NULL, reason = 'rain' WHERE number = 1",
        "is void, and by its log it counts",
    ),
    "one that goes on": ("UPDATE tournaments SET status = 'running'", "does not say that the tournament is finished"),
    "no such tournament": ("DELETE FROM tournaments", "got none"),
    "one that has no result": ("DELETE FROM games WHERE number = 3", "-000003 has no result, and its log is there"),
    "another pool": ("UPDATE pools SET options = '{}'", "expected pool"),
    "a view of one's own": (
        "DROP VIEW v_standings; CREATE VIEW v_standings AS SELECT 'bot3' AS bot",
        "v_standings: expected the view that arena defines",
    ),
    "a view in the place of a table": (
        "PRAGMA legacy_alter_table = 1; ALTER TABLE seats RENAME TO s; CREATE VIEW seats AS SELECT * FROM s",
        "seats: expected the table that arena defines, got: a view",
    ),
    "another table": ("CREATE TABLE luck (n)", "expected nothing but what arena defines, got: the table luck"),
    "an index that lacks rows": (
        "DROP INDEX games_by_status; CREATE INDEX games_by_status ON games (tournament, status, number) WHERE"
        " number > 3; PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, ' WHERE number > 3', '')"
        " WHERE name = 'games_by_status'",
        "expected a file that is whole, got: row 1 missing from index games_by_status",
    ),
    "a trigger under a name of SQLite's own": (
        "CREATE TRIGGER t DELETE ON games BEGIN SELECT 1 END; PRAGMA writable_schema = 1; UPDATE sqlite_master"
        " SET name = 'sqlite_t', sql = replace(sql, ' t ', ' sqlite_t ') WHERE name = 't'",
        "got: the trigger sqlite_t",
    ),
    "another column": ("ALTER TABLE games ADD COLUMN more TEXT", "games: expected the table that arena defines"),
    "no JSON": ("UPDATE entrants SET spec = '{'", "expected spec"),
    "a number that arena does not know": (
        "UPDATE seats SET figures = json_set(figures, '$.luck', 7)",
        "expected luck None",
    ),
    "a margin": (
        "UPDATE seats SET figures = json_set(figures, '$.margin', margin + 1) WHERE seat = 0",
        "expected margin",
    ),
    "numbers of another type": (
        "UPDATE seats SET figures = json_set(figures, '$.rank', 'first'); UPDATE pairs SET deal = 'first'",
        "got: first",
    ),
}


@pytest.mark.quick(12)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_of_the_database_is_found(played: Folder, examined: list[Examined], db: Path, forgery: str) -> None:
    statement, says = FORGERIES[forgery]
    forge(db, statement)
    faults = audit(played, examined, db).faults
    assert {fault.check for fault in faults} == {"database"}
    assert any(says in fault.reason for fault in faults), faults


def test_results_that_an_earlier_version_stored_have_no_margins(
    played: Folder, examined: list[Examined], db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge(db, WITHOUT_MARGINS)
    monkeypatch.setattr(played, "logs", Path(shutil.copytree(played.logs, tmp_path / "logs")))
    committed = played.logs / COMMITMENT_FILE
    committed.write_text(committed.read_text().replace(',\n "format": 1', ""))
    assert not audit(played, examined, db).faults


def test_nobody_takes_away_the_margins_that_are_judged(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "judged", setup(Compare(max_deals=1, margin=12), 2, 2, "gardener", "draft"))
    logs = [examine(str(log)) for log in sorted(folder.logs.glob("*.jsonl"))]
    assert not audit(folder, logs, folder.db).faults
    forge(folder.db, WITHOUT_MARGINS)
    assert any("expected margin" in fault.reason for fault in audit(folder, logs, folder.db).faults)


@pytest.fixture
def connection(db: Path) -> Iterator[Connection]:
    with closing(connect(db, write=True)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        yield connection


def test_the_documentation_has_the_columns_that_do_not_follow_and_no_other() -> None:
    page = (Path(__file__).parents[3] / "docs" / "database.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\w+\.\w+)` \| .* \| (.*) \|$", page, re.MULTILINE))
    assert told.pop("entrants.spec").startswith("the record has no bot's files, only their digest.")
    assert told == GIVEN


def test_every_column_of_every_table_is_compared_or_given(
    played: Folder, examined: list[Examined], connection: Connection
) -> None:
    """Each is changed in one row, alone. A column of a later version that nobody thinks of fails here."""
    before = published(played.logs, COMMITMENT_FILE, Commitment)
    assert before is not None
    by_number = {int(log.head.game[-6:]): log.result for log in examined}
    record = Record(commitment=before, settings=played.setup.settings, result=by_number.get)
    reader = Reader(connection, Path("arena.db"))
    assert {*TABLES, LAST} == set(PARTS)
    silent = set()
    with temporary_store() as store:
        rebuild(store, record, Told(reader, before.tournament))
        for table in PARTS:
            columns, key = reader.columns(table)
            names = [
                *columns,
                *(name for name in SeatResult.__struct_fields__ if table == "seats" and name != "forfeit"),
            ]
            for column in names:
                connection.execute("BEGIN")
                another = (
                    f"{column} = CASE typeof({column}) WHEN 'null' THEN 1 WHEN 'text' THEN {column} || '0'"
                    f" ELSE {column} + 1000 END"
                )
                if column == "figures":
                    another = "figures = json_set(figures, '$.luck', 1)"
                elif column not in columns:
                    another = f"figures = json_set(figures, '$.{column}', coalesce(figures ->> '{column}', 0) + 1000)"
                changed = connection.execute(
                    f"UPDATE {table} SET {another} WHERE ({', '.join(key)}) IN"
                    f" (SELECT {', '.join(key)} FROM {table} ORDER BY {', '.join(key)} DESC LIMIT 1)"
                )
                assert changed.rowcount == 1, f"{table} is empty"
                try:
                    if not list(contradictions(Told(reader, before.tournament), store, record)):
                        silent.add(f"{table}.{column}")
                except StoreError:
                    assert (table, column) == ("tournaments", "id"), "else it is there"
                connection.execute("ROLLBACK")
    assert silent <= set(GIVEN), "they are neither compared nor said to be given"
