"""The runner: bounded, in any order, told after it is stored, and not to be stopped by a dying worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import pytest

from arena.errors import ArenaError, InternalError, StoreError
from arena.referee.job import Job
from arena.store.store import Store, open_store
from arena.tournament.report import forfeit_counts, leader, report
from arena.tournament.runner import Workers
from arena.types import GameResult, Termination
from tests import instant

SETTINGS = instant.settings()
TOTAL = SETTINGS.schedule().total()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "arena.db") as store:
        yield store


def number(job: Job) -> int:
    return int(job.game.rpartition("-")[2])


def outcome(store: Store, tournament: str) -> tuple[Any, ...]:
    document, _ = report(store, tournament)
    digests = store._db.execute("SELECT number, play_digest FROM games WHERE tournament = ? ORDER BY 1", (tournament,))
    return document.standings, document.crosstable, digests.fetchall()


def test_every_game_is_played_once_and_told_after_it_is_stored(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    told = []
    for played in instant.runner(store, begun, SETTINGS).run():
        told.append(played.game.number)
        assert store.done(begun.tournament.id) >= len(told)
    assert sorted(told) == list(range(TOTAL))
    assert store.tournament().rated == TOTAL


@pytest.mark.parametrize("in_flight", [1, 3, 50])
def test_no_more_games_are_in_flight_than_allowed(store: Store, tmp_path: Path, in_flight: int) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    running: list[int] = []

    def play(job: Job) -> GameResult:
        query = "SELECT count(*) FROM games WHERE status = 'running'"
        running.append(store._db.execute(query).fetchone()[0])
        return instant.play(job)

    assert len(list(instant.runner(store, begun, SETTINGS, play=play, in_flight=in_flight).run())) == TOTAL
    assert max(running) == min(in_flight, TOTAL)


def test_the_order_of_finishing_changes_nothing(store: Store, tmp_path: Path) -> None:
    first = instant.start(store, SETTINGS, tmp_path)
    list(instant.runner(store, first, SETTINGS).run())

    released = Event()

    def play_first_last(job: Job) -> GameResult:
        if number(job) == 0:
            assert released.wait(60)
        elif number(job) == TOTAL - 1:
            released.set()
        return instant.play(job)

    @contextmanager
    def threads() -> Iterator[Executor]:
        with ThreadPoolExecutor(2) as executor:
            yield executor

    second = instant.start(store, SETTINGS, tmp_path, new=True)
    runner = instant.runner(store, second, SETTINGS, play=play_first_last, workers=threads)
    told = [played.game.number for played in runner.run()]
    assert told.index(0) > TOTAL // 2
    assert outcome(store, second.tournament.id) == outcome(store, first.tournament.id)


def test_stopping_keeps_what_is_stored_and_a_second_run_does_the_rest(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    games = instant.runner(store, begun, SETTINGS).run()
    told = [next(games).game.number for _ in range(5)]
    games.close()
    again = instant.start(store, SETTINGS, tmp_path)
    assert (again.resumed, again.done, again.tournament.id) == (True, 5, begun.tournament.id)
    told += [played.game.number for played in instant.runner(store, again, SETTINGS).run()]
    assert sorted(told) == list(range(TOTAL))


class Shy:
    """A future that nobody may look at before it is finished: a signal could come while its lock is held."""

    def __init__(self) -> None:
        self._future: Future[Any] = Future()
        self.set_result = self._future.set_result
        self.add_done_callback = lambda told: self._future.add_done_callback(lambda _: told(self))

    def __getattr__(self, name: str) -> Any:
        assert self._future._state == "FINISHED", f"{name} of a future that is not finished"
        return getattr(self._future, name)


def test_no_future_is_looked_at_before_it_is_finished(store: Store, tmp_path: Path) -> None:
    class Threads(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            future = Shy()
            super().submit(lambda: future.set_result(fn(*args, **kwargs)))
            return future

    @contextmanager
    def threads() -> Iterator[Executor]:
        with Threads(2) as executor:
            yield executor

    begun = instant.start(store, SETTINGS, tmp_path)
    assert len(list(instant.runner(store, begun, SETTINGS, workers=threads).run())) == TOTAL


class Fragile(Executor):
    """Breaks when a game that kills its worker is submitted; games that hold are running then, all others are back."""

    def __init__(self, kills: Callable[[Job], bool], holds: Callable[[Job], bool]) -> None:
        self._kills = kills
        self._holds = holds
        self._running: list[Future[Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        [job] = args
        future: Future[Any] = Future()
        self._running.append(future)
        if self._kills(job):
            for running in self._running:
                running.set_exception(BrokenExecutor("killed"))
        elif not self._holds(job):
            future.set_result(fn(job))
            self._running.remove(future)
        return future


def fragile(kills: Callable[[Job], bool], holds: Callable[[Job], bool] = lambda job: False) -> Workers:
    @contextmanager
    def workers() -> Iterator[Executor]:
        yield Fragile(kills, holds)

    return workers


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_worker_that_dies_loses_no_result(store: Store, tmp_path: Path, deaths: int) -> None:
    undisturbed = instant.start(store, SETTINGS, tmp_path)
    list(instant.runner(store, undisturbed, SETTINGS).run())
    seen: Counter[int] = Counter()

    def kills(job: Job) -> bool:
        seen[number(job)] += 1
        return number(job) in (3, 7) and seen[number(job)] <= deaths

    begun = instant.start(store, SETTINGS, tmp_path, new=True)
    told = [played.game.number for played in instant.runner(store, begun, SETTINGS, workers=fragile(kills)).run()]
    assert sorted(told) == list(range(TOTAL))
    assert outcome(store, begun.tournament.id) == outcome(store, undisturbed.tournament.id)


def test_games_that_were_running_beside_the_killer_are_played_again(store: Store, tmp_path: Path) -> None:
    seen: Counter[int] = Counter()

    def kills(job: Job) -> bool:
        seen[number(job)] += 1
        return number(job) == 3 and seen[3] == 1

    def holds(job: Job) -> bool:
        return number(job) == 1 and seen[1] == 1

    begun = instant.start(store, SETTINGS, tmp_path)
    games = instant.runner(store, begun, SETTINGS, workers=fragile(kills, holds)).run()
    assert [next(games).game.number for _ in range(5)] == [0, 2, 1, 3, 4]
    assert seen[1] == seen[3] == 2
    assert seen[0] == seen[2] == 1


def test_a_game_that_kills_its_worker_each_time_ends_the_tournament_by_name(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    workers = fragile(lambda job: number(job) == 3)
    with pytest.raises(ArenaError, match=f"game {begun.tournament.id}-000003 ended its worker process 3 times"):
        list(instant.runner(store, begun, SETTINGS, workers=workers).run())
    assert store.done(begun.tournament.id) >= 3


def test_an_interrupted_game_is_played_again(store: Store, tmp_path: Path) -> None:
    seen: Counter[int] = Counter()

    def play(job: Job) -> GameResult:
        seen[number(job)] += 1
        played = instant.play(job)
        if number(job) == 2 and seen[2] < 3:
            return msgspec.structs.replace(played, termination=Termination.INTERRUPTED)
        return played

    begun = instant.start(store, SETTINGS, tmp_path)
    told = [played.game.number for played in instant.runner(store, begun, SETTINGS, play=play).run()]
    assert sorted(told) == list(range(TOTAL))
    assert seen[2] == 3


def test_a_game_that_is_always_interrupted_ends_the_tournament(store: Store, tmp_path: Path) -> None:
    def play(job: Job) -> GameResult:
        return msgspec.structs.replace(instant.play(job), termination=Termination.INTERRUPTED)

    begun = instant.start(store, SETTINGS, tmp_path)
    with pytest.raises(ArenaError, match=r"000000 was interrupted 3 times"):
        list(instant.runner(store, begun, SETTINGS, play=play).run())


def test_an_error_of_ours_in_a_worker_names_the_game(store: Store, tmp_path: Path) -> None:
    def play(job: Job) -> GameResult:
        raise ZeroDivisionError("division by zero")

    begun = instant.start(store, SETTINGS, tmp_path)
    with pytest.raises(InternalError, match=r"000000 could not be played: ZeroDivisionError: division by zero"):
        list(instant.runner(store, begun, SETTINGS, play=play).run())


def test_a_disk_that_is_full_is_no_bug(store: Store, tmp_path: Path) -> None:
    def play(job: Job) -> GameResult:
        raise OSError(28, "No space left on device")

    begun = instant.start(store, SETTINGS, tmp_path)
    with pytest.raises(ArenaError, match=r"No space left on device\. All other results are kept") as caught:
        list(instant.runner(store, begun, SETTINGS, play=play).run())
    assert caught.value.exit_code == 1


def test_a_result_of_another_game_ends_the_tournament(store: Store, tmp_path: Path) -> None:
    def play(job: Job) -> GameResult:
        return msgspec.structs.replace(instant.play(job), game="another")

    begun = instant.start(store, SETTINGS, tmp_path)
    with pytest.raises(StoreError, match="got: game another"):
        list(instant.runner(store, begun, SETTINGS, play=play).run())


def test_the_report_is_of_all_that_is_done(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    list(instant.runner(store, begun, SETTINGS).run())
    document, row = report(store)
    assert row.id == document.tournament.id == begun.tournament.id
    assert document.games == TOTAL
    assert document.logs == str(tmp_path / begun.tournament.id)
    assert leader(store, row.id) == document.standings[0].bot == "ann"
    counted = {row.bot: row.forfeits for row in document.standings if row.forfeits}
    assert {bot: counts.total() for bot, counts in forfeit_counts(store, row.id).items()} == counted
