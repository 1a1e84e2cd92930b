"""Trials: they begin in worlds that the seat could not rule out, and know nothing else."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from arena.core.record.log import Log
from arena.core.types import Payload
from arena.learn.analysis.judges import Judge, Stage, judge_of
from arena.learn.analysis.trials import Trials, Worth

SEAT = 1


@pytest.fixture
def trials(samurai: Log) -> Trials:
    return Trials(samurai, SEAT, judge_of("samurai"))


def elsewhere(samurai: Log, seed: int) -> Trials:
    """The same game in another world at each decision, which the seat could not tell from the true one."""
    other = Trials(samurai, SEAT, judge_of("samurai"))
    choose = random.Random(seed).randrange
    other.questions = [
        replace(question, state=other.rules.resample(question.state, SEAT, choose)) for question in other.questions
    ]
    return other


def test_every_decision_with_a_choice_is_a_question(samurai: Log, trials: Trials) -> None:
    turns = [question.turn for question in trials.questions]
    assert turns == sorted(turns)
    assert len(turns) > 10
    assert {question.decision.seat for question in trials.questions} == {SEAT}


def test_what_a_seat_does_not_know_changes_nothing(samurai: Log, trials: Trials) -> None:
    """Two worlds: neither what is advised nor what a trial comes to depends on what is hidden."""
    other = elsewhere(samurai, 1)
    places = range(0, len(trials.questions), 4)
    hidden = [trials.rules.dump(one.questions[at].state) for one in (trials, other) for at in places]
    assert len({*hidden}) > len(places), "the worlds differ"
    for index in places:
        better = trials.better(index)
        assert other.better(index) == better
        assert other.pair(index, better, 0) == trials.pair(index, better, 0)
        assert other.told(index, trials.rules.write_action(trials.questions[index].plays)) == trials.told(
            index, trials.rules.write_action(trials.questions[index].plays)
        )


def test_worlds_look_the_same_to_the_seat_and_differ(trials: Trials) -> None:
    rules = trials.rules
    index = len(trials.questions) // 2
    state = trials.questions[index].state
    worlds = [trials.world(index, number) for number in range(8)]
    assert all(rules.view(world, SEAT) == rules.view(state, SEAT) for world in worlds)
    assert len({rules.dump(world) for world in worlds}) > 4


def test_the_same_trial_is_the_same_again(samurai: Log, trials: Trials) -> None:
    again = Trials(samurai, SEAT, judge_of("samurai"))
    pairs = [again.pair(len(again.questions) - 4, None, number) for number in range(3)]
    assert pairs == [trials.pair(len(trials.questions) - 4, None, number) for number in range(3)]


def test_an_action_is_as_good_as_itself(trials: Trials) -> None:
    played, other = trials.pair(len(trials.questions) - 1, None, 0)
    assert played == other


class First:
    """Plays the first legal play."""

    def __init__(self, seen: list[Payload] | None = None) -> None:
        self._seen = [] if seen is None else seen

    def start(self, game: Payload) -> None:
        """Begins a game."""

    def decide(self, request: Payload) -> Payload:
        """Notes the request, and takes what is first."""
        self._seen.append(request)
        product = request["legal"][0]
        return {"plays": [{key: _first(values) for key, values in product.items()}]}


def _first(values: Any) -> Any:
    return values["of"][: values["choose"]] if isinstance(values, dict) else values[0]


def test_a_judge_is_shown_what_a_bot_is_shown(samurai: Log) -> None:
    seen: list[Payload] = []
    trials = Trials(samurai, SEAT, Judge(name="first", adviser=partial(First, seen)))
    index = len(trials.questions) - 3
    trials.better(index)
    [request] = seen
    state = trials.questions[index].state
    assert msgspec.json.encode(request["view"]) == msgspec.json.encode(trials.rules.view(state, SEAT))
    assert set(request) == {"type", "id", "kind", "clock", "view", "legal"}


def test_a_depth_ends_with_random_play(samurai: Log) -> None:
    seen: list[Payload] = []
    trials = Trials(samurai, SEAT, Judge(name="first", players=(Stage(partial(First, seen), 3),)))
    worth, _ = trials.pair(0, None, 0)
    assert len(seen) == 3
    assert isinstance(worth, Worth)


def test_without_a_judge_several_actions_are_tried(samurai: Log) -> None:
    trials = Trials(samurai, SEAT, judge_of("samurai", "random"))
    index = len(trials.questions) // 2
    several = trials.several(index)
    assert len(several) > 2
    assert trials.better(index) in several
