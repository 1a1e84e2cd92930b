"""Compare: two meet until it is shown who is better."""

from __future__ import annotations

from collections import Counter

import pytest
from formats_kit import Played, all_level, by_number, by_skill, check_laws, play

from arena.core.errors import ConfigError
from arena.core.ratings.evidence import Evidence
from arena.core.ratings.sprt import Sprt
from arena.core.tournament.formats.compare import Compare


def deals(played: Played) -> int:
    return sum(round.deals * len(round.meetings) for round in played.rounds)


def evidence(played: Played) -> Evidence:
    return Evidence.of(
        share for result in played.results for meeting in result.meetings for share in meeting.deal_shares(0, 1)
    )


def test_it_ends_at_the_verdict() -> None:
    played = play(Compare(), 2, performances=by_number)
    assert evidence(played).verdict() == "better"
    # 8 deals won without a loss show it. They are in the first two rounds; the lag adds one or two.
    assert deals(played) <= 16


def test_it_ends_at_the_most_deals() -> None:
    played = play(Compare(max_deals=61, delta=0.01), 2, performances=by_skill([25, 25]))
    assert deals(played) == 61
    assert evidence(played).verdict(delta=0.01) == "open"


def test_equal_bots_are_level() -> None:
    played = play(Compare(), 2, performances=all_level)
    assert evidence(played).verdict() == "level"
    assert deals(played) < 500


def test_the_others_take_the_remaining_seats_in_turn() -> None:
    played = play(Compare(max_deals=120, delta=0), 7, 4, by_skill([25.0] * 7))
    seen = Counter[int]()
    for round in played.rounds:
        for meeting in round.meetings:
            assert meeting.entrants[:2] == (0, 1)
            assert len(set(meeting.entrants[2:])) == 2
            seen.update(dict.fromkeys(meeting.entrants[2:], round.deals))
    assert set(seen) == {2, 3, 4, 5, 6}
    assert max(seen.values()) - min(seen.values()) <= 12


def test_every_table_has_new_deals_and_batches_grow() -> None:
    played = play(Compare(max_deals=1_000, delta=0), 4, 3, by_skill([25.0] * 4))
    numbers = [
        meeting.first_deal + deal
        for round in played.rounds
        for meeting in round.meetings
        for deal in range(round.deals)
    ]
    assert numbers == list(range(1_000))
    assert {len(round.meetings) for round in played.rounds[:-2]} == {2}
    assert max(round.deals for round in played.rounds) > 30


def test_a_sequential_test_ends_it_instead() -> None:
    # To ask whether 700 or 800 points lie between them needs more deals than to see which is better.
    longer = play(Compare(sprt=(700, 800)), 2, performances=by_number)
    assert Sprt(700, 800).verdict(evidence(longer).counts) == "H1"
    assert deals(longer) > deals(play(Compare(), 2, performances=by_number))
    check_laws(longer)


def test_a_sequential_test_is_for_two_players() -> None:
    with pytest.raises(ConfigError, match="expected --sprt with games of 2 players, got: 3; leave it out"):
        Compare(sprt=(0, 50)).check(3, 3)


@pytest.mark.parametrize(
    ("format", "entrants", "message"),
    [
        (Compare(), 3, "expected 2 bots to compare, got: 3; name two"),
        (Compare(max_deals=0), 2, "expected at least 1 deal, got: 0; use --max-deals"),
        (Compare(sprt=(50, 0)), 2, "expected the first number of Elo points to be the smaller, got: 50 0"),
        (Compare(sprt=(0, 50), alpha=0.6), 2, "expected alpha to be above 0 and below 0.5, got: 0.6"),
        (Compare(alpha=1), 2, "expected alpha to be above 0 and below 1, got: 1"),
        (Compare(max_deals=10**9), 2, "expected at most 1,000,000,000 games"),
    ],
)
def test_what_cannot_be_is_refused(format: Compare, entrants: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        format.check(entrants, 2)
