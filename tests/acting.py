"""Actions in the form of the wire: applied, and made of the legal plays; and what a seat is told of a whole game."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from arena.core.rules.base import Decision, Event, Rules
from arena.core.rules.course import Ask, Chance, Course, Over
from arena.core.types import Payload


def act(rules: Rules[Any], state: Any, seat: int, action: Any, events: list[Event] | None = None) -> Any:
    """Returns the state after an action, read and then applied."""
    return rules.act(state, seat, rules.read_action(state, seat, action), events)


def first_play(legal: list[Payload]) -> Payload:
    """Returns the first play of `legal` on the wire: of the first product the first value, or values, of each key."""
    return {
        key: values["of"][: values["choose"]] if isinstance(values, dict) else values[0]
        for key, values in legal[0].items()
    }


def decisions(course: Course, rng: random.Random) -> Iterator[Decision]:
    """Yields the decisions of a game, which the caller answers, and draws chance at random."""
    while not isinstance(due := course.due, Over):
        if isinstance(due, Chance):
            course.draw(rng.randrange(due.draw.n))
        else:
            assert isinstance(due, Ask)
            yield from course.ask().decisions


def requests(course: Course, rng: random.Random, seat: int = 0) -> Iterator[Payload]:
    """Plays the others and chance at random; yields what a seat is told, and the caller answers."""
    for decision in decisions(course, rng):
        rules, state = course.rules, course.asked[decision.seat].state
        if decision.seat == seat:
            yield {
                "type": "request", "kind": decision.kind, "clock": {"limit_ms": 2000, "bank_ms": None},
                "view": rules.view(state, seat), "events": course.news(seat),
                "legal": rules.write_legal(state, seat),
            }  # fmt: skip
        else:
            legal = rules.legal(state, decision.seat)
            course.answer(decision.seat, rules.write_action([legal[rng.randrange(len(legal))]]))


def over(course: Course, seat: int = 0) -> Payload:
    """Returns what a seat is told of the end of a game."""
    due = course.due
    assert isinstance(due, Over)
    return {
        "type": "game_over", "termination": "finished", "ranks": list(due.outcome.ranks), "forfeits": [],
        "events": course.news(seat), "scores": None if due.outcome.scores is None else list(due.outcome.scores),
    }  # fmt: skip
