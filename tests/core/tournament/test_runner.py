"""The runner: bounded, in any order, told after it is stored, and not to be stopped by a dying worker."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count, groupby, pairwise
from pathlib import Path
from threading import Event, get_ident
from typing import Any

import msgspec
import pytest

from arena.core.errors import ArenaError, InternalError, MachineFault, StoreError
from arena.core.referee.job import Job
from arena.core.standings.report import forfeit_counts, leader, report
from arena.core.store.store import Store
from arena.core.tournament import lanes as lanes_module
from arena.core.tournament.blocks import AHEAD_GAMES, Processes
from arena.core.tournament.lanes import SUBMITTED, Worker
from arena.core.tournament.runner import MAX_CHUNK, MAX_KILLS
from arena.core.tournament.workers import local_worker, was_killed
from arena.core.types import GameResult, Termination
from tests import instant

SETTINGS = instant.settings()
TOTAL = SETTINGS.schedule().total


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


@pytest.mark.parametrize("lanes", [1, 2])
def test_few_games_are_claimed_at_a_time_however_long_a_block_is(store: Store, tmp_path: Path, lanes: int) -> None:
    settings = instant.settings(("ann", "bob"), deals=2000)
    begun = instant.start(store, settings, tmp_path)
    held: list[int] = []

    def play(job: Job) -> GameResult:
        if number(job) % 50 == 0:
            held.extend(store._db.execute("SELECT count(*) FROM games WHERE status = 'running'").fetchone())
        return instant.play(job)

    runner = instant.runner(store, begun, settings, play=play, lanes=lanes)
    for _, _ in zip(runner.run(), range(220), strict=False):
        pass
    assert MAX_CHUNK <= max(held) <= lanes * (MAX_CHUNK + AHEAD_GAMES + SUBMITTED)


class Threads:
    """Workers that are threads; remembers which of them played which games, in order."""

    def __init__(self, play: Callable[[Job], GameResult] = instant.play) -> None:
        self.played: dict[int, list[Job]] = {}
        self._play = play

    def play(self, job: Job) -> GameResult:
        self.played.setdefault(get_ident(), []).append(job)
        return self._play(job)

    @contextmanager
    def worker(self) -> Iterator[Executor]:
        with ThreadPoolExecutor(1) as executor:
            yield executor


def test_a_worker_plays_a_block_in_order_before_it_begins_another(store: Store, tmp_path: Path) -> None:
    settings = instant.settings(deals=30)
    begun = instant.start(store, settings, tmp_path)
    threads = Threads()
    list(instant.runner(store, begun, settings, play=threads.play, worker=threads.worker).run())
    lanes = [[number(job) for job in jobs] for jobs in threads.played.values()]
    assert len(lanes) == 2
    assert all(games == sorted(games) for games in lanes)
    early = [{settings.schedule().game(game).block for game in games if game < 60} for games in lanes]
    assert not early[0] & early[1], "two workers shared a block though many games were left"


def test_every_job_names_its_block_and_the_bots_of_the_next(store: Store, tmp_path: Path) -> None:
    settings = instant.settings(deals=30)
    begun = instant.start(store, settings, tmp_path)
    threads = Threads()
    list(instant.runner(store, begun, settings, play=threads.play, worker=threads.worker, lanes=1).run())
    [jobs] = threads.played.values()
    blocks = [list(played) for _, played in groupby(jobs, key=lambda job: job.block)]
    assert [len(block) for block in blocks] == [5] * 6 + [10] * 6 + [15] * 6
    for block, following in pairwise(blocks[12:17]):
        ahead = [job.ahead for job in block]
        bots = following[0].bots
        assert ahead == [()] * (15 - AHEAD_GAMES) + [bots[:1]] + [bots] * (AHEAD_GAMES - 1)


@pytest.mark.parametrize(("processes", "blocks"), [("block", 6), ("game", 12), ("tournament", 1)])
def test_processes_are_kept_for_a_block_or_a_game_or_all_games(
    store: Store, tmp_path: Path, processes: Processes, blocks: int
) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    threads = Threads()
    list(
        instant.runner(
            store, begun, SETTINGS, play=threads.play, worker=threads.worker, processes=processes, lanes=1
        ).run()
    )
    [jobs] = threads.played.values()
    assert len({job.block for job in jobs}) == blocks
    assert [job.ahead for job in jobs if processes == "tournament" and job.ahead] == []


def test_the_last_games_are_shared_one_by_one(store: Store, tmp_path: Path) -> None:
    """Of twelve games eleven are over before the slow one is, though both workers were given several at first."""
    begun = instant.start(store, SETTINGS, tmp_path)
    released = Event()
    done: list[int] = []

    def play(job: Job) -> GameResult:
        if number(job) == TOTAL - 2:
            assert released.wait(60)
        done.append(number(job))
        if len(done) == TOTAL - 1:
            released.set()
        return instant.play(job)

    threads = Threads(play)
    assert len(list(instant.runner(store, begun, SETTINGS, play=threads.play, worker=threads.worker).run())) == TOTAL


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

    second = instant.start(store, SETTINGS, tmp_path, new=True)
    runner = instant.runner(store, second, SETTINGS, play=play_first_last, worker=Threads().worker)
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
    class Shyly(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            future = Shy()
            super().submit(lambda: future.set_result(fn(*args, **kwargs)))
            return future

    @contextmanager
    def worker() -> Iterator[Executor]:
        with Shyly(1) as executor:
            yield executor

    begun = instant.start(store, SETTINGS, tmp_path)
    assert len(list(instant.runner(store, begun, SETTINGS, worker=worker).run())) == TOTAL


class Fragile(Executor):
    """Plays at once. A game that kills it is running when the next one comes, and then both are lost."""

    def __init__(self, kills: Callable[[Job], bool], *, alone: bool) -> None:
        self._kills = kills
        self._alone = alone
        self._running: list[Future[Any]] = []
        self._is_dead = False

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._is_dead:
            raise BrokenExecutor("dead before")
        [job] = args
        future: Future[Any] = Future()
        if self._running or self._kills(job):
            self._running.append(future)
            if self._alone or len(self._running) == SUBMITTED:
                self._die()
        else:
            future.set_result(fn(job))
        return future

    def _die(self) -> None:
        self._is_dead = True
        for running in self._running:
            running.set_exception(BrokenExecutor("killed"))


def fragile(kills: Callable[[Job], bool], *, alone: bool = True) -> Worker:
    @contextmanager
    def worker() -> Iterator[Executor]:
        yield Fragile(kills, alone=alone)

    return worker


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_worker_that_dies_loses_no_result(store: Store, tmp_path: Path, deaths: int) -> None:
    undisturbed = instant.start(store, SETTINGS, tmp_path)
    list(instant.runner(store, undisturbed, SETTINGS).run())
    seen: Counter[int] = Counter()

    def kills(job: Job) -> bool:
        seen[number(job)] += 1
        return number(job) in (3, 7) and seen[number(job)] <= deaths

    begun = instant.start(store, SETTINGS, tmp_path, new=True)
    told = [played.game.number for played in instant.runner(store, begun, SETTINGS, worker=fragile(kills)).run()]
    assert sorted(told) == list(range(TOTAL))
    assert outcome(store, begun.tournament.id) == outcome(store, undisturbed.tournament.id)


def test_only_the_game_that_killed_its_worker_is_claimed_again(store: Store, tmp_path: Path) -> None:
    seen: Counter[int] = Counter()

    def kills(job: Job) -> bool:
        seen[number(job)] += 1
        return number(job) == 3 and seen[3] == 1

    begun = instant.start(store, SETTINGS, tmp_path)
    worker = fragile(kills, alone=False)
    told = [played.game.number for played in instant.runner(store, begun, SETTINGS, worker=worker, lanes=1).run()]
    assert sorted(told) == list(range(TOTAL))
    assert told.index(4) < told.index(3), "the lane goes on with what it holds"
    attempts = store._db.execute("SELECT number FROM games WHERE attempt > 1").fetchall()
    assert attempts == [(3,)]


def test_a_game_that_is_played_again_shares_no_process_with_its_first_time(store: Store, tmp_path: Path) -> None:
    blocks: dict[int, list[str]] = {}

    def kills(job: Job) -> bool:
        blocks.setdefault(number(job), []).append(job.block)
        return number(job) == 3 and len(blocks[3]) == 1

    begun = instant.start(store, SETTINGS, tmp_path)
    list(instant.runner(store, begun, SETTINGS, worker=fragile(kills)).run())
    assert len(set(blocks[3])) == 2
    assert not {block for game, played in blocks.items() if game != 3 for block in played} & set(blocks[3][1:])


def test_a_worker_that_dies_between_games_is_replaced(store: Store, tmp_path: Path) -> None:
    started: list[Fragile] = []

    @contextmanager
    def worker() -> Iterator[Executor]:
        started.append(Fragile(lambda job: False, alone=True))
        yield started[-1]

    begun = instant.start(store, SETTINGS, tmp_path)
    told = 0
    for _ in instant.runner(store, begun, SETTINGS, worker=worker, lanes=1).run():
        told += 1
        if told == 3:
            started[0]._is_dead = True
    assert told == TOTAL
    assert len(started) == 2


def test_a_death_concerns_no_other_lane(store: Store, tmp_path: Path) -> None:
    ended: list[int] = []

    def kills(job: Job) -> bool:
        return number(job) == 3 and not ended

    lanes = count()

    @contextmanager
    def worker() -> Iterator[Executor]:
        lane = next(lanes)
        yield Fragile(kills, alone=True)
        ended.append(lane)

    begun = instant.start(store, SETTINGS, tmp_path)
    list(instant.runner(store, begun, SETTINGS, worker=worker, lanes=3).run())
    assert len(ended) == 4
    assert ended[0] < 3, "a lane was started anew"
    assert sorted(ended) == [0, 1, 2, 3]


def test_a_game_that_kills_its_worker_each_time_ends_the_tournament_by_name(store: Store, tmp_path: Path) -> None:
    begun = instant.start(store, SETTINGS, tmp_path)
    worker = fragile(lambda job: number(job) == 3)
    with pytest.raises(ArenaError, match=f"game {begun.tournament.id}-000003 ended its worker process 3 times"):
        list(instant.runner(store, begun, SETTINGS, worker=worker).run())
    assert store.done(begun.tournament.id) >= 3


@pytest.mark.parametrize(("kills", "ends"), [(MAX_KILLS - 1, False), (MAX_KILLS, True)])
def test_kills_from_outside_prove_little_of_the_game_that_they_hit(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int, ends: bool
) -> None:
    """Three of them hit the same game by chance. Ten are its doing, though other games were finished in between."""
    monkeypatch.setattr(lanes_module, "was_killed", lambda executor: True)
    seen: Counter[int] = Counter()

    def kill(job: Job) -> bool:
        seen[number(job)] += 1
        return number(job) == 3 and seen[3] <= kills

    begun = instant.start(store, SETTINGS, tmp_path)
    games = instant.runner(store, begun, SETTINGS, worker=fragile(kill)).run()
    if ends:
        with pytest.raises(ArenaError, match=rf"000003 was killed in its worker process {MAX_KILLS} times") as caught:
            list(games)
        assert caught.value.exit_code == 1
    else:
        assert sorted(played.game.number for played in games) == list(range(TOTAL))


@pytest.mark.parametrize(
    ("end", "outside"),
    [(signal.SIGKILL, True), (signal.SIGTERM, True), (signal.SIGSEGV, False), (signal.SIGABRT, False), (0, False)],
)
def test_how_a_worker_ended_is_known(end: int, outside: bool) -> None:
    with local_worker() as executor:
        future = executor.submit(os.kill, 0, 0) if not end else executor.submit(signal.raise_signal, end)
        if not end:
            future.result()
            future = executor.submit(os._exit, 3)
        with pytest.raises(BrokenExecutor):
            future.result()
        assert was_killed(executor) == outside


@pytest.mark.parametrize("error", [MachineFault("no room"), MemoryError(), OSError(24, "Too many open files")])
def test_a_fault_of_the_machine_stops_the_tournament_and_is_nobodys_result(
    store: Store, tmp_path: Path, error: Exception
) -> None:
    def play(job: Job) -> GameResult:
        raise error

    begun = instant.start(store, SETTINGS, tmp_path)
    with pytest.raises(MachineFault, match=r"000000 could not be played: .+\. All other results are kept") as caught:
        list(instant.runner(store, begun, SETTINGS, play=play).run())
    assert caught.value.exit_code == 1
    again = instant.start(store, SETTINGS, tmp_path)
    assert (again.resumed, again.done) == (True, 0)
    assert len(list(instant.runner(store, again, SETTINGS).run())) == TOTAL


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (OSError(24, "Too many open files"), r"Too many open files; .*ulimit -n"),
        (RuntimeError("can't start new thread"), r"can't start new thread; .*ulimit -u"),
        (MemoryError(), r"Cannot allocate memory; close other programs"),
    ],
)
def test_a_worker_that_cannot_be_started_is_the_machines_fault(
    store: Store, tmp_path: Path, error: Exception, remedy: str
) -> None:
    @contextmanager
    def worker() -> Iterator[Executor]:
        raise error
        yield

    begun = instant.start(store, SETTINGS, tmp_path)
    with pytest.raises(
        MachineFault, match=rf"expected to start a worker process, got: {remedy}.*All results so far are kept"
    ):
        list(instant.runner(store, begun, SETTINGS, worker=worker).run())


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
