"""Users of seats: each has one of its own, on the whole machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import MachineFault
from arena.core.types import Level
from arena.sandbox import accounts
from arena.sandbox.accounts import RANGES, Users, holds, mapped, seat_user

NUMBERS = range(5_000, 5_004)

TAKE_ALL = """
import sys
from pathlib import Path
from arena.core.errors import MachineFault
from arena.sandbox.accounts import Users
users = Users(Path(sys.argv[1]), range(int(sys.argv[2]), int(sys.argv[3])))
try:
    while True:
        print(users.take())
except MachineFault:
    pass
"""


def in_another_process(path: Path) -> list[int]:
    """The numbers that another worker gets: all that it can."""
    words = [sys.executable, "-c", TAKE_ALL, str(path), str(NUMBERS.start), str(NUMBERS.stop)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return sorted(map(int, done.stdout.split()))


def test_no_two_seats_of_a_machine_have_the_same(tmp_path: Path) -> None:
    users = Users(tmp_path / "users", NUMBERS)
    mine = [users.take(), users.take()]
    assert len(set(mine)) == 2
    assert in_another_process(tmp_path / "users") == sorted(set(NUMBERS) - set(mine))
    users.give_back(mine[0])
    assert in_another_process(tmp_path / "users") == sorted(set(NUMBERS) - {mine[1]})
    users.close()
    assert in_another_process(tmp_path / "users") == list(NUMBERS)


def test_a_number_rests_before_it_is_used_again(tmp_path: Path) -> None:
    users = Users(tmp_path / "users", NUMBERS)
    found = []
    for _ in NUMBERS:
        found.append(users.take())
        users.give_back(found[-1])
    users.close()
    assert sorted(found) == list(NUMBERS)


def test_when_all_are_in_use_the_machine_is_at_fault(tmp_path: Path) -> None:
    users = Users(tmp_path / "users", NUMBERS)
    for _ in NUMBERS:
        users.take()
    with pytest.raises(MachineFault, match="all 4 are in use; play fewer games"):
        users.take()
    users.close()


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "users").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        Users(tmp_path / "users", NUMBERS)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("level", [Level.TRUSTED, Level.REMOTE])
def test_what_is_not_confined_has_no_user(level: Level) -> None:
    assert seat_user(level) is None


def test_an_ordinary_user_has_none_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert seat_user(Level.STRICT) is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("         0          0 4294967295\n", RANGES[0]),
        ("         0     100000      65536\n", RANGES[1]),
        ("         0       1000          1\n         1     100000      65536\n", RANGES[1]),
        ("         0       1000          1\n", None),
    ],
)
def test_only_numbers_that_the_namespace_has_are_given(
    text: str, numbers: range | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "uid_map").write_text(text)
    (tmp_path / "gid_map").write_text(text)
    monkeypatch.setattr(accounts, "Path", lambda path: tmp_path / Path(path).name)
    assert accounts._numbers() == numbers


@given(st.lists(st.tuples(st.integers(0, 2**32), st.integers(0, 2**32), st.integers(1, 2**32)), max_size=5))
def test_a_map_is_read_back(lines: list[tuple[int, int, int]]) -> None:
    text = "".join(f"{first:>10} {outside:>10} {count:>10}\n" for first, outside, count in lines)
    assert mapped(text) == [range(first, first + count) for first, _, count in lines]
    for first, _, count in lines:
        assert holds(mapped(text), range(first, first + count))
        assert holds(mapped(text), range(first + count - 1, first + count))
