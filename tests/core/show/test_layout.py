"""Blocks beside each other, or below."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from arena.core.show.layout import beside, flow, paragraph, shelves
from arena.core.show.tables import wrapped


def texts(*lines: str) -> list[Text]:
    return [Text(line) for line in lines]


def test_items_flow() -> None:
    assert [line.plain for line in flow(texts("one", "two", "three", "four"), 8)] == ["one  two", "three", "four"]
    assert flow([], 8) == []


def test_a_paragraph_is_indented_and_wrapped() -> None:
    assert [line.plain for line in paragraph(Text("one two three four five"), 12)] == [
        "  one two",
        "    three",
        "    four",
        "    five",
    ]
    assert [line.plain for line in paragraph(Text(""), 12)] == [""]
    assert wrapped("from 75 % to 50 %", 16).plain == "from 75 % to\n50 %"


@given(st.text(st.sampled_from("ab  "), max_size=60), st.integers(8, 30))
def test_a_paragraph_fits_and_loses_no_word(text: str, width: int) -> None:
    lines = [line.plain for line in paragraph(Text(text), width)]
    assert all(len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_blocks_stand_on_shelves() -> None:
    blocks = [texts("aa", "aaaa"), texts("b", "b", "b"), [], texts("too wide"), texts("c")]
    assert [line.plain for line in shelves(blocks, 8)] == ["aa     b", "aaaa   b", "       b", "", "too wide", "", "c"]
    assert [line.plain for line in shelves(blocks, 10, gap=1)] == ["aa   b", "aaaa b", "     b", "", "too wide c"]
    assert shelves([], 8) == []


@given(st.lists(st.lists(st.text("xy", min_size=1, max_size=12), max_size=4), max_size=8), st.integers(12, 40))
def test_shelves_fit_and_lose_nothing(blocks: list[list[str]], width: int) -> None:
    lines = [line.plain for line in shelves((texts(*block) for block in blocks), width)]
    assert all(len(line) <= width for line in lines)
    assert sorted(" ".join(lines).split()) == sorted(line for block in blocks for line in block)


MAP = ("        xx", "        xx", "  xx", "xx")


def test_blocks_go_into_free_corners() -> None:
    lines = beside(texts(*MAP, *["x"] * 4), texts("table", "rows"), texts("legend"), 60)
    assert [line.plain for line in lines] == ["table   xx", "rows    xx", "  xx", "xx", "x", "x", "x", "x  legend"]


def test_the_middle_moves_to_make_room() -> None:
    lines = beside(texts(*MAP), texts("a wider table"), [], 40)
    assert lines[0].plain == "a wider table  xx"
    assert lines[2].plain == "         xx"


def test_blocks_that_do_not_fit_go_above_and_below() -> None:
    lines = beside(texts(*MAP), texts("a wider table"), texts("legend"), 12)
    assert [line.plain for line in lines] == ["a wider table", "", *MAP, "", "legend"]
