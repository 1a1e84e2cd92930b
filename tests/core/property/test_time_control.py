"""A time control is written and read without loss."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import arena.core.types
from arena.core.errors import ConfigError
from arena.core.types import TimeControl

LONGEST_MS = 999_999_999
TIMES = st.integers(1, LONGEST_MS)
BANKS = st.builds(TimeControl, bank_ms=TIMES, increment_ms=st.integers(0, LONGEST_MS), limit_ms=st.none() | TIMES)
LIMITS = st.builds(TimeControl, limit_ms=TIMES)
SECONDS = st.from_regex(r"\A[0-9]{1,6}(\.[0-9]{1,3})?\Z")

OFF = st.builds(TimeControl, limit_ms=TIMES, off=st.just(True))


@given(BANKS | LIMITS | OFF)
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
        ("off", "off", TimeControl(limit_ms=2_000, off=True)),
        ("off,2s/move", "off", TimeControl(limit_ms=2_000, off=True)),
        ("off,500ms/move", "off,0.5/move", TimeControl(limit_ms=500, off=True)),
        ("010.50+0", "10.5+0", TimeControl(bank_ms=10_500)),
        ("0.001/move", "0.001/move", TimeControl(limit_ms=1)),
        ("100/move", "100/move", TimeControl(limit_ms=100_000)),
        ("60+0.5,5/move", "60+0.5,5/move", TimeControl(bank_ms=60_000, increment_ms=500, limit_ms=5_000)),
        ("10s", "10+0", TimeControl(bank_ms=10_000)),
        ("1m+1", "60+1", TimeControl(bank_ms=60_000, increment_ms=1_000)),
        ("500ms/move", "0.5/move", TimeControl(limit_ms=500)),
        ("0.5m", "30+0", TimeControl(bank_ms=30_000)),
        ("1m30s+0.5", "90+0.5", TimeControl(bank_ms=90_000, increment_ms=500)),
        ("10s+100ms,2s/move", "10+0.1,2/move", TimeControl(bank_ms=10_000, increment_ms=100, limit_ms=2_000)),
        ("1h,1m/move", "3600+0,60/move", TimeControl(bank_ms=3_600_000, limit_ms=60_000)),
    ],
)
def test_times_are_in_seconds(text: str, written: str, control: TimeControl) -> None:
    assert TimeControl.parse(text) == control
    assert str(control) == written


@st.composite
def times(draw: st.DrawFn) -> tuple[str, int]:
    """A time as a person may type it, and its milliseconds."""
    parts = {"h": (99, 3_600_000), "m": (999, 60_000), "s": (9_999, 1_000), "ms": (99_999, 1)}
    text, ms = "", 0
    for unit in draw(st.lists(st.sampled_from(list(parts)), min_size=1, unique=True).map(sorted_units)):
        most, unit_ms = parts[unit]
        number = draw(st.integers(1, most))
        half = unit != "ms" and draw(st.booleans())
        text += f"{number}{'.5' * half}{unit}"
        ms += number * unit_ms + half * unit_ms // 2
    return text, ms


def sorted_units(units: list[str]) -> list[str]:
    """The units, the longest first."""
    return [unit for unit in ("h", "m", "s", "ms") if unit in units]


@given(times(), st.none() | times(), st.none() | times())
@example(("500ms", 500), ("1m", 60_000), ("1ms", 1))
def test_times_with_units_are_what_they_say(
    bank: tuple[str, int], increment: tuple[str, int] | None, limit: tuple[str, int] | None
) -> None:
    text = bank[0] + (f"+{increment[0]}" if increment else "") + (f",{limit[0]}/move" if limit else "")
    control = TimeControl.parse(text)
    assert control == TimeControl(
        bank_ms=bank[1], increment_ms=increment[1] if increment else 0, limit_ms=limit[1] if limit else None
    )
    assert TimeControl.parse(str(control)) == control


@given(st.text(st.sampled_from("0123456789.+,/hms movef"), max_size=20))
def test_whatever_is_accepted_can_be_written_and_read_back(text: str) -> None:
    try:
        control = TimeControl.parse(text)
    except ConfigError:
        return
    assert TimeControl.parse(str(control)) == control


@pytest.mark.parametrize(
    "text",
    [
        "10+0.1,", ",2/move", "2/move,10+0.1", "10+0.12/move", "10+0.1,0/move", "0+1,2/move", "10+1\n", "٢/move",
        "", "10", "10,2/move", "0s", "1.5ms", "1s1m", "1m1m", "10S", "10 s", "s", "1m+", "999999m", "1000000000ms+1",
        "off,", "off,off", "off,10s", "off,10+1,2/move", "off,0/move", "Off", "off,999999h/move",
    ],
)  # fmt: skip
def test_a_text_that_is_nearly_one_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected a time control .*, such as 10s, .*10\+0.1 or 2/move, got: "):
        TimeControl.parse(text)


def test_the_examples_in_the_docstrings_are_right() -> None:
    assert doctest.testmod(arena.core.types).failed == 0
    assert doctest.testmod(arena.core.types).attempted
