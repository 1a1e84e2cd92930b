"""Samurai Gardener: the kit on a deck that scores, the geometry against a slow one, what is decided at once against any
order, and that nobody learns what the deck holds next."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from acting import act
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import Step, at_default_board, check_actions, check_fold, check_ranks, check_rules, seen, walk
from msgspec.structs import replace

from arena.core.errors import IllegalAction
from arena.core.rules.base import Event, Rules
from arena.games.gardener.deck import KINDS, Deck
from arena.games.gardener.game import Gardener
from arena.games.gardener.geometry import EMPTY, Layout, plant, point
from arena.games.gardener.state import Done, State

TABLES = [(ruleset, seats) for ruleset in Gardener.rulesets for seats in Gardener.seat_counts]
every_table = pytest.mark.parametrize(("ruleset", "seats"), TABLES)
Check = Callable[[Rules[Any], int], object]
SEEDS = st.integers(0, 2**32 - 1)
few = settings(max_examples=4)  # whole games at every step: a handful of each of a dozen tables keeps the suite fast
STRIPES = Deck("stripes", "a test", "", tuple(bytes([left, right] * 3) for left in range(4) for right in range(4)) * 4)
"""Every card brings two rows along: even at random much is scored, and feature cards turn again and again."""


def gardener(seats: int, ruleset: str) -> Rules[Any]:
    return at_default_board("gardener", seats, ruleset)


def striped(seats: int, ruleset: str) -> Rules[Any]:
    return Gardener(seats, Gardener.rulesets[ruleset].options, STRIPES)


# The kit on a deck that scores; test_rules.py has it on the bundled one


@pytest.mark.quick(6, 28)
@pytest.mark.parametrize("check", [check_rules, check_fold, check_actions])
@every_table
@few
@given(seed=SEEDS)
def test_the_rules_pass_the_kit_where_much_is_scored(check: Check, ruleset: str, seats: int, seed: int) -> None:
    check(striped(seats, ruleset), seed)


@settings(max_examples=8)
@given(seed=SEEDS)
def test_the_rules_pass_the_kit_with_features_by_seat_and_cards_exactly_over_others(seed: int) -> None:
    options = Gardener.rulesets["draft"].options | {"features": "on,off,on", "exactly_over": "yes"}
    rules = Gardener(3, options, STRIPES)
    for check in (check_rules, check_fold, check_actions):
        check(rules, seed)


# The geometry, once more: slow, from the words of the rules, on squares as pairs

Square = tuple[int, int]


def squares_of(x: int, y: int) -> list[Square]:
    return [(x + right, y + below) for below in range(3) for right in range(2)]


def lines_of(visible: dict[Square, int]) -> set[tuple[Square, ...]]:
    lines = set()
    for x, y in visible:
        for right, below in ((1, 0), (0, 1)):
            line = [(x, y)]
            while visible.get(after := (line[-1][0] + right, line[-1][1] + below)) == visible[x, y]:
                line.append(after)
            if len(line) >= 3 and visible.get((x - right, y - below)) != visible[x, y]:
                lines.add(tuple(line))
    return lines


def may_lie(visible: dict[Square, int], before: set[Square], at: Square, exactly_over: bool) -> bool:
    squares = squares_of(*at)
    over = any(one in visible for one in squares)
    beside = any((x + dx, y + dy) in visible for x, y in squares for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)))
    protected = {one for line in lines_of(visible) for one in line}
    near = any(lies_near(at, other) for other in before - {at})
    return (over or beside) and not protected & {*squares} and (at not in before or (exactly_over and near))


def lies_near(one: Square, other: Square) -> bool:
    grown = {(x + dx, y + dy) for x, y in squares_of(*other) for dx, dy in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))}
    return one != other and bool(grown & {*squares_of(*one)})


@settings(max_examples=10)
@given(st.integers(1, 4), st.booleans(), st.data())
def test_positions_and_new_rows_are_those_of_the_slow_geometry(
    kinds: int, exactly_over: bool, data: st.DataObject
) -> None:
    """With few kinds rows are many and long. Any card will do, with columns of three alike too."""
    cards = st.binary(min_size=6, max_size=6).map(lambda card: bytes(kind % kinds for kind in card))
    layout, visible, before = EMPTY, dict[Square, int](), set[Square]()
    for card in data.draw(st.lists(cards, min_size=1, max_size=9)):
        position = data.draw(st.sampled_from(layout.positions))
        at, rows = point(position), lines_of(visible)
        layout = plant(layout, card, position, exactly_over)
        visible.update(zip(squares_of(*at), card, strict=True))
        before.add(at)
        assert {point(number): kind for number, kind in layout.kinds.items()} == visible
        new = {line for line in lines_of(visible) - rows if len(line) <= 5}
        assert {((row.x, row.y), row.down, row.kind, row.length) for row in layout.rows} == {
            (line[0], line[0][0] == line[1][0], visible[line[0]], len(line)) for line in new
        }
        assert len(layout.rows) == len(new)
        assert list(layout.rows) == sorted(layout.rows)
        around = [(x, y) for x in range(at[0] - 6, at[0] + 7) for y in range(at[1] - 7, at[1] + 8)]
        legal = {point(number) for number in layout.positions}
        assert {one for one in around if one in legal} == {
            one for one in around if may_lie(visible, before, one, exactly_over)
        }
        assert list(layout.positions) == sorted(layout.positions)
    far = [(x, y) for x, y in legal if not may_lie(visible, before, (x, y), exactly_over)]
    assert far == []


@given(SEEDS)
def test_a_row_once_there_is_never_gone(seed: int) -> None:
    """What `geometry` builds on: no legal card covers or shortens a line of three or more."""
    chance = random.Random(seed)
    layout: Layout = EMPTY
    lines: list[set[tuple[Square, ...]]] = []
    for _ in range(12):
        layout = plant(layout, bytes(chance.choices(range(3), k=6)), chance.choice(layout.positions))
        lines.append(lines_of({point(number): kind for number, kind in layout.kinds.items()}))
    for earlier, later in pairwise(lines):
        assert all(any({*line} <= {*grown} for grown in later) for line in earlier)


@every_table
@few
@given(seed=SEEDS)
def test_scores_are_those_of_the_rules_told_once_more(ruleset: str, seats: int, seed: int) -> None:
    """Feature cards and points, followed by the events of each round."""
    points = {3: 1, 4: 2, 5: 4}
    face_up = [{*KINDS} for _ in range(seats)]
    scores, kinds = [0] * seats, [set[str]() for _ in range(seats)]
    planted: list[list[Any]] = [[] for _ in range(seats)]
    for step in walk(striped(seats, ruleset), seed):
        for event in (event.data for event in step.events):
            if event["event"] == "round":
                kinds = [set() for _ in range(seats)]
            elif event["event"] == "planted":
                planted[event["seat"]] = list(event["rows"])
            elif event["event"] == "scored":
                seat, row = event["seat"], event["row"]
                planted[seat].remove(row)
                assert row["kind"] in face_up[seat]
                if ruleset != "young":
                    face_up[seat] = face_up[seat] - {row["kind"]} or {*KINDS}
                assert event["features"] == [kind for kind in KINDS if kind in face_up[seat]]
                assert event["points"] == points[row["length"]]
                scores[seat] += event["points"]
                kinds[seat].add(row["kind"])
            elif event["event"] == "bonus":
                seat = event["seat"]
                assert event["kinds"] == len(kinds[seat]) > 1
                assert event["points"] == 2 * len(kinds[seat]) - 2
                scores[seat] += event["points"]
        assert list(step.after.scores) == scores


# What is decided at once


def decide(rules: Rules[Any], state: State, seat: int, chance: random.Random) -> dict[str, Any]:
    """A whole decision at random, as an action that comes to the same as its plays."""
    plays, begun = [], state
    while seat in state.due and state.phase == begun.phase:
        legal = rules.legal(state, seat)
        plays.append(legal[chance.randrange(len(legal))])
        state = rules.apply(state, seat, plays[-1])
    action = rules.write_action(plays)
    assert act(rules, begun, seat, action) == state
    return action


@every_table
@few
@given(seed=SEEDS)
def test_simultaneous_decisions_may_be_applied_in_any_order(ruleset: str, seats: int, seed: int) -> None:
    rules, chance = striped(seats, ruleset), random.Random(seed)
    state, several = rules.start(), 0
    while rules.outcome(state) is None:
        if draw := rules.draw_wanted(state):
            state = rules.draw(state, chance.randrange(draw.n))
            continue
        owing = [decision.seat for decision in rules.pending(state)]
        if rules.pending(state)[0].race:
            owing = [chance.choice(owing)]
        several += len(owing) > 1
        actions = {seat: decide(rules, state, seat, chance) for seat in owing}
        worlds = []
        for order in (owing, owing[::-1], chance.sample(owing, len(owing))):
            world = state
            for seat in order:
                world = act(rules, world, seat, actions[seat])
            worlds.append(world)
        assert worlds[0] == worlds[1] == worlds[2]
        state = worlds[0]
    assert several


@few
@given(SEEDS, st.sampled_from(Gardener.seat_counts), st.data())
def test_a_race_may_be_won_in_any_order(seed: int, seats: int, data: st.DataObject) -> None:
    """Who comes late is refused and told why, and takes another card; in the end each has one."""
    rules, chance = gardener(seats, "race"), random.Random(seed)
    for step in walk(rules, seed):
        if step.after.phase != "seize" or step.before.phase == "seize":
            continue
        state, cards = step.after, list(step.after.offer)
        for seat in chance.sample(range(seats), seats):
            assert {decision.seat for decision in rules.pending(state)} == {*state.due}
            for card in chance.sample(cards, seats):
                if card in state.offer:
                    state = act(rules, state, seat, {"plays": [{"card": card}]})
                    break
                with pytest.raises(IllegalAction, match=rf"card {card} is taken"):
                    act(rules, state, seat, {"plays": [{"card": card}]})
        assert sorted(state.taken) == cards
        assert (state.phase, state.due, state.offer) == ("plant", tuple(range(seats)), ())
        assert replace(
            state, taken=step.before.taken, phase="seize", due=step.after.due, offer=tuple(cards)
        ) == replace(step.after, taken=step.before.taken)


# Forfeits


@every_table
@few
@given(seed=SEEDS)
def test_games_with_forfeits_at_any_moment_end_with_the_forfeited_last(ruleset: str, seats: int, seed: int) -> None:
    """Before the first draw, while others seize, in the middle of a scoring: nobody waits for who is gone."""
    rules = striped(seats, ruleset)
    gone: list[int] = []

    views = [rules.first_view(seat) for seat in range(seats)]
    step: Step | None = None
    for step in walk(rules, seed, forfeits=0.04):
        gone += step.gone
        for seat in range(seats):
            for event in step.events:
                views[seat] = rules.fold(views[seat], event.data)
            assert views[seat] == rules.view(step.after, seat)
        assert not {decision.seat for decision in rules.pending(step.after)} & {*gone}
        assert rules.load(rules.dump(step.after)) == step.after
        over, asked = rules.outcome(step.after) is not None, bool(rules.pending(step.after))
        assert over + asked + (rules.draw_wanted(step.after) is not None) == 1, "something is due until it is over"
        cards = [card for garden in step.after.gardens for card, *_ in garden]
        cards += [*step.after.deck, *step.after.offer]
        cards += [card for card in (step.after.top, *step.after.taken) if card is not None]
        assert len({*cards}) == len(cards), "no card is in two places"
    assert step is not None
    outcome = rules.outcome(step.after)
    assert outcome is not None
    ranks = outcome.ranks
    check_ranks(ranks, seats)
    finished = [rank for seat, rank in enumerate(ranks) if seat not in gone]
    assert all(ranks[seat] > max(finished, default=0) for seat in gone)


# What nobody may know

CANARIES = range(200, 256)  # numbers of cards that there are not


@pytest.mark.quick(2)
@every_table
@few
@given(seed=SEEDS, deck=st.sampled_from(["face_up", "face_down"]))
def test_what_is_in_the_deck_reaches_nobody(ruleset: str, seats: int, seed: int, deck: str) -> None:
    """Two worlds, and the canary: other cards in the deck, and every seat is shown the same bytes."""
    rules, chance = at_default_board("gardener", seats, ruleset, deck=deck), random.Random(seed)

    def planted(state: State) -> State:
        return replace(state, deck=bytes(sorted(chance.choices(CANARIES, k=len(state.deck)))))

    for step in walk(rules, seed):
        world = planted(step.after)
        for seat in range(seats):
            shown = seen(rules, world, seat, [])
            assert shown == seen(rules, step.after, seat, [])
            assert not re.search(rb"\b2\d\d\b", shown)
        if step.seat is not None:
            events: list[Event] = []
            assert rules.apply(planted(step.before), step.seat, step.move, events).phase == step.after.phase
            assert events == step.events
        if draw := rules.draw_wanted(step.after):
            events = []
            rules.draw(world, 0, events)
            told = {card for event in events for card in re.findall(r"\b2\d\d\b", str(event.data))}
            assert told == {str(world.deck[0])}, "of the cards in the deck only the one that was drawn is told"
            assert draw.n == len(world.deck)


def test_done_is_needed_only_where_more_could_be_scored() -> None:
    """In games at random too: a decision never waits for a seat whose only play is to stop."""
    for ruleset, seats in TABLES:
        rules = striped(seats, ruleset)
        for step in walk(rules, seed=seats):
            for decision in rules.pending(step.after):
                assert list(rules.legal(step.after, decision.seat)) != [Done()]
