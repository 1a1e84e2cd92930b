"""Ratings after matches were struck are what they would be if those had never counted."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random

import pytest

from arena.core.ratings.running import Rating, rate
from arena.league.store import LeagueStore, open_league
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
    """Strikes matches that count."""
    counting = [match.number for match in store.matches.settled(0, 10**6) if match.rated]
    store.matches.strike(dice.sample(counting, min(len(counting), dice.randrange(1, 4))), "the disk")


def from_the_beginning(store: LeagueStore) -> list[Rating]:
    """All results that count, rated in order."""
    ratings = [entrant.start for entrant in store.games.entrants("cup-1")]
    for game in store.games.games("cup-1"):
        if store.matches.counts(game.number):
            after = rate([ratings[entrant] for entrant in game.entrants], game.ranks)
            for entrant, rating in zip(game.entrants, after, strict=True):
                ratings[entrant] = rating
    return ratings


@pytest.mark.quick(3)
@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_ratings_are_those_of_all_results(tmp_path: Path, seed: int) -> None:
    """Games end, matches are struck, some at once, versions arrive, in any order."""
    dice = Random(seed)
    with league(tmp_path) as store:
        play(store, dice, 10)
        events: list[Callable[[], object]] = [
            lambda: play(store, dice, 3),
            lambda: strike(store, dice),
            lambda: kit.active(store, f"bot{len(store.versions.all())}"),
        ]
        for _ in range(30):
            dice.choice(events)()
        strike(store, dice)
        while claims := kit.claim(store):
            for claimed in claims:
                kit.record(store, claimed)
        assert store.games.ratings("cup-1") == from_the_beginning(store)
        assert [tally.max_ms for tally in store.games.tallies("cup-1")] == longest(store)


def longest(store: LeagueStore) -> list[float]:
    """Of each entrant the longest decision in games that count."""
    query = "SELECT coalesce(max(max_ms), 0) FROM seats JOIN games ON id = game AND counts WHERE entrant = ?"
    return [store._db.execute(query, (tally.entrant,)).fetchone()[0] for tally in store.games.tallies("cup-1")]


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
    store.matches.strike([match], "the disk")
    assert store.games.ratings("cup-1") == from_the_beginning(store)


def test_what_an_earlier_version_was_making_again_is_made_again_when_the_league_is_opened(tmp_path: Path) -> None:
    """It did that a few games at a time, and had come to the fifth."""
    with league(tmp_path) as store:
        play(store, Random(1), 20)
        store._db.execute("UPDATE ratings SET mu = 1 WHERE number >= 5")
        store._db.execute("UPDATE tallies SET max_ms = 10000")
        store._db.execute("INSERT INTO remaking VALUES ('cup-1', 2, 5, '[0, 1]')")
    with open_league(tmp_path / "league.db") as store:
        assert store.games.ratings("cup-1") == from_the_beginning(store)
        assert [tally.max_ms for tally in store.games.tallies("cup-1")] == longest(store)
        assert store._db.execute("SELECT * FROM remaking").fetchall() == []


_PROCESS = """
import sys
from pathlib import Path
from arena.league.store import open_league
with open_league(Path(sys.argv[1])) as store:
    for number in range(0, 12, 3):
        matches = [match.number for match in store.matches.settled(number, number + 3) if match.rated]
        print(number, flush=True)
        store.matches.strike(matches, "the disk")
"""


def test_it_is_killed_at_any_instant_and_nothing_is_half_done(tmp_path: Path) -> None:
    with league(tmp_path) as store:
        play(store, Random(1), 150)
    path, dice = tmp_path / "league.db", Random(2)
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", _PROCESS, str(path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(dice.random() / 5)
            process.send_signal(signal.SIGKILL)
        with open_league(path) as store:
            assert store.games.ratings("cup-1") == from_the_beginning(store)
