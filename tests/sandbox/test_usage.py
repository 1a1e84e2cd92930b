"""What a stranger's folder holds is counted without following what it points to."""

from __future__ import annotations

import os
from pathlib import Path

from arena.sandbox.usage import DEEPEST, Used, entries_below, unlinked, used


def test_a_link_is_an_entry_and_leads_nowhere(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "folder"
    for place in (elsewhere, folder):
        place.mkdir()
    (elsewhere / "secret").write_bytes(b"x" * 10_000)
    (folder / "link").symlink_to(elsewhere)
    (folder / "circle").symlink_to(folder)
    assert {entry.name for entry in entries_below(folder)} == {"link", "circle"}
    assert used([folder], 100).entries == 2


def test_the_count_ends_beyond_the_limit(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / str(number)).touch()
    assert used([tmp_path], 10) == Used(0, 10)
    assert used([tmp_path], 5).entries == 6


def test_a_file_counts_with_its_holes_and_once(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(50 << 20)
    for number in range(20):
        (tmp_path / f"link{number}").hardlink_to(tmp_path / "sparse")
    assert used([tmp_path], 100, holes=True) == Used(50 << 20, 21)
    assert used([tmp_path], 100).size < 1 << 20


def test_a_file_that_was_removed_and_is_open_is_found(tmp_path: Path) -> None:
    with (tmp_path / "held").open("wb", buffering=0) as file, (tmp_path / "named").open("wb", buffering=0) as named:
        for each in (file, named):
            each.write(bytes(1 << 20))
        before = unlinked([os.getpid()], tmp_path)  # pytest keeps what is printed in such files, some 4 KiB
        assert before < 1 << 20
        (tmp_path / "held").unlink()
        assert 1 << 20 <= unlinked([os.getpid(), os.getpid()], tmp_path) - before < 2 << 20
        assert unlinked([2**22 + 1], tmp_path) == 0, "there is no such process"


def test_what_lies_too_deep_is_told(tmp_path: Path) -> None:
    deep = tmp_path
    while len(str(deep)) <= DEEPEST:
        deep /= "d" * 200
        deep.mkdir()
    assert used([tmp_path], 100).is_too_deep
