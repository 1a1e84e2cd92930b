"""Turns of Samurai as they come over the wire: what cannot be read, what is not allowed, and where a turn goes on."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from acting import act
from kit import samurai

from arena.core.errors import IllegalAction, MalformedAction
from arena.core.rules.base import Event
from arena.core.types import Payload
from arena.games.samurai.game import Samurai
from arena.games.samurai.state import CASTE_INDEX, CASTES, TILE_INDEX, Capture, End, Place, State
from tests.games.rules.samurai_positions import at, kinds, one_space_left, position, three_to_capture, tiles


@pytest.fixture
def rules() -> Samurai:
    return samurai(2)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("action", "place"),
    [
        ({}, "$.plays"),
        ({"plays": {}}, "$.plays"),
        ({"plays": [3]}, "$.plays[0]"),
        ({"plays": [{}]}, "$.plays[0].tile"),
        ({"plays": [{"tile": "rice5", "space": 1}]}, "$.plays[0].tile"),
        ({"plays": [{"tile": "rice2"}]}, "$.plays[0].space"),
        ({"plays": [{"tile": "rice2", "space": True}]}, "$.plays[0].space"),
        ({"plays": [{"tile": "rice2", "space": -1}]}, "$.plays[0].space"),
        ({"plays": [{"tile": "rice2", "space": "1"}]}, "$.plays[0].space"),
        ({"plays": [{"tile": "move", "from": 1}]}, "$.plays[0].to"),
        (
            {"plays": [{"tile": "switch", "space": 1, "caste": "x", "with": 2, "with_caste": "rice"}]},
            "$.plays[0].caste",
        ),
    ],
)
def test_what_cannot_be_read_is_malformed_and_names_the_place(rules: Samurai, action: Any, place: str) -> None:
    state = position(rules, {0: tiles("rice2", "move", "switch")})
    with pytest.raises(MalformedAction) as caught:
        act(rules, state, 0, action)
    assert str(caught.value).endswith(f" - at {place}")


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ({"plays": [{"tile": "rice3", "space": 0}]}, "rice3 is not in the hand"),
        ({"plays": [{"tile": "rice2", "space": 254}]}, "goes on an empty land space"),
        ({"plays": [{"tile": "ship1", "space": "LAND"}]}, "goes on an empty sea space"),
    ],
)
def test_what_is_not_allowed_is_illegal_and_says_why(rules: Samurai, action: Any, reason: str) -> None:
    state = position(rules, {0: tiles("rice2", "ship1")})
    for play in action["plays"]:
        if play["space"] == "LAND":
            play["space"] = rules.tables.land[0]
    with pytest.raises(IllegalAction, match=reason):
        act(rules, state, 0, action)


def test_unknown_fields_are_ignored(rules: Samurai) -> None:
    state = position(rules, {0: tiles("rice2", "rice3")})
    action = {"plays": [{"tile": "rice2", "space": rules.tables.land[0], "why": "x"}], "more": 1}
    assert act(rules, state, 0, action).turn == 2


def test_what_cannot_be_read_is_malformed_though_a_play_before_it_is_illegal(rules: Samurai) -> None:
    state = position(rules, {0: tiles("rice2")})
    plays = [{"tile": "rice3", "space": 0}, {"tile": "rice2"}]
    with pytest.raises(MalformedAction, match=r"it is missing - at \$\.plays\[1\]\.space"):
        act(rules, state, 0, {"plays": plays})
    with pytest.raises(IllegalAction, match=r"rice3 is not in the hand - at \$\.plays\[0\]"):
        act(rules, state, 0, {"plays": plays[:1]})


def test_equal_plays_are_written_as_the_same_bytes(rules: Samurai) -> None:
    """Whatever the order of keys, unknown keys, the order of a hand, and which piece of a switch is named first."""
    hand = ["ship1", "buddha4", "rice2", "samurai2", "move"]
    switch = {"tile": "switch", "space": 3, "caste": "rice", "with": 9, "with_caste": "buddha"}
    turned = {"with_caste": "rice", "with": 3, "why": "x", "caste": "buddha", "space": 9, "tile": "switch"}
    begun, turn = rules.start(), position(rules, {0: tiles("rice2")})
    for state, one, other in (
        (begun, {"hand": hand}, {"why": "x", "hand": hand[::-1]}),
        (turn, switch, turned),
        (turn, {"tile": "rice2", "space": 5}, {"space": 5, "tile": "rice2", "why": [1]}),
        (turn, {"tile": "move", "from": 5, "to": 6}, {"to": 6, "from": 5, "tile": "move"}),
    ):
        actions = ({"plays": [one]}, {"why": "x", "plays": [other]})
        written = [json.dumps(rules.write_action(rules.read_action(state, 0, action))) for action in actions]
        assert written[0] == written[1]


# fast=must_follow


def test_a_turn_that_stops_short_of_what_must_follow_is_asked_for_again() -> None:
    rules = at(fast="must_follow")
    a, b = rules.tables.land[:2]
    begun = position(rules, {0: tiles("ronin1", "rice2", "rice3", "ship1")})
    events: list[Event] = []
    state = act(rules, begun, 0, {"plays": [{"tile": "ronin1", "space": a}]}, events)
    assert kinds(events) == ["placed"], "the turn goes on"
    assert [(decision.seat, decision.kind) for decision in rules.pending(state)] == [(0, "turn")]
    view = rules.view(state, 0)
    assert (view["placed"], view["fast_only"], view["to_move"], view["turn"]) == ([a], False, 0, begun.turn)
    legal = rules.write_legal(state, 0)
    assert {tile for entry in legal for tile in entry["tile"]} == {"rice2", "rice3", "ship1"}
    with pytest.raises(IllegalAction, match=r"another one must follow it - at \$\.plays"):
        act(rules, state, 0, {"plays": []})
    state = act(rules, state, 0, {"plays": [{"tile": "rice2", "space": b}]})
    assert (state.to_move, state.turn) == (1, begun.turn + 1)


def test_a_turn_may_stop_short_more_than_once_and_be_said_in_one_message_too() -> None:
    rules = at(fast="must_follow")
    a, b = rules.tables.land[:2]
    sea = rules.tables.start.sea[0]
    plays = [{"tile": "rice2", "space": a}, {"tile": "ronin1", "space": b}, {"tile": "ship1", "space": sea}]
    begun = position(rules, {0: tiles("ronin1", "rice2", "rice3", "ship1")})
    whole: list[Event] = []
    after = act(rules, begun, 0, {"plays": plays}, whole)
    state = act(rules, begun, 0, {"plays": plays[:2]})
    assert (state.to_move, state.turn, state.fast_only) == (0, begun.turn, True)
    assert act(rules, state, 0, {"plays": plays[2:]}) == after
    assert kinds(whole) == ["placed", "placed", "placed", "turn"]
    assert after == _one_by_one(rules, begun, [Place(TILE_INDEX[play["tile"]], play["space"]) for play in plays])


def _one_by_one(rules: Samurai, state: State, plays: list[Any]) -> State:
    for play in plays:
        rules.check(state, 0, play)
        state = rules.apply(state, 0, play)
    return state


def test_what_follows_may_not_be_a_second_tile_that_is_not_fast() -> None:
    rules = at(fast="must_follow")
    a, b, c = rules.tables.land[:3]
    state = position(rules, {0: tiles("ronin1", "rice2", "rice3", "ship1")})
    state = act(rules, state, 0, {"plays": [{"tile": "rice2", "space": a}, {"tile": "ronin1", "space": b}]})
    with pytest.raises(IllegalAction, match=r"rice3 is not fast.* at \$\.plays\[0\]"):
        act(rules, state, 0, {"plays": [{"tile": "rice3", "space": c}]})


def test_one_legal_play_an_answer_plays_a_whole_turn_under_every_ruleset() -> None:
    for ruleset in Samurai.rulesets:
        rules: Any = samurai(2, ruleset)
        state = position(rules, {0: tiles("ronin1", "ship1", "ship2", "rice2"), 1: tiles("rice3")})
        asked = 0
        while state.turn == 1:
            legal = rules.write_legal(state, 0)[-1]  # ships first, then the rice
            state = act(rules, state, 0, {"plays": [{key: values[0] for key, values in legal.items()}]})
            asked += 1
        assert asked == (3 if rules.options["fast"] == "must_follow" else 1)


# capture_order=chosen


def turn(last: int, *captures: tuple[int, int]) -> Payload:
    named = [{"space": space, "caste": CASTES[caste]} for space, caste in captures]
    return {"plays": [{"tile": "buddha4", "space": last}], "captures": named}


def captured(events: list[Event]) -> list[tuple[int, int]]:
    return [
        (event.data["space"], CASTE_INDEX[event.data["caste"]])
        for event in events
        if event.data["event"] in ("captured", "set_aside")
    ]


@pytest.mark.parametrize("count", range(4))
def test_named_pieces_are_captured_first_and_the_others_after_them(count: int) -> None:
    rules = at(4, capture_order="chosen")
    state, village, city, last = three_to_capture(rules)
    every = sorted([(village, 1), (city, 0), (city, 2)])
    for order in permutations(every, count):
        events: list[Event] = []
        after = act(rules, state, 0, turn(last, *order), events)
        assert captured(events) == [*order, *(piece for piece in every if piece not in order)]
        assert after == act(rules, state, 0, {"plays": turn(last)["plays"]})
        assert (after.to_move, after.phase) == (1, "turns")


def test_captures_are_written_as_they_are_read() -> None:
    rules = at(4, capture_order="chosen")
    state, village, city, last = three_to_capture(rules)
    plays = [Place(TILE_INDEX["buddha4"], last), End(), Capture(city, 2), Capture(village, 1)]
    assert rules.write_action(plays) == turn(last, (city, 2), (village, 1))
    between = rules.apply(rules.apply(state, 0, plays[0]), 0, End())
    assert rules.write_action(plays[2:]) == {"plays": []} | {
        "captures": turn(last, (city, 2), (village, 1))["captures"]
    }
    assert rules.read_action(state, 0, turn(last, (city, 2), (village, 1))) == [plays[0], *plays[2:]]
    legal = {(piece["space"][0], piece["caste"][0]) for piece in rules.write_legal(between, 0)}
    assert legal == {(village, "rice"), (city, "buddha"), (city, "castle")}


def test_a_turn_that_is_in_its_captures_can_be_finished_by_an_action() -> None:
    rules = at(4, capture_order="chosen")
    state, village, city, last = three_to_capture(rules)
    between = rules.apply(rules.apply(state, 0, Place(TILE_INDEX["buddha4"], last)), 0, End())
    after = act(rules, between, 0, {"plays": [], "captures": [{"space": city, "caste": "castle"}]})
    assert after == act(rules, state, 0, turn(last))
    assert act(rules, between, 0, {"plays": [{"space": city, "caste": "castle"}]}) == after, "as legal has it"
    with pytest.raises(IllegalAction, match=r"the turn is over.* at \$\.plays\[0\]"):
        rules.act(between, 0, [Place(TILE_INDEX["ronin1"], village)])


@pytest.mark.parametrize(("tile", "event"), [("buddha4", "captured"), ("buddha2", "set_aside")])
def test_one_piece_may_be_named_although_there_is_no_choice(tile: str, event: str) -> None:
    rules = at(capture_order="chosen")
    state, village, last = one_space_left(rules, tiles(tile))
    events: list[Event] = []
    act(rules, state, 0, turn(last, (village, 0)) | {"plays": [{"tile": tile, "space": last}]}, events)
    assert captured(events) == [(village, 0)]
    assert event in kinds(events)


def test_one_piece_may_not_be_named_twice() -> None:
    rules = at(capture_order="chosen")
    state, village, last = one_space_left(rules, tiles("buddha4"))
    with pytest.raises(IllegalAction, match=r"no buddha on space .* is to be captured now - at \$\.captures\[1\]"):
        act(rules, state, 0, turn(last, (village, 0), (village, 0)))


def test_naming_what_is_not_captured_is_illegal() -> None:
    rules = at(4, capture_order="chosen")
    state, village, city, last = three_to_capture(rules)
    elsewhere = rules.tables.villages[-2]
    for wrong in ([(city, 1)], [(village, 1), (village, 1)], [(city, 0), (village, 1), (city, 2), (city, 2)]):
        with pytest.raises(IllegalAction, match=rf"is to be captured now - at \$\.captures\[{len(wrong) - 1}\]"):
            act(rules, state, 0, turn(last, *wrong))
    with pytest.raises(IllegalAction, match=rf"no buddha on space {elsewhere} is to be captured now"):
        act(rules, state, 0, turn(last, (elsewhere, 0)))
    with pytest.raises(IllegalAction, match=r"at \$\.captures\[0\]"):
        act(rules, state, 0, turn(rules.tables.land_around[elsewhere][0], (village, 1)))


def test_a_turn_without_captures_may_name_none() -> None:
    rules = at(capture_order="chosen")
    state = position(rules, {0: tiles("buddha4")})
    assert act(rules, state, 0, turn(rules.tables.land[0])).turn == 2


def test_nothing_is_captured_in_a_turn_that_stops_short() -> None:
    rules = at(4, capture_order="chosen", fast="must_follow")
    state, village, _, last = three_to_capture(rules)
    stop = {"plays": [{"tile": "ronin1", "space": last}]}
    with pytest.raises(IllegalAction, match=r"no rice .* is to be captured now - at \$\.captures\[0\]"):
        act(rules, state, 0, stop | {"captures": [{"space": village, "caste": "rice"}]})
    state = act(rules, state, 0, stop | {"captures": []})
    assert (state.to_move, state.phase, village in state.pieces[1]) == (0, "turns", True)
    far = rules.tables.land_around[rules.tables.villages[-2]][0]
    events: list[Event] = []
    act(rules, state, 0, turn(far, (village, 1)), events)
    assert captured(events)[0] == (village, 1)


def test_captures_are_an_unknown_key_where_their_order_is_automatic() -> None:
    rules = at(4)
    state, village, *_, last = three_to_capture(rules)
    for anything in (3, [3], [{"space": 1, "caste": "x"}], [{"space": village, "caste": "rice"}]):
        assert act(rules, state, 0, turn(last) | {"captures": anything}) == act(rules, state, 0, turn(last))


@pytest.mark.parametrize(
    ("captures", "place"),
    [
        ({}, "$.captures"),
        (None, "$.captures"),
        ([3], "$.captures[0]"),
        ([{"space": 1}], "$.captures[0].caste"),
        ([{"caste": "rice"}], "$.captures[0].space"),
        ([{"space": 1, "caste": "samurai"}], "$.captures[0].caste"),
        ([{"space": 256, "caste": "rice"}], "$.captures[0].space"),
    ],
)
def test_captures_that_cannot_be_read_are_malformed(captures: Any, place: str) -> None:
    rules = at(4, capture_order="chosen")
    state, *_, last = three_to_capture(rules)
    with pytest.raises(MalformedAction) as caught:
        act(rules, state, 0, turn(last) | {"captures": captures})
    assert str(caught.value).endswith(f" - at {place}")
