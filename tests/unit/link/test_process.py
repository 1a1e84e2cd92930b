"""What can be said of a bot's process without starting one."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from arena.errors import ConfigError
from arena.link import custody
from arena.link.custody import Custody
from arena.link.process import End, _end
from arena.types import Termination


@pytest.mark.parametrize(
    ("status", "end"),
    [
        (0, End(Termination.CRASHED, "exited with status 0")),
        (-11, End(Termination.CRASHED, "was killed by SIGSEGV")),
        (-40, End(Termination.CRASHED, "was killed by signal 40")),
    ],
)
def test_how_a_process_ended(status: int, end: End) -> None:
    assert _end(status) == end


def test_a_killed_process_was_probably_out_of_memory() -> None:
    assert _end(-9).code is Termination.OUT_OF_MEMORY


def test_a_temporary_folder_with_a_long_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with pytest.raises(ConfigError, match="set TMPDIR to a folder with a shorter path"):
        Custody()
    assert list(folder.iterdir()) == []
    assert custody.MAX_SOCKET_PATH < 104
