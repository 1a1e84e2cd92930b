"""Shogun: guesses that agree with what it sees, time that it keeps, answers that repeat, and games that it wins."""

from __future__ import annotations

import importlib
from random import Random

import pytest
from kit import samurai, walk

from tests.bots.games import GREEDY, CountingShogun, play_game

pace, rollouts, search, worlds = map(
    importlib.import_module, ("shogun_pace", "shogun_rollouts", "shogun_search", "shogun_worlds")
)


class Ticking(CountingShogun):
    """Shogun by a clock on which a millisecond goes by each time that it looks."""

    rollouts = None

    def decide(self, request):
        self.looked = 0

        def now():
            self.looked += 1
            return self.looked / 1000

        self.watch = lambda: pace.Stopwatch(now)
        return super().decide({**request, "clock": {"limit_ms": 100, "bank_ms": None}})


def ask_all(cls, rules, seed, check):
    """A game of `cls` alone, with each request for a turn, and what was answered, handed to a check."""

    def ask(seat, bot, start, request):
        answered = bot.decide(request)
        if request["kind"] == "turn":
            check(bot, start, request, answered)
        return answered[0]

    return play_game([cls() for _ in range(rules.seats)], rules, seed, ask)


@pytest.mark.thorough
def test_no_action_is_illegal_where_tiles_must_follow_and_captures_are_instant():
    options = {"captures": "instant", "fast": "must_follow", "placement": "near_pieces", "move_is_fast": "yes"}
    for seats in (2, 3, 4):
        assert 1 in play_game([CountingShogun() for _ in range(seats)], samurai(seats, **options), seed=3)


@pytest.mark.long
def test_same_requests_have_the_same_answers():
    def again(bot, start, request, answered):
        other = CountingShogun()
        other.start(start)
        assert other.decide(request) == answered

    assert 1 in ask_all(CountingShogun, samurai(2), 5, again)


@pytest.mark.parametrize(("ruleset", "seats"), [("standard", 2), ("summary", 3), ("classic", 4)])
def test_worlds_agree_with_what_the_seat_sees(ruleset, seats):
    """In each world the seat would see the same and have the same plays, and every tile is somewhere."""
    rules = samurai(seats, ruleset)
    seen = 0
    for step in walk(rules, seed=6):
        state = step.after
        if state.phase != "turns" or state.played:
            continue
        seat = state.to_move
        view = rules.view(state, seat)
        first = worlds.state_of(rules, view, [tuple(pieces) for pieces in state.captured])
        guesses = worlds.Worlds(rules, first, seat, seed=7)
        for guess in (first, guesses.sample().deal(first, seat)):
            assert rules.view(guess, seat) == view
            assert rules.write_legal(guess, seat) == rules.write_legal(state, seat)
            for hand, stack, own_hand, own_stack in zip(
                guess.hands, guess.stacks, state.hands, state.stacks, strict=True
            ):
                assert sorted(hand + stack) == sorted(own_hand + own_stack)
        seen += 1
    assert seen > 10


def test_guesses_differ_but_not_in_what_the_seat_holds():
    rules = samurai(2)
    state = next(step.after for step in walk(rules, seed=8) if step.after.phase == "turns")
    guesses = worlds.Worlds(rules, state, 0, seed=9)
    hands = [guesses.sample().hands for _ in range(20)]
    assert {own for own, _ in hands} == {state.hands[0]}
    assert len({other for _, other in hands}) > 10


def test_the_best_of_several_turns_is_found_although_it_looked_worst():
    chance = Random(10)

    class Known:
        seats = 2

        def play(self, state, plays):
            return plays

        def run(self, state, world, depth):
            return state / 10 + chance.uniform(-0.2, 0.2)

    class Nothing:
        def sample(self):
            return None

    turns = [(1 - worth / 10, worth) for worth in range(8)]
    best, count = search.compare(turns, Known(), None, Nothing(), lambda count: count / 60_000)
    assert (best.plays, count) == (7, 60_000)
    assert best.tried > 60_000 / 8


@pytest.mark.quick(1)
@pytest.mark.parametrize("share", [pace.SHARE, 0.4])
def test_the_time_is_kept_by_the_clock(share):
    """It stops at the first look at a clock that says so: with one rollout too many at most."""
    looked = []

    def check(bot, start, request, answered):
        looked.append(bot.looked)

    assert 1 in ask_all(lambda: Ticking(share), samurai(2), 11, check)
    assert max(looked) <= 100 * share + 3
    assert max(looked) >= 100 * share


def test_time_comes_from_the_limit_and_the_bank():
    by_limit = pace.seconds({"limit_ms": 100, "bank_ms": None}, 0, tiles=20)
    assert by_limit == pytest.approx(0.1 * pace.SHARE)
    assert pace.seconds({"limit_ms": 100, "bank_ms": 60_000}, 0, tiles=20) == by_limit
    assert pace.seconds({"limit_ms": 100, "bank_ms": None}, 0, tiles=20, share=0.1) == pytest.approx(0.01)
    bank = 10_000
    for tiles in range(20, 0, -1):  # a turn for every tile: more turns than any game has had
        time = 1000 * pace.seconds({"limit_ms": bank, "bank_ms": bank}, 100, tiles)
        assert time > 100 * pace.SHARE
        bank += 100 - time
        assert bank > 500


@pytest.mark.thorough
def test_beats_greedy():
    won = [play_game([CountingShogun(), GREEDY()], samurai(2), deal)[0] == 1 for deal in range(6)]
    won += [play_game([GREEDY(), CountingShogun()], samurai(2), deal)[1] == 1 for deal in range(6)]
    assert sum(won) >= 8
