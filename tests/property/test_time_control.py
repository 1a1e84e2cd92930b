"""A time control is written and read without loss."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import arena.types
from arena.errors import ConfigError
from arena.types import TimeControl

LONGEST_MS = 999_999_999
TIMES = st.integers(1, LONGEST_MS)
BANKS = st.builds(TimeControl, bank_ms=TIMES, increment_ms=st.integers(0, LONGEST_MS), limit_ms=st.none() | TIMES)
LIMITS = st.builds(TimeControl, limit_ms=TIMES)
SECONDS = st.from_regex(r"\A[0-9]{1,6}(\.[0-9]{1,3})?\Z")


@given(BANKS | LIMITS)
@example(TimeControl(bank_ms=12_345_678, increment_ms=1))
@example(TimeControl(limit_ms=999_999_900))
def test_what_is_written_is_read_back(control: TimeControl) -> None:
    assert TimeControl.parse(str(control)) == control


@given(st.builds("{}+{}".format, SECONDS, SECONDS), st.builds("{}/move".format, SECONDS))
def test_what_is_read_is_written_as_an_equal_text(bank: str, limit: str) -> None:
    for text in (bank, limit, f"{bank},{limit}"):
        try:
            control = TimeControl.parse(text)
        except ConfigError:
            assert any(float(part.split("+")[0].removesuffix("/move")) == 0 for part in text.split(","))
        else:
            assert TimeControl.parse(str(control)) == control


@pytest.mark.parametrize(
    ("text", "written", "control"),
    [
        ("10+0.1", "10+0.1", TimeControl(bank_ms=10_000, increment_ms=100)),
        ("010.50+0", "10.5+0", TimeControl(bank_ms=10_500)),
        ("0.001/move", "0.001/move", TimeControl(limit_ms=1)),
        ("100/move", "100/move", TimeControl(limit_ms=100_000)),
        ("60+0.5,5/move", "60+0.5,5/move", TimeControl(bank_ms=60_000, increment_ms=500, limit_ms=5_000)),
    ],
)
def test_times_are_in_seconds(text: str, written: str, control: TimeControl) -> None:
    assert TimeControl.parse(text) == control
    assert str(control) == written


@pytest.mark.parametrize(
    "text", ["10+0.1,", ",2/move", "2/move,10+0.1", "10+0.12/move", "10+0.1,0/move", "0+1,2/move", "10+1\n", "٢/move"]
)
def test_a_text_that_is_nearly_one_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected a time control .*, such as 10\+0.1 or 2/move, got: "):
        TimeControl.parse(text)


def test_the_examples_in_the_docstrings_are_right() -> None:
    assert doctest.testmod(arena.types).failed == 0
    assert doctest.testmod(arena.types).attempted
