"""Ratings of different rules never mix: the pools, that the schema keeps them apart, and databases made before them."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlite_utils import Database

from arena.core.catalogue import make_settings
from arena.core.errors import StoreError
from arena.core.ratings.running import Rating
from arena.core.store.database import APPLICATION_ID
from arena.core.store.migrations import migrations
from arena.core.store.records import canonical
from arena.core.store.store import Store, open_reader, open_store
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.settings import Settings
from tests import instant

SETTINGS = instant.settings()


def other(*, deals: int = 2, seed: str | None = SETTINGS.seed, **game: Any) -> Settings:
    return replace(SETTINGS, format=RoundRobin(deals=deals), seed=seed, game=replace(SETTINGS.game, **game))


def pool_of(store: Store, tournament: str) -> int:
    [(pool,)] = store._db.execute("SELECT pool FROM tournaments WHERE id = ?", (tournament,)).fetchall()
    return int(pool)


def begin(store: Store, settings: Settings, logs: Path) -> str:
    return instant.start(store, settings, logs, new=True).tournament.id


def test_the_same_rules_are_one_pool_whatever_else_differs(store: Store, tmp_path: Path) -> None:
    alike = [SETTINGS, instant.settings(("bob", "dan"), seed=None, deals=1), instant.settings(players=3)]
    assert {pool_of(store, begin(store, settings, tmp_path)) for settings in alike} == {1}
    [row] = store._db.execute("SELECT rules, rules_version, ruleset, options FROM pools").fetchall()
    assert row == ("samurai", 1, "standard", '{"setup":"draft"}')


@pytest.mark.parametrize(
    "settings",
    [
        other(rules="gardener"),
        other(rules_version=2),
        other(ruleset="basic"),
        other(ruleset="custom", options={"setup": "random"}),
    ],
)
def test_other_rules_are_another_pool(store: Store, tmp_path: Path, settings: Settings) -> None:
    one, another = begin(store, SETTINGS, tmp_path), begin(store, settings, tmp_path)
    assert pool_of(store, one) != pool_of(store, another)


@pytest.fixture
def rated(store: Store, tmp_path: Path) -> str:
    """A tournament in which one game has moved ratings, beside a pool that is not its own."""
    begin(store, other(ruleset="basic"), tmp_path)
    begun = instant.start(store, SETTINGS, tmp_path)
    games = instant.runner(store, begun, SETTINGS, lanes=1).run()
    next(games)
    games.close()
    return begun.tournament.id


def test_a_rating_is_of_its_tournaments_pool(store: Store, rated: str) -> None:
    pools = store._db.execute("SELECT DISTINCT pool FROM ratings WHERE tournament = ?", (rated,)).fetchall()
    assert pools == [(pool_of(store, rated),)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ratings SET pool = 1",
        "INSERT INTO ratings SELECT 1, tournament, entrant, 1, mu, sigma FROM ratings",
        "UPDATE tournaments SET pool = 1",
        "UPDATE tournaments SET pool = 99 WHERE rated = 0",
        "UPDATE tournaments SET pool = NULL WHERE rated = 0",
        "UPDATE ratings SET pool = NULL",
        "DELETE FROM pools",
    ],
)
def test_the_schema_refuses_a_mixture(store: Store, rated: str, statement: str) -> None:
    assert pool_of(store, rated) == 2
    with pytest.raises(sqlite3.IntegrityError):
        store._db.execute(statement)


def test_the_latest_tournament_of_some_rules_is_found(store: Store, tmp_path: Path) -> None:
    settings = [SETTINGS, other(rules="gardener", ruleset="race"), other(ruleset="basic"), other(rules="gardener")]
    standard, race, basic, gardener = (begin(store, one, tmp_path) for one in settings)
    again = begin(store, other(rules="gardener", ruleset="race", seed="late"), tmp_path)
    found: Callable[..., str] = lambda *id, **wanted: store.tournament(*id, **wanted).id  # noqa: E731
    assert found() == found(rules="gardener") == found(rules="gardener", ruleset="race") == again
    assert found(rules="gardener", ruleset="standard") == gardener
    assert found(rules="samurai") == basic
    assert found(ruleset="standard") == gardener
    assert found(rules="samurai", ruleset="standard") == found(standard, rules="samurai") == standard
    assert found(race, ruleset="race") == race
    latest = rf"the latest are {again} \(gardener race\), {gardener} \(gardener standard\), {basic} \(samurai basic\)"
    with pytest.raises(StoreError, match=rf"expected a tournament of samurai race, got none - at .*; {latest}"):
        found(rules="samurai", ruleset="race")
    with pytest.raises(StoreError, match=f"expected a tournament '{race}' of samurai, got none"):
        found(race, rules="samurai")


# Databases of earlier versions: from before there were pools, and with a row for every game of the schedule.

FINISHED = ("20260101-0001", other(ruleset="basic", deals=1), "finished")
RUNNING = ("20260102-0002", SETTINGS, "running")
RATINGS = [(0, 26.5, 7.5), (1, 23.5, 7.25)]


def flat_settings(settings: Settings) -> dict[str, Any]:
    """Returns settings as they were written until those of the game were grouped."""
    game = settings.game
    assert game.board is not None
    return {
        "rules": game.rules,
        "rules_version": game.rules_version,
        "ruleset": game.ruleset,
        "options": dict(game.options),
        "board": {"name": game.board.name, "hash": game.board.hash},
        "players": game.players,
        "format": "round-robin",
        "deals": settings.format.deals,
        "seatings": settings.format.seatings,
        "time": str(game.time),
        "race_window_ms": game.race_window_ms,
        "level": "trusted",
        "seed": settings.seed,
        "bots": [{"name": bot.name, "version": bot.version, "digest": bot.digest} for bot in settings.bots],
    }


def first_settings(settings: Settings) -> dict[str, Any]:
    """Returns settings as the first version wrote them: no race had a window."""
    return {name: value for name, value in flat_settings(settings).items() if name != "race_window_ms"}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Makes a database as the first version left it, with a tournament that is finished and one that is not."""
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = ON")
    migrations.apply(Database(connection, execute_plugins=False), stop_before="0002_pools")
    with connection:
        for id, settings, status in (FINISHED, RUNNING):
            fill(connection, tmp_path / "logs" / id, settings, status)
    connection.close()
    return path


def fill(connection: sqlite3.Connection, logs: Path, settings: Settings, status: str) -> None:
    """A tournament whose first game is done, and whose other games are planned."""
    insert, id = connection.execute, logs.name
    text = canonical(first_settings(settings))
    digest = hashlib.sha256(text.encode()).hexdigest()
    finished = "2026-01-03" if status == "finished" else None
    games = 1 if finished else settings.schedule().total
    insert(
        "INSERT INTO tournaments VALUES (?, '2026-01-01', ?, ?, 'spring', ?, 'c0', ?, ?, 1, 2.5, ?, ?)",
        (id, text, digest, "5e" * 32, str(logs), games, status, finished),
    )
    for number, bot in enumerate(settings.bots):
        insert("INSERT INTO entrants VALUES (?, ?, ?, '1', ?, '{}')", (id, number, bot.name, bot.digest))
    for number in range(games):
        done = ("done", 1, "finished", 20, 30, 0.5, "log", "sha", "play", "[]") if number == 0 else ("planned", 0)
        values = (f"{id}-{number:06d}", id, number, 0, 0, number, *done, *[None] * (10 - len(done)))
        insert(f"INSERT INTO games VALUES ({', '.join('?' * len(values))})", values)
    for entrant, mu, sigma in RATINGS:
        seat = (f"{id}-000000", entrant, entrant, entrant + 1)
        insert("INSERT INTO seats VALUES (?, ?, ?, ?, 9, 90.0, 30.0, NULL, NULL, NULL, NULL, NULL)", seat)
        insert("INSERT INTO ratings VALUES (?, ?, 0, ?, ?)", (id, entrant, mu, sigma))


def contents(path: Path, columns: dict[str, str]) -> dict[str, list[Any]]:
    connection = sqlite3.connect(path)
    found = {table: connection.execute(f"SELECT {names} FROM {table}").fetchall() for table, names in columns.items()}
    connection.close()
    return found


KEPT = {
    "tournaments": "id, created, seed, secret, commitment, logs, games, rated, seconds, status, finished",
    "entrants": "tournament, number, name, version, digest, spec",
    "games": "id, tournament, number, deal, rotation, status, attempt, termination, turns, actions, seconds, log,"
    " log_sha256, play_digest, transcripts, attempt > 0 AS was_claimed",
    "seats": "game, seat, entrant, rank, decisions, total_ms, max_ms, forfeit, sentence, turn, stderr, overloaded",
    "ratings": "tournament, entrant, number, mu, sigma",
}


def test_an_old_database_keeps_all_it_holds_and_gets_pools(old: Path) -> None:
    before = contents(old, KEPT)
    with open_store(old) as store:
        assert store._db.execute("PRAGMA foreign_keys").fetchone() == (1,)
        assert store._db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert store._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert store.tournament().id == RUNNING[0], "the order has changed"
        assert store.ratings(FINISHED[0])[:2] == [Rating(*rating) for _, *rating in RATINGS]
    before["games"] = [row for row in before["games"] if row[-1]]
    assert contents(old, KEPT) == before
    pools = contents(old, {"pools": "id, rules, ruleset", "tournaments": "pool, id", "ratings": "pool, tournament"})
    assert pools == {
        "pools": [(1, "samurai", "basic"), (2, "samurai", "standard")],
        "tournaments": [(1, FINISHED[0]), (2, RUNNING[0])],
        "ratings": [(1, FINISHED[0])] * 2 + [(2, RUNNING[0])] * 2,
    }


def test_an_unfinished_tournament_of_an_old_database_is_not_continued(old: Path, tmp_path: Path) -> None:
    """Its games have another order: what is left of it under the present schedule would play some of them twice."""
    with open_store(old) as store:
        begun = instant.start(store, SETTINGS, tmp_path / "logs")
        assert (begun.resumed, begun.done) == (False, 0)
        assert pool_of(store, begun.tournament.id) == pool_of(store, RUNNING[0]) == 2
        assert store.tournament(RUNNING[0]).status == "running"


def test_who_only_reads_an_old_database_does_not_change_it(old: Path) -> None:
    before = old.read_bytes()
    with open_reader(old) as reader:
        assert reader.tournament(ruleset="basic").id == FINISHED[0]
        assert reader.path == old
    assert old.read_bytes() == before
    with open_store(old):
        pass
    assert old.read_bytes() != before


def test_games_that_were_never_claimed_lose_their_rows(old: Path) -> None:
    """Two games were running when the last run of the old version was killed, and one had been given back."""
    connection = sqlite3.connect(old)
    with connection:
        for number, status in ((1, "running"), (2, "planned"), (3, "running")):
            change = "UPDATE games SET status = ?, attempt = 1 WHERE tournament = ? AND number = ?"
            connection.execute(change, (status, RUNNING[0], number))
    connection.close()
    with open_store(old):
        pass
    rows = {"games": f"number, status, attempt FROM games WHERE tournament = '{RUNNING[0]}' ORDER BY 1 --"}
    assert contents(old, rows)["games"] == [(0, "done", 1), (1, "running", 1), (2, "planned", 1), (3, "running", 1)]


def test_a_database_of_an_earlier_version_gets_the_application_id(old: Path) -> None:
    assert contents(old, {"pragma_application_id": "*"})["pragma_application_id"] == [(0,)]
    with open_store(old):
        pass
    assert contents(old, {"pragma_application_id": "*"})["pragma_application_id"] == [(APPLICATION_ID,)]


def test_an_old_database_whose_rows_do_not_belong_together_is_left_as_it_is(old: Path) -> None:
    connection = sqlite3.connect(old)
    with connection:
        connection.execute("DELETE FROM entrants WHERE number = 1")
    connection.close()
    before = contents(old, {**KEPT, "_sqlite_migrations": "name"})
    with pytest.raises(StoreError, match=r"got: a row of (ratings|tallies) without its row of entrants - at .*old\.db"):
        open_store(old).__enter__()
    assert contents(old, {**KEPT, "_sqlite_migrations": "name"}) == before


# From before the settings of a game were grouped and seats had scores.


@pytest.fixture
def flat(old: Path) -> Path:
    """Makes a database as the version before 0004 left it."""
    connection = sqlite3.connect(old)
    migrations.apply(Database(connection, execute_plugins=False), stop_before="0004_game_settings")
    connection.close()
    return old


def test_the_database_before_has_the_settings_of_its_time(flat: Path) -> None:
    [(text, digest)] = contents(
        flat, {"tournaments": f"settings, digest FROM tournaments WHERE id = '{RUNNING[0]}' --"}
    )["tournaments"]
    assert (text, digest) == told(flat_settings(SETTINGS))


def as_before(settings: Settings) -> dict[str, Any]:
    """Returns settings from before there was a choice of how long bot processes are kept, and chance of version 2."""
    document = {name: value for name, value in settings.document().items() if name not in ("processes", "chance")}
    document["game"] = {name: value for name, value in document["game"].items() if name != "margin_ms"}
    return document


def told(settings: Any) -> tuple[str, str]:
    """Returns the text of settings, and its digest."""
    text = canonical(settings)
    return text, hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("rules", "options"),
    [
        ("samurai", {}),
        ("samurai", {"ruleset": "basic", "overrides": ["captures=instant"], "time": "60+0.25,2/move"}),
        ("samurai", {"time": "0.5/move"}),
        ("gardener", {"ruleset": "race", "race_window_ms": 2.5}),
    ],
)
def test_settings_get_their_present_form(flat: Path, rules: str, options: dict[str, Any]) -> None:
    settings = replace(SETTINGS, game=make_settings(rules, 2, **options))
    connection = sqlite3.connect(flat)
    with connection:
        change = "UPDATE tournaments SET settings = ?, digest = ? WHERE id = ?"
        connection.execute(change, (*told(flat_settings(settings)), RUNNING[0]))
    connection.close()
    with open_store(flat):
        pass
    with open_reader(flat) as reader:
        for id, before in ((RUNNING[0], settings), (FINISHED[0], FINISHED[1])):
            found = reader.tournament(id)
            assert found.settings == as_before(before)
            assert found.digest == told(found.settings)[1]


def test_all_else_stays_as_it_was_and_no_seat_has_a_score(flat: Path) -> None:
    before = contents(flat, KEPT | {"tournaments": f"pool, {KEPT['tournaments']}", "pools": "*"})
    with open_store(flat):
        pass
    assert contents(flat, KEPT | {"tournaments": f"pool, {KEPT['tournaments']}", "pools": "*"}) == before
    with open_reader(flat) as reader:
        [(_, entrants, seats)] = reader.results(RUNNING[0])
        assert entrants == (0, 1)
        assert [(seat.rank, seat.score) for seat in seats] == [(1, None), (2, None)]
