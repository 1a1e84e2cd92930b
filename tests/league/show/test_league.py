"""A league's tables: like a tournament's, and made from rows that nobody vouches for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import DoorError
from arena.league.commands.tables import show_standings
from arena.league.show import league_table, moment, season_text, versions_table

FOX: dict[str, Any] = {
    "rank": 1, "name": "fox/2", "author": "anna", "level": "isolated", "rating": 27.94, "half_width": 3.16,
    "ahead_of_next": 0.97, "points": 0.75, "mu": 28.1, "sigma": 1.2, "games": 1, "wins": 1, "draws": 0, "losses": 0,
    "forfeits": 0, "mean_ms": 1.5, "max_ms": 9.0,
}  # fmt: skip
FAR = {**FOX, "rank": 2, "name": "far/1", "level": "remote", "rating": None, "half_width": None, "ahead_of_next": None}
NAME = st.text(max_size=30)
ANY = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | NAME, st.lists, max_leaves=4)


def test_each_rating_stands_beside_its_interval() -> None:
    lines = league_table([FOX, FAR], 100).plain.splitlines()
    head, _, fox, far = lines
    assert "rating" in head
    assert "95 %" in head
    assert "27.9  ±3.2" in fox
    assert "uncontrolled" in far
    assert "±" not in far
    fenced = league_table([FOX, {**FOX, "level": "fenced"}], 100).plain.splitlines()
    assert ["fenced" in line for line in fenced[2:]] == [False, True], "less than the others are"
    alike = league_table([{**FOX, "level": "fenced", "display_name": "黒田"}], 120).plain
    assert ("fenced" in alike, "黒田" in alike) == (False, True), "what all have stands in the heading"
    assert "±3.2" in versions_table([{**FOX, "version": "fox/2", "state": "active", "since": ""}], 80).plain


@pytest.mark.parametrize(
    ("authors", "matches", "said"),
    [
        (
            ("anna", "anna"),
            9,
            "No game is rated, as all bots are of anna; let another author's join, or the house's.\n",
        ),
        (("anna", "anna"), 0, "No game is rated yet.\n"),
        (("anna", "bert"), 9, "No game is rated yet.\n"),
        (("anna", ""), 9, "No game is rated yet.\n"),
    ],
)
def test_it_is_said_why_no_game_is_rated(
    capsys: pytest.CaptureFixture[str], authors: tuple[Any, ...], matches: int, said: str
) -> None:
    rows = [
        {**FOX, "name": f"fox/{at}", "author": who, "games": 0, "matches": matches} for at, who in enumerate(authors)
    ]
    show_standings({"items": rows})
    assert capsys.readouterr().err == said


@given(
    st.lists(
        st.dictionaries(st.sampled_from([*FOX, "version", "state", "since"]), ANY, max_size=8), min_size=1, max_size=3
    ),
    st.integers(40, 120),
)
def test_rows_of_others_become_a_harmless_table_or_an_error(rows: list[dict[str, Any]], width: int) -> None:
    for table, needed in ((league_table, {"rank": 1, "name": "x"}), (versions_table, {"version": "x"})):
        try:
            shown = table([{**needed, **row} for row in rows], width).plain
        except DoorError:
            continue
        assert all(line.isprintable() for line in shown.splitlines())


def test_rows_that_are_none_are_refused() -> None:
    with pytest.raises(DoorError, match="expected a document of a league, got: Expected `float"):
        league_table([{**FOX, "rating": "\x1b[2J"}], 80)


def test_a_moment_that_is_none_is_shown_as_it_is() -> None:
    assert moment("soon\n") == r"soon\n"
    assert len(moment("2026-01-01T12:00:00+00:00")) == len("2026-01-01 12:00")


def test_a_season_says_what_it_plays() -> None:
    game = {"rules": "samurai", "ruleset": "standard", "options": {}, "players": 2, "board": {"name": "Japan"}}
    settings = {"game": game, "games": [game, {**game, "players": 4}], "level": "isolated"}
    assert season_text("first", settings) == "Season first: samurai standard, 2 and 4 players, board Japan, isolated"
