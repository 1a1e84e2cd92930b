"""A person at a table, without a terminal: what is shown, and what keys do. The game is played by its course."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

import pytest
from kit import tables

from arena.core.catalogue import game, make_settings, rules_of
from arena.core.link.bots import BotSpec
from arena.core.rules.course import Accepted, Course
from arena.core.show.presenter import header_of
from arena.core.types import GameSettings, Payload
from arena.pages.play.sitting import Sitting
from tests.acting import over, requests

TABLES = [(table.name, table.ruleset, table.seats) for table in tables()]
DOWN, RIGHT, UP, LEFT = "\x1b[B", "\x1b[C", "\x1b[A", "\x1b[D"


def bots(count: int) -> list[BotSpec]:
    names = ["you", *(f"bot-{'x' * 40}-{number}" for number in range(1, count))]
    return [BotSpec(name=name, version="", command=("x",), folder="/", digest="0" * 64) for name in names]


def start(settings: GameSettings) -> Payload:
    return {"type": "game_start", "time": {"off": True}}


def sit(name: str, ruleset: str, seats: int, *overrides: str) -> tuple[Sitting, Course]:
    settings = make_settings(name, seats, ruleset=ruleset, overrides=overrides, time="off")
    sitting = Sitting(header_of("g1", settings, bots(seats)), 0)
    sitting.hear(start(settings))
    return sitting, Course(rules_of(settings))


def text(sitting: Sitting, width: int = 80, height: int = 24) -> str:
    lines = sitting.draw(width, height)
    assert len(lines) == height
    assert all(line.cell_len <= width for line in lines)
    return "\n".join(line.plain.rstrip() for line in lines)


def types(sitting: Sitting, *keys: str) -> Payload | None:
    action = None
    for key in keys:
        action = sitting.press(key) or action
    return action


@pytest.mark.quick(4, 2)
@pytest.mark.parametrize(("name", "ruleset", "seats"), TABLES)
def test_every_table_fits_a_terminal_and_enter_alone_plays(name: str, ruleset: str, seats: int) -> None:
    sitting, course = sit(name, ruleset, seats)
    asked = requests(course, random.Random(1))
    for _ in range(25):
        if (request := next(asked, None)) is None:
            break
        sitting.hear(request)
        assert "your turn" in text(sitting)
        action = None
        for _ in range(40):
            if (action := sitting.press("\r")) is not None:
                break
        assert action is not None
        answered = course.answer(0, action)
        assert isinstance(answered, Accepted) or course.rules.has_race
        assert "the others are deciding" in text(sitting)


@pytest.fixture
def samurai() -> Sitting:
    """A person who has to choose a first hand."""
    sitting, course = sit("samurai", "standard", 2)
    sitting.hear(next(requests(course, random.Random(1))))
    return sitting


@pytest.fixture
def planting() -> Sitting:
    """A person who has to plant a card."""
    sitting, course = sit("gardener", "draft", 2)
    asked = requests(course, random.Random(1))
    sitting.hear(next(asked))
    action = types(sitting, "\r", "\r")
    assert action is not None
    course.answer(0, action)
    sitting.hear(next(asked))
    return sitting


def chosen(sitting: Sitting) -> list[Any]:
    assert sitting.turn is not None
    return [value for _, value in sitting.turn.chosen]


@pytest.mark.parametrize("typed", ["5", "rice3", "rice 3", "RICE 3", " rice3 "])
def test_a_number_or_a_name_chooses(samurai: Sitting, typed: str) -> None:
    types(samurai, *typed, "\r")
    assert chosen(samurai) == ["rice3"]


@pytest.mark.parametrize("typed", ["99", "rice", "0", "nothing", "-"])
def test_what_is_not_offered_or_could_be_several_is_refused(samurai: Sitting, typed: str) -> None:
    types(samurai, *typed, "\r")
    assert chosen(samurai) == []
    assert f"expected one of those offered, got: {typed}" in text(samurai)


def test_the_first_letters_are_enough(samurai: Sitting) -> None:
    types(samurai, *"ro", "\r", *"mov", "\r")
    assert chosen(samurai) == ["ronin1", "move"]


def test_by_chance_the_rest_of_a_hand_is_chosen_and_can_be_taken_back(samurai: Sitting) -> None:
    types(samurai, *"ro", "\r", "*")
    assert "Enter sends this turn" in text(samurai)
    types(samurai, "\x7f")
    assert chosen(samurai)[0] == "ronin1"
    assert len(chosen(samurai)) == 4
    types(samurai, "*")
    assert samurai.turn is not None
    [play] = samurai.turn.plays
    assert len(play["hand"]) == 5
    assert samurai.press("\r") == {"plays": [play]}


def test_what_is_typed_is_corrected_before_it_is_undone(samurai: Sitting) -> None:
    types(samurai, "5", "\r", "1", "6", "\x7f")
    assert "1▏" in text(samurai)
    types(samurai, "\x7f", "\x7f")
    assert chosen(samurai) == []
    types(samurai, "\x7f")
    assert "nothing to undo" in text(samurai)
    types(samurai, "7", "\x1b", "\r")
    assert chosen(samurai) == ["buddha2"], "Escape forgot the 7"


def test_arrows_go_through_a_list(samurai: Sitting) -> None:
    types(samurai, DOWN, DOWN, RIGHT, UP, "\r")
    assert chosen(samurai) == ["buddha4"]
    types(samurai, LEFT, "\r")
    assert chosen(samurai) == ["buddha4", "move"]


def test_arrows_go_over_the_board_and_show_what_would_be(planting: Sitting) -> None:
    def spot() -> tuple[int, int]:
        turn = planting.turn
        assert turn is not None
        choice = turn.choice()
        assert choice is not None
        x, y = choice.values[planting._cursor]
        return x, y

    assert "[" in text(planting).split("Enter choose")[0], "the card is drawn in brackets"
    for key, axis, sign in ((RIGHT, 0, 1), (DOWN, 1, 1), (LEFT, 0, -1), (UP, 1, -1)):
        before = spot()
        planting.press(key)
        assert (spot()[axis] - before[axis]) * sign > 0
    x, y = spot()
    types(planting, *f"{x} {y}", "\r")
    assert chosen(planting) == [[x, y]]
    types(planting, "\x7f", *f"[{x}".strip("["), ",", *str(y), "\r")
    assert chosen(planting) == [[x, y]]


def test_a_turn_ends_where_it_may(samurai: Sitting) -> None:
    assert types(samurai, ".") is None
    assert "the turn cannot end here" in text(samurai)


def test_help_and_all_that_was_said(samurai: Sitting) -> None:
    types(samurai, "?")
    assert "You lead a caste if you capture more of its pieces" in " ".join(text(samurai).split())
    types(samurai, "?")
    assert "undo the last choice" in text(samurai)
    assert not samurai.leaves("q"), "the game goes on"
    types(samurai, "x", "\t")
    assert "any key: back" in text(samurai)
    types(samurai, "x")
    assert chosen(samurai) == []


def test_resigning_is_asked_for(samurai: Sitting) -> None:
    types(samurai, "!", "n")
    assert not samurai.resigned
    types(samurai, "!")
    assert "Resign? y resigns" in text(samurai)
    types(samurai, "y")
    assert samurai.resigned


def test_the_end() -> None:
    sitting, course = sit("gardener", "draft", 2, "target=1")
    for request in requests(course, random.Random(1)):
        sitting.hear(request)
        action = None
        while action is None:
            action = sitting.press("\r")
        course.answer(0, action)
    sitting.hear(over(course))
    page = text(sitting)
    assert "The game is over" in page
    assert "q leaves" in page
    assert sitting.leaves("q")
    assert not sitting.leaves("\r"), "it may have been held down"
    assert sitting.view == course.rules.view(course.state, 0), "all that was told is in the last picture"


def test_who_comes_too_late_in_a_race_is_told_and_asked_again() -> None:
    sitting, course = sit("gardener", "race", 3)
    request = next(requests(course, random.Random(1)))
    sitting.hear(request)
    action = sitting.press("\r")
    assert action is not None, "a race leaves no time to send a turn"
    card = action["plays"][0]["card"]
    assert isinstance(course.answer(1, {"plays": [{"card": card}]}), Accepted)
    assert not isinstance(course.answer(0, action), Accepted)
    again = {**request, "view": course.rules.view(course.state, 0), "events": course.news(0)}
    again["legal"] = course.rules.write_legal(course.state, 0)
    sitting.hear(again)
    assert "Others were faster: choose again." in text(sitting)
    other = sitting.press("\r")
    assert other is not None
    assert other != action


def test_the_time_is_shown_where_the_clock_is_on() -> None:
    sitting, course = sit("samurai", "standard", 2)
    sitting.hear({"type": "game_start", "time": {"bank_ms": 600_000, "limit_ms": None}})
    request = next(requests(course, random.Random(1)))
    sitting.hear({**request, "clock": {"limit_ms": 599_987, "bank_ms": 599_987}})
    assert "your turn, 600s" in text(sitting)


@pytest.mark.parametrize("name", ["samurai", "gardener"])
def test_a_game_that_offers_no_guess_is_played_play_by_play(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game(name), "guess", lambda *_: None)
    sitting, course = sit(name, "standard" if name == "samurai" else "draft", 2)
    played = 0
    for request in islice(requests(course, random.Random(1)), 30):
        sitting.hear(request)
        assert "your turn" in text(sitting)
        action = None
        while action is None:
            action = sitting.press("\r")
        assert len(action["plays"]) == 1
        played += 1
        assert isinstance(course.answer(0, action), Accepted)
        assert "the others are deciding" in text(sitting)
    assert played > 20
