"""The laws of all formats, over any numbers of entrants, players and deals, and any results."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pytest
from formats_kit import all_level, by_order, by_skill, check_laws, example_of, play, same
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.core.errors import ConfigError
from arena.core.tournament.formats import FORMATS, Adaptive, Compare, Gauntlet, Knockout, Ladder, RoundRobin, Swiss
from arena.core.tournament.formats.base import Format
from tests.thorough import THOROUGH

NAMES = sorted(set(FORMATS) - {"extension"})  # an extension follows from another tournament, and has tests of its own

few = settings(max_examples=30 if THOROUGH else 12)


@st.composite
def tournaments(draw: st.DrawFn, names: list[str] = NAMES) -> tuple[Format, int, int]:
    """A format, and how many entrants and players there are."""
    players = draw(st.integers(2, 5))
    entrants = draw(st.integers(players, 9))
    deals = draw(st.integers(1, 3))
    seatings = draw(st.sampled_from(["cyclic", "all"])) if players < 4 else "cyclic"
    own = {
        "gauntlet": {"challengers": draw(st.integers(1, max(1, entrants - players + 1)))},
        "swiss": {"rounds": draw(st.none() | st.integers(1, 6))},
        "knockout": {"until_shown": draw(st.booleans()), "third_place": players == 2 and entrants > 3},
        "ladder": {"matches": draw(st.integers(1, 40)), "placement": draw(st.integers(0, 5))},
        "adaptive": {"budget": draw(st.integers(2 * 3 * 36, 260))},
        "compare": {"max_deals": draw(st.integers(1, 60))},
        "tune": {"rounds": draw(st.integers(2, 12))},
    }
    name = draw(st.sampled_from(names))
    if name == "tune" or (name == "compare" and players == 2):
        entrants = players
    return example_of(name, deals=deals, seatings=seatings, **own.get(name, {})), entrants, players


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30 if THOROUGH else 4)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_rounds_keep_the_laws_of_formats_and_early_results_change_none(
    name: str, data: st.DataObject, seed: int
) -> None:
    format, entrants, players = data.draw(tournaments([name]))
    rng = random.Random(seed)
    skills = [rng.gauss(25, 8) for _ in range(entrants)]
    eager, patient = (play(format, entrants, players, by_skill(skills), eager=eager) for eager in (True, False))
    for played in (eager, patient):
        assert played.ended
        check_laws(played)
    assert len(eager.rounds) == len(patient.rounds)
    assert all(same(one, other) for one, other in zip(eager.rounds, patient.rounds, strict=True))


@few
@given(tournaments())
def test_no_table_plays_a_deal_twice(tournament: tuple[Format, int, int]) -> None:
    format, entrants, players = tournament
    played = play(format, entrants, players, all_level)
    tables = Counter(
        (meeting.entrants, meeting.first_deal + deal)
        for round in played.rounds
        for meeting in round.meetings
        for deal in range(round.deals)
    )
    assert max(tables.values()) == 1


@few
@given(st.integers(2, 5), st.integers(1, 5))
def test_a_gauntlet_of_one_is_the_part_of_a_round_robin_in_which_it_plays(players: int, more: int) -> None:
    whole, part = (
        {meeting.entrants for meeting in play(format, players + more, players, all_level).meetings}
        for format in (RoundRobin(deals=1), Gauntlet(deals=1))
    )
    assert part == {table for table in whole if 0 in table}


@few
@given(st.integers(4, 40), st.integers(1, 6), st.randoms(use_true_random=False))
def test_nobody_meets_twice_in_swiss_if_there_are_enough(entrants: int, rounds: int, rng: random.Random) -> None:
    entrants = max(entrants, 2 * (rounds + 1))
    skills = [rng.gauss(25, 8) for _ in range(entrants)]
    played = play(Swiss(rounds=rounds, deals=1), entrants, performances=by_skill(skills))
    assert len(set(played.pairs)) == len(played.pairs)
    byes = [entrant for round in played.rounds for entrant in round.byes]
    assert len(set(byes)) == len(byes) == (rounds if entrants % 2 else 0)
    points = played.director.points()
    assert points is not None
    assert sum(points.values()) == rounds * (entrants // 2 + entrants % 2)
    opponents = Counter(entrant for pair in played.pairs for entrant in pair)
    assert all(opponents[entrant] + byes.count(entrant) == rounds for entrant in range(entrants))


@few
@given(st.integers(2, 5), st.integers(0, 20), st.integers(1, 4), st.randoms(use_true_random=False))
def test_at_tables_of_swiss_everybody_sits_once_or_rests(
    players: int, more: int, rounds: int, rng: random.Random
) -> None:
    entrants = players + more
    skills = [rng.gauss(25, 8) for _ in range(entrants)]
    for round in play(Swiss(rounds=rounds, deals=1), entrants, players, by_skill(skills)).rounds:
        seen = [entrant for meeting in round.meetings for entrant in meeting.entrants]
        assert sorted([*seen, *round.byes]) == list(range(entrants))


@few
@given(st.integers(2, 5), st.integers(0, 40), st.randoms(use_true_random=False))
def test_the_best_wins_a_knockout_without_luck_and_each_place_is_had(
    players: int, more: int, rng: random.Random
) -> None:
    entrants = players + more
    order = rng.sample(range(entrants), entrants)
    played = play(Knockout(deals=1), entrants, players, by_order(order))
    places = played.director.places()
    assert places is not None
    assert places[order[0]] == 1
    # Whoever shares a place stands for the places behind it too.
    count = Counter(places.values())
    assert sum(count.values()) == entrants
    following = 1
    for place in sorted(count):
        assert place == following
        following += count[place]


@few
@given(st.integers(2, 5), st.integers(0, 30), st.randoms(use_true_random=False))
def test_nobody_waits_longer_than_the_ladder_promises(players: int, more: int, rng: random.Random) -> None:
    entrants = players + more
    skills = [rng.gauss(25, 8) for _ in range(entrants)]
    format = Ladder(matches=6 * entrants)
    played = play(format, entrants, players, by_skill(skills))
    running = 2 * max(len(round.meetings) for round in played.rounds)
    last = dict.fromkeys(range(entrants), -1)
    for number, meeting in enumerate(played.meetings):
        for entrant in meeting.entrants:
            assert number - last[entrant] <= 2 * (entrants + running)
            last[entrant] = number
    assert all(len(played.meetings) - number <= 2 * (entrants + running) for number in last.values())


@given(st.integers(-1, 6), st.integers(-1, 12), st.integers(-1, 5), st.sampled_from(NAMES))
def test_what_is_not_refused_can_begin(players: int, entrants: int, deals: int, name: str) -> None:
    format = example_of(name, deals=deals)
    try:
        format.check(entrants, players)
    except ConfigError:
        return
    assert format.director(entrants, players, b"").next() is not None


@few
@given(st.integers(2, 6), st.randoms(use_true_random=False))
def test_adaptive_and_compare_spend_no_more_than_they_may(entrants: int, rng: random.Random) -> None:
    skills = [rng.gauss(25, 4) for _ in range(entrants)]
    for format, number, most in ((Adaptive(budget=150), entrants, 150), (Compare(max_deals=77, delta=0), 2, 77)):
        played = play(format, number, performances=by_skill(skills))
        assert sum(round.deals * len(round.meetings) for round in played.rounds) <= most
        assert set(played.pairs) == set(combinations(range(number), 2))
