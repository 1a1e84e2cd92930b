"""Ratings are made again in steps, and are then what they would be if all had been rated again at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from random import Random

import pytest

from arena.core.errors import Refused
from arena.core.ratings.running import Rating, rate
from arena.league.store import LeagueStore, open_league
from arena.league.store import remaking as module
from arena.league.store.remaking import Remade
from tests import league_kit as kit


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    with league(tmp_path) as store:
        yield store


def league(folder: Path) -> AbstractContextManager[LeagueStore]:
    return kit.league(folder, "anna", "bert")


def play(store: LeagueStore, dice: Random, matches: int) -> None:
    with store.transaction():
        for _ in range(matches):
            kit.play(store, *dice.sample(store.versions.active(), 2), rated=dice.random() < 0.9)
        store.matches.over()


def strike(store: LeagueStore, dice: Random) -> None:
    """Strikes a match that counts."""
    counting = [match.number for match in store.matches.settled(0, 10**6) if match.rated]
    store.matches.strike(dice.choice(counting), "the disk")


def from_the_beginning(store: LeagueStore) -> list[Rating]:
    """All results that count, rated in order."""
    ratings = [entrant.start for entrant in store.games.entrants("cup-1")]
    for game in store.games.games("cup-1"):
        if store.matches.counts(game.number):
            after = rate([ratings[entrant] for entrant in game.entrants], game.ranks)
            for entrant, rating in zip(game.entrants, after, strict=True):
                ratings[entrant] = rating
    return ratings


def finish(store: LeagueStore) -> None:
    """Plays what was planned again, and makes all ratings again."""
    while claims := kit.claim(store):
        for claimed in claims:
            kit.record(store, claimed)
    kit.remake(store, 13)


@pytest.mark.quick(3)
@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_meanwhile_ratings_end_as_those_of_all_results(tmp_path: Path, seed: int) -> None:
    """Games end, matches are struck, versions arrive, in any order."""
    dice = Random(seed)
    with league(tmp_path) as store:
        play(store, dice, 10)
        remade = 0

        def step() -> None:
            nonlocal remade
            remade += store.remaking.step(dice.randrange(1, 9))

        events: list[Callable[[], object]] = [
            lambda: play(store, dice, 3),
            lambda: strike(store, dice),
            step,
            step,
            lambda: kit.active(store, f"bot{len(store.versions.all())}"),
        ]
        for _ in range(80):
            dice.choice(events)()
        assert remade, "steps were left at times"
        finish(store)
        assert store.remaking.state() is None
        assert store.games.ratings("cup-1") == from_the_beginning(store)
        assert [tally.max_ms for tally in store.games.tallies("cup-1")] == longest(store)


def longest(store: LeagueStore) -> list[float]:
    """Of each entrant the longest decision in games that count."""
    query = "SELECT coalesce(max(max_ms), 0) FROM seats JOIN games ON id = game AND counts WHERE entrant = ?"
    return [store._db.execute(query, (tally.entrant,)).fetchone()[0] for tally in store.games.tallies("cup-1")]


def test_how_far_it_is_can_be_seen_and_until_then_the_season_stays_open(store: LeagueStore) -> None:
    play(store, Random(1), 10)
    store.seasons.stop()
    kit.publish(store)
    first = next(match for match in store.matches.settled(1, 10) if match.rated)
    store.matches.strike(first.number, "the disk")
    start = first.games[0].number
    assert store.remaking.state() == Remade(start, start, 20)
    assert store.remaking.step(3)
    assert store.remaking.state() == Remade(start, start + 3, 20)
    store.matches.void(10, "it is not played")
    kit.publish(store)
    with pytest.raises(Refused, match="expected a season whose ratings are right, got: they are being made again"):
        store.seasons.close({})
    kit.remake(store)
    assert store.remaking.state() is None
    assert not store.remaking.step()
    assert store.seasons.close({}).closed is not None


@pytest.mark.parametrize("match", [1, 9, 10, 11, 20, 28])
def test_where_an_earlier_version_kept_one_rating_a_day_that_day_is_made_again(store: LeagueStore, match: int) -> None:
    """It removed those between two marks but for the last of each version."""
    play(store, Random(3), 30)
    marks = [(0, 18), (18, 38)]
    for first, end in marks:
        store._db.execute(
            "INSERT INTO rating_marks (tournament, number, first, at) VALUES ('cup-1', ?, ?, '2026-01-01')",
            (end, first),
        )
        store._db.execute(
            "DELETE FROM ratings WHERE number >= :first AND number < (SELECT max(number) FROM ratings AS other"
            " WHERE other.entrant = ratings.entrant AND other.number < :end)",
            {"first": first, "end": end},
        )
    while not store.matches.get(match).rated:
        match += 1
    store.matches.strike(match, "the disk")
    kit.remake(store, 7)
    assert store.games.ratings("cup-1") == from_the_beginning(store)


def test_a_step_that_fails_has_done_nothing(store: LeagueStore, monkeypatch: pytest.MonkeyPatch) -> None:
    play(store, Random(1), 10)
    strike(store, Random(1))
    store.remaking.step(1)

    def rows() -> list[object]:
        return store._db.execute("SELECT * FROM ratings ORDER BY number, entrant").fetchall()

    before, state = rows(), store.remaking.state()

    def fail(*arguments: object) -> None:
        real(*arguments)  # type: ignore[arg-type]
        raise RuntimeError("killed here")

    real = module.rating_history.rate_again
    with monkeypatch.context() as patch:
        patch.setattr(module.rating_history, "rate_again", fail)
        with pytest.raises(RuntimeError):
            store.remaking.step(3)
    assert (rows(), store.remaking.state()) == (before, state)


_PROCESS = """
import sys
from pathlib import Path
from arena.league.store import open_league
with open_league(Path(sys.argv[1])) as store:
    while store.remaking.step(1):
        print(store.remaking.state(), flush=True)
"""


def test_it_is_killed_at_any_instant_and_goes_on_where_it_was(tmp_path: Path) -> None:
    with league(tmp_path) as store:
        play(store, Random(1), 150)
        store.matches.strike(next(match.number for match in store.matches.settled(0, 9) if match.rated), "the disk")
    path, dice = tmp_path / "league.db", Random(2)
    left = [301]
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", _PROCESS, str(path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for _ in range(dice.randrange(5, 40)):
                process.stdout.readline()
            time.sleep(dice.random() / 200)
            process.send_signal(signal.SIGKILL)
        with open_league(path) as store:
            state = store.remaking.state()
            assert state is not None
            left.append(state.left)
    assert left == sorted({*left}, reverse=True)
    with open_league(path) as store:
        finish(store)
        assert store.games.ratings("cup-1") == from_the_beginning(store)


def test_neither_striking_nor_a_step_grows_with_the_games_since(store: LeagueStore) -> None:
    def work(act: Callable[[], object]) -> int:
        """How many hundred steps of SQLite's programs it takes."""
        steps = 0

        def step() -> None:
            nonlocal steps
            steps += 1

        store._db.set_progress_handler(step, 100)
        act()
        store._db.set_progress_handler(None, 100)
        return steps

    costs = []
    for games in (30, 300):
        play(store, Random(1), games)
        match = next(match for match in store.matches.settled(1, 100) if match.rated)
        struck = work(partial(store.matches.strike, match.number, "the disk"))
        costs.append((struck, work(partial(store.remaking.step, 20))))
        finish(store)
    (strike_few, step_few), (strike_many, step_many) = costs
    assert strike_many <= 1.5 * strike_few + 5
    assert step_many <= 1.5 * step_few + 5
