"""Exactly once: whatever happens at whatever instant, every game counts once and the end is that of an undisturbed run.

The witness is outside: what a run told through a pipe before it died must be in the database, and each game is told at
most once. Logs must be those of the games that count.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

from arena.core.store import database
from tests.once_kit import (
    Faulty,
    check_sound,
    die,
    fail,
    final,
    interrupt,
    is_finished,
    play_all,
    query,
    run_and_die,
    run_and_fail,
    run_until,
    unsynced,
)
from tests.thorough import places

# Faults at every statement: killed, interrupted, failed; before it and after it.


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the child does nothing that needs a thread
@pytest.mark.long(1)
@pytest.mark.parametrize(
    ("fault", "after"),
    [
        pytest.param(die, True, id="dies after"),
        pytest.param(fail, False, id="fails at"),
        pytest.param(die, False, id="dies before"),
        pytest.param(interrupt, True, id="is interrupted after"),
    ],
)
def test_a_fault_at_any_statement_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Callable[[], NoReturn], after: bool
) -> None:
    unsynced(monkeypatch)
    monkeypatch.setattr(database, "Connection", Faulty)
    monkeypatch.setattr(Faulty, "fault", fault)
    monkeypatch.setattr(Faulty, "after", after)
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    monkeypatch.setattr(Faulty, "count", 0)
    play_all(undisturbed, lambda game: None)
    statements = Faulty.count
    expected = final(undisturbed)

    for at in places(statements):
        folder = tmp_path / str(at)
        folder.mkdir()
        monkeypatch.setattr(Faulty, "count", 0)
        monkeypatch.setattr(Faulty, "at", at)
        told = (run_and_die if fault is die else run_and_fail)(partial(play_all, folder))
        monkeypatch.setattr(Faulty, "at", -1)
        check_sound(folder, told, players=2)
        if is_finished(folder):
            assert final(folder) == expected
            continue
        play_all(folder, told.append)
        check_sound(folder, told, players=2)
        assert final(folder) == expected, f"statement {at}"


# kill -9 of a coordinator with workers, at random instants.


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[list[tuple[Any, ...]]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    told, status = run_until(folder, "plain", 1, 10_000)
    assert status == 0
    check_sound(folder, told, players=3)
    assert len(told) == 60
    return final(folder)


@pytest.mark.long
def test_workers_that_are_killed_lose_nothing(tmp_path: Path, undisturbed: object) -> None:
    told, status = run_until(tmp_path, "plain", 2, 10_000, 0, 17)
    assert status == 0
    check_sound(tmp_path, told, players=3)
    assert query(tmp_path, "SELECT number FROM games WHERE attempt > 1") == [(0,), (17,)], "others were disturbed"
    assert final(tmp_path) == undisturbed


@pytest.mark.quick(1)
@pytest.mark.parametrize("storm", range(2))
def test_killed_again_and_again_it_ends_as_undisturbed(tmp_path: Path, undisturbed: object, storm: int) -> None:
    dice = random.Random(storm)
    told: list[str] = []
    for _ in range(3):
        more, status = run_until(tmp_path, "plain", dice.choice([1, 2]), dice.randrange(20))
        assert status == -signal.SIGKILL
        told += more
        check_sound(tmp_path, told, players=3)
    more, status = run_until(tmp_path, "plain", 2, 10_000)
    assert status == 0
    check_sound(tmp_path, told + more, players=3)
    assert final(tmp_path) == undisturbed
