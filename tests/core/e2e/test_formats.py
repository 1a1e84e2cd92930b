"""Every format, with 2 and with 3 players a table: disturbed in whatever way, it ends as the undisturbed tournament."""

from __future__ import annotations

import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

from arena.core.referee.job import Job
from arena.core.standings.closing import close
from arena.core.store import database
from arena.core.store.store import open_store
from arena.core.tournament.formats.knockout import Knockout
from arena.core.tournament.formats.swiss import Swiss
from arena.core.tournament.settings import Settings
from arena.core.types import GameResult
from tests import instant
from tests.forking import ARENA, Command, environment
from tests.once_kit import (
    EIGHT,
    KINDS,
    Faulty,
    Tell,
    check_sound,
    die,
    fail,
    final,
    interrupt,
    is_finished,
    query,
    run_and_die,
    run_and_fail,
    run_until,
    unsynced,
)
from tests.thorough import places

NAMES = [name for name in KINDS if name != "plain"]
Rows = list[list[tuple[Any, ...]]]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    unsynced(monkeypatch)


@contextmanager
def thread() -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


def dawdle(job: Job) -> GameResult:
    """Plays, and is done sooner or later than others."""
    time.sleep(random.random() / 500)
    return instant.play(job)


def play_all(folder: Path, settings: Settings, tell: Tell = str, **how: Any) -> None:
    """One run, from the beginning or from where the last one ended."""
    folder.mkdir(exist_ok=True)
    with open_store(folder / "arena.db") as store:
        begun = instant.start(store, settings, folder / "logs")
        for played in instant.runner(store, begun, settings, **how).run():
            tell(played.result.game)
        close(store, begun.tournament)


@pytest.mark.quick(1, 2)
@pytest.mark.parametrize("name", NAMES)
def test_three_at_a_time_end_as_one_at_a_time(tmp_path: Path, name: str) -> None:
    settings = KINDS[name]
    one, three = tmp_path / "one", tmp_path / "three"
    told: list[str] = []
    play_all(one, settings, told.append, lanes=1)
    check_sound(one, told, settings.game.players)
    play_all(three, settings, lanes=3, worker=thread, play=dawdle)
    assert final(three) == final(one)
    rounds = query(one, "SELECT count(*) FROM rounds")
    assert (rounds > [(1,)]) == (name[:-3] in ("swiss", "knockout", "ladder", "adaptive", "compare"))


@pytest.mark.quick(1, 2)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the child's threads are its own
@pytest.mark.parametrize("name", NAMES)
def test_dying_at_random_statements_it_ends_as_undisturbed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    settings = KINDS[name]
    undisturbed, folder = tmp_path / "undisturbed", tmp_path / "disturbed"
    monkeypatch.setattr(database, "Connection", Faulty)
    monkeypatch.setattr(Faulty, "fault", die)
    monkeypatch.setattr(Faulty, "count", 0)
    play_all(undisturbed, settings)
    statements, dice, told, deaths = Faulty.count, random.Random(name), [], 0
    while not (folder / "arena.db").exists() or not is_finished(folder):
        monkeypatch.setattr(Faulty, "count", 0)
        monkeypatch.setattr(Faulty, "at", dice.randrange(statements // 3) if deaths < 6 else -1)
        monkeypatch.setattr(Faulty, "after", dice.random() < 0.5)
        told += run_and_die(partial(play_all, folder, settings, lanes=3, worker=thread, play=dawdle))
        monkeypatch.setattr(Faulty, "at", -1)
        check_sound(folder, told, settings.game.players)
        deaths += 1
    assert deaths > 2
    assert final(folder) == final(undisturbed)


@pytest.mark.quick(1, 1)
@pytest.mark.parametrize("name", NAMES)
def test_a_coordinator_that_is_killed_again_and_again_ends_as_undisturbed(tmp_path: Path, name: str) -> None:
    settings = KINDS[name]
    undisturbed, folder = tmp_path / "undisturbed", tmp_path / "killed"
    play_all(undisturbed, settings)
    [(games,)] = query(undisturbed, "SELECT games FROM tournaments")
    dice, told = random.Random(name), []
    for _ in range(2):
        more, status = run_until(folder, name, dice.choice([1, 3]), dice.randrange(games // 3))
        assert status == -signal.SIGKILL
        told += more
        check_sound(folder, told, settings.game.players)
    more, status = run_until(folder, name, 2, 10_000)
    assert status == 0
    check_sound(folder, told + more, settings.game.players)
    assert final(folder) == final(undisturbed)


SHORT = {
    "swiss": instant.settings(EIGHT[:3], format=Swiss(rounds=2, deals=1)),
    "knockout": instant.settings(EIGHT[:3], format=Knockout(deals=1)),
}


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.long(2)
@pytest.mark.parametrize(
    ("name", "fault", "after"),
    [
        pytest.param("swiss", fail, False, id="swiss fails at"),
        pytest.param("knockout", die, True, id="knockout dies after"),
        pytest.param("swiss", die, False, id="swiss dies before"),
        pytest.param("knockout", interrupt, True, id="knockout is interrupted after"),
    ],
)
def test_a_fault_at_any_statement_changes_no_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, fault: Callable[[], NoReturn], after: bool
) -> None:
    """Faults come once the tournament is in the database: before that, formats differ in nothing."""
    settings = SHORT[name]
    folder, begun = tmp_path / "played", tmp_path / "begun"
    folder.mkdir()
    with open_store(folder / "arena.db") as store:
        instant.start(store, settings, folder / "logs")
    shutil.copytree(folder, begun)
    monkeypatch.setattr(database, "Connection", Faulty)
    monkeypatch.setattr(Faulty, "fault", fault)
    monkeypatch.setattr(Faulty, "after", after)
    monkeypatch.setattr(Faulty, "count", 0)
    play_all(folder, settings)
    statements, expected = Faulty.count, final(folder)
    assert len(expected[0]) > 1, "one round alone shows nothing"
    for at in places(statements):
        shutil.rmtree(folder)
        shutil.copytree(begun, folder)
        monkeypatch.setattr(Faulty, "count", 0)
        monkeypatch.setattr(Faulty, "at", at)
        told = (run_and_die if fault is die else run_and_fail)(partial(play_all, folder, settings))
        monkeypatch.setattr(Faulty, "at", -1)
        if not is_finished(folder):
            play_all(folder, settings, told.append)
        check_sound(folder, told, players=2)
        assert final(folder) == expected, f"statement {at}"


# Real games, by real bots, played by the command that people use.

BOTS = ("random", "greedy", "random", "greedy", "random", "greedy")
REAL = ("tournament", *BOTS, "--players", "3", "--ruleset", "basic", "--seed", "real", "--each-game")


def arena(folder: Path, *words: str) -> subprocess.Popen[str]:
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return Command([*ARENA, *words], cwd=folder, env=environment(), **both, text=True)


def games_told(process: subprocess.Popen[str], most: int) -> list[str]:
    """Reads which games a tournament tells of; after so many it is killed."""
    assert process.stdout is not None
    told = []
    for line in process.stdout:
        game = re.match(r"(\d{8}-[0-9a-f]{4}-\d{6}): 1", line)
        if game:
            told.append(game[1])
        if len(told) == most:
            process.kill()
            break
    process.communicate()  # until its workers and bots have ended too
    return told


@pytest.mark.long(1)
@pytest.mark.parametrize(
    "format", [("swiss", "--rounds", "2", "--deals", "1"), ("knockout", "--deals", "1")], ids=lambda format: format[0]
)
def test_real_games_that_are_killed_half_way_are_resumed_and_verified(tmp_path: Path, format: tuple[str, ...]) -> None:
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    ends = []
    for folder, stops in ((undisturbed, ()), (killed, (2, 4))):
        folder.mkdir()
        told = []
        for stop in (*stops, 10_000):
            concurrency = "1" if folder is undisturbed else "2"
            process = arena(folder, *REAL, "--format", *format, "--concurrency", concurrency)
            told += games_told(process, stop)
            assert process.returncode == (0 if stop == 10_000 else -signal.SIGKILL)
            check_sound(folder, told, players=3)
        with arena(folder, "verify", "logs", "--complete", "--db", "arena.db") as verify:
            output, _ = verify.communicate()
        assert verify.returncode == 0, output
        assert len(query(folder, "SELECT 1 FROM rounds")) > 1
        played = final(folder)
        del played[4]  # tallies: how long the bots thought
        ends.append(played)
    assert ends[0] == ends[1]
