"""Pictures of boards: well formed whatever the text, complete, the same each time, and nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.core.resources import board_names, board_text
from arena.core.show.boards import board_facts, board_svg
from arena.core.show.presenter import presenter
from arena.core.show.svg import document, fitting_size, lines_of, text, text_width
from arena.games.gardener.deck import parse_deck
from arena.games.samurai.board import parse_board

SVG = "{http://www.w3.org/2000/svg}"
BOARDS = [(name, players) for name in board_names() for players in board_facts(board_text(name)[1], name).players]
SMALL = """\
name: {name}
source: {source}
players: 2
place 1-0: {place}
map:
.2
   E2
"""


def words(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def used(root: ElementTree.Element) -> list[str]:
    return [element.attrib["href"] for element in root.iter(f"{SVG}use")]


@pytest.mark.parametrize(("name", "players"), BOARDS)
def test_every_bundled_board_has_a_picture_that_needs_nothing_else(name: str, players: int) -> None:
    source = board_text(name)[1]
    picture = board_svg(source, name, players)
    root = ElementTree.fromstring(picture)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert (left, top) == (0, 0)
    assert float(root.attrib["width"].removesuffix("mm")) <= 190
    assert float(root.attrib["height"].removesuffix("mm")) <= 277
    defined = {f"#{element.attrib['id']}" for element in root.iter() if "id" in element.attrib}
    assert set(used(root)) <= defined
    assert not re.search(r"<(script|image|style|foreignObject)|url\(|data:", picture)
    assert re.findall(r"https?://[^\"]*", picture) == ["http://www.w3.org/2000/svg"]
    for element in [*root.iter(f"{SVG}use"), *root.iter(f"{SVG}text")]:
        assert 0 <= float(element.attrib["x"]) <= width or element in legend(root)
        assert -height <= float(element.attrib["y"]) <= height
    assert picture == board_svg(source, name, players)


def legend(root: ElementTree.Element) -> set[ElementTree.Element]:
    return {inner for group in root.iter(f"{SVG}g") if "transform" in group.attrib for inner in group.iter()}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_map_shows_every_space_with_its_coordinates_number_and_name(players: int) -> None:
    source = board_text("japan")[1]
    board = parse_board(source, "japan").for_players(players)
    root = ElementTree.fromstring(board_svg(source, "japan", players))
    shown = words(root)
    for number, space in enumerate(board.spaces):
        assert f"{space.col}-{space.row}" in shown
        assert str(number) in shown
        assert space.name in shown or not space.name
    kinds = [f"#map-{space.kind}" for space in board.spaces]
    assert used(root)[: len(kinds)] == kinds, "the spaces in their order, then the legend"
    assert "Japan" in shown


def test_a_settlement_has_a_place_for_each_piece() -> None:
    root = ElementTree.fromstring(board_svg(board_text("japan")[1], "japan", 4))
    places = {
        element.attrib["id"]: len(list(element.iter(f"{SVG}circle")))
        for element in root.iter(f"{SVG}g")
        if "id" in element.attrib
    }
    assert places == {"map-sea": 0, "map-land": 0, "map-village": 1, "map-city": 2, "map-edo": 3}


def test_two_islands_lie_as_in_the_file_with_a_coast_around_each() -> None:
    def coast(cells: str) -> int:
        source = f"name: a\nsource: b\nplayers: 2\nmap:\n{cells}"
        root = ElementTree.fromstring(board_svg(source, "a", 2))
        return max(element.attrib["d"].count("L") for element in root.iter(f"{SVG}path"))

    together = coast("E2\n   .2\n")
    apart = coast("E2          E2\n   .2          .2\n".replace("          ", "    ~2    "))
    assert together == 10, "two hexagons that share a side"
    assert apart == 2 * together


def test_the_sheet_shows_every_card_with_its_number_and_squares() -> None:
    source = board_text("garden")[1]
    deck = parse_deck(source, "garden")
    root = ElementTree.fromstring(board_svg(source, "garden", None))
    names = ("tatami", "path", "pond", "garden")
    assert used(root) == [f"#deck-{names[square]}" for card in deck.cards for square in card] + [
        f"#deck-{name}" for name in names
    ]
    assert set(map(str, range(64))) <= set(words(root))


def test_the_kinds_of_squares_differ_without_colour() -> None:
    root = ElementTree.fromstring(board_svg(board_text("garden")[1], "garden", None))
    signs = [
        tuple((inner.tag, inner.get("d"), inner.get("rx")) for inner in element)
        for element in root.iter(f"{SVG}g")
        if "id" in element.attrib
    ]
    assert len(set(signs)) == len(signs) == 4


HOSTILE = st.text(st.characters(exclude_characters="\r\n"), min_size=1, max_size=60).filter(lambda text: text.strip())


@given(HOSTILE, HOSTILE, HOSTILE)
def test_any_text_of_a_board_is_escaped(name: str, source: str, place: str) -> None:
    board = parse_board(SMALL.format(name="a", source="b", place="c"), "small").for_players(2)
    spaces = tuple(replace(space, name=place) for space in board.spaces)
    hostile = replace(board, name=name, source=source, spaces=spaces)
    ElementTree.fromstring(presenter("samurai").board_svg(hostile, 2))
    for line in presenter("samurai").board_lines(hostile, 2, 80):
        assert line.plain.isprintable()


def test_markup_in_a_name_is_text() -> None:
    text = SMALL.format(name='</text><script>alert("1")</script>', source="<b>&amp;", place="]]><image/>")
    picture = board_svg(text, "hostile", 2)
    root = ElementTree.fromstring(picture)
    assert "<script" not in picture
    assert "<b>&amp;" in words(root)
    assert '</text><script>alert("1")</script>' in "".join(words(root))


def test_a_picture_fits_the_page_whatever_its_shape() -> None:
    wide, high = (ElementTree.fromstring(document("a", *size)) for size in ((1000.0, 10.0), (10.0, 1000.0)))
    assert (wide.attrib["width"], wide.attrib["height"]) == ("190mm", "1.9mm")
    assert (high.attrib["width"], high.attrib["height"]) == ("2.77mm", "277mm")


@given(HOSTILE, st.floats(40, 400))
def test_words_fit_the_width_they_are_set_in(words: str, width: float) -> None:
    size = fitting_size(words, 10.0, width)
    assert size <= 10
    assert text_width(words, size) <= width * 1.001
    assert "".join("".join(lines_of("a b" * 9, 10.0, width)).split()) == "ab" * 9
    ElementTree.fromstring(text(words, 0, 0, size))


def test_no_picture_is_drawn_of_a_file_that_is_no_board(tmp_path: Path) -> None:
    from arena.core.errors import BoardError, ConfigError

    with pytest.raises(ConfigError, match=r"expected a board with `\w+:` \(for \w+\) or `\w+:`"):
        board_svg("hello", "x.txt", None)
    with pytest.raises(BoardError, match=r"x.txt:1:1: "):
        board_svg("map:\n", "x.txt", None)
    with pytest.raises(ConfigError, match=r"expected a number of players .* \(2 to 4\), got: 5"):
        board_svg(board_text("japan")[1], "japan", 5)
