"""A frame on a screen: it fits, nothing of it is lost unsaid, and the board stays where it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from arena.core.catalogue import rules_of
from arena.core.record.log import Log, read_log
from arena.core.show.presenter import Presenter
from arena.core.show.replay import Replay
from arena.core.show.scene import LEAST_HEIGHT, LEAST_WIDTH, Page, Scene, Sheet, Shift, page
from arena.games.samurai.board import Board, parse_board
from arena.games.samurai.show.board import compact_lines

BAR = Text(" 1/100  all  ← → step  ↑ ↓ turn  ? keys ")
SIZES = [(80, 24), (80, 16), (100, 50)]


@pytest.fixture(scope="module")
def games(play_log: Callable[..., Path], play_garden: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Log]:
    """A game of each kind for every number of players."""
    folder = tmp_path_factory.mktemp("logs")
    samurai = {f"samurai {n}": read_log(play_log(folder / f"{n}.jsonl", seats=n, forfeit_turn=7)) for n in (2, 3, 4)}
    return samurai | {f"gardener {n}": play_garden(n, "draft", target="25") for n in (2, 3, 4, 5)}


SMALL = """\
name: Small
source: a test
players: 2
map:
.2    E2
   c2
.2    .2
   v2
~2    .2
   ~2
"""
GAMES = [*(f"samurai {n}" for n in (2, 3, 4)), *(f"gardener {n}" for n in (2, 3, 4, 5))]


def pages(shown: Replay, width: int, height: int, every: int = 1) -> list[Page]:
    place = Shift()
    found = []
    for index in range(0, len(shown.frames), every):
        found.append(shown.page(index, BAR, width, height, place))
        place = found[-1].place
    return found


@pytest.mark.quick(2, 6)
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_frame_fits(game: str, width: int, height: int, games: dict[str, Log]) -> None:
    for shown in pages(Replay(games[game]), width, height, every=4):
        assert len(shown.lines) == height
        assert all(line.cell_len <= width for line in shown.lines)
        assert BAR.plain.strip() in shown.lines[-1].plain


@pytest.mark.quick(2, 3)
@pytest.mark.parametrize("game", GAMES)
def test_the_whole_board_is_there_on_a_usual_terminal(game: str, games: dict[str, Log]) -> None:
    shown = Replay(games[game])
    assert {page.rows for page in pages(shown, 80, 24, every=4)} == {0}


@pytest.mark.quick(1)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_each_space_of_the_map_is_on_the_page(seats: int, games: dict[str, Log]) -> None:
    shown = Replay(games[f"samurai {seats}"])
    board = cast(Board, rules_of(games[f"samurai {seats}"].header.settings).board)
    for frame, drawn in list(zip(shown.frames, pages(shown, 80, 24), strict=True))[::9]:
        text = "\n".join(line.plain for line in drawn.lines)
        tiles = {space for space, _, _ in frame.views[0]["tiles"]}
        for number, space in enumerate(board.spaces):
            if space.kind in ("land", "sea") and number not in tiles:
                assert re.search(rf"[~_'.]{number}(?!\d)", text), f"space {number} in\n{text}"
        assert sum(text.count(mark) for mark in "▲■●◆") >= len(tiles) + seats


@pytest.mark.quick(2, 3)
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seat", [None, 0])
def test_the_board_keeps_its_place(game: str, seat: int | None, games: dict[str, Log]) -> None:
    """Of Samurai no number of a space ever moves, of the gardens no name above them."""
    places: dict[str, set[tuple[int, int]]] = {}
    shown = Replay(games[game], seat)
    for drawn in pages(shown, 80, 24, every=3):
        for row, line in enumerate(line.plain for line in drawn.lines):
            if game.startswith("samurai"):
                found = {match[0]: match.start() for match in re.finditer(r"(?<= )[~_](?:[1-9]\d|\d)(?!\d)", line)}
            else:
                names = re.finditer(r"[▲■●◆★] \d  ", line) if line.startswith("▲ 0  ") else ()
                found = {match[0]: match.start() for match in names}
            for name, column in found.items():
                places.setdefault(name, set()).add((row, column))
    assert len(places) > 1
    assert {name: place for name, place in places.items() if len(place) > 1} == {}


def sheet(rows: int, columns: int, *changed: tuple[int, int]) -> Sheet:
    return Sheet(lines=[Text(f"{row:03}".ljust(columns, ".")) for row in range(rows)], changed=changed)


def rows_of(shown: Page) -> list[int]:
    return [int(line.plain[:3]) for line in shown.lines if line.plain[:3].isdigit()]


def test_the_window_on_a_high_board_stays_and_follows_what_changes() -> None:
    def show(place: Shift, *changed: tuple[int, int]) -> Page:
        scene = Scene(facts=[Text("facts")], sheets=[sheet(100, 40, *changed)])
        return page(Text("heading"), [Text("words")], scene, BAR, 80, 24, place)

    first = show(Shift())
    assert rows_of(first) == list(range(first.rows))
    near = show(first.place, (5, 0))
    assert near.place == first.place, "it is on the screen already"
    far = show(first.place, (50, 0))
    assert 50 in rows_of(far)
    assert show(far.place).place == far.place, "nothing changed"
    assert rows_of(show(Shift(30, 0, follow=False), (99, 0)))[0] == 30, "somebody has moved it"
    assert rows_of(show(Shift(999, 0, follow=False)))[-1] == 99


def test_the_window_on_a_wide_board_follows_too() -> None:
    scene = Scene(facts=[], sheets=[sheet(5, 200, (1, 150))])
    shown = page(Text("heading"), [], scene, BAR, 80, 24, Shift())
    assert 150 - 80 < shown.place.left <= 150
    assert all(line.cell_len <= 80 for line in shown.lines)


def test_what_there_is_no_room_for_is_marked() -> None:
    scene = Scene(facts=[], sheets=[sheet(5, 40)])
    words = [Text(f"sentence {number}") for number in range(9)]
    shown = page(Text("heading"), words, scene, BAR, 80, 24, Shift())
    assert shown.is_cut
    text = "\n".join(line.plain for line in shown.lines)
    assert "sentence 3 …" in text
    assert "sentence 4" not in text
    assert not page(Text("heading"), words[:4], scene, BAR, 80, 24, Shift()).is_cut


@given(
    words=st.lists(st.text("ab é日\u202e", max_size=300), max_size=6),
    rows=st.integers(0, 60), columns=st.integers(0, 120), facts=st.integers(0, 12), corner=st.booleans(),
    width=st.integers(LEAST_WIDTH, 200), height=st.integers(LEAST_HEIGHT, 60),
)  # fmt: skip
def test_whatever_is_shown_fits(
    words: list[str], rows: int, columns: int, facts: int, corner: bool, width: int, height: int
) -> None:
    lines = [Text(f"{'#' * (columns - row):>{columns}}") for row in range(rows)]
    scene = Scene(facts=[Text("fact")] * facts, sheets=[Sheet(lines=lines or [Text()], in_corner=corner)])
    shown = page(Text("heading"), [Text(line) for line in words], scene, BAR, width, height, Shift())
    assert len(shown.lines) == height
    assert all(line.cell_len <= width for line in shown.lines)
    assert shown.lines[-1].plain.endswith(BAR.plain)


def test_a_game_without_a_scene_of_its_own_shows_what_it_draws(logs: dict[str, Log], monkeypatch: Any) -> None:
    monkeypatch.setattr("arena.core.show.replay.presenter", lambda name: Presenter)
    shown = Replay(logs["samurai"])
    drawn = pages(shown, 80, 24)
    assert all(len(page.lines) == 24 for page in drawn)
    assert any("tiles" in line.plain for line in drawn[0].lines)
    assert not any(shown.gains(index) for index in range(len(shown.frames)))


def test_odd_columns_look_lower() -> None:
    board = parse_board(SMALL, "small").for_players(2)
    view: Any = {"pieces": {"buddha": [1], "rice": [], "castle": [2]}, "tiles": [[4, 1, "ship2"]]}
    assert [line.plain.rstrip() for line in compact_lines(board, view, {4})] == [
        "'0  C-  B--",
        "'3  -   ■h2*",
        "~6  _8  '7",
    ]


def test_gains_are_captures_and_points(games: dict[str, Log]) -> None:
    for game, event in (("samurai 2", "captured"), ("gardener 2", "scored")):
        shown = Replay(games[game])
        for index, frame in enumerate(shown.frames):
            assert shown.gains(index) == any(told["event"] in (event, "bonus") for told in frame.events)
