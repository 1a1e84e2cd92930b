"""What a seat was told, decision by decision: the events of a message cut into steps, each with its views. Pure.

A seat is told what has happened since it was last asked, in one list. Somebody who watches wants to see it one decision
after another; the game's presenter says which events begin one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from arena.core.face import Payload, Seat, game_kit, presenters


class Step(msgspec.Struct, frozen=True):
    """What one decision brought about, as far as a seat was told."""

    turn: int
    """The number of the turn, 0 in the set-up."""
    seat: Seat | None
    """Who decided; None if it was nobody, as when a round begins."""
    events: tuple[Payload, ...]
    view: Payload


def steps(
    rules: game_kit.Rules[Any], presenter: presenters.Presenter, view: Payload, events: Sequence[Payload]
) -> Iterator[Step]:
    """Yields the steps that a seat was told of.

    Args:
        presenter: Says which events begin a step.
        view: What the seat knew before.
        events: What it was told since.
    """
    begun: list[Payload] = []
    seat: Seat | None = None
    turn = presenter.turn_of(view)
    for event in events:
        decider = _decider(event, rules.seats)
        if event["event"] not in presenter.follows and (not begun or decider != seat):
            if begun:
                yield Step(turn, seat, tuple(begun), view)
                begun = []
            seat = decider
        first = not begun
        begun.append(event)
        view = rules.fold(view, event)
        if first:
            turn = presenter.turn_of(view)
    if begun:
        yield Step(turn, seat, tuple(begun), view)


def own(
    rules: game_kit.Rules[Any], presenter: presenters.Presenter, view: Payload, events: Sequence[Payload], seat: Seat
) -> tuple[Payload, tuple[Payload, ...]]:
    """Returns what a seat's own decision brings about, of what is tried on a guessed state, and the view after it.

    There the others may owe nothing more, and the next round begins at once: that is no news for anybody.
    """
    done: list[Payload] = []
    for at, step in enumerate(steps(rules, presenter, view, events)):
        if at and step.seat != seat:
            break
        done += step.events
        view = step.view
    return view, tuple(done)


def _decider(event: Payload, seats: int) -> Seat | None:
    seat = event.get("seat")
    return seat if type(seat) is int and 0 <= seat < seats else None
