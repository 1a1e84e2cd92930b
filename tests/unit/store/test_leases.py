"""A lease says until when a game may still be played elsewhere. Only the last claim gives a right to a result."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.errors import StoreError
from arena.store.leases import LONGEST_S
from arena.store.records import Claim, Tournament
from arena.store.store import Store, open_store
from tests import instant

SETTINGS = instant.settings()


class Clock:
    """A clock that stands until it is moved."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with open_store(tmp_path / "arena.db") as store:
        store._clock = clock
        yield store


@pytest.fixture
def tournament(store: Store, tmp_path: Path) -> Tournament:
    return instant.start(store, SETTINGS, tmp_path / "logs").tournament


def claim(store: Store, tournament: Tournament, games: int = 1) -> list[Claim]:
    return store.claim(tournament.id, SETTINGS.schedule().game, games)


def holders(store: Store) -> list[tuple[object, ...]]:
    with sqlite3.connect(store.path) as connection:
        found = connection.execute("SELECT number, status, attempt, worker, lease_until FROM games").fetchall()
    connection.close()
    return found


def test_a_game_with_a_lease_is_given_back_when_it_is_over(store: Store, tournament: Tournament, clock: Clock) -> None:
    [far] = claim(store, tournament)
    [near] = claim(store, tournament)
    store.lease([far], "w1", 30.0)
    clock.now += 10
    assert store.leased(tournament.id) == (1, 20.0)
    assert store.resume(tournament.id) == [near.game]
    clock.now += 20
    assert store.leased(tournament.id) == (0, 0.0)
    assert store.resume(tournament.id) == [far.game]


def test_renewing_prolongs_what_is_still_held(store: Store, tournament: Tournament, clock: Clock) -> None:
    first, second = claim(store, tournament, 2)
    [local] = claim(store, tournament)
    store.lease([first, second], "w1", 30.0)
    store.release(second)
    clock.now += 20
    store.renew([first, second, local], 30.0)
    assert store.leased(tournament.id) == (1, 30.0)
    assert holders(store) == [
        (0, "running", 1, "w1", clock.now + 30),
        (1, "planned", 1, "w1", clock.now + 10),
        (2, "running", 1, None, None),
    ]


def test_a_lease_gives_no_right_to_a_result(store: Store, tournament: Tournament, clock: Clock) -> None:
    [late] = claim(store, tournament)
    store.lease([late], "w1", 30.0)
    store.release(late)
    [again] = claim(store, tournament)
    assert holders(store) == [(0, "running", 2, None, None)]
    store.lease([late], "w1", 30.0)
    store.renew([late], 30.0)
    assert holders(store) == [(0, "running", 2, None, None)], "an earlier claim prolongs nothing"
    game = SETTINGS.schedule().game(0)
    result = instant.play(instant.job(tournament, SETTINGS, game))
    with pytest.raises(StoreError, match="attempt 1, got: running, attempt 2"):
        store.record(late, result, game.entrants, 0.5)
    store.record(again, result, game.entrants, 0.5)


def test_a_clock_that_was_set_back_holds_no_game(store: Store, tournament: Tournament, clock: Clock) -> None:
    [far] = claim(store, tournament)
    store.lease([far], "w1", 30.0)
    clock.now -= LONGEST_S
    assert store.leased(tournament.id) == (0, 0.0)
    assert store.resume(tournament.id) == [far.game]


def test_a_tournament_goes_on_when_the_leases_of_its_last_run_are_over(
    store: Store, tournament: Tournament, clock: Clock, tmp_path: Path
) -> None:
    [far] = claim(store, tournament)
    store.lease([far], "w1", 30.0)
    waited: list[tuple[int, float]] = []

    def wait(games: int, seconds: float) -> None:
        waited.append((games, seconds))
        clock.now += seconds

    begun = instant.start(store, SETTINGS, tmp_path / "logs", wait=wait)
    assert begun.resumed
    assert waited == [(1, 30.0)]
    assert [claimed.attempt for claimed in claim(store, tournament)] == [2]
