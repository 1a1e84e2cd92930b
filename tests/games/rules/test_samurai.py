"""Samurai under its first ruleset: the worked cases of the rules page, each play, each way to end, the set-up."""

from __future__ import annotations

from typing import Any

import pytest
from acting import act
from kit import samurai
from msgspec.structs import replace

from arena.core.catalogue import make_rules, resolve_options
from arena.core.errors import IllegalAction
from arena.core.rules.base import Event
from arena.core.rules.seats import with_item
from arena.core.types import BoardFile
from arena.games.samurai.captures import influence
from arena.games.samurai.game import Samurai
from arena.games.samurai.state import FULL_SET, ONE, SWITCH, TILE_INDEX, End, Move, Settle, Switch, tile_code
from tests.games.rules.samurai_positions import (
    BUDDHA,
    CASTLE,
    RICE,
    lay,
    position,
    put,
    sea_of,
    stand,
    surround,
    tiles,
    village_with,
)


@pytest.fixture
def rules() -> Samurai:
    return samurai(2)  # type: ignore[return-value]


@pytest.fixture
def four() -> Samurai:
    return samurai(4)  # type: ignore[return-value]


@pytest.mark.parametrize("ruleset", Samurai.rulesets)
def test_worked_case_1(ruleset: str) -> None:
    """Red has a samurai 2 next to a buddha, green a buddha 3: green takes it."""
    rules: Any = samurai(2, ruleset)
    red, green = 0, 1
    village = village_with(rules, land=2)
    state = stand(position(rules, {green: tiles("buddha3", "rice2")}, to_move=green), village, BUDDHA)
    state = surround(rules, state, village, [(red, "samurai2")], (red, "rice2"))
    state = rules.apply(state, green, put("buddha3", rules.tables.land_around[village][-1]))
    assert state.captured[green] == (1, 0, 0)
    assert state.captured[red] == (0, 0, 0)


@pytest.mark.parametrize("ruleset", Samurai.rulesets)
def test_worked_case_2(ruleset: str) -> None:
    """Gold plays ronin 1 (fast), then buddha 4, and surrounds two settlements at once."""
    four: Any = samurai(4, ruleset)
    red, green, gold, purple = range(4)
    around, land = four.tables.around, {*four.tables.land}
    first, second = next(
        (village, city)
        for village in four.tables.villages
        for city in four.tables.cities
        if len({*around[village]} & {*around[city]}) == 1
        and len({*around[village]} & land) == 3
        and len({*around[city]} & land) == 4
        and sea_of(four, village)
        and sea_of(four, city)
    )
    ((shared),) = {*around[first]} & {*around[second]}
    state = position(four, {gold: tiles("ronin1", "buddha4", "rice2")}, to_move=gold)
    state = stand(stand(state, first, BUDDHA), second, BUDDHA, RICE)
    reds, ronins = sorted({*around[first]} & land - {shared})
    state = lay(four, lay(four, state, red, "samurai2", reds), red, "ship1", sea_of(four, first)[0])
    others = sorted({*around[second]} & land - {shared})
    for (seat, tile), space in zip([(green, "buddha3"), (red, "rice2"), (purple, "castle3")], others, strict=True):
        state = lay(four, state, seat, tile, space)
    state = lay(four, state, green, "ship1", sea_of(four, second)[0])
    assert influence(four.tables, state, second, RICE) == [2, 1, 0, 0]

    if four.options["fast"] == "specials":  # a ronin is not fast, and was placed in an earlier turn
        state = lay(four, state, gold, "ronin1", ronins)
    else:
        four.check(state, gold, put("ronin1", ronins))
        state = four.apply(state, gold, put("ronin1", ronins))
    assert state.captured == ((0, 0, 0),) * 4
    events: list[Event] = []
    four.check(state, gold, put("buddha4", shared))
    state = four.apply(state, gold, put("buddha4", shared), events)
    assert state.captured == ((0, 1, 0), (0, 0, 0), (1, 0, 0), (0, 0, 0))
    assert state.set_aside == (1, 0, 0)
    assert [event.data["event"] for event in events][:4] == ["placed", "captured", "set_aside", "captured"]


def test_a_shared_total_of_zero_sets_aside(four: Samurai) -> None:
    village = village_with(four, land=2)
    state = stand(position(four, {0: tiles("rice2", "rice3")}), village, BUDDHA)
    state = surround(four, state, village, [], (1, "castle2"))
    state = four.apply(state, 0, put("rice2", four.tables.land_around[village][-1]))
    assert state.set_aside == (1, 0, 0)


def test_sea_need_not_be_filled_and_fills_nothing(rules: Samurai) -> None:
    village = village_with(rules, land=1, sea=1)
    state = stand(position(rules, {0: tiles("ship1", "ship2", "rice2")}), village, RICE)
    state = surround(rules, state, village, [], (1, "castle2"))
    state = rules.apply(state, 0, put("ship2", sea_of(rules, village)[0]))
    state = rules.apply(state, 0, put("rice2", rules.tables.land_around[village][-1]))
    assert (state.phase, state.to_move) == ("turns", 0), "a fast tile is left: the turn goes on"
    state = rules.apply(state, 0, End())
    assert state.captured[0] == (0, 1, 0)


def test_only_one_tile_that_is_not_fast(rules: Samurai) -> None:
    land = rules.tables.land
    state = position(rules, {0: tiles("rice2", "rice3", "ronin1", "samurai1")})
    state = rules.apply(state, 0, put("rice2", land[0]))
    with pytest.raises(IllegalAction, match="at most one tile that is not"):
        rules.check(state, 0, put("rice3", land[1]))
    rules.check(state, 0, put("ronin1", land[1]))
    rules.check(state, 0, End())


def test_fast_tiles_alone_make_a_turn(rules: Samurai) -> None:
    state = position(rules, {0: tiles("ronin1", "rice3")})
    state = act(rules, state, 0, {"plays": [{"tile": "ronin1", "space": rules.tables.land[0]}]})
    assert state.to_move == 1
    assert state.turn == 2


def test_there_is_no_voluntary_pass(rules: Samurai) -> None:
    state = position(rules, {0: tiles("ronin1")})
    with pytest.raises(IllegalAction, match="at least one tile"):
        act(rules, state, 0, {"plays": []})


def test_an_action_does_not_run_into_the_seats_next_turn(rules: Samurai) -> None:
    """The opponent passes, so that the seat is to move again; that is another turn all the same."""
    state = position(rules, {0: tiles("rice2", "rice3"), 1: b""})
    a, b = rules.tables.land[:2]
    with pytest.raises(IllegalAction, match=r"the turn is over.* at \$\.plays\[1\]"):
        act(rules, state, 0, {"plays": [{"tile": "rice2", "space": a}, {"tile": "rice3", "space": b}]})


def test_the_game_ends_when_a_caste_is_exhausted(rules: Samurai) -> None:
    village = village_with(rules, land=2)
    state = position(rules, {0: tiles("buddha4")})
    state = stand(replace(state, pieces=with_item(state.pieces, BUDDHA, b"")), village, BUDDHA)
    state = surround(rules, state, village, [], (1, "castle2"))
    events: list[Event] = []
    state = rules.apply(state, 0, put("buddha4", rules.tables.land_around[village][-1]), events)
    assert state.phase == "over"
    assert state.ranks == (1, 2)
    assert events[-1].data["reason"] == "caste_exhausted"
    assert events[-1].data["leaders"] == {"buddha": 0, "rice": None, "castle": None}


def test_the_game_ends_when_four_pieces_are_set_aside(rules: Samurai) -> None:
    village = village_with(rules, land=2)
    for before, phase in ((2, "turns"), (3, "over")):
        state = stand(position(rules, {0: tiles("rice4"), 1: tiles("rice2")}), village, BUDDHA)
        state = replace(surround(rules, state, village, [], (1, "castle2")), set_aside=(0, before, 0))
        state = rules.apply(state, 0, put("rice4", rules.tables.land_around[village][-1]))
        assert state.phase == phase


def test_switch_exchanges_pieces_and_leaves_the_game(rules: Samurai) -> None:
    a, b = rules.tables.villages[:2]
    state = stand(stand(position(rules, {0: tiles("switch", "rice2")}), a, BUDDHA), b, RICE)
    state = rules.apply(state, 0, Switch.of(b, RICE, a, BUDDHA))
    assert a in state.pieces[RICE]
    assert b in state.pieces[BUDDHA]
    assert a not in state.pieces[BUDDHA]
    assert b not in state.pieces[RICE]
    assert state.switch_used == b"\0"
    assert state.at == bytes(len(state.at))
    assert state.to_move == 0, "the switch is fast"


def test_switch_of_two_alike_is_legal_and_changes_nothing(rules: Samurai) -> None:
    a, b = rules.tables.villages[:2]
    before = stand(stand(position(rules, {0: tiles("switch", "rice2")}), a, RICE), b, RICE)
    play = Switch.of(b, RICE, a, RICE)
    assert play in set(rules.legal(before, 0))
    assert rules.apply(before, 0, play).pieces == before.pieces


def test_two_pieces_of_one_settlement_may_be_switched_which_changes_nothing(rules: Samurai) -> None:
    """Where one settlement alone holds pieces, it is the one way to wait."""
    city = rules.tables.cities[0]
    before = replace(position(rules, {0: tiles("switch", "rice2")}), pieces=(b"", bytes([city]), bytes([city])))
    plays = [play for play in rules.legal(before, 0) if isinstance(play, Switch)]
    assert plays == [Switch(city, RICE, city, CASTLE)]
    rules.check(before, 0, plays[0])
    one = {"tile": "switch", "space": city, "caste": "castle", "with": city, "with_caste": "rice"}
    assert rules.read_play(before, one, "$") == plays[0], "either piece may be named first"
    assert rules.write_play(plays[0]) == one | {"caste": "rice", "with_caste": "castle"}, "but it is written one way"
    events: list[Event] = []
    state = rules.apply(before, 0, plays[0], events)
    assert (state.pieces, state.switch_used, SWITCH in state.hands[0]) == (before.pieces, b"\0", False)
    assert rules.fold(rules.view(before, 1), events[0].data) == rules.view(state, 1)
    with pytest.raises(IllegalAction, match=r"the rice on space .* cannot be exchanged with itself"):
        rules.check(before, 0, Switch.of(city, RICE, city, RICE))


def test_switch_may_not_bring_two_of_a_caste_together(rules: Samurai) -> None:
    city, village = rules.tables.cities[0], rules.tables.villages[0]
    state = stand(stand(position(rules, {0: tiles("switch")}), city, BUDDHA, RICE), village, RICE)
    with pytest.raises(IllegalAction, match="would hold two of rice"):
        rules.check(state, 0, Switch.of(city, BUDDHA, village, RICE))
    with pytest.raises(IllegalAction, match="holds no castle"):
        rules.check(state, 0, Switch.of(city, CASTLE, village, RICE))


def test_move_puts_the_move_tile_on_the_space_it_left(rules: Samurai) -> None:
    a, b, c = rules.tables.land[:3]
    state = lay(rules, position(rules, {0: tiles("move", "rice3")}), 0, "samurai3", a)
    state = rules.apply(state, 0, Move(a, b))
    assert state.at[a] == tile_code(0, TILE_INDEX["move"])
    assert state.at[b] == tile_code(0, TILE_INDEX["samurai3"])
    assert a not in state.land
    assert b not in state.land
    assert c in state.land
    assert state.to_move == 1, "the move is not fast, and neither is rice 3"


def test_move_takes_no_tile_of_others_and_none_of_this_turn(rules: Samurai) -> None:
    a, b, c = rules.tables.land[:3]
    state = lay(rules, position(rules, {0: tiles("move", "ronin1", "rice3")}), 1, "rice2", a)
    with pytest.raises(IllegalAction, match="no tile of the seat"):
        rules.check(state, 0, Move(a, b))
    state = lay(rules, state, 0, "rice4", b)
    rules.check(state, 0, Move(b, c))
    rules.check(replace(state, placed=ONE[a]), 0, Move(b, c))
    with pytest.raises(IllegalAction, match="no tile of the seat"):
        rules.check(replace(state, placed=ONE[b]), 0, Move(b, c))
    with pytest.raises(IllegalAction, match="not an empty land space"):
        rules.check(state, 0, Move(b, a))


def test_the_hand_is_refilled_from_ones_own_stack(rules: Samurai) -> None:
    state = replace(position(rules, {0: tiles("rice2")}), stacks=(tiles("buddha2", "samurai3"), b""))
    state = rules.apply(state, 0, put("rice2", rules.tables.land[0]))
    assert rules.pending(state) == ()
    draw = rules.draw_wanted(state)
    assert draw is not None
    assert (draw.stream, draw.n) == ("stack/0", 2)
    state = rules.draw(state, 1)
    state = rules.draw(state, 0)
    assert state.hands[0] == tiles("buddha2", "samurai3")
    assert state.stacks[0] == b""
    assert state.to_move == 1


def test_draft_fills_cities_then_villages_from_the_next_seat(four: Samurai) -> None:
    state = four.start()
    for seat in range(4):
        state = act(four, state, seat, {"plays": [{"hand": ["rice2", "rice3", "rice4", "ship1", "ship1"]}]})
    order = []
    while four.turn(state) == 0:
        (decision,) = four.pending(state)
        order.append(decision.seat)
        legal = list(four.legal(state, decision.seat))
        in_cities = sum(space in four.tables.cities for spaces in state.pieces for space in spaces)
        kind = four.tables.cities if in_cities < 6 else four.tables.villages
        assert all(play.space in kind for play in legal)
        state = four.apply(state, decision.seat, legal[0])
    assert order == [seat % 4 for seat in range(36)]
    assert state.to_move == 0
    assert state.supply == (0, 0, 0)
    assert [len(spaces) for spaces in state.pieces] == [13, 13, 13]


def test_cities_may_not_be_filled_so_that_the_rest_finds_no_room() -> None:
    """On a board without villages the third piece must still have two cities open to it."""
    text = "name: two cities\nsource: a test\nplayers: 2\nmap:\n" + _three_cities()
    options = resolve_options("samurai", "standard", {"hand": "random"})[1]
    rules = make_rules("samurai", 2, options, BoardFile.of("test", text))
    state = replace(rules.start(), phase="setup", hands=(FULL_SET[:5],) * 2)
    a, b, _ = rules.tables.cities
    for city in (a, b):
        state = rules.apply(state, state.to_move, Settle(BUDDHA, city))
    with pytest.raises(IllegalAction, match="the rest of the supply would not fit"):
        rules.check(rules.apply(state, 0, Settle(RICE, a)), 1, Settle(RICE, b))


def _three_cities() -> str:
    return "c2    c2    c2\n   .2    .2\n"


def test_basic_deals_hands_and_pieces_by_chance() -> None:
    rules = samurai(3, "basic")
    state = rules.start()
    streams = []
    while draw := rules.draw_wanted(state):
        streams.append(draw.stream)
        state = rules.draw(state, draw.n - 1)
    assert streams == [f"stack/{seat}" for seat in range(3) for _ in range(5)] + ["setup"] * 27
    assert rules.turn(state) == 1
    assert [d.kind for d in rules.pending(state)] == ["turn"]
    for city in rules.tables.cities:  # type: ignore[attr-defined]
        assert sum(city in spaces for spaces in state.pieces) == 2


def test_a_forfeit_leaves_the_others_playing(four: Samurai) -> None:
    state = position(four, {seat: tiles("rice2", "rice3") for seat in range(4)})
    state = four.forfeit(state, [0])
    assert state.to_move == 1
    state = four.forfeit(state, [2])
    assert state.to_move == 1
    state = four.apply(state, 1, put("rice2", four.tables.land[0]))
    assert state.to_move == 3
    events: list[Event] = []
    state = four.forfeit(state, [3], events)
    assert state.phase == "over"
    assert state.ranks == (4, 1, 3, 2)
    assert events[-1].data["reason"] == "last_seat"


def test_the_set_up_that_a_forfeited_seat_owes_stays_due(four: Samurai) -> None:
    state = four.forfeit(four.start(), [1])
    assert [decision.seat for decision in four.pending(state)] == [0, 1, 2, 3]


def test_a_hand_must_be_five_of_the_twenty(rules: Samurai) -> None:
    for hand in (["rice2"] * 5, ["rice2"], ["rice2", "rice3", "rice4", "ship2", "move", "switch"]):
        with pytest.raises(IllegalAction, match="expected 5 of the seat's own 20 tiles"):
            act(rules, rules.start(), 0, {"plays": [{"hand": hand}]})
