"""How far a command is: rate and time left with a clock that tests turn, lines where there is no terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from arena.core.commands import progress
from arena.core.commands.progress import Pace, line_printer, moving_line, progress_bar


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def paced(total: int, done: int) -> tuple[Clock, Pace]:
    clock = Clock()
    return clock, Pace(total, done, clock)


def test_before_the_first_result_nothing_is_guessed() -> None:
    clock, pace = paced(10, 0)
    clock.now += 5
    assert pace.text("games") == "0/10 games, …, … left"


def test_the_rate_counts_only_what_this_run_has_done() -> None:
    clock, pace = paced(100, 90)
    for _ in range(4):
        clock.now += 0.5
        pace.advance()
    assert pace.text("games") == "94/100 games, 2.0/s, 0:00:03 left"


def test_the_rate_is_that_of_the_last_minute() -> None:
    clock, pace = paced(10_000, 0)
    for _ in range(100):
        clock.now += 10
        pace.advance()
    for _ in range(120):
        clock.now += 0.5
        pace.advance()
    assert pace.rate == pytest.approx(2.0, rel=0.02)


def test_slow_games_have_a_rate_of_the_last_ten() -> None:
    clock, pace = paced(100, 0)
    for _ in range(20):
        clock.now += 90
        pace.advance()
    assert pace.rate == pytest.approx(1 / 90)
    assert pace.rate_text() == "40.0/h"
    assert pace.left_text() == "2:00:00"


@pytest.mark.parametrize(("seconds", "text"), [(0.1, "10.0/s"), (2, "30.0/min"), (120, "30.0/h")])
def test_the_rate_has_the_unit_that_suits_it(seconds: float, text: str) -> None:
    clock, pace = paced(3, 0)
    clock.now += seconds
    pace.advance()
    assert pace.rate_text() == text


def test_time_passes_between_two_results() -> None:
    clock, pace = paced(2, 0)
    clock.now += 1
    pace.advance()
    assert pace.left_text() == "0:00:01"
    clock.now += 2
    assert pace.left_text() == "0:00:03", "the one that runs is slower than the one before it"


def test_the_whole_may_grow() -> None:
    clock, pace = paced(4, 0)
    clock.now += 1
    pace.advance(8)
    assert pace.text("games") == "1/8 games, 1.0/s, 0:00:07 left"


def lines_of(monkeypatch: pytest.MonkeyPatch, total: int, every_s: float) -> list[str]:
    clock, said = Clock(), []
    monkeypatch.setattr(progress, "say", said.append)
    advance = line_printer(Pace(total, 0, clock), "games", clock)
    for _ in range(total):
        clock.now += every_s
        advance(lambda: "ann leads")
    return said


def test_without_a_terminal_there_is_a_line_for_each_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    said = lines_of(monkeypatch, 1000, 0.1)
    assert len(said) == 10
    assert said[0] == "100/1000 games, 10.0/s, 0:01:30 left: ann leads"


def test_without_a_terminal_there_is_a_line_every_half_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    said = lines_of(monkeypatch, 1000, 3)
    assert [line.split("/")[0] for line in said[:3]] == ["10", "20", "30"]


def test_a_command_of_a_few_seconds_prints_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lines_of(monkeypatch, 30, 0.1) == []


def drawn(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, quiet: bool = False, width: int = 100) -> str:
    stream = io.StringIO()
    able = {"TERM": "xterm"}  # whatever terminal the tests run in, or none
    screen = Console(file=stream, force_terminal=terminal, width=width, color_system=None, _environ=able)
    monkeypatch.setattr(progress, "redrawn", lambda stderr: screen if terminal else None)
    with progress_bar(10, 4, quiet=quiet) as advance:
        advance(lambda: "ann\x1b[2J leads", 20)
    return stream.getvalue()


def test_the_bar_has_everything_from_the_first_moment_on(monkeypatch: pytest.MonkeyPatch) -> None:
    text = drawn(monkeypatch, terminal=True)
    assert "4/10 games, …, … left" in text
    assert re.search(r"5/20 games, [0-9.]+/\w+, \d+:\d\d:\d\d left ann\\x1b\[2J leads", text)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_the_numbers_stay_in_one_line(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn(monkeypatch, terminal=True, width=width))
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    assert lines
    assert all("games" in line and len(line) <= width for line in lines), lines


def test_no_bar_is_drawn_for_the_quiet_or_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, terminal=True, quiet=True) == ""
    assert drawn(monkeypatch, terminal=False) == ""


def moved(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, quiet: bool = False) -> str:
    stream = io.StringIO()
    screen = Console(file=stream, force_terminal=terminal, width=40, color_system=None, _environ={"TERM": "xterm"})
    monkeypatch.setattr(progress, "redrawn", lambda stderr: screen if terminal else None)
    with moving_line(quiet=quiet) as line:
        if line is not None:
            line("playing: 1 rated game")
            screen.print("fox/1 plays")
            line("playing: \x1b[2J 2 rated games, and so much more that it does not fit")
            screen.print("owl/1 plays")
    return stream.getvalue()


def test_a_line_moves_below_what_is_printed_and_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    text = moved(monkeypatch, terminal=True)
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "\n").split("\n")
    assert lines.index("fox/1 plays") < lines.index("owl/1 plays")
    assert "playing: 1 rated game" in lines
    assert any(re.fullmatch(r"playing: \\x1b\[2J 2 rated games.*…", line) for line in lines)
    assert all(len(line) <= 40 for line in lines)
    assert text.rstrip("\n").endswith("\x1b[2K"), "the line is cleared"


def test_no_line_moves_for_the_quiet_or_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert moved(monkeypatch, terminal=True, quiet=True) == moved(monkeypatch, terminal=False) == ""
