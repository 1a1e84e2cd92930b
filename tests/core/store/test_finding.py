"""Tournaments and games are found by what people know of them; an operator's expression can read and do no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.core.errors import ConfigError, StoreError
from arena.core.store import finding
from arena.core.store.finding import Finder, LogPlace, Wanted, open_finder
from arena.core.store.lock import locked
from arena.core.store.store import Store, open_store
from tests import instant

SETTINGS = instant.settings(deals=10)


def play(store: Store, folder: Path, id: str) -> str:
    """Plays a tournament whose identifier is then `id`."""
    store._db.execute("PRAGMA foreign_keys = OFF")
    begun = instant.start(store, SETTINGS, folder, new=True)
    for _ in instant.runner(store, begun, SETTINGS).run():
        pass
    for table, column in (("tournaments", "id"), ("entrants", "tournament"), ("games", "tournament")):
        store._db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (id, begun.tournament.id))
    for table, column in (("games", "id"), ("seats", "game")):
        query = f"UPDATE {table} SET {column} = replace({column}, ?, ?)"
        store._db.execute(query, (begun.tournament.id, id))
    return id


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finder]:
    """Three tournaments, two of them of one day; the first one's games ended on another day."""
    folder = tmp_path_factory.mktemp("played")
    with open_store(folder / "arena.db") as store:
        for id in ("20260101-aa11", "20260102-ab12", "20260102-20bb"):
            play(store, folder, id)
        store._db.execute("UPDATE games SET finished = '2026-01-01T10:00:00+00:00' WHERE tournament = '20260101-aa11'")
    with open_finder(folder / "arena.db") as finder:
        yield finder


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("20260101-aa11", "20260101-aa11"),
        ("20260101", "20260101-aa11"),
        ("20260102-a", "20260102-ab12"),
        ("ab", "20260102-ab12"),
        ("20b", "20260102-20bb"),
        ("latest", "20260102-20bb"),
    ],
)
def test_a_tournament_is_named_by_a_part_of_its_id(finder: Finder, text: str, id: str) -> None:
    assert finder.identify(text) == id
    assert finder.place(text) == LogPlace(id, finder.tournament(id).logs, None)


@pytest.mark.parametrize("text", ["a", "20260102", "20"])
def test_a_part_of_two_ids_is_refused_with_both(finder: Finder, text: str) -> None:
    for find in (finder.identify, finder.place):
        with pytest.raises(
            StoreError, match=rf"expected the id of one tournament, got: '{text}', which may be 20.*, 20"
        ):
            find(text)


@pytest.mark.parametrize("text", ["", "x", "%", "20260101-aa1_", "ab12x", "2026010-", "\udcff"])
def test_an_unknown_tournament_is_refused_with_the_latest(finder: Finder, text: str) -> None:
    with pytest.raises(StoreError, match=r"expected the id of a tournament, got: .*; the latest are 20260102-20bb"):
        finder.identify(text)


@pytest.mark.parametrize("text", ["20260101-aa11-000007", "20260101-aa11:7", "aa:007", "20260101:7", "aa11-000007"])
def test_a_game_is_named_by_its_id_or_its_tournament_and_number(finder: Finder, text: str) -> None:
    place = finder.place(text)
    [log] = finder._db.execute("SELECT log FROM games WHERE id = '20260101-aa11-000007'").fetchone()
    assert (place.tournament, place.log) == ("20260101-aa11", log)


def test_the_beginning_of_a_games_id_is_enough_if_no_other_has_it(finder: Finder, tmp_path: Path) -> None:
    with open_store(tmp_path / "arena.db") as store:
        begun = instant.start(store, SETTINGS, tmp_path)
        games = instant.runner(store, begun, SETTINGS, lanes=1).run()
        first = next(games).result
        games.close()
        assert Finder(store._db, store.path).place(first.game[:-3]).log == first.log
    with pytest.raises(StoreError, match=r"expected the id of one game, got: .* 20260101-aa11-000000, .* and more"):
        finder.place("20260101-aa11-00000")


@pytest.mark.parametrize("text", ["nope", "latest:999999", "20260101-aa11-000999", "aa:", "'"])
def test_an_unknown_game_is_refused(finder: Finder, text: str) -> None:
    with pytest.raises(StoreError, match=r"expected the id of a finished game or of a tournament, got: "):
        finder.place(text)


def test_a_game_that_is_not_done_has_no_log(tmp_path: Path) -> None:
    with open_store(tmp_path / "arena.db") as store:
        begun = instant.start(store, SETTINGS, tmp_path)
        [claim] = store.claim(begun.tournament.id, SETTINGS.schedule().game, 1)
        with pytest.raises(StoreError, match="expected the id of a finished game"):
            Finder(store._db, store.path).place(claim.game)


Predicate = Callable[[dict[str, Any], dict[str, Any]], bool]

WANTED: list[tuple[Wanted, Predicate]] = [
    (Wanted(), lambda game, seat: True),
    (Wanted(bot="ann"), lambda game, seat: seat["bot"] == "ann"),
    (Wanted(bot="ann", outcome="lost"), lambda game, seat: seat["bot"] == "ann" and seat["outcome"] == "lost"),
    (Wanted(outcome="drawn"), lambda game, seat: seat["outcome"] == "drawn"),
    (Wanted(bot="bob", against="ann"), lambda game, seat: seat["bot"] == "bob" and "ann" in game["bots"]),
    (Wanted(against="ann", outcome="won"), lambda game, seat: "ann" in seat["opponents"] and seat["outcome"] == "won"),
    (Wanted(forfeited=True), lambda game, seat: seat["forfeit"] is not None),
    (Wanted(bot="cid", forfeited=True), lambda game, seat: seat["bot"] == "cid" and seat["forfeit"] is not None),
    (Wanted(code="timeout"), lambda game, seat: seat["forfeit"] == "timeout"),
    (Wanted(code="crashed"), lambda game, seat: False),
    (Wanted(bot="ann", slow_ms=200), lambda game, seat: seat["bot"] == "ann" and seat["max_ms"] >= 200),
    (Wanted(tournament="20260102-ab12"), lambda game, seat: game["tournament"] == "20260102-ab12"),
    (Wanted(since="2026-01-01T10:00:01+00:00"), lambda game, seat: game["tournament"] != "20260101-aa11"),
    (Wanted(where="bot = 'ann' AND max_ms > 100"), lambda game, seat: seat["bot"] == "ann" and seat["max_ms"] > 100),
    (Wanted(bot="bob", where="rank = 2 OR 0 -- yes"), lambda game, seat: seat["bot"] == "bob" and seat["rank"] == 2),
    (
        Wanted(where="EXISTS (SELECT 1 FROM json_each(opponents) WHERE value = 'cid')"),
        lambda game, seat: "cid" in seat["opponents"],
    ),
    (
        Wanted(where="game IN (SELECT game FROM v_games WHERE slowest_ms > 250)"),
        lambda game, seat: game["slowest_ms"] > 250,
    ),
]


@pytest.mark.parametrize(("wanted", "fits"), WANTED)
def test_games_are_found_in_which_one_seat_is_all_that_is_wanted(
    finder: Finder, wanted: Wanted, fits: Predicate
) -> None:
    every = list(finder.describe(finder.find(Wanted())))
    assert len(every) == 180
    expected = [game["game"] for game in every if any(fits(game, seat) for seat in game["seats"])]
    found = list(finder.find(wanted))
    assert found == expected
    assert found or wanted.code == "crashed"


def test_the_latest_game_comes_first(finder: Finder) -> None:
    found = list(finder.describe(finder.find(Wanted())))
    assert found[0]["finished"] > found[-1]["finished"]
    assert {game["tournament"] for game in found[-60:]} == {"20260101-aa11"}
    assert [game["number"] for game in found[-60:]] == list(reversed(range(60)))


def test_a_clock_that_was_wrong_once_orders_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path / "arena.db") as store:
        for _ in range(2):
            begun = instant.start(store, SETTINGS, tmp_path, new=True)
            list(instant.runner(store, begun, SETTINGS).run())
        games = [game for (game,) in store._db.execute("SELECT id FROM games ORDER BY rowid DESC")]
        store._db.execute("UPDATE games SET finished = '2062-01-01T00:00:00+00:00' WHERE id = ?", (games[-1],))
        finder = Finder(store._db, store.path)
        assert list(finder.find(Wanted())) == games
        assert list(finder.find(Wanted(where="rank > 0"))) == games


def test_a_bot_that_never_entered_is_refused_with_a_close_one(finder: Finder) -> None:
    with pytest.raises(ConfigError, match=r"got: 'anne' - at .*arena\.db \(did you mean 'ann'\?\); use --bot"):
        finder.find(Wanted(bot="anne"))
    with pytest.raises(ConfigError, match="use --against"):
        finder.find(Wanted(bot="ann", against="nobody"))


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("botname = 'ann'", "no such column: botname - at --where; the columns are game, tournament, "),
        ("bot = ", "syntax error"),
        ("1) UNION SELECT secret FROM tournaments WHERE (1", "access to tournaments.secret is prohibited"),
        ("EXISTS (SELECT secret FROM tournaments)", "access to tournaments.secret is prohibited; it may read"),
        ("EXISTS (SELECT sql FROM sqlite_master)", "is prohibited"),
        ("EXISTS (SELECT 1 FROM pragma_table_info('games') WHERE name = 'x')", "is prohibited|not authorized"),
        ("load_extension('nothing')", "not authorized"),
        ("1; DELETE FROM games", 'near ";": syntax error'),
        ("1); DELETE FROM games --", "one statement at a time|syntax error"),
        ("1); ATTACH 'other.db' AS other --", "one statement at a time|syntax error"),
        ("length(zeroblob(100000000)) > 0", "too big"),
        ("x'", "unrecognized token"),
        ("\x00", ""),
    ],
)
def test_an_expression_reads_the_views_and_does_nothing_else(finder: Finder, where: str, why: str) -> None:
    with pytest.raises(ConfigError, match=f"expected an SQL expression over the columns of v_seats, got: .*({why})"):
        finder.find(Wanted(where=where))
    assert len(list(finder.find(Wanted()))) == 180


def test_an_expression_has_limited_time(finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "SECONDS", 0.05)
    endless = "(SELECT count(*) FROM v_seats a, v_seats b, v_seats c, v_seats d WHERE a.rank + b.rank + d.rank > 99)"
    with pytest.raises(ConfigError, match=r"it took longer than 0\.05 s - at --where"):
        finder.find(Wanted(where=endless))
    assert len(list(finder.find(Wanted()))) == 180


def test_finding_is_possible_while_a_tournament_is_played(finder: Finder) -> None:
    with locked(finder.path), open_finder(finder.path) as other:
        assert len(list(other.find(Wanted()))) > 2
