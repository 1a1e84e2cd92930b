"""Stepping through games: what each key does."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.core.commands.stepping import COMMANDS, Stepper
from arena.core.commands.terminal import END, ESCAPE


@pytest.fixture(scope="module")
def folder(play_log: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three games; a seat forfeits in the second."""
    folder = tmp_path_factory.mktemp("logs")
    play_log(folder / "a.jsonl")
    play_log(folder / "b.jsonl", seats=3, forfeit_turn=9)
    shutil.copy(folder / "a.jsonl", folder / "c.jsonl")
    return folder


@pytest.fixture
def steps(folder: Path) -> Stepper:
    return Stepper(sorted(folder.glob("*.jsonl")), 1)


def press(steps: Stepper, *keys: str) -> list[str]:
    for key in keys:
        assert steps.press(key)
    return [line.plain.rstrip() for line in steps.draw(80, 24)]


def at(lines: list[str]) -> int:
    """The number of the frame by the last line."""
    return int(lines[-1].rpartition("/")[0].split()[-1])


def turn(lines: list[str]) -> str:
    return lines[0].partition(":")[0]


def test_steps_and_ends(steps: Stepper) -> None:
    assert at(press(steps)) == 1
    assert at(press(steps, "\x1b[D")) == 1, "there is nothing before the first"
    assert at(press(steps, "\x1b[C", " ", "l")) == 4
    assert at(press(steps, "\x7f", "h")) == 2
    assert at(press(steps, "G")) == at(press(steps, "l")) == steps.frames
    assert at(press(steps, "\x1b[H")) == 1


def test_turns(steps: Stepper) -> None:
    assert turn(press(steps, "\x1b[B")) == "Turn 1"
    assert turn(press(steps, "j")) == "Turn 2"
    assert turn(press(steps, "k")) == "Turn 1"
    assert turn(press(steps, "\x1b[A", "k")) == "Start"
    assert turn(press(steps, "t", "1", "2", "\x7f", "4", "\r")) == "Turn 14"
    assert "Turn 1▏of" in press(steps, "t", "1")[-1]
    assert turn(press(steps, ESCAPE)) == "Turn 14"
    assert "expected a turn in 0.." in press(steps, "t", "9", "9", "9", "\r")[-1]
    assert turn(press(steps)) == "Turn 14"


def test_captures_and_forfeits(steps: Stepper) -> None:
    assert any("captures the" in line for line in press(steps, "c"))
    first = at(press(steps))
    assert at(press(steps, "c")) > first
    assert at(press(steps, "C")) == first
    assert "forfeits" in press(steps, "g", "f")[0]
    assert "no forfeit after this" in press(steps, "f")[-1]
    assert "forfeits" in press(steps, "G", "F")[0]
    assert "no capture before this" in press(steps, "g", "C")[-1]


def test_eyes(steps: Stepper) -> None:
    everything = press(steps, "t", "5", "\r")
    place = at(everything)
    assert " all " in everything[-1]
    own = press(steps, "1")
    assert at(own) == place
    assert "seat 1" in own[-1]
    assert sum("5 tiles" in line for line in own) == 2, "the hands of the others are not shown"
    assert not any("5 tiles" in line for line in press(steps, "a"))
    assert "expected a seat in 0..2, got: 3" in press(steps, "3")[-1]


def test_games_of_the_folder(steps: Stepper) -> None:
    frames = steps.frames
    press(steps, "G", "n")
    assert at(press(steps)) == 1
    assert steps.frames != frames
    assert "this is the last game of its folder" in press(steps, "n")[-1]
    assert any("b.jsonl" in line for line in press(steps, "p", "?"))
    press(steps, "q")
    assert "this is the first game" in press(steps, "p", "p")[-1]


def test_a_seat_that_another_game_has_not_is_forgotten(steps: Stepper) -> None:
    press(steps, "2")
    assert " all " in press(steps, "n")[-1]


def test_the_keys_are_explained_and_any_key_returns(steps: Stepper) -> None:
    place = at(press(steps, "l", "l"))
    shown = press(steps, "?")
    assert shown[0] == "Keys"
    assert any("half a space lower" in line for line in shown)
    assert at(press(steps, "q")) == place, "q leaves the help, not the game"


def test_all_that_is_said_is_there_on_request(steps: Stepper) -> None:
    press(steps, "G")
    lines = press(steps, "w")
    assert "PgDn more below" in lines[-1]
    seen = set(lines)
    for _ in range(9):
        seen |= set(press(steps, "\x1b[6~"))
    assert any("set aside" in line for line in seen)
    assert "PgUp more above" in press(steps)[-1]


def test_the_window_is_moved_by_hand_on_a_small_terminal(steps: Stepper) -> None:
    def first() -> list[str]:
        return [line.plain for line in steps.draw(80, 16)][-5:-1]

    steps.press("\x1b[5~")
    before = first()
    steps.press("\x1b[6~")
    after = first()
    assert before != after
    steps.press("\x1b[5~")
    assert first() == before


def test_the_end(steps: Stepper) -> None:
    assert not steps.press("q")
    assert not steps.press(END)
    steps.press("?")
    assert not steps.press(END), "in the help too"
    steps.press("q")
    steps.press("t")
    assert not steps.press(END), "and while a number is typed"


def test_each_key_has_something_to_do_and_others_nothing(steps: Stepper) -> None:
    for key in [key for key, command in COMMANDS.items() if command != "quit"]:
        assert steps.press(key)
        assert len(steps.draw(80, 24)) == 24
        steps.press(ESCAPE)
    before = press(steps, "g", ESCAPE)
    assert press(steps, "x", "\x1b[1;5C", "%") == before
