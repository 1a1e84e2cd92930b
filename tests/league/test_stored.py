"""The database of a league is held against what is published of its seasons."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from arena.core.standings.examined import Examined, examine
from arena.core.standings.verdicts import Fault
from arena.core.store.database import connect
from arena.league.checking.audit import SeasonAuditor, logs_of
from arena.league.folder import Folder
from arena.league.store import open_league, read_league
from tests import season_kit


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """One season is closed. Of the next a match is over, and of another, which is not published, the first game."""
    league = season_kit.closed(tmp_path_factory.mktemp("closed"), final=("fox", "random"))
    with open_league(league.database) as store:
        random, greedy, fox, _ = store.versions.active()
        season_kit.match(store, league, random, greedy)
        season_kit.publish(store, league)
        season_kit.match(store, league, fox, random)
    return league


@pytest.fixture(scope="module")
def examined(league: Folder) -> list[Examined]:
    folder = season(league)
    return [examine(str(log), str(folder)) for log in logs_of(folder)]


def season(league: Folder, name: str = "cup-1") -> Path:
    return league.published / "seasons" / name


def audit(league: Folder, examined: list[Examined], db: Path, name: str = "cup-1") -> tuple[Fault, ...]:
    with read_league(db) as reader:
        auditor = SeasonAuditor(season(league, name), league=reader)
        for log in examined:
            auditor.add(log)
        found = auditor.result(complete=name == "cup-1")
    assert "database" in found.checked
    return found.faults


FORGERIES = {
    "": ("SELECT 1", ""),
    "the last is the first": ("UPDATE fits SET rank = 5 - rank, rating = -rating", "fits, fox/1: expected rating"),
    "no final ratings": ("DELETE FROM fits", "fits, fox/1: expected rating"),
    "sums": ("UPDATE tallies SET wins = games - wins", "expected wins"),
    "the longest decision": ("UPDATE tallies SET max_ms = 9000", "expected max_ms"),
    "pairs": ("UPDATE pairs SET better = worse, worse = better", "expected results"),
    "a pair that never met": ("INSERT INTO pairs VALUES ('cup-1', 99, 0, 1, 1, 0, 0, 0)", "expected results None"),
    "running ratings": ("UPDATE ratings SET mu = mu + 1", "expected mu"),
    "ranks": ("UPDATE seats SET figures = json_set(figures, '$.rank', 3 - rank)", "seats and ranks"),
    "what counts": ("UPDATE games SET counts = 1 - counts", "status, count"),
    "times": ("UPDATE seats SET figures = json_set(figures, '$.total_ms', total_ms * 2)", "expected total_ms"),
    "an invented forfeit": (
        "UPDATE seats SET figures = json_set(figures, '$.forfeit', json_object('seat', seat, 'code', 'timeout',"
        " 'sentence', '', 'turn', 1)) WHERE forfeit IS NULL",
        "expected forfeit",
    ),
    "overloaded": (
        "UPDATE seats SET figures = json_set(figures, '$.forfeit.overloaded', json('true')) WHERE forfeit NOT NULL",
        "expected overloaded",
    ),
    "how it ended": ("UPDATE games SET termination = 'timeout' WHERE status = 'done'", "expected termination"),
    "level": ("UPDATE games SET level = 'strict'", "expected level trusted, got: strict"),
    "names": ("UPDATE entrants SET name = name || '0' WHERE number = 1", "name, archive and start"),
    "digests": ("UPDATE entrants SET digest = '00'", "name, archive and start"),
    "a rating to begin with": ("UPDATE entrants SET mu0 = 99 WHERE number = 0", "name, archive and start"),
    "the frozen standings": (
        "UPDATE seasons SET standings = replace(standings, '\"rank\":1,', '\"rank\":2,')", "expected standings",
    ),
    "the digest": ("UPDATE seasons SET digest = '00' WHERE number = 1", "expected digest"),
    "a line": (
        "DROP TRIGGER season_lines_update; UPDATE season_lines SET line = replace(line, 'fox', 'cat')",
        "expected last line",
    ),
    "the secret": ("UPDATE tournaments SET secret = hex(zeroblob(32))", "expected commitment to its secret"),
    "the settings": ("UPDATE tournaments SET settings = json_set(settings, '$.level', 'strict')", "expected settings"),
    "the end": ("UPDATE seasons SET closed = '2020-01-01T00:00:00+00:00' WHERE number = 1", "expected closed"),
    "no such season": ("UPDATE seasons SET tournament = 'cup-7' WHERE number = 1", "expected season first, got none"),
    "no JSON": ("UPDATE games SET seating = '{'", "a row cannot be read"),
    "numbers of another type": (
        "UPDATE seats SET figures = json_set(figures, '$.rank', 'first')", "seats and ranks",
    ),
    "a view of one's own": (
        "DROP VIEW v_standings; CREATE VIEW v_standings AS SELECT 'random/1' AS bot", "v_standings: expected the view",
    ),
}  # fmt: skip


@pytest.mark.quick(8)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_of_the_database_is_found(
    league: Folder, examined: list[Examined], tmp_path: Path, forgery: str
) -> None:
    statement, says = FORGERIES[forgery]
    db = forged(league, tmp_path, statement)
    faults = audit(league, examined, db)
    assert {fault.check for fault in faults} == ({"database"} if says else set()), faults
    assert any(says in fault.reason for fault in faults) or not says, faults


OF_NEXT = "WHERE tournament = 'cup-2'"
FORGERIES_OF_NEXT = {
    "": ("SELECT 1", ""),
    "sums": (f"UPDATE tallies SET wins = games - wins {OF_NEXT}", "expected wins"),
    "who sat": ("UPDATE seats SET entrant = 3 - entrant WHERE game = 'cup-2-000000'", "seats and ranks"),
    "names": (f"UPDATE entrants SET name = name || '0' {OF_NEXT}", "name, archive and start"),
    "names of versions": ("UPDATE bots SET name = 'cat' WHERE name = 'fox'", "expected entrant None, got: fox/1"),
    "a game less": ("UPDATE games SET tournament = 'cup-1', number = 99 WHERE id = 'cup-2-000003'", "without a row"),
    "lines": (
        "DROP TRIGGER season_lines_update; UPDATE season_lines SET line = replace(line, 'fox', 'cat')",
        "expected the lines that are published",
    ),
}


@pytest.mark.quick(4)
@pytest.mark.parametrize("forgery", FORGERIES_OF_NEXT)
def test_the_database_of_a_season_that_goes_on_is_compared(league: Folder, tmp_path: Path, forgery: str) -> None:
    statement, says = FORGERIES_OF_NEXT[forgery]
    db = forged(league, tmp_path, statement)
    logs = [examine(str(log), str(season(league, "cup-2"))) for log in logs_of(season(league, "cup-2"))]
    faults = audit(league, logs, db, "cup-2")
    assert {fault.check for fault in faults} == ({"database"} if says else set()), faults
    assert any(says in fault.reason for fault in faults) or not says, faults


def forged(league: Folder, tmp_path: Path, statement: str) -> Path:
    """A copy of the database in which something was altered."""
    db = tmp_path / "league.db"
    with closing(connect(league.database, write=True)) as connection:
        connection.execute("VACUUM INTO ?", (str(db),))
    with closing(connect(db, write=True)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for one in statement.split(";"):
            connection.execute(one)
    return db
