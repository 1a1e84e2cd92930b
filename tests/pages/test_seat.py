"""A person's page, without a browser: what it is told, what it may choose, and that nothing hidden is in its bytes."""

from __future__ import annotations

import random
import re
from itertools import islice
from typing import Any

import msgspec
import pytest
from kit import tables

from arena.core.catalogue import make_settings, rules_of
from arena.core.link.bots import BotSpec
from arena.core.rules.course import Course
from arena.core.show.presenter import header_of
from arena.core.types import Payload
from arena.pages.agents.seat import ASKED, GONE, OVER, WAITING
from arena.pages.frames import folded
from arena.pages.seat import SeatPage
from tests.acting import over, requests

TABLES = [(table.name, table.ruleset, table.seats) for table in tables()]
SHORT = [("samurai", "standard", 2), ("gardener", "draft", 2)]


def sit(name: str, ruleset: str, seats: int, seat: int = 0, **options: Any) -> tuple[SeatPage, Course]:
    settings = make_settings(name, seats, ruleset=ruleset, time="off", **options)
    names = ["you", *(f"bot-{number}" for number in range(1, seats))]
    bots = [BotSpec(name=name, version="", command=("x",), folder="/", digest="0" * 64) for name in names]
    page = SeatPage(header_of("g1", settings, bots), seat)
    page.hear({"type": "game_start", "time": {"off": True}})
    return page, Course(rules_of(settings))


def answers(page: SeatPage, rng: random.Random) -> Payload:
    """Chooses what the page lists, changes its mind now and then, and ends where it may."""
    for _ in range(200):
        ask = page.now()["ask"]
        if ask["end"] and (not ask["items"] or rng.random() < 0.4):
            action = page.send()
            assert action is not None
            return action
        if ask["undo"] and rng.random() < 0.1:
            page.undo()
            continue
        by_chance = rng.random() < 0.2
        action = page.fill(rng.randrange) if by_chance else page.choose(rng.randrange(len(ask["items"])))
        if action is not None:
            return action
        assert not by_chance or page.now()["ask"]["end"], "by chance a whole play is chosen"
    raise AssertionError("expected the turn to end")


@pytest.mark.quick(2, 1)
@pytest.mark.parametrize(("name", "ruleset", "seats"), TABLES)
def test_every_table_is_played_to_its_end(name: str, ruleset: str, seats: int) -> None:
    rng = random.Random(seats)
    page, course = sit(name, ruleset, seats)
    numbers = [page.number]
    frames, used = page.length, {"M0"}
    for request in requests(course, rng):
        page.hear(request)
        assert page.agent.phase == ASKED
        now = page.now()
        assert now["ask"]["line"]
        assert now["ask"]["items"]
        assert now["since"] == frames
        for item in now["ask"]["items"]:
            assert item["w"]
            assert all(0 <= at <= size for at, size in zip(item.get("at", ()), page.size, strict=False))
            used |= {item.get("r", "M0"), item.get("s", "M0")}
        frames = page.length
        course.answer(0, answers(page, rng))
        assert page.agent.phase == WAITING
        numbers.append(page.number)
    page.hear(over(course))
    assert page.agent.phase == OVER
    assert numbers == sorted(set(numbers))
    data = page.data()
    assert used <= set(data["symbols"])
    assert data["end"] == "finished"
    assert page.now()["place"] == course.due.outcome.ranks[0]  # type: ignore[union-attr]
    view = course.rules.view(course.state, 0)
    if name == "gardener":
        placed = [key for key in folded(data)["0"][-1] if key.startswith("g")]
        assert len(placed) == sum(len(garden) for garden in view["gardens"])
    else:
        assert {int(key[1:]) for key in folded(data)["0"][-1] if key[0] == "t"} == {tile[0] for tile in view["tiles"]}


@pytest.mark.parametrize("seat", [0, 2])
def test_no_hidden_tile_is_in_what_is_sent(seat: int) -> None:
    rng = random.Random(5)
    page, course = sit("samurai", "classic", 3, seat)
    shown: set[str] = set()
    checked = 0
    for request in islice(requests(course, rng, seat), 16):
        for event in request["events"]:
            if event.get("tile") is not None:
                shown |= {f"T{event['seat']}{event['tile']}", f"T{event['seat']}move"}
        page.hear(request)
        sent = msgspec.json.encode([page.now(), page.frames(0)]).decode()
        found = {name for name in re.findall(r'"(T\d\w+)"', sent) if name[1] != str(seat)}
        assert found <= shown
        hidden = {f"T{other}{tile}" for other in {0, 1, 2} - {seat} for tile in _hand(course, other)}
        checked += len(hidden - shown)
        assert not (hidden - shown) & found
        course.answer(seat, answers(page, rng))
    assert checked > 50


def _hand(course: Course, seat: int) -> list[str]:
    hand: list[str] = course.rules.view(course.state, seat)["hand"]
    return hand


@pytest.mark.parametrize(("name", "ruleset", "seats"), SHORT)
def test_undo_leads_back_step_by_step(name: str, ruleset: str, seats: int) -> None:
    rng = random.Random(3)
    page, course = sit(name, ruleset, seats)
    for turns, request in enumerate(requests(course, rng)):
        if turns > 6:
            break
        page.hear(request)
        seen = [_picture(page)]
        while (ask := page.now()["ask"])["items"] and len(seen) < 8:
            page.choose(rng.randrange(len(ask["items"])))
            seen.append(_picture(page))
        for picture in reversed(seen[:-1]):
            page.undo()
            assert _picture(page) == picture
        number = page.number
        page.undo()
        assert page.number == number, "nothing to undo"
        course.answer(0, answers(page, rng))


def _picture(page: SeatPage) -> Payload:
    return {key: value for key, value in page.now().items() if key != "n"}


def test_only_what_is_listed_can_be_chosen_and_only_when_asked() -> None:
    page, course = sit("gardener", "draft", 2)
    assert page.choose(0) is None
    assert page.send() is None
    page.hear(next(requests(course, random.Random(0))))
    number = page.number
    for place in (-1, 2, 10**9):
        assert page.choose(place) is None
    assert page.send() is None, "nothing was chosen yet"
    assert page.number == number
    page.choose(1)
    assert page.number == number + 1
    assert page.send() is not None
    assert page.agent.phase == WAITING
    assert page.send() is None, "it was sent"


def test_a_race_ends_with_the_choice_and_a_late_one_is_asked_again() -> None:
    page, course = sit("gardener", "race", 3)
    request = next(requests(course, random.Random(0)))
    page.hear(request)
    assert page.now()["ask"]["race"]
    action = page.choose(0)
    assert action is not None
    page.hear(request | {"events": []})
    assert page.now()["remark"] == "Others were faster: choose again."


def test_a_turn_in_the_making_is_seen_on_the_board() -> None:
    page, course = sit("samurai", "basic", 2)
    page.hear(next(requests(course, random.Random(0))))
    assert "d" not in page.now()
    page.choose(0)
    ask = page.now()["ask"]
    assert all("at" in item for item in ask["items"])
    assert ask["done"]
    [space] = [key for key in ask["items"][0]["p"] if key.startswith("t")]
    assert space == f"t{ask['items'][0]['k']}"
    page.choose(0)
    assert space in page.now()["d"]
    page.send()
    assert space in page.now()["d"], "it stays until the referee tells more"


def test_a_card_that_was_planted_begins_no_round() -> None:
    """On the guessed state nobody else owes anything, so that the round would be over at once."""
    rng = random.Random(0)
    page, course = sit("gardener", "draft", 2)
    for request in requests(course, rng):
        page.hear(request)
        if request["kind"] == "plant":
            break
        course.answer(0, answers(page, rng))
    before = page.now()["ask"]["items"]
    assert all(not key.startswith("o") or value is None for key, value in before[0]["p"].items())
    page.choose(0)
    page.choose(0)
    [said] = page.now()["w"]["l"]
    assert "plants" in said
    page.send()
    assert page.now()["w"]["l"] == [said]


def test_the_clock_and_a_forfeit() -> None:
    page, course = sit("samurai", "basic", 2)
    request = next(requests(course, random.Random(0)))
    page.hear(request)
    assert page.agent.limit_ms is None
    page.hear({"type": "game_start", "time": {"bank_ms": 5}})
    page.hear(request | {"events": []})
    assert page.agent.limit_ms == 2000.0
    page.close("Your time was over.")
    assert page.agent.phase == GONE
    assert page.now()["end"] == "Your time was over."
    assert page.choose(0) is None
    page.close("Your seat has forfeited.")
    assert page.now()["end"] == "Your seat has forfeited.", "the last word is the referee's"


def test_an_interrupted_game_has_no_places() -> None:
    page, _ = sit("samurai", "basic", 2)
    page.hear({"type": "game_over", "termination": "interrupted", "ranks": [], "forfeits": [], "events": [
        {"event": "turn", "seat": 0, "turn": 1}]})  # fmt: skip
    assert page.now()["place"] is None
    assert "The game was interrupted." in page.now()["w"]["l"]
