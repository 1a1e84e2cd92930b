"""Large tournaments begin at once: what is done before the first game does not grow with the games that are planned."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.core.standings.closing import close
from arena.core.store.store import Store, open_store
from arena.core.tournament.formats.base import Format
from arena.core.tournament.formats.ladder import Ladder, batch_of
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.formats.swiss import Swiss
from arena.core.tournament.planner import plan_further, schedule_of
from arena.core.tournament.settings import Settings
from tests import instant


def entered(entrants: int, format: Format) -> Settings:
    return instant.settings(tuple(f"bot{number}" for number in range(entrants)), format=format)


class Work:
    """Counts what SQLite does: its programs' steps, in thousands, and statements."""

    def __init__(self, store: Store) -> None:
        self.steps = 0
        self.statements = 0
        store._db.set_progress_handler(self._step, 1_000)
        store._db.set_trace_callback(self._statement)

    def _step(self) -> None:
        self.steps += 1

    def _statement(self, text: str) -> None:
        self.statements += 1


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "arena.db") as store:
        store._db.execute("PRAGMA synchronous = OFF")
        yield store


def play(store: Store, setting: Settings, logs: Path, games: int) -> str:
    begun = instant.start(store, setting, logs)
    playing = instant.runner(store, begun, setting).run()
    for _ in zip(range(games), playing, strict=False):
        pass
    playing.close()
    return begun.tournament.id


def test_a_ladder_of_a_hundred_thousand_games_has_rows_only_of_what_was_begun(store: Store, tmp_path: Path) -> None:
    setting = entered(100, Ladder(matches=50_000))
    assert setting.games == 100_000
    id = play(store, setting, tmp_path, 1)
    matches = batch_of(100, 2)
    assert len(store.rounds(id)) == 1
    assert store.tournament(id).games == 2 * matches
    (rows,) = store._db.execute("SELECT count(*) FROM games").fetchone()
    assert rows < 10
    (pages,) = store._db.execute("PRAGMA page_count").fetchone()
    assert pages < 100


def test_a_ladder_goes_on_without_reading_every_game(store: Store, tmp_path: Path) -> None:
    """What is read of a round, when a tournament is resumed, are its pairs and each one's rating after it."""
    setting = entered(100, Ladder(matches=50_000, deals=3))
    id = play(store, setting, tmp_path, 1_000)
    schedule = schedule_of(store, store.tournament(id), setting)
    work = Work(store)
    plan_further(store, id, schedule)
    assert len(schedule.rounds) > 10
    assert work.statements <= len(schedule.rounds) * (2 * batch_of(100, 2) + 1) + 10


@pytest.mark.parametrize("format", [Ladder(matches=50_000), RoundRobin(deals=2)], ids=["ladder", "round-robin"])
def test_a_game_costs_the_database_as_much_with_many_entrants_as_with_few(tmp_path: Path, format: Format) -> None:
    """Nothing is done for each entrant when a game is claimed or its result is stored."""
    steps = []
    for entrants in (60, 3_000):
        folder = tmp_path / str(entrants)
        folder.mkdir()
        setting = entered(entrants, format)
        with open_store(folder / "arena.db") as store:
            store._db.execute("PRAGMA synchronous = OFF")
            begun = instant.start(store, setting, folder)
            playing = instant.runner(store, begun, setting, lanes=1).run()
            next(playing)
            work = Work(store)
            for _ in zip(range(60), playing, strict=False):
                pass
            playing.close()
            steps.append(work.steps)
    few, many = steps
    assert many <= 2 * few + 10, "thousands of SQLite's steps in 60 games"


def test_a_round_robin_of_ten_thousand_begins_with_its_entrants_alone(store: Store, tmp_path: Path) -> None:
    setting = entered(10_000, RoundRobin(deals=1))
    id = play(store, setting, tmp_path, 20)
    assert store.tournament(id).games == 10_000 * 9_999
    tallies, pairs = store.tallies(id), list(store.pairs(id))
    assert len(tallies) == 10_000
    assert sum(tally.games for tally in tallies) == 40
    assert len(pairs) <= 20
    (rows,) = store._db.execute("SELECT count(*) FROM games").fetchone()
    assert rows < 30


def test_a_ladder_of_ten_thousand_draws_its_matches_from_few(store: Store, tmp_path: Path) -> None:
    id = play(store, entered(10_000, Ladder(matches=50_000)), tmp_path, 40)
    assert len(store.rounds(id)) in (2, 3)
    assert sum(tally.games for tally in store.tallies(id)) == 80


@pytest.mark.thorough
@pytest.mark.parametrize("players", [2, 3])
def test_a_swiss_of_two_hundred_is_played_to_its_end(store: Store, tmp_path: Path, players: int) -> None:
    names = tuple(f"bot{number}" for number in range(200))
    setting = instant.settings(names, players=players, format=Swiss(deals=1))
    begun = instant.start(store, setting, tmp_path)
    games = len(list(instant.runner(store, begun, setting).run()))
    close(store, begun.tournament)
    assert games == setting.games == store.tournament(begun.tournament.id).games
    assert len(store.rounds(begun.tournament.id)) == 10
    met = list(store.pairs(begun.tournament.id))
    if players == 2:
        assert len({(pair.one, pair.other) for pair in met}) == len(met) == 1_000, "some met twice"


def test_a_tally_is_read_without_any_game(store: Store, tmp_path: Path) -> None:
    """Standings read sums: not one row of games or seats."""
    id = play(store, entered(6, RoundRobin(deals=2)), tmp_path, 30)
    tables: set[str | None] = set()

    def authorise(action: int, table: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_READ:
            tables.add(table)
        return sqlite3.SQLITE_OK

    store._db.set_authorizer(authorise)
    store.tallies(id)
    list(store.pairs(id))
    store.ratings(id)
    assert tables == {"tallies", "entrants", "pairs", "ratings"}
