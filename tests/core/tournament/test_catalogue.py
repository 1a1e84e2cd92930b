"""Only what arena wrote for a tournament is counted as its logs, and removed with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arena.core.tournament.catalogue import Size, remove_logs, size_of

ID = "20260101-1a2b"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / ID
    folder.mkdir()
    names = (f"{ID}-000000.jsonl", f"{ID}-000000.seat1.output", f"{ID}-000001.jsonl.part", "commitment.json")
    for name in (*names, "contributions.json", "secret.json", "secret.json.0123456789abcdef.part"):
        (folder / name).write_text("12345")
    return folder


def test_its_files_go_and_then_the_folder(folder: Path) -> None:
    assert size_of(ID, folder) == Size(7, 35)
    done = remove_logs(ID, folder)
    assert (done.removed, done.kept) == (Size(7, 35), None)
    assert not folder.exists()
    assert folder.parent.is_dir()


def test_what_others_put_there_stays_and_is_named(folder: Path) -> None:
    kept = ["20260101-1a2c-000000.jsonl", "notes.txt", "plots"]
    (folder / kept[0]).touch()
    (folder / kept[1]).touch()
    (folder / kept[2]).mkdir()
    (folder / f"{ID}-plots").mkdir()
    done = remove_logs(ID, folder)
    assert done.removed == Size(7, 35)
    assert done.kept == f"it holds {ID}-plots, 20260101-1a2c-000000.jsonl, notes.txt and 1 more"
    assert sorted(os.listdir(folder)) == sorted([*kept, f"{ID}-plots"])


def test_a_folder_of_another_name_is_left_alone(folder: Path) -> None:
    other = folder.rename(folder.with_name("mine"))
    done = remove_logs(ID, other)
    assert (done.removed, done.kept) == (Size(0, 0), "it is not the tournament's own folder")
    assert len(os.listdir(other)) == 7


def test_a_link_to_a_folder_is_not_followed(folder: Path) -> None:
    real = folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(real)
    assert remove_logs(ID, folder).removed == Size(0, 0)
    assert len(os.listdir(real)) == 7


def test_a_link_to_a_file_goes_without_the_file(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (folder / f"{ID}-000002.jsonl").symlink_to(outside)
    assert remove_logs(ID, folder).kept is None
    assert outside.read_text() == "mine"


def test_logs_that_are_gone_are_no_error(folder: Path) -> None:
    missing = folder / ID
    assert size_of(ID, missing) is None
    assert remove_logs(ID, missing).kept == "there is no such folder"


def test_a_file_that_cannot_be_removed_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "unlink", refuse)
    done = remove_logs(ID, folder)
    assert (done.removed, done.kept) == (Size(0, 0), "it cannot be removed: Permission denied")
