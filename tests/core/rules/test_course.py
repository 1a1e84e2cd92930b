"""The course of a game: what is due, and what each answer does to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from arena.core.catalogue import make_settings, rules_of
from arena.core.errors import InternalError
from arena.core.rules import course as courses
from arena.core.rules.base import Decision, Event, Legal, Outcome, Product, Rules
from arena.core.types import Payload, Ranks, Teams, Termination


def course(rules: str, seats: int, ruleset: str | None = None) -> courses.Course:
    return courses.Course(rules_of(make_settings(rules, seats, ruleset=ruleset)))


def hand(*tiles: str) -> Payload:
    return {"plays": [{"hand": list(tiles)}]}


FIRST_HAND = hand("buddha2", "buddha3", "buddha4", "rice2", "rice3")


def first(game: courses.Course, seat: int) -> Payload:
    return game.rules.write_action([game.rules.legal(game.asked[seat].state, seat)[0]])


def to_race(game: courses.Course) -> courses.Course:
    while isinstance(game.due, courses.Chance):
        game.draw(0)
    game.ask()
    return game


def test_seats_that_decide_together_are_asked_in_one_state_and_not_again() -> None:
    game = course("samurai", 3)
    begin = game.state
    assert [decision.seat for decision in game.ask().decisions] == [0, 1, 2]
    assert isinstance(game.answer(1, FIRST_HAND), courses.Accepted)
    assert game.due == courses.Answers((0, 2))
    assert all(asked.state is begin for asked in game.asked.values())
    with pytest.raises(InternalError, match="seat 1"):
        game.answer(1, FIRST_HAND)


def test_who_fails_forfeits_when_all_others_have_answered() -> None:
    game = course("samurai", 3)
    game.ask()
    game.fail(2, Termination.TIMEOUT)
    refused = game.answer(0, hand("buddha2"))
    assert isinstance(refused, courses.Refused)
    assert game.due == courses.Answers((1,))
    game.answer(1, FIRST_HAND)
    assert game.due == courses.Forfeits((0, 2))
    events = game.forfeit()
    assert [event.data["seat"] for event in events if event.data["event"] == "forfeited"] == [0, 2]
    assert game.gone == {0: Termination.ILLEGAL_ACTION, 2: Termination.TIMEOUT}
    assert game.termination is Termination.ILLEGAL_ACTION
    due = game.due
    assert isinstance(due, courses.Over)
    assert due.outcome.ranks == (2, 1, 2)


def test_chance_decides_for_who_is_gone_before_others_are_asked() -> None:
    game = course("samurai", 3)
    game.fail(1, Termination.START_FAILED)
    game.forfeit()
    due = game.due
    assert isinstance(due, courses.Chance)
    assert (due.draw.stream, due.absent) == ("proxy/1", 1)
    game.draw(7)
    assert game.due == courses.Ask((Decision(0, "hand"), Decision(2, "hand")))
    assert game.termination is Termination.FINISHED


def test_only_who_was_asked_can_fail_once_a_game_has_begun() -> None:
    game = course("samurai", 2)
    game.ask()
    game.answer(0, FIRST_HAND)
    with pytest.raises(InternalError, match="seat 0"):
        game.fail(0, Termination.TIMEOUT)


def test_who_is_late_in_a_race_is_asked_again() -> None:
    game = to_race(course("gardener", 3, "race"))
    action = first(game, 0)
    assert isinstance(game.answer(2, action), courses.Accepted)
    late = game.answer(0, action)
    assert isinstance(late, courses.Late)
    due = game.due
    assert isinstance(due, courses.Ask)
    assert due.again
    assert [decision.seat for decision in due.decisions] == [0]
    game.ask()
    assert game.due == courses.Answers((1, 0))
    assert action["plays"][0]["card"] not in game.rules.write_legal(game.asked[0].state, 0)[0]["card"]


def test_the_last_one_who_is_late_is_asked_again_before_others_forfeit() -> None:
    game = to_race(course("gardener", 3, "race"))
    action = first(game, 0)
    game.fail(1, Termination.TIMEOUT)
    game.answer(2, action)
    game.answer(0, action)
    due = game.due
    assert isinstance(due, courses.Ask)
    assert due.again
    game.ask()
    game.answer(0, first(game, 0))
    assert game.due == courses.Forfeits((1,))


def test_what_was_never_legal_is_not_late() -> None:
    game = to_race(course("gardener", 2, "race"))
    game.answer(1, first(game, 1))
    assert isinstance(game.answer(0, {"plays": [{"card": 999}]}), courses.Refused)


def test_tied_seats_are_served_in_the_order_that_was_drawn() -> None:
    game = to_race(course("gardener", 3, "race"))
    game.tie([0, 1, 2])
    due = game.due
    assert isinstance(due, courses.Chance)
    assert (due.draw.stream, due.draw.n, due.tied) == ("race", 6, (0, 1, 2))
    assert game.draw(5) == []
    assert game.order == [2, 1, 0]
    with pytest.raises(InternalError, match="seat 0"):
        game.answer(0, first(game, 0))
    action = first(game, 2)
    assert isinstance(game.answer(2, action), courses.Accepted)
    assert isinstance(game.answer(1, action), courses.Late)
    assert game.due == courses.Answers((0,)), "nobody is asked again before all that were tied are served"


@pytest.mark.parametrize("tied", [[0], [1, 0], [0, 0], [0, 3], []])
def test_seats_that_cannot_be_tied_are_refused(tied: list[int]) -> None:
    game = to_race(course("gardener", 3, "race"))
    with pytest.raises(ValueError, match="cannot be tied"):
        game.tie(tied)


def test_nobody_is_tied_where_nobody_races() -> None:
    game = course("samurai", 2)
    game.ask()
    with pytest.raises(ValueError, match="cannot be tied"):
        game.tie([0, 1])


def test_an_action_is_kept_as_the_rules_read_it() -> None:
    """Neither the order of keys nor keys that nobody knows make another action of it."""
    made = []
    for action in (
        {"plays": [{"caste": "rice", "space": 0}]},
        {"x": "y" * 1000, "plays": [{"space": 0, "z": [1], "caste": "rice"}]},
    ):
        game = course("samurai", 2)
        game.ask()
        game.answer(0, FIRST_HAND)
        game.answer(1, FIRST_HAND)
        game.ask()
        space = game.rules.write_legal(game.state, 0)[0]["space"][0]
        action["plays"][0]["space"] = space  # type: ignore[index]
        accepted = game.answer(0, action)
        assert isinstance(accepted, courses.Accepted)
        made.append(msgspec.json.encode(accepted.action))
    assert made[0] == made[1]


def test_news_are_what_a_seat_was_told_since_it_was_last_asked() -> None:
    game = course("samurai", 2)
    game.ask()
    assert game.news(0) == []
    game.answer(0, FIRST_HAND)
    game.answer(1, FIRST_HAND)
    own = [event for event in game.news(0) if event["event"] == "hand"]
    assert [("tiles" in event, event["seat"]) for event in own] == [(True, 0), (False, 1)]
    assert game.news(0) == []


def test_orders_of_tied_seats_are_counted_lexicographically() -> None:
    orders = [courses.tie_order([0, 2, 3], index) for index in range(6)]
    assert orders == sorted(orders)
    assert len(set(orders)) == 6
    with pytest.raises(IndexError):
        courses.tie_order([0, 2, 3], 6)


@pytest.mark.parametrize("rules", ["samurai", "gardener"])
def test_a_playout_ends_where_the_game_does(rules: str) -> None:
    bound = rules_of(make_settings(rules, 2))
    *_, (_, state) = courses.playout(bound, lambda n: n - 1)
    assert bound.outcome(state) is not None


class Coin(msgspec.Struct, frozen=True):
    """A play of the game below."""

    side: str


class Toss(Rules[tuple[str, ...]]):
    """Both seats call a side, one after the other. It does not say how it goes on without a seat."""

    name = "toss"
    about = "Call a side."
    seat_counts = range(2, 4)
    nothing_hidden = True
    play_type = Coin
    state_type = tuple[str, ...]

    def start(self) -> tuple[str, ...]:
        return ()

    def pending(self, state: tuple[str, ...]) -> tuple[Decision, ...]:
        return (Decision(len(state), "call"),) if len(state) < self.seats else ()

    def legal(self, state: tuple[str, ...], seat: int) -> Legal:
        return Legal([Product.of(Coin, ("heads", "tails"))] if seat == len(state) < self.seats else [])

    def apply(self, state: tuple[str, ...], seat: int, play: Any, events: list[Event] | None = None) -> tuple[str, ...]:
        if events is not None:
            events.append(Event({"event": "called", "side": play.side}))
        return (*state, play.side)

    def outcome(self, state: tuple[str, ...]) -> Outcome | None:
        return Outcome((1,) * self.seats) if len(state) == self.seats else None

    def view(self, state: tuple[str, ...], seat: int) -> Payload:
        return {"calls": list(state)}

    def fold(self, view: Payload, event: Payload) -> Payload:
        return {"calls": [*view["calls"], event["side"]]}


class Pairs(Toss):
    """Seat 0 has two turns in a row, and calls twice in each."""

    def turn(self, state: tuple[str, ...]) -> int:
        return 1 + len(state) // 2

    def pending(self, state: tuple[str, ...]) -> tuple[Decision, ...]:
        return (Decision(0, "call"),) if len(state) < 4 else ()

    def outcome(self, state: tuple[str, ...]) -> Outcome | None:
        return Outcome((1,) * self.seats) if len(state) == 4 else None

    def legal(self, state: tuple[str, ...], seat: int) -> Legal:
        return Legal([Product.of(Coin, ("heads", "tails"))])


def test_a_decision_goes_on_until_its_turn_is_over() -> None:
    """A second turn of the same seat is another decision, though nobody else is asked in between."""
    game = courses.Course(Pairs(2, {}))
    unfinished = []
    for _ in range(4):
        game.ask()
        game.answer(0, {"plays": [{"side": "heads"}]})
        unfinished.append(game.unfinished == {0})
    assert unfinished == [True, False, True, False]


def test_who_came_too_late_goes_on_until_it_is_served() -> None:
    rules = rules_of(make_settings("gardener", 2, ruleset="race"))
    game = courses.Course(rules)
    while isinstance(due := game.due, courses.Chance):
        game.draw(0)
    assert isinstance(due, courses.Ask)
    game.ask()
    card = rules.write_legal(game.state, 0)[0]["card"][0]
    game.answer(0, {"plays": [{"card": card}]})
    assert isinstance(game.answer(1, {"plays": [{"card": card}]}), courses.Late)
    assert game.unfinished == {1}
    game.ask()
    game.answer(1, {"plays": [{"card": rules.write_legal(game.state, 1)[0]["card"][0]}]})
    assert not game.unfinished


def test_a_game_that_does_not_go_on_without_a_seat_ends() -> None:
    game = courses.Course(Toss(3, {}))
    game.ask()
    game.answer(0, {"plays": [{"side": "heads"}]})
    game.ask()
    game.fail(1, Termination.CRASHED)
    assert game.forfeit() == []
    assert game.due == courses.Over(Outcome((1, 3, 1)))
    assert game.termination is Termination.CRASHED


class Partners(Toss):
    """Seats that sit across from each other call together."""

    seat_counts = range(4, 5)

    @classmethod
    def teams(cls, seats: int, options: Mapping[str, str]) -> Teams:
        return 0, 1, 0, 1


@pytest.mark.parametrize(("failing", "ranks"), [([1], (1, 3, 1, 3)), ([0, 1], (1, 1, 1, 1))])
def test_who_forfeits_loses_for_the_whole_team(failing: list[int], ranks: Ranks) -> None:
    game = courses.Course(Partners(4, {}))
    for seat in failing:
        game.fail(seat, Termination.CRASHED)
    game.forfeit()
    assert game.due == courses.Over(Outcome(ranks))


def test_the_defaults_say_what_is_wrong_with_an_action() -> None:
    game = courses.Course(Toss(2, {}))
    for action, words in (
        ({"plays": [{"side": 1}]}, r"expected `?str`?, got `?int`? - at \$\.plays\[0\]\.side"),
        ({"plays": []}, r"expected one play, got: 0"),
        ({}, r"expected 'plays' to be a list, it is missing"),
        ({"plays": [{"side": "edge"}]}, r"expected one of the legal plays.*edge.* - at \$\.plays\[0\]"),
    ):
        game = courses.Course(Toss(2, {}))
        game.ask()
        refused = game.answer(0, action)
        assert isinstance(refused, courses.Refused)
        with pytest.raises(type(refused.error), match=words):
            raise refused.error
