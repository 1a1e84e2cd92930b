"""When the pieces of surrounded settlements are captured, and in which order: the options that decide it."""

from __future__ import annotations

from itertools import permutations

import pytest
from acting import act
from msgspec.structs import replace

from arena.core.errors import IllegalAction
from arena.core.rules.base import Event
from arena.games.samurai.state import ONE, Capture, End, Switch
from tests.games.rules.samurai_positions import (
    BUDDHA,
    CASTLE,
    RICE,
    at,
    kinds,
    one_space_left,
    put,
    sea_of,
    three_to_capture,
    tiles,
)


@pytest.mark.parametrize(("captures", "winner"), [("turn_end", 0), ("instant", 1)])
def test_captures_come_at_the_end_of_the_turn_or_with_the_play(captures: str, winner: int) -> None:
    """A ship that is played after the village was surrounded counts only where captures wait for the end."""
    rules = at(captures=captures)
    state, village, last = one_space_left(rules, tiles("ronin1", "ship2", "rice3"))
    state = rules.apply(state, 0, put("ronin1", last))
    assert (village in state.pieces[BUDDHA]) == (captures == "turn_end")
    state = rules.apply(state, 0, put("ship2", sea_of(rules, village)[0]))
    state = rules.apply(state, 0, End())
    assert [pieces[BUDDHA] for pieces in state.captured] == [winner == 0, winner == 1]


def test_an_instant_capture_is_told_before_the_next_play_and_only_once() -> None:
    rules = at(captures="instant")
    state, village, last = one_space_left(rules, tiles("ronin1", "ship2"))
    events: list[Event] = []
    action = {"plays": [{"tile": "ronin1", "space": last}, {"tile": "ship2", "space": sea_of(rules, village)[0]}]}
    act(rules, state, 0, action, events)
    assert kinds(events)[:3] == ["placed", "captured", "placed"]
    assert kinds(events).count("captured") == 1


def test_what_was_captured_at_once_cannot_be_switched() -> None:
    rules = at(captures="instant")
    state, village, last = one_space_left(rules, tiles("ronin1", "switch"))
    switch = Switch.of(village, BUDDHA, rules.tables.villages[-2], BUDDHA)
    rules.check(state, 0, switch)
    with pytest.raises(IllegalAction, match="holds no buddha"):
        rules.check(rules.apply(state, 0, put("ronin1", last)), 0, switch)


@pytest.mark.parametrize(("exhausted", "set_aside"), [(True, 0), (False, 4)])
def test_instant_captures_end_the_game_at_the_end_of_the_turn(exhausted: bool, set_aside: int) -> None:
    rules = at(captures="instant")
    state, village, last = one_space_left(rules, tiles("ronin1", "ship2"))
    pieces = (ONE[village], *state.pieces[1:]) if exhausted else state.pieces
    state = replace(state, pieces=pieces, set_aside=(0, 0, set_aside))
    state = rules.apply(state, 0, put("ronin1", last))
    assert (state.phase, state.to_move) == ("turns", 0)
    assert rules.apply(state, 0, End()).phase == "over"


def test_a_forfeit_in_the_middle_of_a_turn_captures_nothing_twice() -> None:
    rules = at(3, captures="instant")
    state, _, last = one_space_left(rules, tiles("ronin1", "rice3"))
    state = rules.apply(state, 0, put("ronin1", last))
    assert (state.to_move, state.captured[1]) == (0, (1, 0, 0))
    events: list[Event] = []
    state = rules.forfeit(state, [0], events)
    assert kinds(events) == ["forfeited", "turn"]
    assert (state.to_move, state.captured[1]) == (1, (1, 0, 0))


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_the_chosen_order_is_kept_and_changes_nothing_else(order: tuple[int, ...]) -> None:
    chosen, automatic = at(4, capture_order="chosen"), at(4)
    state, village, city, last = three_to_capture(chosen)
    pieces = [Capture(village, RICE), Capture(city, BUDDHA), Capture(city, CASTLE)]
    expected = automatic.apply(automatic.apply(state, 0, put("buddha4", last)), 0, End())
    state = chosen.apply(chosen.apply(state, 0, put("buddha4", last)), 0, End())
    events: list[Event] = []
    for index in order[:2]:
        assert chosen.pending(state)[0].kind == "turn"
        state = chosen.apply(state, 0, pieces[index], events)
    told = [event.data["space"] for event in events if "caste" in event.data]
    assert told == [pieces[index].space for index in order], "the last one is captured without a choice"
    assert state == expected


def test_automatic_captures_go_by_space_and_caste() -> None:
    rules = at(4)
    state, village, city, last = three_to_capture(rules)
    events: list[Event] = []
    rules.apply(rules.apply(state, 0, put("buddha4", last)), 0, End(), events)
    told = [(event.data["space"], event.data["caste"]) for event in events if "caste" in event.data]
    assert told == sorted([(village, "rice"), (city, "buddha"), (city, "castle")], key=lambda piece: piece[0])


def test_a_library_plays_the_captures_one_by_one() -> None:
    rules = at(4, capture_order="chosen")
    state, village, city, last = three_to_capture(rules)
    state = replace(state, stacks=(tiles("rice2"), b"", b"", b""))
    state = rules.apply(rules.apply(state, 0, put("buddha4", last)), 0, End())
    assert [(decision.seat, decision.kind) for decision in rules.pending(state)] == [(0, "turn")]
    assert rules.draw_wanted(state) is None
    assert not rules.legal(state, 1)
    assert {*rules.legal(state, 0)} == {Capture(village, RICE), Capture(city, BUDDHA), Capture(city, CASTLE)}
    for seat in range(4):
        view = rules.view(state, seat)
        assert (view["phase"], view["to_move"]) == ("turns", 0)
    for play, reason in (
        (Capture(city, RICE), f"no rice on space {city} is to be captured now"),
        (Capture(rules.tables.villages[-2], BUDDHA), "is to be captured now"),
        (put("ronin1", last), "not a play of the decision"),
        (End(), "not a play of the decision"),
    ):
        assert play not in {*rules.legal(state, 0)}
        with pytest.raises(IllegalAction, match=reason):
            rules.check(state, 0, play)
    with pytest.raises(IllegalAction, match="seat 1 owes no decision"):
        rules.check(state, 1, Capture(village, RICE))
    state = rules.apply(state, 0, Capture(city, CASTLE))
    assert rules.legal(state, 0).size == 2
    state = rules.apply(state, 0, Capture(city, BUDDHA))
    assert state.phase == "refill"


def test_one_piece_alone_needs_no_choice() -> None:
    rules = at(capture_order="chosen")
    state, _, last = one_space_left(rules, tiles("rice3"))
    state = rules.apply(state, 0, put("rice3", last))
    assert (state.to_move, state.captured[1]) == (1, (1, 0, 0))


def test_a_forfeit_before_the_captures_resolves_them() -> None:
    rules = at(4, capture_order="chosen")
    state, *_, last = three_to_capture(rules)
    state = rules.apply(rules.apply(state, 0, put("buddha4", last)), 0, End())
    state = rules.forfeit(state, [0])
    assert (state.phase, state.to_move) == ("turns", 1)
    assert sum(map(sum, state.captured)) + sum(state.set_aside) == 3


def test_hidden_pieces_stay_hidden_while_captures_are_chosen() -> None:
    rules = at(3, capture_order="chosen", captured="hidden")
    state, village, _, last = three_to_capture(rules)
    state = rules.apply(rules.apply(state, 0, put("buddha4", last)), 0, End())
    state = rules.apply(state, 0, Capture(village, RICE))
    assert state.phase == "captures"
    for seat in range(3):
        captured = rules.view(state, seat)["captured"]
        assert [pieces is not None for pieces in captured] == [other == seat for other in range(3)]
