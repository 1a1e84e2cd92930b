"""A league stops before the disk is full, does not stop and go, and has a reserve."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.league.disk import GIB, DiskLimits, DiskWatch, Reserve

TOTAL = 100 * GIB


def watch(frees: list[int], total: int = TOTAL) -> list[bool]:
    steps = iter(frees)
    looking = DiskWatch(Path("anywhere"), DiskLimits(), lambda path: (next(steps), total))
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


def test_what_people_are_told_says_what_to_do() -> None:
    looking = DiskWatch(Path("anywhere"), DiskLimits(), lambda path: (GIB, TOTAL))
    assert looking.look().sentence() == (
        "1.0 GiB free: no game begins and nothing is received until 7.5 GiB are free; make room"
    )
    looking = DiskWatch(Path("anywhere"), DiskLimits(), lambda path: (9 * GIB, TOTAL))
    assert looking.look().sentence() == "9.0 GiB free; it stops below 5.0 GiB"


def test_the_room_of_a_real_disk(tmp_path: Path) -> None:
    room = DiskWatch(tmp_path, DiskLimits(least_bytes=0, least_part=0)).look()
    assert room.enough
    assert 0 < room.free < os.statvfs(tmp_path).f_blocks * os.statvfs(tmp_path).f_frsize


def test_a_reserve_takes_real_room_and_gives_it_back(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "reserve", 2**20)
    assert not reserve.held
    assert reserve.hold()
    assert reserve.held
    assert (tmp_path / "reserve").stat().st_blocks * 512 >= 2**20
    assert reserve.hold()
    reserve.give_up()
    reserve.give_up()
    assert not reserve.held
    assert os.listdir(tmp_path) == []


def test_a_reserve_for_which_there_is_no_room_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, offset: int, length: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    reserve = Reserve(tmp_path / "reserve", 2**20)
    assert not reserve.hold()
    assert os.listdir(tmp_path) == []


def test_a_reserve_of_another_size_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "reserve").write_bytes(b"left by a kill")
    reserve = Reserve(tmp_path / "reserve", 2**16)
    assert not reserve.held
    assert reserve.hold()
    assert (tmp_path / "reserve").stat().st_size == 2**16
