"""A person's turns: whichever way somebody goes through the choices, the action is legal, and undo takes all back."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.core.catalogue import game, make_settings, names, rules_of
from arena.core.rules.base import Rules
from arena.core.rules.course import Accepted, Ask, Chance, Course, Over
from arena.core.types import Payload
from arena.pages.play.turn import Choosing, Turn
from tests.acting import decisions

RULESETS = [(name, ruleset) for name in ("samurai", "gardener") for ruleset in game(name).rulesets]

MOST_REACHED = 500  # plays of a state that are compared one by one; a first hand has 10,000


def request_of(course: Course, seat: int, kind: str) -> Payload:
    rules, state = course.rules, course.state
    return {"kind": kind, "view": rules.view(state, seat), "legal": rules.write_legal(state, seat)}


def picture(turn: Turn) -> Any:
    return turn.choice(), turn.chosen, turn.plays, turn.may_end, turn.is_whole, turn.shown()


def play_turn(turn: Turn, rng: random.Random) -> None:
    """Chooses at random, changes its mind now and then, and ends where that is allowed."""
    while not turn.is_whole:
        if turn.may_end and rng.random() < 0.3:
            return
        before = picture(turn)
        choice = turn.choice()
        assert choice is not None
        value = rng.choice(choice.values)
        if rng.random() < 0.3:
            turn.preview(value)
            assert picture(turn) == before
        turn.choose(value)
        if rng.random() < 0.3:
            turn.undo()
            assert picture(turn) == before


def play_game(rules: Rules[Any], rng: random.Random, most: int) -> int:
    course, turns = Course(rules), 0
    while not isinstance(due := course.due, Over) and turns < most:
        if isinstance(due, Chance):
            course.draw(rng.randrange(due.draw.n))
        elif isinstance(due, Ask):
            asked = course.ask()
            for decision in asked.decisions:
                turn = Turn(rules, request_of(course, decision.seat, decision.kind))
                assert rules.guess(turn.view, decision.kind) is not None
                play_turn(turn, rng)
                turns += 1
                answered = course.answer(decision.seat, turn.action())
                if not asked.decisions[0].race:
                    assert isinstance(answered, Accepted), answered
                    assert decision.seat not in course.unfinished, "the turn is whole"
        else:
            raise AssertionError(due)
    return turns


@pytest.mark.parametrize(("name", "ruleset"), RULESETS, ids="-".join)
@given(seed=st.integers(0, 2**32), seats=st.sampled_from([2, 3]))
@settings(max_examples=3)
def test_any_way_through_the_choices_is_a_legal_action(name: str, ruleset: str, seed: int, seats: int) -> None:
    rules = rules_of(make_settings(name, seats, ruleset=ruleset))
    assert play_game(rules, random.Random(seed), most=60) > 10


@pytest.mark.parametrize(("name", "ruleset"), RULESETS, ids="-".join)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=2)
def test_a_guess_is_a_state_that_the_seat_sees_as_its_own(name: str, ruleset: str, seed: int) -> None:
    rules = rules_of(make_settings(name, 3, ruleset=ruleset))
    rng, course = random.Random(seed), Course(rules)
    for decision in decisions(course, rng):
        seat, state = decision.seat, course.state
        if not course.unfinished and (decision.race or len(course.asked) == 1):
            view = rules.view(state, seat)
            guessed = rules.guess(view, decision.kind)
            assert rules.view(guessed, seat) == view
            assert rules.write_legal(guessed, seat) == rules.write_legal(state, seat)
        legal = rules.legal(course.state, seat)
        play = legal[rng.randrange(len(legal))]
        if not course.rules.write_action([play]).get("plays", [0]):
            play = legal[0]
        course.answer(seat, rules.write_action([play]))


class Plain(type(rules_of(make_settings("gardener", 2)))):  # type: ignore[misc]
    """A game that offers no guess."""

    def guess(self, view: Payload, kind: str) -> None:
        return None


def test_a_game_without_a_guess_has_turns_of_one_play() -> None:
    assert set(names()) >= {"samurai", "gardener"}
    made = make_settings("gardener", 2, ruleset="draft")
    real = rules_of(made)
    rules = Plain(2, real.options, real.board)
    turn = Turn(
        rules, {"kind": "plant", "view": {"seat": 1}, "legal": [{"at": [[0, 3], [2, 0]], "turned": [False, True]}]}
    )
    assert not turn.may_end
    turn.choose([2, 0])
    assert turn.choice().values == (False, True)  # type: ignore[union-attr]
    turn.undo()
    assert turn.choice().key == "at"  # type: ignore[union-attr]
    turn.choose([0, 3])
    turn.choose(True)
    assert turn.is_whole
    assert turn.action() == {"plays": [{"at": [0, 3], "turned": True}]}
    assert turn.preview(False) is None


# What a front lists, with all that leaves no choice chosen by itself


def plays_of(choosing: Choosing, done: int) -> Iterator[str]:
    """Goes all ways to one more play, and back."""
    choice = choosing.choice
    assert choice is not None
    for place in range(len(choice.values)):
        before = picture(choosing.turn)
        assert choosing.choose(place)
        if len(choosing.turn.plays) > done:
            yield json.dumps(choosing.turn.plays[-1], sort_keys=True)
        else:
            yield from plays_of(choosing, done)
        assert choosing.undo()
        assert picture(choosing.turn) == before


def legal_plays(rules: Rules[Any], state: Any, seat: int) -> list[str]:
    written = (rules.write_play(play) for play in rules.legal(state, seat))
    return [json.dumps(play, sort_keys=True) for play in written]


def compare(rules: Rules[Any], choosing: Choosing, state: Any, seat: int) -> bool:
    legal = [play for play in legal_plays(rules, state, seat) if play != "{}"]  # to end is no choice of the list
    if len(legal) > MOST_REACHED:
        return False
    assert sorted(plays_of(choosing, len(choosing.turn.plays))) == sorted(set(legal)), "each once"
    return True


@pytest.mark.parametrize(("name", "ruleset"), RULESETS, ids="-".join)
@given(seed=st.integers(0, 2**32), seats=st.sampled_from([2, 3]))
@settings(max_examples=2)
def test_all_that_is_legal_can_be_chosen_and_nothing_else(name: str, ruleset: str, seed: int, seats: int) -> None:
    rules = rules_of(make_settings(name, seats, ruleset=ruleset))
    course, rng, compared = Course(rules), random.Random(seed), Counter[tuple[str, bool]]()
    for decision in decisions(course, rng):
        seat, kind = decision.seat, decision.kind
        choosing = Choosing(Turn(rules, request_of(course, seat, kind)))
        while not choosing.turn.is_whole and not (choosing.turn.may_end and rng.random() < 0.4):
            place = kind, choosing.is_begun
            if kind != "hand" and not choosing.turn.chosen and compared[place] < 2 and rng.random() < 0.3:
                compared[place] += compare(rules, choosing, choosing.turn._steps[-1].state, seat)
            choice = choosing.choice
            assert choice is not None
            assert choosing.choose(rng.randrange(len(choice.values)))
        assert isinstance(course.answer(seat, choosing.turn.action()), Accepted) or decision.race
    assert compared[("turn" if name == "samurai" else "plant"), False]


def test_what_is_no_place_of_the_list_changes_nothing() -> None:
    rules = rules_of(make_settings("gardener", 2))
    course = Course(rules)
    while not isinstance(course.due, Ask):
        course.draw(0)
    [decision] = course.ask().decisions
    choosing = Choosing(Turn(rules, request_of(course, decision.seat, decision.kind)))
    for place in (-1, 2, 99):
        assert not choosing.choose(place)
    assert not choosing.undo()
    assert choosing.choose(1)
    assert not choosing.choose(0), "the turn is whole"
    assert choosing.undo()
    assert not choosing.is_begun
