"""Old ratings are thinned out to one a day, and nothing that follows from ratings changes by that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from arena.core.ratings.running import Rating, rate
from arena.league.keeping.housekeeping import Thin
from arena.league.store import LeagueStore
from arena.league.store import thinning as module
from tests import league_kit as kit

Rows = list[tuple[int, int, float, float]]


@contextmanager
def league(folder: Path) -> Iterator[LeagueStore]:
    folder.mkdir(exist_ok=True)
    with kit.league(folder, "anna", "bert") as store:
        for bot in ("fox", "owl"):
            kit.active(store, bot)
        yield store


@pytest.fixture
def today(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    day = ["2026-01-01"]
    monkeypatch.setattr(module.stores, "now", lambda: f"{day[0]}T12:00:00+00:00")
    return day


def play(store: LeagueStore, dice: Random, matches: int) -> None:
    with store.transaction():
        for _ in range(matches):
            kit.play(store, *dice.sample(store.versions.active(), 2), rated=dice.random() < 0.9)


def ratings(store: LeagueStore) -> Rows:
    return store._db.execute("SELECT entrant, number, mu, sigma FROM ratings ORDER BY 2, 1").fetchall()


def opened(store: LeagueStore, day: str) -> None:
    store._db.execute("UPDATE seasons SET opened = ?", (day,))


def thin(store: LeagueStore, rows: int = 7) -> None:
    while store.thinning.step(rows):
        pass


def played_days(store: LeagueStore, today: list[str], *, thinned: bool) -> list[list[Rating]]:
    """Four days, of which the last is not over. Returns everybody's ratings at each day's end."""
    opened(store, "2026-01-01")
    dice = Random(3)
    found = []
    for day in range(1, 5):
        today[0] = f"2026-01-0{day}"
        if thinned:
            store.thinning.mark()
            thin(store)
        play(store, dice, 12)
        found.append(store.games.ratings("cup-1"))
    return found


def test_each_version_keeps_its_last_rating_of_each_day_and_all_of_today(tmp_path: Path, today: list[str]) -> None:
    with league(tmp_path / "one") as thinned, league(tmp_path / "all") as whole:
        known = played_days(thinned, today, thinned=True)
        assert known == played_days(whole, today, thinned=False), "ratings go on as if nothing had been removed"
        marks = [number for (number,) in thinned._db.execute("SELECT number FROM rating_marks ORDER BY number")]
        assert len(marks) == 3
        expected = [
            row for row in ratings(whole)
            if row[1] >= marks[-1] or not any(
                other[0] == row[0] and row[1] < other[1] < next(mark for mark in marks if mark > row[1])
                for other in ratings(whole)
            )
        ]  # fmt: skip
        assert ratings(thinned) == expected
        assert len(expected) < len(ratings(whole)) / 2
        for mark, then in zip(marks, known, strict=False):
            assert [thinned.games.rating_after("cup-1", entrant, mark) for entrant in range(4)] == then
        assert [one.rating for one in thinned.facts.standing()] == known[-1]
        again = [Rating()] * 4
        for game in thinned.games.games("cup-1"):
            if thinned.matches.counts(game.number):
                after = rate([again[entrant] for entrant in game.entrants], game.ranks)
                for entrant, rating in zip(game.entrants, after, strict=True):
                    again[entrant] = rating
        assert again == known[-1], "results played again give the same ratings"


@pytest.mark.quick(4)
@pytest.mark.parametrize("match", [1, 14, 20, 26, 40])
@pytest.mark.parametrize("begun", [0, 1])
def test_a_match_is_struck_as_if_nothing_had_been_removed(
    tmp_path: Path, today: list[str], match: int, begun: int
) -> None:
    outcomes = []
    for thinned in (True, False):
        with league(tmp_path / str(thinned)) as store:
            played_days(store, today, thinned=thinned)
            if thinned and begun:  # a step of the next day's
                today[0] = "2026-01-05"
                store.thinning.mark()
                store.thinning.step(3)
            while not store.matches.get(match).rated:
                match += 1
            store.matches.strike(match, "the disk")
            kit.remake(store, 7)
            now = store.games.ratings("cup-1")
            thin(store)
            assert store.games.ratings("cup-1") == now
            play(store, Random(9), 5)
            outcomes.append((now, store.games.ratings("cup-1"), store.games.tallies("cup-1")))
            numbers = [number for _, number, *_ in ratings(store)]
            assert len(numbers) < 120 or not thinned
    assert outcomes[0] == outcomes[1]


def test_a_day_ends_once_and_a_closed_season_at_its_end(tmp_path: Path, today: list[str]) -> None:
    with league(tmp_path) as store:
        opened(store, "2026-01-01")
        assert store.thinning.mark() == 0
        play(store, Random(1), 5)
        assert store.thinning.mark() == 0, "the day is not over"
        today[0] = "2026-01-02"
        assert store.thinning.mark() == 1
        assert store.thinning.mark() == 0
        today[0] = "2026-01-03"
        assert store.thinning.mark() == 0, "nothing was rated"
        play(store, Random(2), 5)
        before = store.games.ratings("cup-1")
        kit.publish(store)
        store.seasons.close({})
        assert store.thinning.mark() == 1
        assert store.thinning.mark() == 0
        thin(store)
        assert store.games.ratings("cup-1") == before
        assert len(ratings(store)) <= 2 * 4


def test_a_step_removes_a_bounded_number_of_rows_and_the_rest_is_found_again(tmp_path: Path, today: list[str]) -> None:
    with league(tmp_path) as store:
        opened(store, "2026-01-01")
        play(store, Random(1), 30)
        today[0] = "2026-01-02"
        duty = Thin(store)
        store.thinning.mark()
        left = [len(ratings(store))]
        while store.thinning.step(10):
            left.append(len(ratings(store)))
            assert left[-2] - left[-1] <= 10
        assert len(left) > 5
        assert left[-1] == 4
        duty.look()
        assert len(ratings(store)) == 4
