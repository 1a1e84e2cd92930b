"""What a person may choose now, as a page lists it: on the board, as pictures, or in words."""

from __future__ import annotations

from typing import Any

from arena.pages.frames import difference
from arena.play.steps import own
from arena.play.turn import Choice, Turn
from arena.show.drawing import Drawing, Scene
from arena.show.presenter import Presenter
from arena.types import Payload


def items(
    turn: Turn, choice: Choice, presenter: Presenter, drawing: Drawing, scene: Scene, view: Payload
) -> list[Payload]:
    """Returns the values that may be chosen, in their order.

    Each is a map: its number `k`, by which it can be typed, and what it is in words, `w`; if it has them, its place
    `at`, the symbol `r` that surrounds it there, and `l`, what to write into it; or its picture `s`; and `p`, what
    changes in the scene with it.

    Args:
        turn: The turn in the making.
        choice: What is to be chosen next.
        presenter: Puts values into words.
        drawing: Draws them.
        scene: What is shown now.
        view: What the person knows after the plays so far.
    """
    found: list[Payload] = []
    for number, value in numbered(choice):
        offered = drawing.offered(view, turn.kind, choice.key, value)
        item: Payload = {"k": number, "w": presenter.word(choice.key, value, view)}
        if offered.at is not None:
            item |= {"at": [round(at, 1) for at in offered.at], "r": offered.ring}
            if type(value) is not int:  # numbers stand on the board already
                item["l"] = number
        if offered.symbol:
            item["s"] = offered.symbol
        if (preview := turn.preview(value)) is not None:
            after, events = own(turn.rules, presenter, turn.view, preview[1], turn.seat)
            if changed := _on_board(difference(scene, drawing.scene({turn.seat: after}, events))):
                item["p"] = changed
        found.append(item)
    return found


def numbered(choice: Choice) -> list[tuple[str, Any]]:
    """Returns the values with the numbers by which they are chosen: their own, if they are numbers."""
    if all(type(value) is int for value in choice.values):
        return [(str(value), value) for value in choice.values]
    return [(str(number), value) for number, value in enumerate(choice.values, 1)]


def _on_board(changed: Scene) -> Scene:
    """Returns what changes on the board: what stands beside it would only be restless."""
    return {key: value for key, value in changed.items() if not key.startswith("#")}
