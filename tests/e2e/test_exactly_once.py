"""Exactly once: whatever happens at whatever instant, every game counts once and the end is that of an undisturbed run.

The witness is outside: what a run told through a pipe before it died must be in the database, and each game is told at
most once. Logs must be those of the games that count.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import pytest

from arena.errors import ArenaError
from arena.store import database
from arena.store.store import Store, open_store
from arena.tournament.plan import close
from tests import instant

ROOT = Path(__file__).parents[2]
COORDINATOR = Path(__file__).with_name("coordinator.py")
SETTINGS = instant.settings(("ann", "bob"), deals=2)
GAMES = SETTINGS.schedule().total

Tell = Callable[[str], object]


# What must hold of a database, at any time and at the end.


def query(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(folder / "arena.db")
    connection.execute("PRAGMA synchronous = OFF")
    rows = connection.execute(sql).fetchall()
    connection.close()
    return rows


def check_sound(folder: Path, told: list[str], players: int) -> None:
    """The invariants that hold whenever a run has ended, however it ended."""
    if not query(folder, "SELECT 1 FROM sqlite_master WHERE name = 'games'"):
        assert not told
        return
    assert query(folder, "PRAGMA integrity_check") == [("ok",)]
    assert query(folder, "PRAGMA foreign_key_check") == []
    games = dict(query(folder, "SELECT id, status FROM games"))
    done = {game for game, status in games.items() if status == "done"}
    assert len(told) == len(set(told)), "a game was told twice"
    assert set(told) <= done, "a game was told and is not in the database"
    assert dict(query(folder, "SELECT game, count(*) FROM seats GROUP BY game")) == dict.fromkeys(done, players)
    for tournament, rated in query(folder, "SELECT id, rated FROM tournaments"):
        order = query(folder, f"SELECT number, status FROM games WHERE tournament = '{tournament}' ORDER BY number")
        assert [number for number, _ in order] == list(range(len(order))), "rows are not the first of the schedule"
        prefix = next((number for number, status in order if status != "done"), len(order))
        assert rated == prefix, "ratings are not those of the finished prefix"
        counted = query(folder, f"SELECT number, count(*) FROM ratings WHERE tournament = '{tournament}' GROUP BY 1")
        assert counted == [(number, players) for number in range(rated)]


def final(folder: Path) -> list[list[tuple[Any, ...]]]:
    """All that must be the same at the end of every run: no identifiers, times and attempts."""
    [(tournament, status)] = query(folder, "SELECT id, status FROM tournaments")
    assert status == "finished"
    for log, digest in query(folder, "SELECT log, log_sha256 FROM games"):
        assert hashlib.sha256((folder / "logs" / tournament / log).read_bytes()).hexdigest() == digest
    assert len(list((folder / "logs" / tournament).iterdir())) == 2 + len(query(folder, "SELECT id FROM games"))
    return [
        query(folder, "SELECT number, seating, deal, rotation, status, termination, play_digest FROM games ORDER BY 1"),
        query(folder, "SELECT number, seat, entrant, rank, forfeit FROM seats JOIN games ON id = game ORDER BY 1, 2"),
        query(folder, "SELECT entrant, number, mu, sigma FROM ratings ORDER BY 1, 2"),
        query(folder, "SELECT secret, rated, games FROM tournaments"),
    ]


# Faults at every statement: killed, interrupted, failed; before it and after it.


class Faulty(sqlite3.Connection):
    """A connection on which something happens at the n-th statement."""

    fault: ClassVar[Callable[[], NoReturn] | None] = None
    at: ClassVar[int] = -1
    after: ClassVar[bool] = False
    count: ClassVar[int] = 0

    def _run(self, method: Callable[..., Any], *args: Any) -> Any:
        Faulty.count += 1
        due = Faulty.count == Faulty.at
        if due and not Faulty.after and Faulty.fault:
            Faulty.fault()
        done = method(*args)
        if due and Faulty.after and Faulty.fault:
            Faulty.fault()
        return done

    def execute(self, *args: Any) -> Any:
        return self._run(super().execute, *args)

    def executemany(self, *args: Any) -> Any:
        return self._run(super().executemany, *args)


def die() -> NoReturn:
    os._exit(9)


def interrupt() -> NoReturn:
    raise KeyboardInterrupt


def fail() -> NoReturn:
    raise sqlite3.OperationalError("disk I/O error")


def play_all(folder: Path, tell: Tell) -> None:
    """One run, from the beginning or from where the last one ended. The second game comes back before the first."""
    with open_store(folder / "arena.db") as store:
        begun = instant.start(store, SETTINGS, folder / "logs")
        backwards(store, begun, tell)
        for played in instant.runner(store, begun, SETTINGS, lanes=2).run():
            tell(played.result.game)
        close(store, begun.tournament)


def backwards(store: Store, begun: instant.Begun, tell: Tell) -> None:
    for claim in reversed(store.claim(begun.tournament.id, SETTINGS.schedule().game, 2)):
        game = SETTINGS.schedule().game(claim.number)
        store.record(claim, instant.play(instant.job(begun.tournament, SETTINGS, game)), game.entrants, 0)
        tell(claim.game)


def run_and_die(folder: Path) -> list[str]:
    """Run in a process that dies at the fault; what it told before."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            play_all(folder, lambda game: os.write(writing, f"{game}\n".encode()))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        games = told.read().split()
    os.waitpid(child, 0)
    return games


def run_and_fail(folder: Path) -> list[str]:
    """Run in this process until the fault; what was told before."""
    games: list[str] = []
    with suppress(KeyboardInterrupt, ArenaError, sqlite3.Error):
        play_all(folder, games.append)
    return games


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the child does nothing that needs a thread
@pytest.mark.parametrize(
    ("fault", "after"),
    [
        pytest.param(die, False, id="dies before", marks=pytest.mark.long),
        pytest.param(die, True, id="dies after"),
        pytest.param(interrupt, True, id="is interrupted after", marks=pytest.mark.long),
        pytest.param(fail, False, id="fails at"),
    ],
)
def test_a_fault_at_any_statement_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Callable[[], NoReturn], after: bool
) -> None:
    # Nothing here cuts the power, so nothing need reach the disk.
    monkeypatch.setattr(database, "_WRITER_SETTINGS", (*database._WRITER_SETTINGS, ("synchronous", "OFF", 0)))
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Faulty))
    monkeypatch.setattr(Faulty, "fault", fault)
    monkeypatch.setattr(Faulty, "after", after)
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    monkeypatch.setattr(Faulty, "count", 0)
    play_all(undisturbed, lambda game: None)
    statements = Faulty.count
    expected = final(undisturbed)

    for at in range(1, statements + 1):
        folder = tmp_path / str(at)
        folder.mkdir()
        monkeypatch.setattr(Faulty, "count", 0)
        monkeypatch.setattr(Faulty, "at", at)
        told = run_and_die(folder) if fault is die else run_and_fail(folder)
        monkeypatch.setattr(Faulty, "at", -1)
        check_sound(folder, told, players=2)
        if query(folder, "SELECT 1 FROM sqlite_master WHERE name = 'tournaments'") and query(
            folder, "SELECT 1 FROM tournaments WHERE status = 'finished'"
        ):
            assert final(folder) == expected  # it was over; the same command would begin another
            continue
        play_all(folder, told.append)
        check_sound(folder, told, players=2)
        assert final(folder) == expected, f"statement {at}"


# kill -9 of a coordinator with workers, at random instants.


def coordinator(folder: Path, concurrency: int, *deadly: int) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, str(COORDINATOR), str(folder), str(concurrency), *map(str, deadly)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def run_until(folder: Path, concurrency: int, lines: int, *deadly: int) -> tuple[list[str], int]:
    """Run the coordinator and kill it after so many games; what it told, and its status.

    Its workers hold the same pipe: that the pipe ends means that they have ended too.
    """
    with coordinator(folder, concurrency, *deadly) as process:
        assert process.stdout is not None
        told = [line.strip() for _, line in zip(range(lines), process.stdout, strict=False)]
        if len(told) == lines:
            process.send_signal(signal.SIGKILL)
        told += process.stdout.read().split()
        status = process.wait()
    return told, status


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[list[tuple[Any, ...]]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    told, status = run_until(folder, 1, 10_000)
    assert status == 0
    check_sound(folder, told, players=3)
    assert len(told) == 60
    return final(folder)


def test_two_at_a_time_end_as_one_at_a_time(tmp_path: Path, undisturbed: object) -> None:
    _, status = run_until(tmp_path, 2, 10_000)
    assert status == 0
    assert final(tmp_path) == undisturbed


def test_workers_that_are_killed_lose_nothing(tmp_path: Path, undisturbed: object) -> None:
    told, status = run_until(tmp_path, 2, 10_000, 0, 17)
    assert status == 0
    check_sound(tmp_path, told, players=3)
    assert query(tmp_path, "SELECT number FROM games WHERE attempt > 1") == [(0,), (17,)], "others were disturbed"
    assert final(tmp_path) == undisturbed


@pytest.mark.parametrize("storm", range(2))
def test_killed_again_and_again_it_ends_as_undisturbed(tmp_path: Path, undisturbed: object, storm: int) -> None:
    dice = random.Random(storm)
    told: list[str] = []
    for _ in range(3):
        more, status = run_until(tmp_path, dice.choice([1, 2]), dice.randrange(20))
        assert status == -signal.SIGKILL
        told += more
        check_sound(tmp_path, told, players=3)
    more, status = run_until(tmp_path, 2, 10_000)
    assert status == 0
    check_sound(tmp_path, told + more, players=3)
    assert final(tmp_path) == undisturbed
