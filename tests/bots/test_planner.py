"""Planner: what it knows of gardens is what the rules say; it keeps its time, repeats itself, and wins."""

from __future__ import annotations

import importlib
from itertools import combinations, permutations
from random import Random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit import at_default_board

from arena.core.link.bots import load_bot
from arena.games.gardener import geometry, rounds
from arena.games.gardener.state import ALL_KINDS
from tests.bots.games import GREEDY, RANDOM, CountingPlanner, bot_module, play_game

planner_budget, planner_player, prospects, plots, plans = map(
    importlib.import_module, ("planner_budget", "planner_player", "garden_prospects", "garden_plot", "garden_plans")
)
gardener, greedy = bot_module("gardener"), bot_module("gardener_player")

DECK = tuple(
    bytes(card) for card, _ in gardener.read_deck({"board": at_default_board("gardener", 2, "draft").board.payload()})
)
WEIGHTS = prospects.Weights()
PROSPECTS = prospects.Prospects(DECK, WEIGHTS)
ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(3, 5)), max_size=5).map(tuple)


class Thorough(CountingPlanner):
    steps = 16


def grown_garden(seed, cards):
    """A garden of some cards, the cards that may still come, and the feature cards."""
    chance = Random(seed)
    deck = chance.sample(range(64), 64)
    layout = geometry.EMPTY
    for _ in range(cards):
        layout = geometry.plant(layout, DECK[deck.pop()], chance.choice(layout.positions))
    return layout, sorted(deck), chance.randrange(1, 16)


def brute_force_promise(layout, unseen, features):
    """By card: its worth at the best position, by the rules' own geometry."""
    worths = []
    for card in unseen:
        worth = 0
        for face in (DECK[card], DECK[card][::-1]):
            for position in layout.positions:
                rows = [(row.kind, row.length) for row in geometry.plant(layout, face, position).rows]
                for _, points, left in planner_player.orders(rows, features):
                    worth = max(worth, prospects.score_worth(points, left, WEIGHTS.face_up))
        worths.append(worth)
    return worths


def test_the_weights_are_those_of_the_manifest() -> None:
    sent = load_bot("planner").parameters
    assert {name: float(text) for name, text in sent.items()} == WEIGHTS._asdict()


def test_weights_that_are_sent_are_used() -> None:
    planner = CountingPlanner()
    settings = at_default_board("gardener", 2, "draft")
    start = {
        "board": settings.board.payload(), "options": settings.options, "seat": 0, "seats": 2,
        "time": {"increment_ms": 0}, "parameters": load_bot("planner@face_up=7,spite=0.25").parameters,
    }  # fmt: skip
    planner.start(start)
    assert planner.player.table._prospects.weights == WEIGHTS._replace(face_up=7, spite=0.25)


@pytest.mark.parametrize("seed", range(3))
def test_promise_is_what_the_rules_say(seed):
    layout, unseen, features = grown_garden(seed, 5)
    unseen = unseen[:12]
    promise = plots.Plot(PROSPECTS, layout).promise(features, unseen)
    assert promise == brute_force_promise(layout, unseen, features)


@given(st.integers(0, 1000), st.integers(1, 9), st.booleans())
def test_a_plot_after_a_planting_is_that_of_the_new_garden(seed, cards, turned):
    layout, unseen, _ = grown_garden(seed, cards)
    position, face = Random(seed).choice(layout.positions), unseen[0] + 64 * turned
    after = plots.Plot(PROSPECTS, layout).after(position, face)
    assert after.layout == geometry.plant(layout, PROSPECTS.faces[face], position)
    assert after.ends == plots.Plot(PROSPECTS, after.layout).ends


def end(kind, length):
    """The end where such a run begins."""
    return prospects.LONGEST * kind + length


@pytest.mark.parametrize(
    ("before", "after", "line", "expected"),
    [
        (0, 0, (1, 1), 2),
        (0, 0, (1, 2), 0),
        (0, 0, (0, 0), 0),  # its feature card is face down
        (end(1, 1), 0, (1, 2), 2),
        (end(1, 3), 0, (1, 2), 0),  # could grow both ways before, and can now
        (end(1, 2), 0, (2, 2), 2),  # both may still grow over the other
        (end(1, 3), 0, (2, 2), 1),  # the row can still grow over the two, but they not over it
        (end(1, 4), 0, (1, 2), -2),  # five do not grow
        (end(1, 1), end(1, 1), (1, 1), 2),
    ],
)
def test_open_ends_that_a_planting_adds(before, after, line, expected):
    assert prospects.open_ends(before, after, line, 0b1110) == expected


@given(ROWS, st.integers(1, 15))
def test_scorings_are_the_best_orders(rows, features):
    best = {}
    for _, points, left in planner_player.orders(rows, features):
        best[left] = max(points, best.get(left, 0))
    assert prospects.scorings(prospects.count_rows(rows), features) == best


@given(ROWS)
def test_without_features_every_row_scores(rows):
    points = sum(rounds.POINTS[length] for _, length in rows) + rounds.BONUS[len({kind for kind, _ in rows})]
    assert prospects.scorings(prospects.count_rows(rows), 0) == {0: points}


@given(st.lists(st.integers(0, 99), min_size=1, max_size=6), st.integers(1, 6))
def test_best_of_is_the_mean_of_the_highest(values, choices):
    hands = combinations(values, min(choices, len(values)))
    assert plots.best_of(values, choices) == pytest.approx(mean(map(max, hands)), abs=1e-3)


def test_orders_are_all_that_can_be_scored():
    rows = [(0, 3), (1, 4), (1, 3)]
    expected = {
        order
        for count in range(4)
        for order in permutations(range(3), count)
        if not {1, 2} <= set(order)  # the feature card of kind 1 is face down after either
    }
    assert {order for order, _, _ in planner_player.orders(rows, ALL_KINDS)} == expected


def test_left_over_is_what_others_get_one_after_the_other():
    wishes = [{1: 5, 2: 9, 3: 1}, {1: 4, 2: 7, 3: 2}]
    assert planner_player.left_over(wishes, [1, 2, 3], 3) == 9 + 4
    assert planner_player.left_over(wishes, [1, 2, 3], 2) == 5 + 2


@pytest.mark.long
@pytest.mark.parametrize("ruleset", ["draft", "race"])
def test_same_requests_and_count_same_actions(ruleset):
    rules = at_default_board("gardener", 2, ruleset)
    games = []
    for _ in range(2):
        told = []
        play_game([CountingPlanner(), CountingPlanner()], rules, seed=3, told=told)
        games.append(told)
    assert games[0] == games[1]


@pytest.mark.long(1)
@pytest.mark.parametrize("ruleset", ["draft", "young"])
def test_beats_greedy(ruleset):
    rules = at_default_board("gardener", 2, ruleset)
    won = 0
    for deal in range(3):
        won += play_game([Thorough(), GREEDY()], rules, deal)[0] == 1
        won += play_game([GREEDY(), Thorough()], rules, deal)[1] == 1
    assert won >= 5


def test_rather_ends_the_game_ahead_than_promises_more():
    rules = at_default_board("gardener", 2, "draft")
    game = {"board": rules.board.payload(), "options": rules.options, "seat": 0, "seats": 2}
    table = importlib.import_module("garden_table").Table(game, PROSPECTS)
    view = {"gardens": [[], []], "offer": [], "taken": [None, None], "scores": [24, 24], "deck": 40, "forfeited": []}
    table.see(view)
    assert table.outlook([25], 2, 0) > table.outlook([25], 1, 9) > table.outlook([26], 1, 9)
    assert table.outlook([26], 3, 0) > table.outlook([26], 2, 9) > table.outlook([26], 1, 9)


def garden_plans_for(seed, cards):
    """The plans of a garden of so many cards, and two cards for it."""
    layout, unseen, features = grown_garden(seed, cards)
    return plans.Plans(plots.Plot(PROSPECTS, layout), unseen[2:], features, 2), unseen[:2]


def at_most(count):
    """Time for so many more."""
    asked = []
    return lambda: len(asked) < count and (asked.append(1) or True)


def test_looks_at_no_more_than_it_has_time_for():
    garden, cards = garden_plans_for(4, 4)
    assert planner_player.counted(garden.weigh(cards, at_most(7))) == 2 + 7


def test_looks_at_the_plantings_with_the_highest_aims():
    garden, (card, _) = garden_plans_for(4, 4)
    aims = {(position, face): aim for aim, position, face in garden.plot.aims([card], garden.features)}
    kept = {(planting.position, card + 64 * planting.turned) for planting in garden.plantings(card)}
    assert len(kept) == plans.KEPT
    assert min(aims[key] for key in kept) >= max(aim for key, aim in aims.items() if key not in kept)


def test_looks_at_the_best_way_to_score_first():
    garden, cards = garden_plans_for(7, 7)
    for card in cards:
        first, *others = garden.plantings(card)
        there = [other for other in others if (other.position, other.turned) == (first.position, first.turned)]
        assert all(worth_of(first) >= worth_of(other) for other in there)


def worth_of(planting):
    return prospects.score_worth(planting.points, planting.features, WEIGHTS.face_up)


def test_a_glance_and_time_enough_find_what_a_look_finds_first():
    garden, _ = garden_plans_for(6, 6)
    glanced = garden.glance(lambda: True)
    assert glanced == {card: garden.weigh([card], at_most(0))[card][0][0] for card in garden.unseen}


def test_plays_the_same_number_of_games_with_each_finalist():
    garden, cards = garden_plans_for(4, 4)
    weighed = garden.weigh(cards, at_most(20))
    before = {card: list(plantings) for card, plantings in weighed.items()}
    assert garden.play_on(weighed, 5, at_most(plans.FINALISTS - 1), seed=1) == 0
    assert weighed == before
    assert garden.play_on(weighed, 5, at_most(3 * plans.FINALISTS + 1), seed=1) == 3
    assert weighed != before


def test_games_move_finalists_only_and_not_their_mean():
    garden, cards = garden_plans_for(5, 5)
    weighed = garden.weigh(cards, at_most(20))
    before = {planting: value for plantings in weighed.values() for value, planting in plantings}
    garden.play_on(weighed, 5, at_most(12), seed=1)
    after = {planting: value for plantings in weighed.values() for value, planting in plantings}
    moved = {planting for planting in after if after[planting] != before[planting]}
    assert moved <= set(sorted(before, key=lambda planting: (before[planting], planting))[-plans.FINALISTS :])
    assert sum(after.values()) == pytest.approx(sum(before.values()))


def test_does_not_play_beyond_the_end_of_the_game():
    garden, cards = garden_plans_for(4, 4)
    assert garden.play_on(garden.weigh(cards, at_most(5)), 0.5, at_most(50), seed=1) == 0


class Clock:
    """A clock that goes on by a millisecond whenever somebody looks at it."""

    def __init__(self):
        self.looks = 0

    def __call__(self):
        self.looks += 1
        return self.looks / 1000


@pytest.mark.parametrize(
    ("limit_ms", "bank_ms", "decisions", "expected"),
    [
        (100, None, 30, 60),
        (10, None, 30, 4),
        (3, None, 30, 0),
        (9_000, 9_000, 30, 240),  # 60 % of a 30th of the bank and the increment of 100 ms
        (80, 80, 30, 48),  # no more than the bank has
        (60_000, None, 30, planner_budget.MOST_MS),
    ],
)
def test_time_for_a_decision(limit_ms, bank_ms, decisions, expected):
    budget = planner_budget.Budget(Clock())
    budget.grant({"limit_ms": limit_ms, "bank_ms": bank_ms}, 100, decisions)
    asked = 0
    while budget.left():
        asked += 1
    assert abs(asked - expected) <= 1


def timed(clocks):
    """Planner by a `Clock` of each decision, which is added to `clocks`."""

    class Timed(CountingPlanner):
        def budget(self):
            clocks.append(Clock())
            return planner_budget.Budget(clocks[-1])

    return Timed


def test_keeps_its_time_in_every_decision():
    clocks = []
    planner = timed(clocks)
    for ruleset in ("draft", "race"):
        play_game([planner(), GREEDY()], at_default_board("gardener", 2, ruleset), seed=2)
    # 60 % of 30 ms, and a look each to begin with and to find that the time is over, for each garden.
    assert 17 < max(clock.looks for clock in clocks) < 25


def test_answers_a_race_without_thinking():
    clocks = []

    class AtOnce(timed(clocks)):
        def decide(self, request):
            answered = super().decide(request)
            assert request["kind"] != "seize" or clocks[-1].looks == 1
            return answered

    play_game([AtOnce(), RANDOM()], at_default_board("gardener", 2, "race"), seed=2)
