"""Logs of first games are logs like others: they count in the size of all, are compressed, and go by the same rule."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.league.folder import Folder
from arena.league.keeping.housekeeping import Tidy, all_logs
from arena.league.keeping.retention import DAY_S, GIB, QUALIFYING, first_games
from arena.league.settings import Logs
from arena.league.store import LeagueStore
from tests import league_kit

KIB = 1024


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path)
    folder.make()
    (folder.logs / QUALIFYING).mkdir()
    return folder


@pytest.fixture
def store(folder: Folder) -> Iterator[LeagueStore]:
    with league_kit.league(folder.path, "anna") as store:
        yield store


def write(folder: Folder, game: str, days_ago: float, kib: int = 64, names: tuple[str, ...] = ()) -> list[Path]:
    """The files of a game: its log, and what stands beside it."""
    paths = []
    for name in names or (".jsonl.zst", ".seat0.transcript.zst", ".seat1.output.zst"):
        path = folder.logs / QUALIFYING / f"{game}{name}"
        path.write_bytes(bytes(KIB * kib))
        then = time.time() - days_ago * DAY_S
        os.utime(path, (then, then))
        paths.append(path)
    return paths


def tidy(store: LeagueStore, folder: Folder, rule: Logs) -> list[str]:
    said: list[str] = []
    duty = Tidy(store, folder, rule, said.append)
    for _ in range(20):
        duty.look()
    return said


def left(folder: Folder) -> set[str]:
    return {path.name.partition(".")[0] for path in (folder.logs / QUALIFYING).iterdir()}


def test_they_count_in_the_size_of_all_logs(store: LeagueStore, folder: Folder) -> None:
    duty = Tidy(store, folder, Logs(), print)
    write(folder, "qualify-ab-0", 1)
    assert duty.bytes == 0, "nothing was looked at yet"
    for _ in range(3):
        duty.look()
    assert duty.bytes == sum(all_logs(store, folder).sizes()) >= 3 * 64 * KIB


def test_the_oldest_go_when_all_logs_are_too_many(store: LeagueStore, folder: Folder) -> None:
    """Between them is a rated game: the older ones go before it, and the newer ones stay."""
    for number, days in enumerate((9, 7, 2, 1)):
        write(folder, f"qualify-ab-{number}", days)
    season = league_kit.season(store)
    (folder.logs / season.tournament).mkdir()
    league_kit.plan(store, *store.versions.active())
    for days in (8, 3):
        [claimed] = league_kit.claim(store)
        league_kit.record(store, claimed)
        store._db.execute(
            "UPDATE games SET finished = strftime('%Y-%m-%dT%H:%M:%S+00:00', 'now', ?) WHERE id = ?",
            (f"-{days} days", claimed.game),
        )
        (folder.logs / season.tournament / f"{claimed.game}.jsonl.zst").write_bytes(bytes(3 * 64 * KIB))
    each = 3 * 64 * KIB
    said = tidy(store, folder, Logs(gib=(3 * each + KIB) / GIB))
    assert left(folder) == {"qualify-ab-2", "qualify-ab-3"}
    assert [path.name for path in (folder.logs / season.tournament).glob("*.zst")] == [
        f"{season.tournament}-000001.jsonl.zst"
    ]
    assert len(list((folder.logs / QUALIFYING).iterdir())) == 6, "a game goes with all its files, or not at all"
    assert said == ["The logs of 3 games were removed: their time is over, or there are too many"]


def test_they_stay_as_long_as_those_of_most_games(store: LeagueStore, folder: Folder) -> None:
    write(folder, "qualify-ab-0", 11)
    write(folder, "qualify-ab-1", 9)
    write(folder, "qualify-ab-2", 11, names=(".seat0.output",))  # of a game that was cut short
    tidy(store, folder, Logs(days=10))
    assert left(folder) == {"qualify-ab-1"}


def test_what_is_not_a_log_stays_and_has_no_part(folder: Folder) -> None:
    write(folder, "notes", 1, names=(".txt",))
    write(folder, "qualify-ab-1", 1, names=(".seat0.output",))
    write(folder, "qualify-ab-2", 1, names=(".jsonl", ".seat3.output.zst", ".seat1.transcript"))
    found = first_games(folder.logs / QUALIFYING, time.time() - 2 * DAY_S)
    assert [(game.game, game.seats) for game in found] == [("qualify-ab-2", 4)]
    assert len(list((folder.logs / QUALIFYING).iterdir())) == 5
    assert first_games(folder.path / "none", 0) == []
