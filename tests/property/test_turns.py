"""A person's turns: whichever way somebody goes through the choices, the action is legal, and undo takes all back."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games import game, make_settings, names, rules_of
from arena.play.turn import Turn
from arena.rules.base import Rules
from arena.rules.course import Accepted, Ask, Chance, Course, Over
from arena.types import Payload

RULESETS = [(name, ruleset) for name in ("samurai", "gardener") for ruleset in game(name).rulesets]


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
    while not isinstance(due := course.due, Over):
        if isinstance(due, Chance):
            course.draw(rng.randrange(due.draw.n))
            continue
        for decision in course.ask().decisions if isinstance(due, Ask) else ():
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
