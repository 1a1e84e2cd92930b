"""Blocks go to workers that can play them, and come back whole, in part, or not at all. Workers are threads here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from referee_kit import make_job

pytest.importorskip("distributed", reason="needs the packages of the extra `cluster`")

from distributed import LocalCluster, get_worker

from arena.cluster import engine, far
from arena.cluster.archives import BotArchives
from arena.cluster.block import ANSWER, BROUGHT, ORDER, Answer, Block, Failed, GameDone, Lacking, decode_block, encode
from arena.cluster.connection import silence
from arena.cluster.delivery import Delivery, play_away
from arena.cluster.engine import Cluster
from arena.cluster.lane import Lane, WorkerLost
from arena.core.errors import BotError, MachineFault
from arena.core.link.bots import load_bot
from arena.core.record.log import begin, begun, read_log
from arena.core.referee.job import Job
from arena.core.tournament.workers import NoFreeWorker
from tests.cluster_kit import travelling_bots, until

SECONDS = 60


class Workers:
    def __init__(self, here: Any, play: Callable[[str, Block, Path], list[Answer]]) -> None:
        self.here = here
        self.play = play
        """Returns the answers by the worker's name and the block in its folder."""
        self.code = 0
        self.tried: list[str] = []

    def run(self, folder: Path, bots: Path, is_awaited: Callable[[], bool], begun: Callable[[], object]) -> int:
        name = str(get_worker().name)
        self.tried.append(name)
        for place, answer in enumerate(self.play(name, decode_block((folder / ORDER).read_bytes()), folder)):
            (folder / f"{place:05}{ANSWER}").write_bytes(encode(answer))
        return self.code

    @contextmanager
    def connected(
        self, archives: BotArchives | None = None, *, same_worker: bool = False
    ) -> Iterator[tuple[Cluster, list[str]]]:
        told: list[str] = []
        cluster = Cluster(
            self.here.scheduler_address, self.here.loop.asyncio_loop, archives, told.append, same_worker=same_worker
        )
        try:
            yield cluster, told
        finally:
            cluster.close()


@pytest.fixture(scope="module")
def delivery(tmp_path_factory: pytest.TempPathFactory) -> Delivery:
    job = replace(make_job(Path("/nowhere"), 2), bots=(load_bot("random"), load_bot("greedy")))
    return play_away(job, tmp_path_factory.mktemp("private"))


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "logs").mkdir()
    return replace(make_job(tmp_path / "logs", 2), bots=(load_bot("random"), load_bot("greedy")))


@pytest.fixture
def workers(tmp_path: Path, delivery: Delivery, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    silence()
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, local_directory=str(tmp_path),
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"}, host="tcp://127.0.0.1",
    ) as here:  # fmt: skip
        found = Workers(here, lambda name, block, folder: [GameDone(delivery) for _ in block.jobs])
        monkeypatch.setattr(far, "_run", found.run)
        yield found


def failing(on: set[str], answer: Answer, delivery: Delivery) -> Callable[[str, Block, Path], list[Answer]]:
    """Workers that give an answer instead of playing: those of these names, or the first one that is asked."""

    def play(name: str, block: Block, folder: Path) -> list[Answer]:
        if not on:
            on.add(name)
        return [answer] if name in on else [GameDone(delivery) for _ in block.jobs]

    return play


def results(games: list[Future[Any]]) -> list[Any]:
    wait(games, timeout=SECONDS)
    return [game.exception(timeout=0) or game.result() for game in games]


def test_a_block_is_played_by_real_players_and_its_worker_is_noted(
    workers: Workers, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    jobs = [replace(job, game=f"test-{deal:06d}", deal=deal) for deal in range(2)]
    with workers.connected() as (cluster, told), cluster.lane() as lane:
        begin(Path(job.logs) / "test-000001.jsonl")
        assert [result.game for result in results(lane.play(jobs))] == ["test-000000", "test-000001"]
        assert lane.played_by in {"0", "1"}
    logs = sorted(Path(job.logs).glob("*.jsonl"))
    assert [path.name for path in logs] == ["test-000000.jsonl", "test-000001.jsonl"]
    assert [(read_log(path).header.attempt, len(begun(path))) for path in logs] == [(1, 0), (2, 2)]
    assert told == []


def test_what_a_machine_lacks_is_tried_on_another_which_plays_on(
    workers: Workers, job: Job, delivery: Delivery
) -> None:
    bad: set[str] = set()
    workers.play = failing(bad, Failed("no room", begun=False, of_machine=True), delivery)
    with workers.connected() as (cluster, told):
        with cluster.lane() as lane:
            for _ in range(3):
                assert results(lane.play([job])) == [delivery.result]
                assert lane.played_by not in bad
            with pytest.raises(NoFreeWorker, match=f"worker {min(bad)} is left out: no room"), cluster.lane():
                pass
        assert [workers.tried.count(name) for name in bad] == [1]
        bad |= {"0", "1"}
        with cluster.lane() as lane:
            [error] = results(lane.play([job]))
            assert isinstance(error, BrokenExecutor)
            assert lane.refused, "it proves nothing about the game"
        with pytest.raises(NoFreeWorker, match=r"is left out: no room; .* is left out: no room"), cluster.lane():
            pass
    assert sorted(told) == ["worker 0 is left out: no room", "worker 1 is left out: no room"]


def test_a_bot_that_cannot_start_anywhere_fails_its_games_and_no_others(
    workers: Workers, job: Job, delivery: Delivery
) -> None:
    elk = replace(job.bots[0], name="elk", digest="e" * 64)
    workers.play = lambda name, block, folder: (
        [Failed(f"no elk on {name}", begun=False, bot="e" * 64)]
        if elk in block.jobs[0].bots
        else [GameDone(delivery) for _ in block.jobs]
    )
    with workers.connected() as (cluster, _), cluster.lane() as one, cluster.lane() as other:
        errors = results(one.play([replace(job, bots=(elk, job.bots[1]))] * 2))
        assert all(isinstance(error, BotError) for error in errors)
        for name in ("0", "1"):
            assert f"worker {name} is left out: no elk on {name}" in str(errors[0])
        assert sorted(workers.tried) == ["0", "1"]
        for lane in (one, other):
            assert results(lane.play([job])) == [delivery.result]


def test_a_machine_that_fails_in_a_game_keeps_what_was_played(workers: Workers, job: Job, delivery: Delivery) -> None:
    workers.play = lambda name, block, folder: [GameDone(delivery), Failed("no room", of_machine=True)]
    with workers.connected() as (cluster, _), cluster.lane() as lane:
        result, *lost = results(lane.play([job] * 3))
        assert result == delivery.result
        assert all(isinstance(error, WorkerLost) and "failed in a game: no room" in str(error) for error in lost)
        assert (lane.was_killed, lane.refused) == (True, False)
        with pytest.raises(WorkerLost):
            lane.play([job])


@pytest.mark.parametrize(("code", "was_killed"), [(-9, True), (-11, False), (1, False)])
def test_how_a_player_ended_says_how_much_that_proves(
    workers: Workers, job: Job, delivery: Delivery, code: int, was_killed: bool
) -> None:
    workers.play, workers.code = lambda name, block, folder: [GameDone(delivery)], code
    with workers.connected() as (cluster, _), cluster.lane() as lane:
        result, lost = results(lane.play([job] * 2))
        assert result == delivery.result
        assert isinstance(lost, WorkerLost)
        assert (lane.was_killed, lane.refused) == (was_killed, False)


def test_what_a_block_lacks_is_sent_once(workers: Workers, job: Job, delivery: Delivery, tmp_path: Path) -> None:
    owl = load_bot(travelling_bots(tmp_path / "home")[0])
    (tmp_path / "archives").mkdir()
    archives = BotArchives(tmp_path / "archives")
    there: dict[str, set[str]] = {"0": set(), "1": set()}
    sent: list[tuple[str, str]] = []

    def play(name: str, block: Block, folder: Path) -> list[Answer]:
        for path in (folder / BROUGHT).iterdir():
            assert path.read_bytes() == archives.data(path.name)
            sent.append((name, path.name))
            there[name].add(path.name)
        lacking = tuple(want.bot.digest for want in block.wants if want.bot == owl and want.archive not in there[name])
        return [Lacking(lacking)] if lacking else [GameDone(delivery) for _ in block.jobs]

    workers.play = play
    with workers.connected(archives) as (cluster, _), cluster.lane() as one, cluster.lane() as other:
        for _ in range(3):
            blocks = [lane.play([replace(job, bots=(owl, job.bots[1]))]) for lane in (one, other)]
            assert [results(games) for games in blocks] == [[delivery.result]] * 2
    assert len(sent) == len(set(sent)), "no worker was sent an archive twice"
    assert 1 <= len(sent) <= 2


def test_lanes_keep_to_a_worker_each_as_long_as_it_can_play(workers: Workers, job: Job, delivery: Delivery) -> None:
    with workers.connected(same_worker=True) as (cluster, _), cluster.lane() as one, cluster.lane() as other:
        assert {one.name, other.name} == {"0", "1"}
        for lane in (one, other, one, one, other):
            assert results(lane.play([job])) == [delivery.result]
            assert lane.played_by == lane.name
        with pytest.raises(NoFreeWorker), cluster.lane():
            pass
        workers.play = failing({one.name}, Failed("no room", begun=False, of_machine=True), delivery)
        assert results(one.play([job])) == [delivery.result]
        assert one.played_by == other.name


def test_a_lane_that_is_left_drops_its_block_and_says_so_to_the_worker(
    workers: Workers, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, dropped = threading.Event(), threading.Event()

    def run(folder: Path, bots: Path, is_awaited: Callable[[], bool], begun: Callable[[], object]) -> int:
        began.set()
        until(lambda: not is_awaited())
        dropped.set()
        return -9

    monkeypatch.setattr(far, "_run", run)
    with workers.connected() as (cluster, _):
        with cluster.lane() as lane:
            assert isinstance(lane, Lane)
            games = lane.play([job])
            assert began.wait(SECONDS)
        assert isinstance(results(games)[0], BrokenExecutor)
        assert dropped.wait(SECONDS)


@pytest.mark.parametrize(("allowed", "is_begun"), [(0, False), (1, False), (0, True), (1, True)])
def test_dask_plays_a_block_again_as_often_as_it_allows_unless_it_was_begun(
    workers: Workers, job: Job, delivery: Delivery, monkeypatch: pytest.MonkeyPatch, allowed: int, is_begun: bool
) -> None:
    """What a lost worker had begun is noted, and its logs would not say that it is begun again."""
    workers.here.scheduler.allowed_failures = allowed
    killed = threading.Event()

    def run(folder: Path, bots: Path, is_awaited: Callable[[], bool], begin: Callable[[], object]) -> int:
        worker = get_worker()
        if is_begun:
            begin()
            until(lambda: len(noted()) > killed.is_set())
        if not killed.is_set():
            killed.set()
            remove = workers.here.scheduler.remove_worker
            workers.here.sync(remove, address=worker.address, stimulus_id="a test")  # as when its process ends
        return workers.run(folder, bots, is_awaited, begin)

    def noted() -> list[str]:
        return begun(Path(job.logs) / f"{job.game}.jsonl")

    monkeypatch.setattr(far, "_run", run)
    with workers.connected() as (cluster, _), cluster.lane() as lane:
        [result] = results(lane.play([job]))
        assert len(noted()) == is_begun * (1 + allowed)
        if allowed and not is_begun:
            assert result == delivery.result
        else:
            assert isinstance(result, WorkerLost)
            assert (lane.was_killed, lane.refused) == (True, False)


def test_workers_of_another_arena_get_no_block(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "resources", type("Here", (), {"code_version": staticmethod(lambda: "9")}))
    real = Cluster._ask

    async def ask(self: Cluster, address: str, function: Callable[[], Any]) -> Any:
        return "8" if function() == "9" else await real(self, address, function)

    monkeypatch.setattr(Cluster, "_ask", ask)
    with workers.connected() as (cluster, _):
        with (
            pytest.raises(MachineFault, match="expected arena 9, got: 8; install arena 9 there") as raised,
            cluster.lane(),
        ):
            pass
        assert not isinstance(raised.value, NoFreeWorker)
