"""The map for terminals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from arena.games.samurai.board import Board, parse_board
from arena.games.samurai.show.board import legend, map_lines, tile_code
from arena.games.samurai.state import TILES

SMALL = """\
name: Small
source: a test
players: 2
place 1-1: Nara
map:
.2    E2
   c2
.2    .2
   v2
~2    .2
   ~2
"""
NOTHING: dict[str, Any] = {"pieces": {"buddha": [], "rice": [], "castle": []}, "tiles": []}


def drawn(lines: list[Text]) -> list[str]:
    return [line.plain.rstrip() for line in lines]


@pytest.fixture(scope="module")
def small() -> Board:
    return parse_board(SMALL, "small").for_players(2)


def test_an_empty_board(small: Board) -> None:
    assert drawn(map_lines(small, NOTHING)) == [
        " .      ---",
        " 0  --   1",
        " .   2   .",
        " 3   -   4",
        " ~   5   .",
        " 6   ~   7",
        "     8",
    ]


def test_pieces_tiles_owners_and_changes(small: Board) -> None:
    view = {
        "pieces": {"buddha": [1, 2], "rice": [1], "castle": [1, 2]},
        "tiles": [[0, 0, "rice3"], [3, 1, "samurai1"], [6, 2, "ship2"], [4, 3, "move"]],
    }
    assert drawn(map_lines(small, view, {2, 6})) == [
        "▲r3     BRC",
        " 0  BC * 1",
        "■s1  2  ◆mv",
        " 3   -   4",
        "●h2* 5   .",
        " 6   ~   7",
        "     8",
    ]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_japan_fits_80_columns_and_shows_every_number_once(root: Path, players: int) -> None:
    board = parse_board((root / "boards/japan.txt").read_text(encoding="utf-8"), "japan").for_players(players)
    lines = map_lines(board, NOTHING)
    assert max(line.cell_len for line in lines) <= 80
    numbers = re.findall(r"\d+", " ".join(line.plain for line in lines))
    assert sorted(map(int, numbers)) == list(range(len(board.spaces)))


def test_owner_change_and_kind_are_seen_in_colour_as_well(small: Board) -> None:
    def styles(view: dict[str, Any], changed: set[int]) -> list[Any]:
        return [line.spans for line in map_lines(small, view, changed)]

    tiles = [NOTHING | {"tiles": [[0, seat, "rice3"]]} for seat in range(4)]
    seen = [styles(NOTHING, set()), styles(NOTHING, {0}), *(styles(view, set()) for view in tiles)]
    assert all(one != other for index, one in enumerate(seen) for other in seen[:index])


def test_each_tile_has_a_sign_of_its_own() -> None:
    codes = [tile_code(tile.name) for tile in TILES]
    assert len(set(codes)) == len(TILES)
    assert {len(code) for code in codes} == {2}


def test_the_legend_names_the_places(small: Board) -> None:
    assert "5 Nara" in [item.plain for item in legend(small)]
