"""Samurai Gardener: the worked cases of the rules page, every rule and interpretation, each option and way to end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from acting import act
from msgspec.structs import replace

from arena.core.catalogue import default_board, resolve_options
from arena.core.errors import IllegalAction
from arena.core.rules.base import Decision, Event
from arena.core.rules.seats import rank
from arena.games.gardener.deck import KINDS, SYMBOLS, Deck, parse_deck
from arena.games.gardener.game import Gardener
from arena.games.gardener.geometry import Row, point
from arena.games.gardener.state import ALL_KINDS, Done, Plant, ScoreRow, Seize, State

TATAMI, PATH, POND, GARDEN = range(4)
BUNDLED = parse_deck(default_board("gardener").text, "garden")


def gardener(*cards: str, seats: int = 2, ruleset: str = "draft", **options: str) -> Gardener:
    """The rules with a deck that begins with some cards, each drawn as three lines with spaces between.

    The deck lies face down, so that positions made by hand need no card on top, unless a test says otherwise.
    """
    drawn = tuple(bytes(SYMBOLS.index(symbol) for symbol in card.replace(" ", "")) for card in cards)
    deck = Deck("test", "a test", "", drawn + BUNDLED.cards[len(drawn) :])
    return Gardener(seats, resolve_options("gardener", ruleset, {"deck": "face_down"} | options)[1], deck)


def planting(rules: Gardener, *at: tuple[int, int], face_up: int = ALL_KINDS, scores: tuple[int, ...] = ()) -> State:
    """The first cards of the deck lie in seat 0's garden at these places; the others have planted, and it is next."""
    garden = tuple((card, x, y, False) for card, (x, y) in enumerate(at))
    others = tuple(((63 - seat, 0, 0, False),) for seat in range(1, rules.seats))
    return replace(
        rules.start(), phase="plant", round=1, deck=bytes(range(len(at) + 1, 60 - rules.seats)),
        taken=(len(at), *[None] * (rules.seats - 1)), gardens=(garden, *others),
        features=(face_up, *[ALL_KINDS] * (rules.seats - 1)), scores=scores or (0,) * rules.seats, due=(0,),
    )  # fmt: skip


def play(rules: Gardener, state: State, seat: int, move: Any, events: list[Event] | None = None) -> State:
    rules.check(state, seat, move)
    return rules.apply(state, seat, move, events)


def bits(*kinds: int) -> int:
    return sum(1 << kind for kind in kinds)


def across(x: int, y: int, kind: int, length: int = 3) -> Row:
    return Row(y, x, False, kind, length)


def down(x: int, y: int, kind: int, length: int = 3) -> Row:
    return Row(y, x, True, kind, length)


def names(events: list[Event]) -> list[str]:
    return [event.data["event"] for event in events]


def begun(rules: Gardener, first: int = 0) -> State:
    """The first round up to its first decision; chance draws the first card each time, or the last."""
    state = rules.start()
    while draw := rules.draw_wanted(state):
        state = rules.draw(state, first and draw.n - 1)
    return state


def finish_round(rules: Gardener, state: State) -> State:
    """Everybody takes the first legal play, and scores nothing that can be left, until the round is over."""
    number = state.round
    while state.round == number and rules.outcome(state) is None:
        if rules.draw_wanted(state):
            state = rules.draw(state, 0)
            continue
        seat = rules.pending(state)[0].seat
        state = rules.apply(state, seat, Done() if state.phase == "score" else rules.legal(state, seat)[0])
    return state


# A worked case; tests/conformance acts out those of the page. Cards 0 and 1 make the garden `=*** .~=. ~=~=`.

CASE = "=* .~ ~=", "** =. ~="


def test_worked_case_1_the_last_feature_card_down_brings_all_four_up() -> None:
    rules = gardener(*CASE, "*~ .. =~")
    state = play(rules, planting(rules, (0, 0), (2, 0), face_up=bits(PATH)), 0, Plant(4, 0, False))
    assert state.rows[0] == (across(1, 0, GARDEN, 4), across(3, 1, PATH))
    assert list(rules.legal(state, 0)) == [ScoreRow(3, 1, False), Done()]
    events: list[Event] = []
    state = play(rules, state, 0, ScoreRow(3, 1, False), events)
    assert state.features[0] == ALL_KINDS
    state = play(rules, state, 0, ScoreRow(1, 0, False), events)
    assert state.scores == (1 + 2 + 2, 0)
    assert state.features[0] == bits(TATAMI, PATH, POND)
    path, garden = (
        {"at": [x, y], "along": "across", "kind": kind, "length": length}
        for x, y, kind, length in ((3, 1, "path", 3), (1, 0, "garden", 4))
    )
    assert [event.data for event in events[:4]] == [
        {"event": "scored", "seat": 0, "row": path, "points": 1, "features": list(KINDS)},
        {"event": "scored", "seat": 0, "row": garden, "points": 2, "features": ["tatami", "path", "pond"]},
        {"event": "bonus", "seat": 0, "kinds": 2, "points": 2},
        {"event": "round", "round": 2, "starter": 1},
    ]


# Where a card may be put

APART = "=. .= =.", "~* *~ ~*", "*= =* *="


def test_no_card_lies_exactly_on_an_earlier_one_though_that_is_covered_altogether() -> None:
    rules = gardener(*APART)
    state = planting(rules, (0, 0))
    for turned in (False, True):
        with pytest.raises(IllegalAction, match=r"a card at \[0, 0\] would lie exactly where another was put"):
            rules.check(state, 0, Plant(0, 0, turned))
    covered = replace(state, taken=(40, None), gardens=(((0, 0, 0, False), (1, 0, -1, False), (2, 0, 1, False)), ()))
    assert set(rules.tables.layout(covered.gardens[0]).kinds) == {*rules.tables.layout(covered.gardens[0][1:]).kinds}
    with pytest.raises(IllegalAction, match="exactly where another was put"):
        rules.check(covered, 0, Plant(0, 0, False))


@pytest.mark.parametrize("play", [Plant(1, 1024, False), Plant(3, -1024, True), Plant(2, 2**63, False)])
def test_a_square_far_away_is_not_taken_for_a_near_one(play: Plant) -> None:
    rules = gardener(*APART)
    with pytest.raises(IllegalAction, match="neither beside the garden nor over it"):
        rules.check(planting(rules, (0, 0)), 0, play)


def test_a_turned_card_has_its_squares_in_reverse() -> None:
    rules = gardener("=. .= =.", "=~ .* ..")
    state = play(rules, planting(rules, (0, 0)), 0, Plant(2, 0, True))
    kinds = rules.tables.layout(state.gardens[0]).kinds
    assert "".join(SYMBOLS[kind] for _, kind in sorted(kinds.items())) == "=.=.=..*~..="
    assert state.gardens[0] == ((0, 0, 0, False), (1, 2, 0, True))


# Rows


def test_a_row_that_a_card_brings_along_is_new_and_one_dealt_with_it_is_protected() -> None:
    rules = gardener("=. .. =.", ".~ *~ .~")
    state = planting(rules, (0, 0))
    with pytest.raises(IllegalAction, match="cover a square of a row"):
        rules.check(state, 0, Plant(1, 1, False))
    state = play(rules, state, 0, Plant(-2, 0, False))
    assert state.rows[0] == (down(-1, 0, POND),)


def test_a_row_made_longer_is_new_again_and_one_left_alone_is_not() -> None:
    rules = gardener(*CASE, "** ~. =~")
    state = planting(rules, (0, 0), (2, 0))
    assert play(rules, state, 0, Plant(4, 0, False)).rows[0] == (across(1, 0, GARDEN, 5),)
    assert play(rules, state, 0, Plant(4, 1, False)).rows[0] == ()


def test_rows_that_grow_together_are_one_line_too_long_to_score() -> None:
    """`***` and `***` with `**` between them."""
    rules = gardener("** .= ~.", "*= .~ =*", "** ~= .~", "*~ =. ~=", "** ~. =~")
    state = planting(rules, (0, 0), (2, 0), (5, 0), (7, 0))
    assert rules.tables.layout(state.gardens[0]).rows == (across(5, 0, GARDEN),)
    state = play(rules, state, 0, Plant(3, 0, False))
    assert state.rows[0] == ()
    state = replace(planting(rules, (0, 0), (2, 0), (5, 0), (7, 0)), gardens=state.gardens)
    for x in range(-1, 8):
        with pytest.raises(IllegalAction, match="cover a square of a row"):
            rules.check(state, 0, Plant(x, -2, False))


def test_a_square_may_belong_to_a_row_across_and_to_one_down() -> None:
    rules = gardener("** =. ~=", ".~ *. ~*", "*= *. *=")
    state = play(rules, planting(rules, (0, 0), (-2, 2)), 0, Plant(2, 0, False))
    assert state.rows[0] == (across(0, 0, GARDEN), down(2, 0, GARDEN))
    state = play(rules, state, 0, ScoreRow(0, 0, False))
    assert state.scores == (1, 0), "the feature card of gardens is down now: one row only, no bonus"
    assert state.phase == "turn_up"


def test_rows_ascend_by_y_then_x_and_across_comes_before_down() -> None:
    rows = [down(0, 1, POND), across(0, 1, POND), across(5, 0, PATH), across(-3, 1, PATH)]
    assert sorted(rows) == [rows[2], rows[3], rows[1], rows[0]]


# Scoring


def scoring(rules: Gardener, *rows: Row, face_up: int = ALL_KINDS) -> State:
    state = planting(rules, (0, 0), face_up=face_up)
    return replace(state, phase="score", taken=(None,) * rules.seats, rows=(rows, *[()] * (rules.seats - 1)))


@pytest.mark.parametrize(
    ("kinds", "bonus"), [((PATH,), 0), ((PATH, POND), 2), ((PATH, POND, GARDEN), 4), ((PATH, POND, GARDEN, TATAMI), 6)]
)
@pytest.mark.parametrize("ruleset", ["draft", "young"])
def test_the_bonus_counts_different_kinds(kinds: tuple[int, ...], bonus: int, ruleset: str) -> None:
    rules = gardener(ruleset=ruleset)
    state = scoring(rules, *(across(0, y, kind) for y, kind in enumerate(kinds)))
    for y in range(len(kinds)):
        state = play(rules, state, 0, ScoreRow(0, y, False))
    assert state.scores == (len(kinds) + bonus, 0)


def test_two_rows_of_a_kind_are_one_kind_of_the_bonus() -> None:
    rules = gardener()
    state = scoring(rules, across(0, 0, PATH), across(0, 1, PATH), face_up=bits(PATH))
    for y in (0, 1):
        state = play(rules, state, 0, ScoreRow(0, y, False))
    assert state.scores == (2, 0)
    assert state.features[0] == bits(TATAMI, POND, GARDEN)


def test_rows_may_be_left_unscored_and_are_gone_in_the_next_round() -> None:
    rules = gardener()
    state = play(rules, scoring(rules, across(0, 0, PATH), across(0, 1, POND)), 0, ScoreRow(0, 1, False))
    assert state.rows[0] == (across(0, 0, PATH),)
    events: list[Event] = []
    state = play(rules, state, 0, Done(), events)
    assert state.scores == (1, 0)
    assert names(events) == ["round"]
    assert (state.rows, state.scored) == (((), ()), (0, 0))
    assert state.features[0] == bits(TATAMI, PATH, GARDEN), "feature cards stay as they are from round to round"


def test_no_row_is_scored_twice_though_its_feature_card_comes_up_again() -> None:
    rules = gardener()
    state = scoring(rules, across(0, 0, PATH), across(0, 1, POND), face_up=bits(PATH))
    state = play(rules, state, 0, ScoreRow(0, 0, False))
    assert state.features[0] == ALL_KINDS
    with pytest.raises(IllegalAction, match=r"no new row that is not scored yet begins at \[0, 0\] and runs across"):
        rules.check(state, 0, ScoreRow(0, 0, False))


def test_why_a_row_cannot_be_scored() -> None:
    rules = gardener()
    state = scoring(rules, across(0, 0, PATH), down(0, 0, POND), face_up=bits(POND, GARDEN))
    with pytest.raises(IllegalAction, match="the feature card of path is face down"):
        rules.check(state, 0, ScoreRow(0, 0, False))
    with pytest.raises(IllegalAction, match=r"begins at \[1, 0\] and runs down"):
        rules.check(state, 0, ScoreRow(1, 0, True))
    rules.check(state, 0, ScoreRow(0, 0, True))


def test_all_with_a_row_to_score_are_asked_at_once_and_nobody_else() -> None:
    rules = gardener("=~ *. ~=", "~~ .. =*", seats=4)
    state = planting(rules, (0, 0))
    row = across(0, 0, PATH)
    state = replace(state, rows=((), (row,), (row,), ()), features=(15, 15, bits(POND), 15))
    state = play(rules, state, 0, Plant(2, 0, False))
    assert rules.pending(state) == (Decision(0, "score"), Decision(1, "score"))
    state = play(rules, play(rules, state, 1, Done()), 0, Done())
    assert state.phase == "turn_up"


def test_without_features_every_new_row_scores_by_itself() -> None:
    rules = gardener(*CASE, "*~ .. =~", ruleset="young")
    events: list[Event] = []
    state = play(rules, planting(rules, (0, 0), (2, 0)), 0, Plant(4, 0, False), events)
    assert names(events) == ["planted", "scored", "scored", "bonus", "round"]
    assert state.scores == (1 + 2 + 2, 0)
    assert all(event.data["features"] == list(KINDS) for event in events[1:3])
    assert rules.view(state, 0)["features"] == [list(KINDS)] * 2


def test_each_seat_may_have_feature_cards_of_its_own_or_none_that_matter() -> None:
    """At a table of mixed ages. Seat 0 chooses what to score; seat 1 scores all it has made, and is not asked."""
    rules = gardener(*CASE, "*~ .. =~", features="on,off,on", seats=3)
    state = replace(planting(rules, (0, 0), (2, 0)), taken=(2, 2, None), due=(0, 1))
    state = replace(state, gardens=(state.gardens[0], state.gardens[0], state.gardens[2]))
    events: list[Event] = []
    state = play(rules, state, 1, Plant(4, 0, False), events)
    assert names(events) == ["planted", "scored", "scored", "bonus"]
    assert events[2].data["features"] == list(KINDS)
    state = play(rules, state, 0, Plant(4, 0, False))
    assert rules.pending(state) == (Decision(0, "score"),)
    state = play(rules, state, 0, ScoreRow(3, 1, False))
    assert rules.view(state, 2)["features"] == [["tatami", "pond", "garden"], list(KINDS), list(KINDS)]
    assert state.scores == (1, 1 + 2 + 2, 0)


# How the deck lies


def test_a_deck_that_lies_face_up_always_shows_its_next_card() -> None:
    rules = gardener(deck="face_up")
    state, events = rules.start(), list[Event]()
    assert (rules.view(state, 0)["deck"], rules.view(state, 0)["next"]) == (64, None)
    while rules.draw_wanted(state):
        state = rules.draw(state, 3, events)
        assert rules.view(state, 0)["next"] == events[-1].data["card"] or names(events)[-1] != "next"
    told = [(event.data["event"], event.data.get("card")) for event in events]
    assert told == [
        *[("next", 3), ("garden", 3), ("next", 4), ("garden", 4), ("next", 5), ("round", None), ("turned_up", 5)],
        *[("next", 6), ("turned_up", 6), ("next", 7)],
    ]
    assert state.phase == "seize"
    for seat in (0, 1):
        view = rules.view(state, seat)
        assert (view["deck"], view["next"]) == (60, 7), "while they seize and plant, it is seen what comes next"
    state = finish_round(rules, state)
    assert (state.round, state.offer, rules.view(state, 0)["next"]) == (2, (7,), None)


@pytest.mark.parametrize("seats", Gardener.seat_counts)
def test_the_same_draws_deal_the_same_cards_however_the_deck_lies(seats: int) -> None:
    """A draw stands for a card of the shuffled deck; face up it is made one card earlier."""
    dealt = {}
    for deck in ("face_up", "face_down"):
        rules = gardener(seats=seats, target="999", deck=deck)
        state, events, count = rules.start(), list[Event](), 0
        while rules.outcome(state) is None:
            if draw := rules.draw_wanted(state):
                assert (draw.stream, draw.n) == ("deck", 64 - count)
                state = rules.draw(state, count * 7 % draw.n, events)
                count += 1
            else:
                seat = rules.pending(state)[0].seat
                first = Done() if state.phase == "score" else rules.legal(state, seat)[0]
                state = rules.apply(state, seat, first, events)
        assert count == min(64, 64 - 64 % seats + (deck == "face_up"))
        dealt[deck] = [event.data["card"] for event in events if event.data["event"] in ("garden", "turned_up")]
    assert len(dealt["face_up"]) == 64 - 64 % seats
    assert dealt["face_up"] == dealt["face_down"]


# Exactly over a card


def test_a_card_may_lie_exactly_over_one_if_another_is_near() -> None:
    rules = gardener(*APART, exactly_over="yes")
    alone = planting(rules, (0, 0))
    with pytest.raises(IllegalAction, match=r"a card at \[0, 0\] would lie exactly where another was put"):
        rules.check(alone, 0, Plant(0, 0, False))
    assert set(rules.legal(alone, 0)) == set(gardener(*APART).legal(alone, 0)), "there is no other to lie beside"
    state = planting(rules, (0, 0), (2, 1))
    more = set(rules.legal(state, 0)) - set(gardener(*APART).legal(state, 0))
    assert more == {Plant(x, y, turned) for x, y in ((0, 0), (2, 1)) for turned in (False, True)}
    for move in more:
        rules.check(state, 0, move)
    garden = play(rules, state, 0, Plant(0, 0, True)).gardens[0]
    assert garden[-1] == (2, 0, 0, True)
    assert {(0, 0), (2, 1)} <= {point(at) for at in rules.tables.layout(garden).positions}, "and once more"


def test_a_row_is_not_covered_exactly_either() -> None:
    own = gardener("=. =~ =.", "~* *~ ~*", "*= =* *=", exactly_over="yes")
    state = planting(own, (0, 0), (2, 1))
    with pytest.raises(IllegalAction, match="would cover a square of a row"):
        own.check(state, 0, Plant(0, 0, False))
    own.check(state, 0, Plant(2, 1, False))
    made = gardener("=~ *. ~=", "~~ .. =*", "*= =* *=", exactly_over="yes")
    for at in ((0, 0), (2, 0)):
        with pytest.raises(IllegalAction, match="would cover a square of a row"):
            made.check(planting(made, (0, 0), (2, 0)), 0, Plant(*at, False))


# Rounds


def test_each_seat_is_dealt_a_card_and_one_for_each_is_turned_up() -> None:
    rules = gardener(seats=3)
    state, events = rules.start(), list[Event]()
    draws = []
    while draw := rules.draw_wanted(state):
        draws.append((draw.stream, draw.n))
        state = rules.draw(state, 5, events)
    assert draws == [("deck", n) for n in range(64, 58, -1)]
    assert names(events) == ["garden"] * 3 + ["round"] + ["turned_up"] * 3
    assert [garden[0] for garden in state.gardens] == [(5, 0, 0, False), (6, 0, 0, False), (7, 0, 0, False)]
    assert (state.offer, state.round, rules.turn(state)) == ((8, 9, 10), 1, 1)
    assert len(state.deck) == 58
    assert rules.turn(rules.start()) == 0


def test_the_outcome_of_a_draw_is_an_index_into_the_ascending_deck() -> None:
    state = begun(gardener(), first=1)
    assert [garden[0][0] for garden in state.gardens] == [63, 62]
    assert state.offer == (60, 61)


def test_a_draft_goes_round_from_the_starting_player_which_changes() -> None:
    rules = gardener(seats=3)
    state = begun(rules)
    orders = []
    for _ in range(4):
        order = []
        while state.phase == "seize":
            (decision,) = rules.pending(state)
            assert not decision.race
            order.append(decision.seat)
            with pytest.raises(IllegalAction, match="owes no decision"):
                rules.check(state, (decision.seat + 1) % 3, Seize(state.offer[0]))
            state = play(rules, state, decision.seat, Seize(state.offer[-1]))
        orders.append(order)
        assert rules.pending(state) == tuple(Decision(seat, "plant") for seat in range(3))
        state = finish_round(rules, state)
        while rules.draw_wanted(state):
            state = rules.draw(state, 0)
    assert orders == [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]


def test_in_a_race_all_are_asked_and_who_is_late_asks_again() -> None:
    rules = gardener(seats=3, ruleset="race")
    state = begun(rules)
    assert rules.pending(state) == tuple(Decision(seat, "seize", race=True) for seat in range(3))
    assert state.offer == (3, 4, 5)
    state = act(rules, state, 2, {"plays": [{"card": 4}]})
    with pytest.raises(IllegalAction, match=r"card 4 is taken - at \$\.plays\[0\]"):
        act(rules, state, 0, {"plays": [{"card": 4}]})
    with pytest.raises(IllegalAction, match="seat 2 owes no decision"):
        act(rules, state, 2, {"plays": [{"card": 3}]})
    with pytest.raises(IllegalAction, match="card 9 is not turned up"):
        act(rules, state, 0, {"plays": [{"card": 9}]})
    assert rules.write_legal(state, 0) == [{"card": [3, 5]}]
    state = act(rules, act(rules, state, 1, {"plays": [{"card": 5}]}), 0, {"plays": [{"card": 3}]})
    assert state.taken == (3, 5, 4)
    assert rules.pending(state) == tuple(Decision(seat, "plant") for seat in range(3))
    state = finish_round(rules, state)
    while rules.draw_wanted(state):
        state = rules.draw(state, 0)
    assert state.starter == 1
    assert [decision.seat for decision in rules.pending(state)] == [0, 1, 2], "in a race nobody is first"


# The end


@pytest.mark.parametrize(("target", "score", "ends"), [("25", 25, False), ("25", 26, True), ("7", 8, True)])
def test_the_game_ends_when_a_score_is_above_the_target(target: str, score: int, ends: bool) -> None:
    rules = gardener(target=target)
    state = planting(rules, (0, 0), scores=(3, score))
    events: list[Event] = []
    state = rules.apply(state, 0, rules.legal(state, 0)[0], events)
    assert (rules.outcome(state) is not None) == ends
    if ends:
        assert events[-1].data == {"event": "over", "reason": "target", "ranks": [2, 1], "scores": [3, score]}
        assert rules.pending(state) == ()
        assert rules.draw_wanted(state) is None


def test_the_round_is_played_to_its_end_first() -> None:
    rules = gardener(seats=3, target="5")
    row = across(0, 0, PATH)
    state = replace(scoring(rules, row), rows=((row,), (row,), ()), scores=(5, 6, 6), due=(0, 1))
    state = play(rules, state, 0, ScoreRow(0, 0, False))
    assert rules.outcome(state) is None
    state = play(rules, state, 1, ScoreRow(0, 0, False))
    assert state.scores == (6, 7, 6)
    assert rules.outcome(state).ranks == (2, 1, 2), "equal scores share the rank"


@pytest.mark.parametrize(("left", "ends"), [(2, True), (3, False)])
def test_the_game_ends_when_the_deck_has_fewer_cards_than_players(left: int, ends: bool) -> None:
    rules = gardener(seats=3)
    state = replace(planting(rules, (0, 0), scores=(3, 4, 3)), deck=bytes(range(20, 20 + left)))
    events: list[Event] = []
    state = rules.apply(state, 0, rules.legal(state, 0)[0], events)
    assert (state.ranks == (2, 1, 2)) == ends
    assert (events[-1].data.get("reason") == "deck") == ends


@pytest.mark.parametrize("deck", ["face_up", "face_down"])
@pytest.mark.parametrize("seats", Gardener.seat_counts)
def test_how_many_rounds_the_deck_lasts(seats: int, deck: str) -> None:
    rules = gardener(seats=seats, target="999", deck=deck)
    state = begun(rules)
    while rules.outcome(state) is None:
        state = finish_round(rules, state)
    assert state.round == (64 - seats) // seats
    assert rules.view(state, 0)["deck"] == 64 % seats
    assert (rules.view(state, 0)["next"] is not None) == (deck == "face_up" and bool(64 % seats))


# Forfeits


def test_forfeited_seats_rank_last_the_latest_first() -> None:
    assert rank((9, 0, 1, 5), ((0,), (3,))) == (4, 2, 1, 3)
    assert rank((9, 0, 1, 5), ((0, 3),)) == (3, 2, 1, 3)
    assert rank((2, 2, 1), ()) == (1, 1, 3)


def test_a_forfeit_before_any_draw_means_no_garden() -> None:
    rules = gardener(seats=4)
    state = rules.forfeit(rules.start(), [0, 2])
    while rules.draw_wanted(state):
        state = rules.draw(state, 0)
    assert [len(garden) for garden in state.gardens] == [0, 1, 0, 1]
    assert state.starter == 1
    assert len(state.offer) == 2
    assert rules.pending(state) == (Decision(1, "seize"),)


def test_a_forfeit_while_cards_are_dealt_ends_the_dealing() -> None:
    rules = gardener(seats=3)
    state = rules.draw(rules.draw(rules.start(), 0), 0)
    state = rules.forfeit(state, [2])
    assert (state.phase, state.round) == ("turn_up", 1)


def test_a_forfeit_while_cards_are_turned_up_needs_no_card_more() -> None:
    rules = gardener(seats=3)
    state = rules.start()
    for _ in range(5):
        state = rules.draw(state, 0)
    assert (state.phase, len(state.offer)) == ("turn_up", 2)
    state = rules.forfeit(state, [1])
    assert [decision.seat for decision in rules.pending(state)] == [0]
    assert rules.draw_wanted(state) is None


def test_a_forfeit_in_a_draft_passes_the_choice_on_and_leaves_a_card() -> None:
    rules = gardener(seats=3)
    state = rules.forfeit(begun(rules), [0])
    assert [decision.seat for decision in rules.pending(state)] == [1]
    state = play(rules, state, 1, Seize(3))
    assert [decision.seat for decision in rules.pending(state)] == [2]
    state = play(rules, state, 2, Seize(5))
    assert (state.phase, state.offer) == ("plant", (4,))
    state = finish_round(rules, state)
    assert (state.starter, state.offer) == (1, ()), "the card that nobody took is out of the game"
    state = rules.draw(rules.draw(state, 0), 0)
    assert (state.phase, len(state.offer)) == ("seize", 2)


def test_the_last_of_a_draft_may_forfeit() -> None:
    rules = gardener(seats=3)
    state = play(rules, play(rules, begun(rules), 0, Seize(3)), 1, Seize(4))
    state = rules.forfeit(state, [2])
    assert [decision.seat for decision in rules.pending(state)] == [0, 1]


def test_a_forfeit_while_planting_or_scoring_is_not_waited_for() -> None:
    rules = gardener("=~ *. ~=", "~~ .. =*", seats=3)
    state = replace(planting(rules, (0, 0)), taken=(1, 30, None), due=(0, 1))
    state = rules.forfeit(play(rules, state, 0, Plant(2, 0, False)), [1])
    assert rules.pending(state) == (Decision(0, "score"),)
    assert state.taken[1] is None, "what it seized and did not plant has left the game"
    assert state.gardens[1], "its garden stays"
    row = across(0, 0, PATH)
    state = replace(scoring(rules, row), rows=((row,), (row,), ()), due=(0, 1))
    state = rules.forfeit(play(rules, state, 0, Done()), [1])
    assert (state.phase, state.round) == ("turn_up", 2)


def test_a_row_planted_before_the_forfeit_is_not_scored_after_it() -> None:
    rules = gardener("=~ *. ~=", "~~ .. =*", seats=3)
    state = replace(planting(rules, (0, 0)), taken=(1, 30, None), due=(0, 1))
    state = rules.forfeit(play(rules, state, 0, Plant(2, 0, False)), [0])
    state = play(rules, state, 1, rules.legal(state, 1)[0])
    assert (state.phase, state.scores) == ("turn_up", (0, 0, 0))


def test_a_forfeited_seat_is_no_more_the_starting_player() -> None:
    rules = gardener(seats=3)
    state = rules.forfeit(begun(rules), [1])
    starters = []
    for _ in range(4):
        starters.append(state.starter)
        state = finish_round(rules, state)
    assert starters == [0, 2, 0, 2]


def test_with_one_seat_left_the_game_ends_at_once() -> None:
    rules = gardener(seats=3)
    events: list[Event] = []
    state = rules.forfeit(rules.forfeit(begun(rules), [2]), [0], events)
    assert names(events) == ["forfeited", "over"]
    assert events[-1].data["reason"] == "last_seat"
    assert rules.outcome(state).ranks == (2, 1, 3)
    assert rules.pending(state) == ()


def test_the_deck_lasts_longer_for_those_who_are_left() -> None:
    rules = gardener(seats=3)
    state = rules.forfeit(replace(planting(rules, (0, 0)), deck=bytes([20, 21])), [2])
    state = rules.apply(state, 0, rules.legal(state, 0)[0])
    assert (state.phase, state.round) == ("turn_up", 2)


# Options, and what is not a play now


def test_rulesets_and_options() -> None:
    assert list(Gardener.rulesets) == ["draft", "race", "young"]
    chosen: Mapping[str, Any] = {name: tuple(ruleset.options.values()) for name, ruleset in Gardener.rulesets.items()}
    assert chosen == {
        "draft": ("draft", "face_up", "no", "on", "25"),
        "race": ("race", "face_up", "no", "on", "25"),
        "young": ("draft", "face_up", "no", "off", "25"),
    }
    assert resolve_options("gardener", None, {})[0] == "draft"
    assert resolve_options("gardener", None, {"target": "999"}) == (
        "custom",
        {"seize": "draft", "deck": "face_up", "exactly_over": "no", "features": "on", "target": "999"},
    )


def test_a_play_of_another_decision_is_illegal() -> None:
    rules = gardener()
    state = begun(rules)
    for move, name in ((Plant(2, 0, False), "Plant"), (ScoreRow(0, 0, True), "ScoreRow"), (Done(), "Done")):
        with pytest.raises(IllegalAction, match=f"a {name} is not a play of the decision that is due"):
            rules.check(state, 0, move)
    with pytest.raises(IllegalAction, match="a Seize is not a play of the decision"):
        rules.check(planting(rules, (0, 0)), 0, Seize(1))
