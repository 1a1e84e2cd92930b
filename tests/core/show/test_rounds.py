"""Rounds for people: brackets, Swiss tables, and the neighbours that are still open."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from arena.core.progress import Met, Neighbour, RoundProgress
from arena.core.show.rounds import adaptive_table, bracket, swiss_table


def met(*bots: str, shares: tuple[float, ...] | None = None, done: bool = True) -> Met:
    return Met(bots=bots, shares=shares, deals=4, done=done)


QUARTERS = RoundProgress(
    title="quarter-finals",
    meetings=(
        met("random", "banzai", shares=(0.25, 0.75)),
        met("shogun-deep-search-2027", "bob", shares=(1.0, 0.0)),
        met("greedy", "kite", shares=(0.5, 0.5)),
    ),
    byes=("daimyo",),
)
REPLAY = RoundProgress(title="quarter-finals, replay 1", meetings=(met("greedy", "kite", shares=(0.75, 0.25)),))
SEMIS = RoundProgress(
    title="semi-finals",
    meetings=(
        met("daimyo", "banzai", shares=(0.75, 0.25)),
        met("shogun-deep-search-2027", "greedy", shares=(0.625, 0.375)),
    ),
)
THIRD = RoundProgress(title="third place", meetings=(met("banzai", "greedy", shares=(0.25, 0.75)),))
FINAL = RoundProgress(title="final", meetings=(met("daimyo", "shogun-deep-search-2027", shares=(0.75, 0.25)),))
KNOCKOUT = [QUARTERS, REPLAY, SEMIS, THIRD, FINAL]


def test_a_bracket_of_80_columns() -> None:
    assert (
        bracket(KNOCKOUT, 80, winner="daimyo").plain
        == """\
quarter-finals        semi-finals           final
                      daimyo          75% ┐
random          25% ┐                     │
banzai          75% ┴ banzai          25% ┴ daimyo          75% ┐
shogun-…h-2027 100% ┐                                           │
bob              0% ┴ shogun-…h-2027  62% ┐                     │
greedy          62% ┐                     │                     │
kite            38% ┴ greedy          38% ┴ shogun-…h-2027  25% ┴ daimyo

third place
  banzai  25%
  greedy  75%"""
    )


def test_a_bracket_is_drawn_while_it_is_played() -> None:
    now = [QUARTERS, REPLAY, replace(SEMIS, meetings=(SEMIS.meetings[0], met("shogun-deep-search-2027", "greedy")))]
    assert (
        bracket(now, 60).plain
        == """\
quarter-finals        semi-finals
                      daimyo          75% ┐
random          25% ┐                     │
banzai          75% ┴ banzai          25% ┴
shogun-…h-2027 100% ┐
bob              0% ┴ shogun-…h-2027      ┐
greedy          62% ┐                     │
kite            38% ┴ greedy              ┴"""
    )


def test_without_room_for_a_bracket_rounds_are_listed() -> None:
    assert (
        bracket([SEMIS, THIRD, FINAL], 40, winner="daimyo").plain
        == """\
semi-finals
  daimyo                   75%
  banzai                   25%

  shogun-deep-search-2027  62%
  greedy                   38%
third place
  banzai  25%
  greedy  75%
final
  daimyo                   75%
  shogun-deep-search-2027  25%"""
    )


def test_only_the_last_rounds_of_a_large_bracket_are_drawn() -> None:
    assert (
        bracket(KNOCKOUT, 60, winner="daimyo").plain
        == """\
quarter-finals
  random                   25%
  banzai                   75%

  shogun-deep-search-2027 100%
  bob                       0%

  greedy                   62%
  kite                     38%

  daimyo                   bye

semi-finals           final
daimyo          75% ┐
banzai          25% ┴ daimyo          75% ┐
shogun-…h-2027  62% ┐                     │
greedy          38% ┴ shogun-…h-2027  25% ┴ daimyo

third place
  banzai  25%
  greedy  75%"""
    )


def test_tables_of_three_are_listed_side_by_side() -> None:
    tables = (met("ann", "bob", "cid", shares=(0.75, 0.5, 0.25)), met("dan", "eva", "fay"))
    shown = bracket([RoundProgress(title="semi-finals", meetings=tables, byes=("gus",))], 80)
    assert (
        shown.plain
        == """\
semi-finals
  ann  75%   dan        gus  bye
  bob  50%   eva
  cid  25%   fay"""
    )


def test_a_swiss_table() -> None:
    rounds = [
        RoundProgress(title="round 1", meetings=(met("ann", "bob", shares=(1.0, 0.0)),), byes=("cid",)),
        RoundProgress(title="round 2", meetings=(met("ann", "cid", shares=(0.5, 0.5)),), byes=("bob",)),
        RoundProgress(title="round 3", meetings=(met("cid", "bob", shares=(0.9, 0.1), done=False),)),
    ]
    assert (
        swiss_table(rounds, {"ann": 1.5, "cid": 1.5, "bob": 1.0}, 80).plain
        == """\
#  bot  points    1    2  3
───────────────────────────
1  ann     1.5   3+   2=
2  cid     1.5  bye   1=  3
3  bob       1   1-  bye  2"""
    )


def test_a_swiss_table_of_tables_of_three_has_shares() -> None:
    rounds = [RoundProgress(title="round 1", meetings=(met("ann", "bob", "cid", shares=(0.75, 0.5, 0.25)),))]
    rows = swiss_table(rounds, {"ann": 0.75, "bob": 0.5, "cid": 0.25}, 80).plain.splitlines()[2:]
    assert [row.split()[3:] for row in rows] == [["75", "%"], ["50", "%"], ["25", "%"]]


def test_points_of_tables_have_two_decimals() -> None:
    rows = swiss_table([], {"ann": 1.666667, "bob": 1.25, "cid": 0.0}, 80).plain.splitlines()[2:]
    assert [row.split()[2] for row in rows] == ["1.67", "1.25", "0"]


NEIGHBOURS = [
    Neighbour(bot="daimyo", deals=12, share=0.9, evidence=1234.5, verdict="better"),
    Neighbour(bot="greedy", deals=40, share=0.55, evidence=3.16, verdict="open"),
    Neighbour(bot="greedy#2", deals=300, share=0.5, evidence=1.0, verdict="level"),
    Neighbour(bot="random"),
]


def test_neighbours_with_their_evidence() -> None:
    assert (
        adaptive_table(NEIGHBOURS, 480, 80).plain
        == """\
             than the
#  bot       next      deals  share   evidence
──────────────────────────────────────────────
1  daimyo    better       12   90 %  1,234 : 1
2  greedy    open         40   55 %   3.16 : 1
3  greedy#2  level       300   50 %      1 : 1
4  random
1 of 3 neighbours open.
480 : 1 settles a pair."""
    )


@pytest.mark.parametrize("width", [40, 80])
def test_without_open_neighbours_the_order_is_settled(width: int) -> None:
    settled = [replace(shown, verdict=shown.verdict and "level") for shown in NEIGHBOURS]
    assert adaptive_table(settled, None, width).plain.endswith("\nThe order is settled.")
