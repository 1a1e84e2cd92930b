"""Temporary folders of processes that were killed are removed by the next one, and those in use never."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.core import scratch

KEEPS = """
import sys, time
from pathlib import Path
from arena.core import scratch
with scratch.folder("kind-", Path(sys.argv[1])) as path:
    (path / "deep").mkdir()
    (path / "deep" / "file").write_text("left")
    print(path.name, flush=True)
    time.sleep(600)
"""


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def test_a_folder_is_private_and_goes_with_its_block(tmp_path: Path) -> None:
    with scratch.folder("kind-", tmp_path) as path:
        assert path.parent == tmp_path
        assert path.name.startswith("kind-")
        assert path.stat().st_mode & 0o777 == 0o700
        (path / "file").write_text("of the block")
    assert names(tmp_path) == []


def test_what_a_killed_process_has_left_goes_and_nothing_else(tmp_path: Path) -> None:
    for name in ("other-1", "kin"):
        (tmp_path / name).mkdir()
    (tmp_path / "kind-file").write_text("no folder")
    (tmp_path / "kind-link").symlink_to(tmp_path / "other-1")
    process = subprocess.Popen(
        [sys.executable, "-c", KEEPS, str(tmp_path)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout is not None
        theirs = process.stdout.readline().strip()
        rest = ["kin", "kind-file", "kind-link", "other-1"]
        with scratch.folder("kind-", tmp_path) as path:
            assert names(tmp_path) == sorted([*rest, theirs, path.name]), "it is in use"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert names(tmp_path) == sorted([*rest, theirs])
    with scratch.folder("kind-", tmp_path) as path:
        assert names(tmp_path) == sorted([*rest, path.name])


def test_what_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"), scratch.folder("kind-", tmp_path / "nowhere"):
        pass


def test_one_that_another_process_takes_for_abandoned_is_made_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Between its making and its locking it looks abandoned."""
    lock, taken = scratch._lock, []

    def too_late(path: Path) -> int | None:
        if not taken:
            taken.append(path)
            path.rmdir()
        return lock(path)

    monkeypatch.setattr(scratch, "_lock", too_late)
    with scratch.folder("kind-", tmp_path) as path:
        assert path.is_dir()
        assert path not in taken
