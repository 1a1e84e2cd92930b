"""What can be said of a bot's process without starting one."""

from __future__ import annotations

import pytest

from arena.core.link.process import Exit, _end
from arena.core.types import Termination


@pytest.mark.parametrize(
    ("status", "end"),
    [
        (0, Exit(Termination.CRASHED, "exited with status 0")),
        (-11, Exit(Termination.CRASHED, "was killed by SIGSEGV")),
        (-40, Exit(Termination.CRASHED, "was killed by signal 40")),
    ],
)
def test_how_a_process_ended(status: int, end: Exit) -> None:
    assert _end(status) == end


def test_a_killed_process_was_probably_out_of_memory() -> None:
    assert _end(-9).code is Termination.OUT_OF_MEMORY
