"""By how much seats are ahead of each other in the end."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from arena.core.catalogue import make_settings, rules_of
from arena.core.ratings.pairs import PairResult, add_up, pairs_of
from arena.core.rules.base import Margin
from arena.core.rules.course import Answers, Ask, Chance, Course, Over
from arena.core.types import Termination

PIECES = Margin("pieces", 4)


@pytest.mark.parametrize(
    ("amounts", "forfeited", "leads"),
    [
        ([5, 3], [], (2, -2)),
        ([9, 0], [], (4, -4)),
        ([5, 3, 4], [], (3, -3, 0)),
        ([9, 0], [0], (-4, 4)),
        ([9, 0, 1], [0], (-8, 3, 5)),
        ([9, 0, 1], [0, 2], (-4, 8, -4)),
        ([7, 7], [0, 1], (0, 0)),
    ],
)
def test_leads_are_added_up_and_bounded_and_who_forfeits_is_behind(
    amounts: Sequence[int], forfeited: Sequence[int], leads: tuple[int, ...]
) -> None:
    assert PIECES.leads(amounts, forfeited) == leads


def finished(rules: str, players: int, forfeiting: int | None) -> Course:
    """Plays at random; one seat may fail at its tenth request."""
    random, course, asked = Random(1), Course(rules_of(make_settings(rules, players))), 0
    while not isinstance(due := course.due, Over):
        match due:
            case Chance():
                course.draw(random.randrange(due.draw.n))
            case Ask():
                course.ask()
            case Answers():
                seat = due.seats[0]
                asked += seat == forfeiting
                if seat == forfeiting and asked == 10:
                    course.fail(seat, Termination.TIMEOUT)
                    continue
                legal = course.rules.legal(course.state, seat)
                plays = course.rules.write_action([legal[random.randrange(len(legal))]])
                course.answer(seat, plays)
            case _:
                course.forfeit()
    return course


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("rules", ["samurai", "gardener"])
def test_every_game_counts_them(rules: str, players: int) -> None:
    course = finished(rules, players, None)
    margin = course.rules.margin(players, course.rules.options)
    assert margin is not None
    assert course.margins == margin.leads(course.rules.amounts(course.state), ())
    assert sum(course.margins) == 0
    assert any(course.margins)


@pytest.mark.parametrize("rules", ["samurai", "gardener"])
def test_who_forfeits_is_behind_by_the_most(rules: str) -> None:
    course = finished(rules, 2, 1)
    margin = course.rules.margin(2, course.rules.options)
    assert margin is not None
    assert course.gone == {1: Termination.TIMEOUT}
    assert course.margins == (margin.most, -margin.most)


def test_of_a_deal_the_margins_are_added_up() -> None:
    (pair,) = add_up([*pairs_of(3, [1, 0], (1, 2), [4, -4]), *pairs_of(3, [0, 1], (1, 2), [1, -1])])
    assert pair == PairResult(3, 0, 1, better=1, equal=0, worse=1, margin=-8 + 2)
    assert pair.margin_share(4, 2) == 0.5 - 6 / (2 * 4 * 4)
    (unknown,) = add_up([*pairs_of(3, [1, 0], (1, 2), [4, -4]), *pairs_of(3, [0, 1], (1, 2))])
    assert unknown.margin is None
    assert unknown.margin_share(4, 2) is None


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_share_by_margins_is_bounded_and_turns_round(players: int) -> None:
    leads = PIECES.leads([9, *[0] * (players - 1)], ())
    pairs = list(pairs_of(0, range(players), (1,) * players, leads))
    assert pairs[0].margin_share(4, players) == pytest.approx(0.5 + players * 4 / (4 * 4 * (players - 1)))
    behind = next(iter(pairs_of(0, [1, 0], (1, 1), leads[:2])))
    assert behind.margin_share(4, players) == pytest.approx(1 - (pairs[0].margin_share(4, players) or 0))
