"""Which folders a seat of root's cannot reach, and what is said of those that it may not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.core.errors import BotError
from arena.sandbox.staging import check_open, is_closed


def test_a_folder_above_closes_what_is_below(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b" / "c"
    below.mkdir(parents=True)
    assert not is_closed("/usr")
    (tmp_path / "a").chmod(0o700)
    assert is_closed(str(below))
    assert is_closed(str(tmp_path / "a" / "b"))


@pytest.mark.parametrize(("is_folder", "mode", "is_open"), [
    (True, 0o711, True), (True, 0o755, True), (True, 0o750, False),
    (False, 0o644, True), (False, 0o711, False), (False, 0o600, False),
])  # fmt: skip
def test_only_what_others_may_read_is_given(is_folder: bool, mode: int, is_open: bool, tmp_path: Path) -> None:
    path = tmp_path / "a folder"
    path.mkdir() if is_folder else path.write_text("")
    path.chmod(mode)
    if is_open:
        check_open(str(path))
    else:
        with pytest.raises(BotError, match=rf"got: mode {mode:04o} - at {path}; run `chmod -R o\+rX '{path}'`"):
            check_open(str(path))


def test_what_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        check_open(str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError):
        is_closed(str(tmp_path / "gone" / "file"))
