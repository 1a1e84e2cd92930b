"""A league stops before the disk is full, does not stop and go, and has a reserve."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.league import disk
from arena.league.disk import GIB, Disk, DiskRoom, DiskWatch

TOTAL = 100 * GIB


def watch(frees: list[int], total: int = TOTAL) -> list[bool]:
    steps = iter(frees)
    looking = DiskWatch(Path("anywhere"), lambda path: Disk(next(steps), total))
    return [looking.look().enough for _ in frees]


def test_it_stops_below_the_limit_and_goes_on_well_above_it() -> None:
    assert watch([9 * GIB, 5 * GIB, 5 * GIB - 1, 5 * GIB, 7 * GIB, int(7.5 * GIB), 5 * GIB]) == [
        True, True, False, False, False, True, True,
    ]  # fmt: skip


def test_on_a_small_disk_the_least_bytes_count() -> None:
    assert watch([2 * GIB, 2 * GIB - 1, 3 * GIB], total=10 * GIB) == [True, False, True]


@given(st.lists(st.integers(0, 10 * GIB), min_size=1))
def test_it_never_plays_below_the_limit_nor_rests_above_the_other(frees: list[int]) -> None:
    for free, enough in zip(frees, watch(frees), strict=True):
        assert enough or free < 7.5 * GIB
        assert free >= 5 * GIB or not enough


def test_it_stops_before_no_file_can_be_made_any_more() -> None:
    """Small files may use up what a disk can hold of them, with room for bytes left."""
    frees = iter([50, 49, 50, 74, 75, 50])
    looking = DiskWatch(Path("anywhere"), lambda path: Disk(9 * GIB, TOTAL, next(frees), 1_000))
    rooms = [looking.look() for _ in range(6)]
    assert [room.enough for room in rooms] == [True, False, False, False, True, True]
    assert [room.needed_files for room in rooms] == [50, 75, 75, 75, 50, 50]
    assert rooms[1].sentence() == (
        "49 more files fit on it: no game begins and nothing is received until 75 do; remove files, small ones too"
    )
    assert rooms[4].sentence() == "9.0 GiB free; it stops below 5.0 GiB"


def test_both_kinds_of_room_are_needed() -> None:
    looks = iter([Disk(4 * GIB, TOTAL, 900, 1_000), Disk(9 * GIB, TOTAL, 60, 1_000), Disk(9 * GIB, TOTAL, 75, 1_000)])
    looking = DiskWatch(Path("anywhere"), lambda path: next(looks))
    assert [looking.look().enough for _ in range(3)] == [False, False, True]


def test_a_disk_without_such_a_limit_is_watched_for_bytes_alone() -> None:
    looking = DiskWatch(Path("anywhere"), lambda path: Disk(9 * GIB, TOTAL, 0, 0))
    room = looking.look()
    assert (room.enough, room.free_files) == (True, None)


def test_what_people_are_told_says_what_to_do() -> None:
    looking = DiskWatch(Path("anywhere"), lambda path: Disk(GIB, TOTAL))
    assert looking.look().sentence() == (
        "1.0 GiB free: no game begins and nothing is received until 7.5 GiB are free; make room"
    )
    looking = DiskWatch(Path("anywhere"), lambda path: Disk(9 * GIB, TOTAL))
    assert looking.look().sentence() == "9.0 GiB free; it stops below 5.0 GiB"


def test_the_room_of_a_real_disk(tmp_path: Path) -> None:
    room = DiskWatch(tmp_path).look()
    files = os.statvfs(tmp_path).f_files
    assert room.free_files is None if not files else 0 < (room.free_files or 0) <= files
    assert 0 < room.free < os.statvfs(tmp_path).f_blocks * os.statvfs(tmp_path).f_frsize


@pytest.fixture
def reserve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(disk, "RESERVE", 2**20)
    monkeypatch.setattr(disk, "LOOK_S", 0.0)
    return tmp_path / "reserve"


def room_of(reserve: Path) -> DiskRoom:
    return DiskRoom(reserve.parent, print, lambda path: Disk(9 * GIB, TOTAL))


def test_a_reserve_takes_real_room_and_gives_it_back(reserve: Path) -> None:
    reserve.write_bytes(b"left by a kill")
    room = room_of(reserve)
    for _ in range(2):
        room.look()
        assert reserve.stat().st_size == 2**20
        assert reserve.stat().st_blocks * 512 >= 2**20
    room.give_up_reserve()
    room.give_up_reserve()
    assert os.listdir(reserve.parent) == []


def test_a_reserve_for_which_there_is_no_room_leaves_nothing(reserve: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, offset: int, length: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    room_of(reserve).look()
    assert os.listdir(reserve.parent) == []
