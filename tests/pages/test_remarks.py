"""What stands beside the rating of a league's bot: what everybody must know of how it is held."""

from __future__ import annotations

import pytest

from arena.pages.exhibits import Member
from arena.pages.site.contexts import _remarks


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
