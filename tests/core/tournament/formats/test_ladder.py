"""Ladder: who waits, who is met, and that it is quick."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from formats_kit import Played, all_level, by_skill, play, same

from arena.core.errors import ConfigError
from arena.core.tournament.formats.ladder import Ladder

_RNG = random.Random(4)
SKILLS = [_RNG.gauss(25, 6) for _ in range(60)]


def played(entrants: int, players: int, matches: int, **parameters: float) -> Played:
    format = Ladder(matches=matches, **parameters)  # type: ignore[arg-type]
    return play(format, entrants, players, by_skill(SKILLS[:entrants]))


def test_without_a_number_of_matches_there_is_no_end() -> None:
    assert Ladder().total(5, 2) is None
    assert len(play(Ladder(), 5, performances=all_level, rounds=300).rounds) == 300


@pytest.mark.parametrize("players", [2, 4])
def test_everybody_plays_about_as_often(players: int) -> None:
    ladder = played(60, players, 60 * 50 // players)
    count = Counter(entrant for meeting in ladder.meetings for entrant in meeting.entrants)
    # With others drawn evenly and no preference for who waits, it would be about 30 to 75.
    assert 38 <= min(count.values()) <= max(count.values()) <= 66


def test_who_has_played_few_matches_comes_first_in_every_second_match() -> None:
    ladder = played(60, 2, 60 * 20 // 2 + 60)
    count = Counter[int]()
    for number, meeting in enumerate(ladder.meetings):
        if number % 2 == 0 and min(count[entrant] for entrant in range(60)) < 20:
            # The others of its round may have fewer matches by now, but only by this one.
            assert count[meeting.entrants[0]] <= min(count[entrant] for entrant in range(60)) + 1
        count.update(meeting.entrants)


def test_few_meet_again_soon() -> None:
    ladder = played(60, 2, 1500)
    recent: dict[int, list[int]] = {entrant: [] for entrant in range(60)}
    again = 0
    for meeting in ladder.meetings:
        one, other = meeting.entrants
        again += other in recent[one][-10:]
        recent[one].append(other)
        recent[other].append(one)
    assert again / 1500 < 0.06  # 10 of 59 would be .17 by chance


def test_who_meets_is_about_as_strong_and_a_part_is_not() -> None:
    def distance(ladder: Played) -> float:
        pairs = ladder.pairs[600:]
        return sum(abs(SKILLS[one] - SKILLS[other]) for one, other in pairs) / len(pairs)

    by_rating, mixed, at_random = (distance(played(60, 2, 1500, random=part)) for part in (0, 0.1, 1))
    assert by_rating < mixed < at_random
    assert by_rating < 0.75 * at_random


def test_each_match_has_deals_of_its_own() -> None:
    ladder = played(20, 2, 50, deals=3)
    assert [meeting.first_deal for meeting in ladder.meetings] == list(range(0, 150, 3))
    assert {round.deals for round in ladder.rounds} == {3}


def test_nobody_plays_twice_in_a_round() -> None:
    for round in played(60, 3, 500).rounds:
        table = [entrant for meeting in round.meetings for entrant in meeting.entrants]
        assert len(set(table)) == len(table)


def test_another_draw_gives_other_matches() -> None:
    one, other = (play(Ladder(matches=50), 20, draw=draw).meetings for draw in (b"one", b"other"))
    assert one != other


def test_far_and_alone_somebody_still_has_a_full_table() -> None:
    """The weights of all others are too small for a number once the closest is taken."""
    ladder = play(Ladder(random=0), 5, 4, by_skill([25.0] * 5), rounds=3)
    director = ladder.director
    director._mu[:] = [0.0, 10.0, 10_000.0, 20_000.0, 30_000.0]  # type: ignore[attr-defined]
    round = director.next()
    assert round is not None
    assert len(set(round.meetings[0].entrants)) == 4


def test_10_000_entrants_are_matched_from_the_first_second() -> None:
    format = Ladder(matches=100_000)
    format.check(10_000, 2)
    director = format.director(10_000, 2, b"")
    seen = Counter[int]()
    for number in range(500):
        round = director.next()
        assert round is not None
        assert number % 50 or same(round, director.next())
        director.add(round)
        seen.update(entrant for meeting in round.meetings for entrant in meeting.entrants)
    assert len(round.meetings) == 16
    assert len(seen) > 9_900  # 8,000 matches, in which each is chosen first at some time


@pytest.mark.parametrize(
    ("format", "players", "message"),
    [
        (Ladder(matches=0), 2, "expected at least 1 match, got: 0; use --matches"),
        (Ladder(sample=2), 4, "expected a sample of at least 3 for games of 4 players, got: 2"),
        (Ladder(random=1.5), 2, "expected a part of random matches from 0 to 1, got: 1.5"),
        (Ladder(placement=-1), 2, "expected placement to be a number of matches from 0 on, got: -1"),
        (Ladder(repeat=-1), 2, "expected repeat to be a number of matches from 0 on, got: -1"),
        (Ladder(matches=10**9), 2, "expected at most 1,000,000,000 games"),
    ],
)
def test_what_cannot_be_is_refused(format: Ladder, players: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        format.check(10, players)
