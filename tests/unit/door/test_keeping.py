"""A door that falls over is opened again, and one that is closed is not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from arena.door.keeping import LONGEST_PAUSE_S, keep_open

FALLS = """
import os, sys
count = os.path.join(sys.argv[1], "count")
with open(count, "a") as file:
    file.write("x")
with open(count) as file:
    starts = len(file.read())
print("address", flush=True)
if starts <= 8:
    os.kill(os.getpid(), 9)
"""


def test_it_is_opened_again_after_longer_and_longer_pauses(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pauses: list[float] = []
    told: list[str] = []
    falls: list[int] = []

    def command(count: int) -> list[str]:
        falls.append(count)
        return [sys.executable, "-c", FALLS, str(tmp_path)]

    assert keep_open(command, told.append, sleep=pauses.append) == 0
    assert pauses == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE_S, LONGEST_PAUSE_S]
    assert falls == list(range(9))
    assert told[0] == "The door was ended by SIGKILL; it opens again in 1 s. The league plays on."
    assert capfd.readouterr().out == "address\n", "the address is printed once"


def test_one_that_cannot_be_opened_is_not_tried_again() -> None:
    assert keep_open(lambda falls: [sys.executable, "-c", "raise SystemExit(2)"], lambda sentence: None) == 2
