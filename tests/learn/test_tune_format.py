"""A tuning gives two sets of values to one bot, round after round, and moves to the better ones."""

from __future__ import annotations

from collections import Counter
from random import Random

import msgspec
import pytest
from formats_kit import TUNED, example_of

from arena.core.errors import ConfigError
from arena.core.link.bots import Parameter
from arena.core.ratings.pairs import PairResult
from arena.core.tournament.formats.base import MeetingResult, Round, RoundResult
from arena.learn.tune.format import Tune
from arena.learn.tune.report import without_effect
from arena.learn.tune.spsa import ways
from tests import instant


def result(round: Round, times: float) -> RoundResult:
    """The first of the two wins so many times what the second wins, about: a little more on each further deal."""
    (meeting,) = round.meetings
    pairs = [
        PairResult(meeting.first_deal + deal, 0, 1, better=int(100 * times) + deal, equal=0, worse=100)
        for deal in range(round.deals)
    ]
    return RoundResult(meetings=[MeetingResult(meeting, tuple(pairs))], mu={})


def play(format: Tune, *, deeper_wins: bool) -> list[Round]:
    """Plays to the end; whoever searches deeper wins, or whoever does not."""
    director, rounds = format.director(2, 2, b""), []
    while (planned := director.next()) is not None:
        director.add(planned)
        rounds.append(planned)
        one, other = (int(chosen["depth"]) for chosen in planned.parameters)
        director.take(result(planned, 2.0 if (one > other) == deeper_wins else 0.5))
    return rounds


def test_a_round_is_one_table_on_deals_of_its_own() -> None:
    rounds = play(Tune(tuned=TUNED, rounds=5, deals=3), deeper_wins=True)
    assert [planned.meetings[0].first_deal for planned in rounds] == [0, 3, 6, 9, 12]
    for planned in rounds:
        assert planned.meetings[0].entrants == (0, 1)
        assert planned.parameters[0] != planned.parameters[1]
        for chosen in planned.parameters:
            assert 1 <= int(chosen["depth"]) <= 8
            assert -1 <= float(chosen["risk"]) <= 1


@pytest.mark.parametrize("deeper_wins", [True, False])
def test_values_move_to_those_that_win(deeper_wins: bool) -> None:
    last = play(Tune(tuned=TUNED, rounds=30), deeper_wins=deeper_wins)[-1]
    depths = sorted(int(chosen["depth"]) for chosen in last.parameters)
    assert depths[0] >= 6 if deeper_wins else depths[1] <= 3


def test_others_at_the_table_are_sent_what_is_their_own() -> None:
    planned = Tune(tuned=TUNED).director(4, 4, b"").next()
    assert planned is not None
    assert planned.meetings[0].entrants == (0, 1, 2, 3)
    assert planned.parameters[2:] == ({}, {})


def test_a_document_read_again_means_the_same_rounds() -> None:
    backwards = dict(reversed(TUNED.items()))
    settings = [instant.settings(("ann", "bob"), format=Tune(tuned=tuned)) for tuned in (TUNED, backwards)]
    assert settings[0].digest == settings[1].digest
    again = type(settings[1]).read(msgspec.json.decode(msgspec.json.encode(settings[1].document())))
    rounds = [play(one.format, deeper_wins=True) for one in (settings[0], again)]  # type: ignore[arg-type]
    assert rounds[0] == rounds[1]


def test_values_have_no_more_digits_than_their_range_needs() -> None:
    tuned = {"large": Parameter(value=5e5, low=0, high=1e6), "small": Parameter(value=0.001, low=0.0, high=0.01)}
    assert Tune(tuned=tuned).values([1 / 3, 2 / 3]) == {"large": "333000", "small": "0.00667"}


@pytest.mark.parametrize(
    ("format", "entrants", "reason"),
    [
        (Tune(), 2, "expected parameters to tune, got none"),
        (Tune(tuned=TUNED, rounds=1), 2, "expected at least 2 rounds, got: 1; use --rounds"),
        (Tune(tuned=TUNED), 3, "expected 2 bots for games of 2 players, got: 3"),
        (example_of("tune", deals=0), 2, "expected at least 1 deal, got: 0"),
    ],
)
def test_what_cannot_be_is_refused(format: Tune, entrants: int, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        format.check(entrants, 2)


def test_parameters_without_effect_are_noticed_each_under_the_noise_of_random_play() -> None:
    draw, found = Random(7), Counter[int]()
    for _ in range(200):
        sides = [0.5 + 0.1 * ways(5, step)[0] for step in range(16)]  # the other four change nothing
        shares = [[float(draw.random() < side) for _ in range(8)] for side in sides]
        found.update(without_effect(shares, 5))
        assert not without_effect(shares[:7], 5), "too early to tell"
    assert found[0] < 80, "a large effect is seen, mostly"
    assert all(found[place] > 180 for place in (1, 2, 3, 4)), "one time in twenty chance looks like one"


def test_where_nothing_is_chance_only_what_never_matters_is_without_effect() -> None:
    shares = [[0.5 + 0.2 * ways(2, step)[0]] * 3 for step in range(4)]
    assert without_effect(shares, 2) == [1]
    assert without_effect([[0.5]] * 4, 2) == [0, 1]
