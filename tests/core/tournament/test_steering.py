"""Orders from another terminal: obeyed, answered, and nothing lost or played twice."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.core.errors import ArenaError
from arena.core.referee.job import Job
from arena.core.store.store import Store
from arena.core.tournament.steering import Directions, Steering, folder_of, send, steered
from arena.core.types import GameResult
from tests import instant

SETTINGS = instant.settings(deals=10)
TOTAL = SETTINGS.schedule().total


class Planned(Directions):
    """Directions that change after so many looks."""

    def __init__(self, lanes: int, changes: dict[int, tuple[str, int | bool]]) -> None:
        super().__init__(lanes)
        self.changes = changes
        self.looks = 0
        self.seen: list[int] = []
        """How many games were running at each look."""

    def look(self, running: int) -> None:
        self.looks += 1
        self.seen.append(running)
        if self.looks in self.changes:
            setattr(self, *self.changes[self.looks])


def play(store: Store, logs: Path, directions: Directions) -> list[int]:
    begun = instant.start(store, SETTINGS, logs)
    return [played.game.number for played in instant.runner(store, begun, SETTINGS, directions=directions).run()]


@pytest.mark.timeout(20)
def test_what_is_no_file_is_no_order(tmp_path: Path) -> None:
    told: list[str] = []
    with steered(tmp_path / "arena.db", "cup", 2, told.append) as steering:
        folder = folder_of(tmp_path / "arena.db")
        os.mkfifo(folder / "1.order")
        (folder / "2.order").symlink_to("/dev/zero")
        (folder / "3.order").write_text('{"id":"3","verb":"pause","more":' + "[" * 500_000)
        (folder / "4.order").mkdir()
        (folder / "5.order").write_text('{"id":"5","verb":"pause"}')
        steering.look(0)
        assert (steering.paused, len(told)) == (True, 1)
        for number, said in ((1, "a pipe"), (2, "a symbolic link"), (3, "could not be read"), (5, "Paused")):
            assert said in (folder / f"{number}.answer").read_text()


def test_a_paused_tournament_plays_nothing_and_then_all_of_it(store: Store, tmp_path: Path) -> None:
    directions = Planned(2, {5: ("paused", True), 9: ("paused", False)})
    played = play(store, tmp_path, directions)
    assert sorted(played) == list(range(TOTAL))
    assert 0 in directions.seen[5:9], "it played on"


def test_bots_that_wait_are_seen_to_in_a_pause(store: Store, tmp_path: Path) -> None:
    """Else their heartbeats have no answer, and their libraries close the connection."""
    seen: list[int] = []
    directions = Planned(2, {5: ("paused", True), 12: ("paused", False)})
    begun = instant.start(store, SETTINGS, tmp_path)
    runner = instant.runner(store, begun, SETTINGS, directions=directions, attend=lambda: seen.append(directions.looks))
    assert len(list(runner.run())) == TOTAL
    for look in range(8, 12):
        assert seen.count(look) == 2, "each worker, at each look"
    assert not set(range(1, 5)) & set(seen), "while it plays, it sees to them anyway"


def test_a_stopped_tournament_keeps_its_results_and_goes_on_later(store: Store, tmp_path: Path) -> None:
    first = play(store, tmp_path, Planned(2, {7: ("stopping", True)}))
    assert 7 <= len(first) < TOTAL
    assert store._db.execute("SELECT count(*) FROM games WHERE status = 'running'").fetchone() == (0,)
    assert sorted(first + play(store, tmp_path, Directions(2))) == list(range(TOTAL))


def test_a_stop_ends_a_pause(store: Store, tmp_path: Path) -> None:
    first = play(store, tmp_path, Planned(2, {3: ("paused", True), 6: ("stopping", True)}))
    assert len(first) < TOTAL


@pytest.mark.parametrize(("first", "then"), [(1, 4), (4, 1), (3, 2)])
def test_the_number_of_games_at_a_time_changes(store: Store, tmp_path: Path, first: int, then: int) -> None:
    alive: set[object] = set()
    most: list[int] = []

    def worker() -> object:
        from contextlib import contextmanager

        @contextmanager
        def counted() -> Iterator[instant.InlineExecutor]:
            executor = instant.InlineExecutor()
            alive.add(executor)
            most.append(len(alive))
            yield executor
            alive.discard(executor)

        return counted()

    directions = Planned(first, {6: ("lanes", then)})
    begun = instant.start(store, SETTINGS, tmp_path)
    lanes: dict[int, int] = {}

    def noted(job: Job) -> GameResult:
        lanes[int(job.game[-6:])] = len(alive)
        return instant.play(job)

    runner = instant.runner(store, begun, SETTINGS, directions=directions, worker=worker, play=noted)  # type: ignore[arg-type]
    assert sorted(played.game.number for played in runner.run()) == list(range(TOTAL))
    assert lanes[max(lanes)] == then
    assert max(most) == max(first, then)


def test_an_order_is_obeyed_and_answered(store: Store, tmp_path: Path) -> None:
    told: list[str] = []
    with steered(store.path, "cup", 1, told.append) as directions:
        ended = threading.Event()

        def turn() -> None:
            while not ended.wait(0.01):
                directions.look(2)

        thread = threading.Thread(target=turn)
        thread.start()
        answers = [send(store.path, "pause")]
        assert directions.paused
        answers += [send(store.path, "resume"), send(store.path, "concurrency", 3), send(store.path, "stop")]
        ended.set()
        thread.join()
    assert answers == told
    assert answers[0].startswith("Paused: games that workers have already (2) are played to the end")
    assert (directions.paused, directions.lanes, directions.stopping) == (False, 3, True)
    assert not folder_of(store.path).exists()


def test_without_a_running_tournament_an_order_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="expected a running tournament on"):
        send(tmp_path / "arena.db", "pause")
    folder_of(tmp_path / "arena.db").mkdir()  # left by a run that was killed
    with pytest.raises(ArenaError, match="expected a running tournament on"):
        send(tmp_path / "arena.db", "pause")


def test_an_order_from_before_is_dropped(store: Store) -> None:
    folder = folder_of(store.path)
    folder.mkdir()
    (folder / "1.order").write_bytes(b'{"id": "1", "verb": "stop"}')
    with steered(store.path, "cup", 1, print) as directions:
        directions.look(0)
        assert not directions.stopping


@pytest.mark.parametrize("content", [b"", b"{}", b'{"id": "1", "verb": "format-disk"}', b"\xff"])
def test_an_order_that_cannot_be_read_is_answered_and_changes_nothing(tmp_path: Path, content: bytes) -> None:
    directions = Steering(tmp_path, 1, print)
    (tmp_path / "1.order").write_bytes(content)
    directions.look(0)
    assert "could not be read" in (tmp_path / "1.answer").read_text()
    assert not (tmp_path / "1.order").exists()
    assert (directions.paused, directions.stopping, directions.lanes) == (False, False, 1)


def test_nobody_answers_a_tournament_that_is_not_looking(store: Store) -> None:
    with steered(store.path, "cup", 1, print), pytest.raises(ArenaError, match="expected an answer within"):
        send(store.path, "pause", patience=0.1)
    assert not list(store.path.parent.glob("*-orders"))
