"""Each option of Samurai in a position whose outcome it changes; what `test_samurai` shows holds beside it."""

from __future__ import annotations

from typing import Any

import pytest
from acting import act
from kit import samurai
from msgspec.structs import replace

from arena.core.errors import IllegalAction
from arena.core.rules.base import Event
from arena.games.samurai.game import Samurai
from arena.games.samurai.state import TILE_INDEX, End, Move, Place, State, Switch, tile_code
from tests.games.rules.samurai_positions import (
    BUDDHA,
    CASTLE,
    RICE,
    at,
    kinds,
    lay,
    one_space_left,
    position,
    put,
    sea_of,
    tiles,
)


@pytest.mark.parametrize(
    ("seats", "captured", "visible"),
    [(2, "open_for_two", True), (3, "open_for_two", False), (3, "open", True), (2, "hidden", False)],
)
def test_captured_pieces_are_seen_as_the_option_says(seats: int, captured: str, visible: bool) -> None:
    rules = samurai(seats, captured=captured)
    state = replace(rules.start(), captured=((1, 2, 3),) * seats)
    view = rules.view(state, 0)
    assert view["captured"][0] == {"buddha": 1, "rice": 2, "castle": 3}
    assert (view["captured"][1] is not None) == visible
    assert rules.view(replace(state, phase="over", ranks=(1,) * seats), 0)["captured"][1] is not None


# fast


@pytest.mark.parametrize("fast", ["optional", "must_follow"])
def test_a_fast_tile_may_end_the_turn_or_must_be_followed(fast: str) -> None:
    rules = at(fast=fast)
    state = position(rules, {0: tiles("ronin1", "ship1", "rice3")})
    state = rules.apply(state, 0, put("ronin1", rules.tables.land[0]))
    assert (End() in {*rules.legal(state, 0)}) == (fast == "optional")
    if fast == "must_follow":
        with pytest.raises(IllegalAction, match="the tile played last is fast, and another one must follow"):
            rules.check(state, 0, End())
    else:
        rules.check(state, 0, End())
    state = rules.apply(state, 0, put("rice3", rules.tables.land[1]))
    rules.check(state, 0, End())


def test_a_fast_tile_after_the_one_that_is_not_must_be_followed_too() -> None:
    rules = at(fast="must_follow")
    state = position(rules, {0: tiles("ronin1", "ship1", "rice3", "rice2")})
    state = rules.apply(state, 0, put("rice3", rules.tables.land[0]))
    state = rules.apply(state, 0, put("ronin1", rules.tables.land[1]))
    with pytest.raises(IllegalAction, match="must follow"):
        rules.check(state, 0, End())
    state = rules.apply(state, 0, put("ship1", state.sea[0]))
    assert state.to_move == 1, "nothing that is fast is left, so the turn is over"


def test_a_switch_must_be_followed_and_the_next_turn_begins_anew() -> None:
    rules = at(fast="must_follow")
    state = position(rules, {0: tiles("switch", "ship1"), 1: tiles("rice2", "rice3", "ship1")})
    a, b = rules.tables.villages[-2:]
    state = rules.apply(state, 0, Switch.of(a, RICE, b, CASTLE))
    assert state.must_follow
    state = rules.apply(state, 0, put("ship1", state.sea[0]))
    assert (state.to_move, state.must_follow) == (1, False)
    state = rules.apply(state, 1, put("rice2", state.land[0]))
    rules.check(state, 1, End())


def test_who_forfeits_when_asked_what_follows_leaves_the_turn_to_the_next() -> None:
    """The tile already played stays, and what it surrounded is captured."""
    rules = at(3, fast="must_follow")
    state, village, last = one_space_left(rules, tiles("ronin1", "rice3"))
    state = act(rules, state, 0, {"plays": [{"tile": "ronin1", "space": last}]})
    assert [(decision.seat, decision.kind) for decision in rules.pending(state)] == [(0, "turn")]
    state = rules.forfeit(state, [0])
    assert (state.phase, state.to_move, state.must_follow) == ("turns", 1, False)
    assert state.at[last] == tile_code(0, TILE_INDEX["ronin1"])
    assert (state.captured[1], village in state.pieces[BUDDHA]) == ((1, 0, 0), False)


def test_with_specials_switch_and_move_alone_are_fast_and_go_before_another_tile() -> None:
    rules = at(fast="specials")
    a, b, c = rules.tables.land[:3]
    state = lay(rules, position(rules, {0: tiles("switch", "move", "ronin1", "ship1", "rice3")}), 0, "samurai3", a)
    begun = state
    ended = rules.apply(state, 0, put("ronin1", b))
    assert (ended.to_move, ended.turn) == (1, 2), "a ronin is no special tile: nothing follows it"
    x, y = rules.tables.villages[-2:]
    for special in (Move(a, b), Switch.of(x, RICE, y, CASTLE)):
        state = rules.apply(begun, 0, special)
        assert state.must_follow
        with pytest.raises(IllegalAction, match="another one must follow"):
            rules.check(state, 0, End())
    state = rules.apply(state, 0, Move(a, b))
    assert (state.must_follow, state.fast_only) == (True, False)
    assert {type(play) for play in rules.legal(state, 0)} == {Place}
    events: list[Event] = []
    state = rules.apply(state, 0, put("ship1", state.sea[0]), events)
    assert kinds(events) == ["placed", "turn"]
    assert (state.to_move, state.turn, state.placed) == (1, 2, b"")
    assert rules.view(begun, 0)["fast_only"] is False
    view = rules.fold(rules.view(begun, 0), {"event": "placed", "seat": 0, "tile": "ship1", "space": c})
    assert view["fast_only"], "in the view too a ship is not fast"


def test_with_specials_a_turn_may_end_where_no_other_tile_can_follow() -> None:
    rules = at(fast="specials")
    a, b = rules.tables.land[:2]
    state = lay(rules, position(rules, {0: tiles("switch", "move")}), 0, "samurai3", a)
    x, y = rules.tables.villages[-2:]
    state = rules.apply(state, 0, Switch.of(x, RICE, y, CASTLE))
    assert (state.must_follow, End() in {*rules.legal(state, 0)}) == (False, True)
    rules.check(state, 0, Move(a, b))
    assert act(rules, state, 0, {"plays": [{"tile": "move", "from": a, "to": b}]}).to_move == 1


def test_the_summary_is_as_its_source_has_it() -> None:
    options = Samurai.rulesets["summary"].options
    assert (options["fast"], options["move_is_fast"], options["placement"]) == ("specials", "yes", "near_or_pass")


# move_is_fast


@pytest.mark.parametrize("fast", [False, True])
def test_the_move_tile_is_the_one_that_is_not_fast_or_goes_along(fast: bool) -> None:
    rules = at(move_is_fast="yes" if fast else "no")
    a, b, c = rules.tables.land[:3]
    state = lay(rules, position(rules, {0: tiles("move", "rice3", "ronin1")}), 0, "samurai3", a)
    view = rules.view(state, 0)
    events: list[Event] = []
    state = rules.apply(state, 0, Move(a, b), events)
    assert (put("rice3", c) in {*rules.legal(state, 0)}) == fast
    assert rules.view(state, 0)["fast_only"] == (not fast)
    assert rules.fold(view, events[0].data) == rules.view(state, 0)
    if fast:
        state = rules.apply(state, 0, put("rice3", c))
        assert (state.to_move, state.fast_only) == (0, True), "the ronin is left"
    else:
        with pytest.raises(IllegalAction, match="rice3 is not fast"):
            rules.check(state, 0, put("rice3", c))


@pytest.mark.parametrize("fast", [False, True])
def test_a_move_after_the_tile_that_is_not_fast(fast: bool) -> None:
    rules = at(move_is_fast="yes" if fast else "no")
    a, b, c = rules.tables.land[:3]
    state = lay(rules, position(rules, {0: tiles("move", "rice3", "rice4", "ronin1")}), 0, "samurai3", a)
    state = rules.apply(state, 0, put("rice3", c))
    assert (Move(a, b) in {*rules.legal(state, 0)}) == fast
    if not fast:
        with pytest.raises(IllegalAction, match="move is not fast"):
            rules.check(state, 0, Move(a, b))
        return
    view, events = rules.view(state, 0), list[Event]()
    state = rules.apply(state, 0, Move(a, b), events)
    assert rules.view(state, 0)["fast_only"], "the rice was the one tile that is not fast"
    assert rules.fold(view, events[0].data) == rules.view(state, 0)
    assert rules.apply(state, 0, put("ronin1", rules.tables.land[3])).to_move == 1


@pytest.mark.parametrize(("fast", "to_move"), [("yes", 0), ("no", 1)])
def test_a_fast_move_must_be_followed(fast: str, to_move: int) -> None:
    rules = at(fast="must_follow", move_is_fast=fast)
    a, b = rules.tables.land[:2]
    state = lay(rules, position(rules, {0: tiles("move", "rice3")}), 0, "samurai3", a)
    state = act(rules, state, 0, {"plays": [{"tile": "move", "from": a, "to": b}]})
    assert (state.to_move, state.must_follow) == (to_move, fast == "yes")


@pytest.mark.parametrize("fast", ["no", "yes"])
def test_a_move_takes_no_fast_tile_and_not_itself(fast: str) -> None:
    rules = at(move_is_fast=fast)
    a, b = rules.tables.land[:2]
    for tile in ("ronin1", "move"):
        state = lay(rules, position(rules, {0: tiles("move")}), 0, tile, a)
        with pytest.raises(IllegalAction, match="no tile of the seat that may be moved"):
            rules.check(state, 0, Move(a, b))


# placement


def near(rules: Samurai, state: State) -> set[int]:
    return {space for settlement in b"".join(state.pieces) for space in rules.tables.around[settlement]}


@pytest.mark.parametrize("placement", ["anywhere", "near_pieces", "land_near_pieces", "near_or_pass"])
def test_tiles_go_anywhere_or_next_to_pieces(placement: str) -> None:
    """Land and sea, and where a move leads; not where it comes from."""
    rules = at(placement=placement)
    state = position(rules, {0: tiles("rice2", "ship1", "move", "ronin1")})
    close = near(rules, state)
    far = next(space for space in rules.tables.land if space not in close)
    state = lay(rules, state, 0, "samurai2", far)
    free = {*state.land, *state.sea}
    asked = {"anywhere": set(), "near_pieces": free}.get(placement, {*state.land})
    expected = free - (asked - close)
    legal = {*rules.legal(state, 0)}
    assert {play.space for play in legal if not isinstance(play, Move)} == expected
    assert {play.target for play in legal if isinstance(play, Move)} == expected & {*state.land}
    assert {play.source for play in legal if isinstance(play, Move)} == {far}
    for space in sorted(free):
        plays = [put("rice2", space), Move(far, space)] if space in state.land else [put("ship1", space)]
        for play in plays:
            if space in expected:
                rules.check(state, 0, play)
            else:
                with pytest.raises(IllegalAction, match=f"space {space} is not next to a settlement that still holds"):
                    rules.check(state, 0, play)


def test_an_emptied_settlement_draws_no_more_tiles() -> None:
    rules = at(placement="near_pieces")
    state, village, last = one_space_left(rules, tiles("rice3"))
    sea = sea_of(rules, village)[0]
    state = replace(state, hands=(tiles("rice3"), tiles("ship1", "rice4")))
    rules.check(replace(state, to_move=1), 1, put("ship1", sea))
    state = rules.apply(state, 0, put("rice3", last))
    with pytest.raises(IllegalAction, match="not next to a settlement that still holds a piece"):
        rules.check(state, 1, put("ship1", sea))


def without_sea(rules: Samurai, hands: dict[int, bytes]) -> State:
    state = position(rules, hands)
    for space in near(rules, state) & {*state.sea}:
        state = lay(rules, state, 0, "ship1", space)
    return state


@pytest.mark.parametrize(("placement", "to_move"), [("anywhere", 1), ("near_pieces", 0)])
def test_a_player_with_no_space_near_pieces_passes(placement: str, to_move: int) -> None:
    rules = at(placement=placement)
    state = without_sea(rules, {0: tiles("rice2", "rice3"), 1: tiles("ship2", "move")})
    space = min(near(rules, state) & {*state.land})
    events: list[Event] = []
    state = rules.apply(state, 0, put("rice2", space), events)
    assert state.to_move == to_move
    assert ("passed" in kinds(events)) == (to_move == 0)
    assert not rules.legal(state, 1 - to_move)


@pytest.mark.parametrize("special", ["switch", "move"])
@pytest.mark.parametrize("fast", ["optional", "specials"])
@pytest.mark.parametrize(("placement", "more", "to_move"), [
    ("land_near_pieces", (), 1), ("near_or_pass", (), 0),
    ("near_or_pass", ("rice4",), 1), ("near_or_pass", ("ship1",), 1),
])  # fmt: skip
def test_who_can_place_no_tile_passes_with_a_lone_special_tile(
    placement: str, more: tuple[str, ...], to_move: int, fast: str, special: str
) -> None:
    """§S8-16."""
    rules = at(placement=placement, fast=fast)
    state = position(rules, {0: tiles("rice2", "rice3"), 1: tiles(special, *more)})
    space, other = sorted(near(rules, state) & {*state.land})[:2]
    state = lay(rules, state, 1, "samurai1", other)
    events: list[Event] = []
    state = rules.apply(state, 0, put("rice2", space), events)
    assert state.to_move == to_move
    assert ("passed" in kinds(events)) == (to_move == 0)


@pytest.mark.parametrize("placement", ["anywhere", "near_pieces"])
def test_all_passing_ends_the_game_where_nothing_can_be_played_near_pieces(placement: str) -> None:
    rules = at(3, placement=placement)
    state = without_sea(rules, {0: tiles("rice2", "ship1"), 1: tiles("ship2"), 2: tiles("move")})
    events: list[Event] = []
    state = rules.apply(state, 0, put("rice2", min(near(rules, state) & {*state.land})), events)
    if placement == "anywhere":
        assert (state.phase, state.to_move) == ("turns", 0), "the ship can go far away"
    else:
        assert kinds(events) == ["placed", *["turn", "passed"] * 3, "over"]
        assert events[-1].data["reason"] == "passes"
        assert rules.outcome(state).ranks == (1, 1, 1)


@pytest.mark.parametrize("ruleset", Samurai.rulesets)
def test_all_passing_ends_the_game_under_every_ruleset(ruleset: str) -> None:
    rules: Any = samurai(2, ruleset)
    state = position(rules, {0: tiles("rice2"), 1: tiles("move")})
    events: list[Event] = []
    state = rules.apply(state, 0, put("rice2", min(near(rules, state) & {*state.land})), events)
    assert kinds(events) == ["placed", "turn", "passed", "turn", "passed", "over"]
    assert (state.phase, events[-1].data["reason"]) == ("over", "passes")


@pytest.mark.parametrize(("pieces", "set_aside", "reason"), [(0, 0, "pieces_gone"), (1, 0, ""), (1, 4, "")])
def test_by_the_house_rule_it_goes_on_until_every_piece_is_gone(pieces: int, set_aside: int, reason: str) -> None:
    rules = at(ends="pieces")
    state, village, last = one_space_left(rules, tiles("rice3", "rice4"))
    [own] = [caste for caste in range(3) if village in state.pieces[caste]]
    left = [bytes([village]) if caste == own else b"" for caste in range(3)]
    left[(own + 1) % 3] = rules.tables.cities[:pieces]
    state = replace(state, pieces=tuple(left), set_aside=(set_aside, 0, 0), hands=(state.hands[0], tiles("rice2")))
    events: list[Event] = []
    state = rules.apply(state, 0, put("rice3", last), events)
    assert state.phase == ("over" if reason else "turns")
    assert events[-1].data.get("reason", "") == reason


@pytest.mark.parametrize(("placement", "phase"), [("anywhere", "turns"), ("near_pieces", "over")])
def test_filling_the_last_space_near_pieces_ends_the_turn(placement: str, phase: str) -> None:
    """And here the game, for the pieces that were surrounded are the last ones."""
    rules = at(placement=placement)
    state = position(rules, {0: tiles("ronin1", "rice3"), 1: tiles("rice2")})
    *others, last = sorted(near(rules, state) & {*state.land})
    for space in others:
        state = lay(rules, state, 1, "rice2", space)
    assert rules.apply(state, 0, put("ronin1", last)).phase == phase


def test_a_fast_tile_with_nothing_near_to_follow_it_ends_the_turn() -> None:
    rules = at(placement="near_pieces", fast="must_follow")
    state = without_sea(rules, {0: tiles("ronin1", "ship1"), 1: tiles("rice2")})
    state = rules.apply(state, 0, put("ronin1", min(near(rules, state) & {*state.land})))
    assert state.to_move == 1
