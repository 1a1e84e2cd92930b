"""What stands beside the rating of a league's bot: what everybody must know of how it is held."""

from __future__ import annotations

import pytest

from arena.core.types import SeatResult
from arena.pages.exhibits import Member, ShownGame
from arena.pages.site.contexts import _remarks, _told


@pytest.mark.parametrize(
    ("level", "remarks"),
    [("remote", ["remote, uncontrolled"]), ("fenced", ["fenced"]), ("isolated", []), ("strict", [])],
)
def test_a_bot_that_is_less_confined_than_others_is_marked(level: str, remarks: list[str]) -> None:
    assert list(_remarks(Member("anna", "active", level))) == remarks
    assert list(_remarks(Member("anna", "superseded", level))) == ["superseded", *remarks]


def test_a_rating_from_few_matches_is_marked_while_its_bot_plays() -> None:
    assert list(_remarks(Member("anna", "active", "strict", provisional=True))) == ["provisional"]
    assert list(_remarks(Member("anna", "retired", "strict", provisional=True))) == ["retired"]


@pytest.mark.parametrize(
    ("ranks", "leads", "told"),
    [((1, 2), (-3, 3), "\u22123"), ((2, 1), (-3, 3), "+3"), ((1, 1), (0, 0), "+0"), ((1, 1), (2, -2), "+2 : \u22122"),
     ((1, 2, 2), (None, None, None), ""), ((2, 1, 3), (9, -4, -5), "\u22124")],
)  # fmt: skip
def test_a_list_tells_the_winner_s_own_lead(ranks: tuple[int, ...], leads: tuple[int | None, ...], told: str) -> None:
    seats = tuple(
        SeatResult(rank=rank, decisions=1, total_ms=1.0, max_ms=1.0, margin=lead)
        for rank, lead in zip(ranks, leads, strict=True)
    )
    game = ShownGame("g", 0, "", "finished", 1, 1.0, True, tuple(range(len(ranks))), seats)
    assert _told(game) == told
    if leads[-1] is not None:
        assert _told(game, len(ranks) - 1) == f"{leads[-1]:+d}".replace("-", "\u2212")
