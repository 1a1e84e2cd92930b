"""Samurai Gardener on the wire: actions read and written, legal plays, and what is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from acting import act
from kit import at_default_board
from msgspec.structs import replace

from arena.core.errors import IllegalAction, MalformedAction
from arena.core.rules.base import Event
from arena.core.types import Payload
from arena.games.gardener.game import Gardener
from arena.games.gardener.geometry import Row
from arena.games.gardener.state import Done, Plant, ScoreRow, Seize, State

TATAMI, PATH, POND, GARDEN = range(4)
ROW = {"at": [2, -1], "along": "down"}


def plays(*made: Payload) -> Payload:
    return {"plays": [*made]}


@pytest.fixture(scope="module")
def rules() -> Gardener:
    return at_default_board("gardener", 2, "draft", deck="face_down")  # type: ignore[return-value]


@pytest.fixture(scope="module")
def seizing(rules: Gardener) -> State:
    """Cards 0 and 1 are the gardens, 2 and 3 are turned up; seat 0 takes one."""
    state = rules.start()
    while rules.draw_wanted(state):
        state = rules.draw(state, 0)
    return state


@pytest.fixture(scope="module")
def planting(rules: Gardener, seizing: State) -> State:
    return act(rules, act(rules, seizing, 0, plays({"card": 2})), 1, plays({"card": 3}))


@pytest.fixture(scope="module")
def scoring(planting: State) -> State:
    """Seat 0 may score three rows, seat 1 one. The feature card of ponds alone is down, that of gardens comes last."""
    rows = (Row(-1, 2, True, PATH, 3), Row(0, -1, False, TATAMI, 4), Row(0, 0, True, POND, 5))
    return replace(
        planting, phase="score", taken=(None, None), rows=(rows, rows[:1]), features=(0b1011, 0b1111), due=(0, 1)
    )


def state_of(kind: str, request: pytest.FixtureRequest) -> State:
    return request.getfixturevalue({"seize": "seizing", "plant": "planting", "score": "scoring"}[kind])  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("kind", "action", "place"),
    [
        ("seize", {}, "$.plays"),
        ("seize", {"card": 2}, "$.plays"),
        ("plant", {"plays": {"at": [2, 0], "turned": False}}, "$.plays"),
        ("seize", {"plays": [{}]}, "$.plays[0].card"),
        ("seize", {"plays": [{"card": "2"}]}, "$.plays[0].card"),
        ("seize", {"plays": [{"card": True}]}, "$.plays[0].card"),
        ("seize", {"plays": [{"card": 2.0}]}, "$.plays[0].card"),
        ("plant", {"plays": [{}]}, "$.plays[0].at"),
        ("plant", {"plays": [{"at": [2, 0]}]}, "$.plays[0].turned"),
        ("plant", {"plays": [{"at": [2, 0], "turned": 1}]}, "$.plays[0].turned"),
        ("plant", {"plays": [{"at": 2, "turned": False}]}, "$.plays[0].at"),
        ("plant", {"plays": [{"at": [2], "turned": False}]}, "$.plays[0].at"),
        ("plant", {"plays": [{"at": [2, 0, 0], "turned": False}]}, "$.plays[0].at"),
        ("plant", {"plays": [{"at": [2, False], "turned": False}]}, "$.plays[0].at"),
        ("plant", {"plays": [{"at": [2, None], "turned": False}]}, "$.plays[0].at"),
        ("plant", {"plays": [{"x": 2, "y": 0, "turned": False}]}, "$.plays[0].at"),
        ("score", {}, "$.plays"),
        ("score", {"plays": ROW}, "$.plays"),
        ("score", {"plays": [[2, -1, "down"]]}, "$.plays[0]"),
        ("score", {"plays": [{"along": "down"}]}, "$.plays[0].at"),
        ("score", {"plays": [{"at": [2, "1"], "along": "down"}]}, "$.plays[0].at"),
        ("score", {"plays": [{"at": [2, -1]}]}, "$.plays[0].along"),
        ("score", {"plays": [{"at": [2, -1], "along": True}]}, "$.plays[0].along"),
        ("score", {"plays": [ROW, {"at": [2, -1], "along": "up"}]}, "$.plays[1].along"),
    ],
)
def test_what_cannot_be_read_is_malformed_and_names_the_place(
    rules: Gardener, kind: str, action: Any, place: str, request: pytest.FixtureRequest
) -> None:
    with pytest.raises(MalformedAction, match=r"^expected ") as caught:
        act(rules, state_of(kind, request), 0, action)
    assert str(caught.value).endswith(f" - at {place}")


@pytest.mark.parametrize(
    ("kind", "action", "reason"),
    [
        ("seize", {"plays": [{"card": 0}]}, "card 0 is not turned up - at $.plays[0]"),
        ("seize", {"plays": [{"card": -1}]}, "card -1 is not turned up - at $.plays[0]"),
        ("seize", {"plays": [{"card": 300}]}, "card 300 is not turned up - at $.plays[0]"),
        ("seize", {"plays": []}, "expected one play, got: 0 - at $.plays"),
        ("seize", {"plays": [{"card": 2}, {"card": 2}]}, "expected one play, got: 2 - at $.plays"),
        ("plant", {"plays": [{"at": [3, 0], "turned": True}]}, "neither beside the garden nor over it - at $.plays[0]"),
        ("plant", {"plays": [{"at": [0, 0], "turned": True}]}, "exactly where another was put - at $.plays[0]"),
        ("score", {"plays": [{"at": [0, 0], "along": "down"}]}, "card of pond is face down - at $.plays[0]"),
        ("score", {"plays": [ROW, ROW]}, "no new row that is not scored yet begins at [2, -1] and runs down"),
        ("score", {"plays": [ROW, {"at": [2, -1], "along": "across"}]}, "runs across - at $.plays[1]"),
        (
            "score",
            {"plays": [ROW, {"at": [-1, 0], "along": "across"}, ROW]},
            "the scoring is over: nothing more can be scored - at $.plays[2]",
        ),
    ],
)
def test_what_is_not_allowed_is_illegal_and_says_why_and_where(
    rules: Gardener, kind: str, action: Any, reason: str, request: pytest.FixtureRequest
) -> None:
    state = state_of(kind, request)
    with pytest.raises(IllegalAction) as caught:
        act(rules, state, 0, action)
    assert reason in str(caught.value)
    assert " - at $." in str(caught.value)


def test_a_seat_that_owes_nothing_is_refused_whatever_it_sends(
    rules: Gardener, seizing: State, planting: State, scoring: State
) -> None:
    done = act(rules, planting, 0, {"plays": [{"at": [2, 0], "turned": False}]})
    for state, seat, play in ((seizing, 1, Seize(2)), (done, 0, Plant(2, 0, False))):
        with pytest.raises(IllegalAction, match=rf"seat {seat} owes no decision - at \$\.plays\[0\]"):
            rules.act(state, seat, [play])
    with pytest.raises(IllegalAction, match="seat 0 owes no decision"):
        rules.act(rules.apply(scoring, 0, Done()), 0, [])
    for state in (rules.start(), rules.forfeit(planting, [0])):
        with pytest.raises(IllegalAction, match="not a play of the decision that is due"):
            rules.act(state, 1, [Seize(2)])


def test_unknown_keys_are_ignored_so_that_rows_of_events_can_be_sent_back(
    rules: Gardener, seizing: State, scoring: State
) -> None:
    more = plays({"card": 3, "why": "x"}) | {"why": "x"}
    assert act(rules, seizing, 0, more) == act(rules, seizing, 0, plays({"card": 3}))
    row = rules.view(scoring, 0)["rows"][0][0]
    assert row == ROW | {"kind": "path", "length": 3}
    assert act(rules, scoring, 0, {"plays": [row], "why": "x"}) == act(rules, scoring, 0, {"plays": [ROW]})


def test_equal_plays_are_written_as_the_same_bytes(
    rules: Gardener, seizing: State, planting: State, scoring: State
) -> None:
    for state, one, other in (
        (seizing, {"card": 3}, {"why": "x", "card": 3}),
        (planting, {"at": [2, -1], "turned": True}, {"turned": True, "at": [2, -1]}),
        (scoring, ROW, {"length": 3, "kind": "path", "along": "down", "at": [2, -1]}),
    ):
        written = [json.dumps(rules.write_action(rules.read_action(state, 0, plays(play)))) for play in (one, other)]
        assert written[0] == written[1]


def test_what_cannot_be_read_is_malformed_though_a_row_before_it_cannot_be_scored(
    rules: Gardener, scoring: State
) -> None:
    with pytest.raises(MalformedAction, match=r"at \$\.plays\[1\]\.along"):
        act(rules, scoring, 0, plays({"at": [0, 0], "along": "down"}, {"at": [2, -1]}))


def test_rows_are_scored_in_the_order_of_the_action_and_the_rest_is_left(rules: Gardener, scoring: State) -> None:
    events: list[Event] = []
    state = act(rules, scoring, 0, {"plays": [{"at": [-1, 0], "along": "across"}, ROW]}, events)
    assert [event.data["event"] for event in events] == ["scored", "scored", "bonus"]
    assert [event.data["points"] for event in events] == [2, 1, 2]
    assert (state.scores, state.due) == ((5, 0), (1,))
    events = []
    state = act(rules, scoring, 0, {"plays": [ROW]}, events)
    assert [event.data["event"] for event in events] == ["scored"]
    assert state.due == (1,)
    assert state.rows[0] == (Row(0, -1, False, TATAMI, 4), Row(0, 0, True, POND, 5))
    assert act(rules, scoring, 0, {"plays": []}) == rules.apply(scoring, 0, Done())


def test_plays_are_written_as_the_protocol_says(rules: Gardener, seizing: State) -> None:
    assert rules.write_action([Seize(12)]) == plays({"card": 12})
    assert rules.write_action([Plant(2, -1, True)]) == plays({"at": [2, -1], "turned": True})
    rows = [ScoreRow(2, -1, True), ScoreRow(-1, 0, False), Done()]
    assert rules.write_action(rows) == plays(ROW, {"at": [-1, 0], "along": "across"})
    assert rules.write_action([Done()]) == {"plays": []}


def test_legal_plays_are_written_as_the_protocol_says(
    rules: Gardener, seizing: State, planting: State, scoring: State
) -> None:
    assert rules.write_legal(seizing, 0) == [{"card": [2, 3]}]
    (product,) = rules.write_legal(planting, 1)
    assert product["turned"] == [False, True]
    assert product["at"] == sorted(product["at"])
    assert [-2, 2] in product["at"]
    assert len(product["at"]) == 30
    assert rules.write_legal(scoring, 0) == [
        {"at": [[2, -1]], "along": ["down"]},
        {"at": [[-1, 0]], "along": ["across"]},
    ]


def test_the_view_has_the_fields_of_the_protocol(rules: Gardener, scoring: State) -> None:
    path = {"at": [2, -1], "along": "down", "kind": "path", "length": 3}
    assert rules.view(scoring, 1) == {
        "seat": 1,
        "round": 1,
        "starter": 0,
        "deck": 60,
        "next": None,
        "offer": [],
        "taken": [None, None],
        "gardens": [[[0, 0, 0, False]], [[1, 0, 0, False]]],
        "rows": [
            [
                path,
                {"at": [-1, 0], "along": "across", "kind": "tatami", "length": 4},
                {"at": [0, 0], "along": "down", "kind": "pond", "length": 5},
            ],
            [path],
        ],
        "features": [["tatami", "path", "garden"], ["tatami", "path", "pond", "garden"]],
        "scores": [0, 0],
        "forfeited": [],
        "ranks": None,
    }
