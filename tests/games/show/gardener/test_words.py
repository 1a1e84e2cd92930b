"""The events of Samurai Gardener in words."""

from __future__ import annotations

from typing import Any

import pytest

from arena.core.show.seats import Seats
from arena.games.gardener.show.words import Narrator

ROW = {"at": [-1, 2], "along": "across", "kind": "pond", "length": 3}
DOWN = {"at": [0, 0], "along": "down", "kind": "path", "length": 4}
TWO = ["path", "pond"]
ALL = ["tatami", "path", "pond", "garden"]


def told(*events: dict[str, Any], features: bool = True) -> list[str]:
    narrator = Narrator(Seats(["ann", "bob"]), features=features, target="25")
    return [sentence.plain for sentence in narrator.tell(events)]


def planted(*rows: dict[str, Any], turned: bool) -> dict[str, Any]:
    return {"event": "planted", "seat": 1, "card": 12, "at": [2, -1], "turned": turned, "rows": [*rows]}


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"event": "garden", "seat": 1, "card": 7}, "■ bob (seat 1) begins with card 7"),
        ({"event": "round", "round": 3, "starter": 0}, "round 3 begins, and ▲ ann (seat 0) starts"),
        ({"event": "turned_up", "card": 7}, "turned up: card 7"),
        ({"event": "seized", "seat": 0, "card": 7}, "▲ ann (seat 0) seizes card 7"),
        (planted(turned=False), "■ bob (seat 1) plants card 12 at [2,-1]"),
        (planted(ROW, DOWN, turned=True),
         "■ bob (seat 1) plants card 12 at [2,-1], turned, and makes 3 ponds across from [-1,2] and 4 paths down "
         "from [0,0]"),
        ({"event": "scored", "seat": 0, "row": ROW, "points": 1, "features": TWO},
         "▲ ann (seat 0) scores 3 ponds across from [-1,2]: 1 point"),
        ({"event": "scored", "seat": 0, "row": DOWN, "points": 2, "features": ALL},
         "▲ ann (seat 0) scores 4 paths down from [0,0]: 2 points; all four feature cards turn up"),
        ({"event": "bonus", "seat": 0, "kinds": 3, "points": 4}, "▲ ann (seat 0) scored 3 kinds: 4 points more"),
        ({"event": "over", "reason": "target", "ranks": [2, 1], "scores": [20, 26]},
         "The game is over: a score is above 25. 1. ■ bob (seat 1) 26 points, 2. ▲ ann (seat 0) 20 points"),
    ],
)  # fmt: skip
def test_an_event_in_a_sentence(event: dict[str, Any], sentence: str) -> None:
    assert told(event) == [sentence]


@pytest.mark.parametrize("reason", ["target", "deck", "last_seat"])
def test_every_end_has_its_reason(reason: str) -> None:
    over = {"event": "over", "reason": reason, "ranks": [1, 1], "scores": [0, 0]}
    assert told(over)[0].startswith("The game is over: ")


def test_cards_turned_up_one_by_one_are_told_together() -> None:
    turned_up = [{"event": "turned_up", "card": card} for card in (40, 5, 12)]
    begins = {"event": "round", "round": 2, "starter": 1}
    assert told(begins, *turned_up)[1:] == ["turned up: cards 40, 5 and 12"]


def test_a_forfeit_is_told_by_its_record() -> None:
    assert told({"event": "forfeited", "seat": 1}) == []


def test_without_feature_cards_none_turns_up() -> None:
    scored = {"event": "scored", "seat": 0, "row": ROW, "points": 1, "features": ALL}
    assert told(scored, features=False) == ["▲ ann (seat 0) scores 3 ponds across from [-1,2]: 1 point"]
