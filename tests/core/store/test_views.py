"""The views are a contract: docs/database.md has every column, and the views say the same as the tables."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.core.store import views
from arena.core.store.finding import Finder, Wanted
from arena.core.store.store import Store, open_store
from tests import instant

PAGE = (Path(__file__).parents[3] / "docs" / "database.md").read_text(encoding="utf-8")
SETTINGS = instant.settings(deals=8)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A tournament that is done, and one with three players whose second game is being played."""
    folder = tmp_path_factory.mktemp("played")
    three = instant.settings(("ann", "bob", "cid", "dan"), players=3)
    with open_store(folder / "arena.db") as store:
        for _ in instant.runner(store, instant.start(store, SETTINGS, folder), SETTINGS).run():
            pass
        begun = instant.start(store, three, folder)
        games = instant.runner(store, begun, three, lanes=1).run()
        next(games)
        games.close()
        store.claim(begun.tournament.id, three.schedule(begun.tournament.commitment).game, 1)
        yield store


def documented() -> dict[str, list[str]]:
    """By view the columns that the page describes."""
    found = {}
    for section in PAGE.split("\n## ")[1:]:
        if name := re.match(r"`(v_\w+)`\n", section):
            found[name[1]] = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    return found


def names(store: Store, kind: str) -> set[str]:
    return {name for (name,) in store._db.execute("SELECT name FROM sqlite_master WHERE type = ?", (kind,))}


def test_every_view_and_column_is_documented_and_no_other(store: Store) -> None:
    assert set(documented()) == names(store, "view") == set(views.VIEWS)
    for view, columns in documented().items():
        assert [row[1] for row in store._db.execute(f"PRAGMA table_info({view})")] == columns, view


def test_every_table_is_said_to_be_internal(store: Store) -> None:
    internal = re.search(r"the tables ([^:]*) are internal", PAGE.replace("\n", " "))
    assert internal is not None
    assert set(re.findall(r"`(\w+)`", internal[1])) == names(store, "table")


def test_the_queries_of_the_page_answer(store: Store) -> None:
    queries = re.findall(r'```sql\n(.*?)```|"(SELECT [^"]*)"', PAGE, re.DOTALL)
    assert len(queries) == 2
    for query in queries:
        store._db.execute("".join(query)).fetchall()


def test_one_query_leads_from_yesterdays_lost_game_to_its_replay(tmp_path: Path) -> None:
    [query] = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    query = query.replace("ronin", "bob")
    settings = instant.settings(("ann", "bob"), deals=1)
    with open_store(tmp_path / "arena.db") as store:
        begun = instant.start(store, settings, tmp_path)
        for _ in instant.runner(store, begun, settings).run():
            pass
        lost = {game for game, *_ in store._db.execute("SELECT game FROM seats WHERE entrant = 1 AND rank > 1")}
        assert lost
        assert {replay for (replay,) in store._db.execute(query)} == {f"arena replay {game}" for game in lost}
        ago = (datetime.now(UTC) - timedelta(days=3)).isoformat(timespec="seconds")
        store._db.execute("UPDATE games SET finished = ?", (ago,))
        assert store._db.execute(query).fetchall() == []


def test_seats_say_who_won_drew_and_lost_against_whom(store: Store) -> None:
    seen = set()
    finder = Finder(store._db, store.path)
    for game in finder.describe(finder.find(Wanted())):
        ranks = [seat["rank"] for seat in game["seats"]]
        assert (ranks, [seat["bot"] for seat in game["seats"]]) == (game["ranks"], game["bots"])
        for number, seat in enumerate(game["seats"]):
            outcome = "lost" if ranks[number] > 1 else "won" if ranks.count(1) == 1 else "drawn"
            assert seat["outcome"] == outcome
            assert seat["opponents"] == [bot for other, bot in enumerate(game["bots"]) if other != number]
            seen.add(outcome)
        assert game["slowest_ms"] == max(seat["max_ms"] for seat in game["seats"])
        assert game["forfeits"] == sum(seat["forfeit"] is not None for seat in game["seats"])
        assert Path(game["log"]).is_file()
    assert seen == {"won", "drawn", "lost"}


def test_only_games_that_are_done_are_shown(store: Store) -> None:
    assert store._db.execute("SELECT count(*) FROM games WHERE status = 'running'").fetchone() > (0,)
    done = store._db.execute("SELECT count(*) FROM games WHERE status = 'done'").fetchone()
    assert store._db.execute("SELECT count(*) FROM v_games").fetchone() == done
    assert store._db.execute("SELECT sum(games) FROM v_tournaments").fetchone() == done
    assert store._db.execute("SELECT count(DISTINCT game) FROM v_seats").fetchone() == done


def test_standings_are_the_sums_of_the_seats(store: Store) -> None:
    by_seats = (
        "SELECT tournament, bot, count(*), sum(outcome = 'won'), sum(outcome = 'drawn'), sum(outcome = 'lost'),"
        " count(forfeit), round(sum(total_ms) / sum(decisions), 9), max(max_ms) FROM v_seats GROUP BY tournament, bot"
    )
    standings = (
        "SELECT tournament, bot, games, wins, draws, losses, forfeits, round(mean_ms, 9), max_ms FROM v_standings"
        " WHERE games ORDER BY tournament, bot"
    )
    assert store._db.execute(standings).fetchall() == store._db.execute(by_seats).fetchall()
    for tournament in store._db.execute("SELECT tournament FROM v_tournaments").fetchall():
        rows = store._db.execute("SELECT mu, sigma FROM v_standings WHERE tournament = ?", tournament).fetchall()
        assert rows == [(rating.mu, rating.sigma) for rating in store.ratings(*tournament)]


def test_the_crosstable_has_both_sides_and_the_points_are_its_mean(store: Store) -> None:
    rows = store._db.execute(
        "SELECT tournament, bot, opponent, games, better, equal, worse, share FROM v_crosstable"
    ).fetchall()
    found = {row[:3]: row[3:] for row in rows}
    assert len(found) == len(rows) == 6 + 6
    for (tournament, bot, opponent), (games, better, equal, worse, share) in found.items():
        assert found[tournament, opponent, bot][:4] == (games, worse, equal, better)
        assert games == better + equal + worse
        assert share == (better + equal / 2) / games
    points = store._db.execute("SELECT tournament, bot, points FROM v_standings WHERE games").fetchall()
    assert len(points) == 3 + 3
    for tournament, bot, point in points:
        mine = [row for (its, name, _), row in found.items() if (its, name) == (tournament, bot)]
        assert point == pytest.approx(sum(row[0] * row[4] for row in mine) / sum(row[0] for row in mine))


def test_a_bot_that_has_not_played_stands_there_without_results(store: Store) -> None:
    [row] = store._db.execute(
        "SELECT bot, games, wins, losses, points, mean_ms, rank, rating, mu FROM v_standings WHERE games = 0"
    ).fetchall()
    assert row == ("dan", 0, 0, 0, None, None, None, None, 25.0)


def begun_with_one_game(folder: Path) -> Path:
    """A database with a tournament of which one game is done and one was running when it was closed."""
    path = folder / "arena.db"
    with open_store(path) as store:
        begun = instant.start(store, SETTINGS, folder)
        games = instant.runner(store, begun, SETTINGS, lanes=1).run()
        next(games)
        games.close()
    return path


def test_a_table_below_the_views_can_be_replaced(store: Store) -> None:
    """As the migrations to come will do: SQLite refuses to rename a table while a view lacks one."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
        store._db.backup(copy)
        views.drop(copy)
        copy.execute("CREATE TABLE new_pools AS SELECT * FROM pools")
        copy.execute("DROP TABLE pools")
        copy.execute("ALTER TABLE new_pools RENAME TO pools")
        views.make(copy)
        assert copy.execute("SELECT count(*) FROM v_games").fetchone() == (49,)
