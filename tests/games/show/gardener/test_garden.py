"""Gardens for terminals."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from arena.games.gardener.show.garden import SIGNS, card_lines, garden_lines, row_squares, squares_of

KINDS = {sign: kind for kind, sign in SIGNS.items()}
CARDS = [[KINDS[sign] for sign in signs] for signs in ("=.~*=.", "~~**==", "......")]

gardens = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-12, 40), st.integers(-12, 12), st.booleans()), min_size=1, max_size=8
)


def drawn(lines: list[Text]) -> list[str]:
    return [line.plain.rstrip() for line in lines]


def test_a_card_as_it_is_printed() -> None:
    assert drawn(card_lines(CARDS[0])) == [" = .", " ~ *", " = ."]


def test_a_turned_card_is_reversed_and_the_last_card_is_seen() -> None:
    assert drawn(garden_lines(CARDS, [(1, 0, 0, False), (0, 1, 1, True)], 80)) == [
        "    0   2",
        "  0 ~ ~",
        "  1 * . =",
        "  2 = * ~",
        "  3   . =",
    ]


def test_coordinates_stand_on_the_margin_negative_ones_too() -> None:
    assert drawn(garden_lines(CARDS, [(0, -11, -10, False), (0, -9, -9, False)], 80)) == [
        "    -10  -8",
        "-10 = .",
        " -9 ~ * = .",
        " -8 = . ~ *",
        " -7     = .",
    ]


def test_the_new_card_stands_in_brackets_and_scored_rows_are_marked() -> None:
    new = [square for square, _ in squares_of(CARDS[1], 2, 0)]
    scored = row_squares({"at": [1, 1], "along": "across", "kind": "garden", "length": 3})
    garden = [(0, 0, 0, False), (2, 4, 0, False), (1, 2, 0, False)]
    assert drawn(garden_lines(CARDS, garden, 80, new=new, scored=[*scored])) == [
        "    0   2   4",
        "  0 = .[~ ~]. .",
        "  1 ~!*!*!*]. .",
        "  2 = .[= =]. .",
    ]
    assert drawn(garden_lines(CARDS, [(1, 2, 0, False)], 80, new=new))[1] == "  0[~ ~]"


@pytest.mark.parametrize(
    ("row", "squares"),
    [
        ({"at": [2, -1], "along": "across", "length": 3}, [(2, -1), (3, -1), (4, -1)]),
        ({"at": [2, -1], "along": "down", "length": 4}, [(2, -1), (2, 0), (2, 1), (2, 2)]),
    ],
)
def test_the_squares_of_a_row(row: dict[str, Any], squares: list[tuple[int, int]]) -> None:
    assert [*row_squares(row)] == squares


def test_a_garden_that_is_too_wide_is_drawn_in_parts() -> None:
    garden = [(0, x, 0, False) for x in range(0, 12, 2)]
    assert drawn(garden_lines(CARDS, garden, 20)) == [
        "    0   2   4   6",
        "  0 = . = . = . = .",
        "  1 ~ * ~ * ~ * ~ *",
        "  2 = . = . = . = .",
        "",
        "    8  10",
        "  0 = . = .",
        "  1 ~ * ~ *",
        "  2 = . = .",
    ]


def read(lines: list[str], margin: int) -> dict[tuple[int, int], str]:
    """What a person reads from a drawing: the sign at each square, by the margins."""
    found = {}
    for part in "\n".join(lines).split("\n\n"):
        columns, *rows = part.split("\n")
        labels = [(int(label[0]), (label.end() - margin) // 2 - 1) for label in re.finditer(r"-?\d+", columns)]
        (left,) = {x - column for x, column in labels}
        for row in rows:
            for column, sign in enumerate(row[margin + 1 :: 2]):
                if sign != " ":
                    found[left + column, int(row[:margin])] = sign
    return found


@given(gardens, st.integers(20, 100))
def test_every_square_that_is_seen_is_drawn_where_the_margins_say(
    garden: list[tuple[int, int, int, bool]], width: int
) -> None:
    seen = {}
    for card, x, y, turned in garden:
        kinds = CARDS[card][::-1] if turned else CARDS[card]
        seen |= {(x + index % 2, y + index // 2): SIGNS[kind] for index, kind in enumerate(kinds)}
    lines = garden_lines(CARDS, garden, width)
    assert all(line.cell_len <= width for line in lines)
    assert read(drawn(lines), margin=3) == seen


def test_kinds_and_what_is_new_or_scored_are_seen_in_colour_as_well() -> None:
    cards = [[kind] * 6 for kind in SIGNS]
    square = (0, 0)
    pictures = [
        garden_lines(cards, [(card, 0, 0, False)], 80, new=new, scored=scored)[1].spans[-2:]
        for card in range(4)
        for new, scored in (((), ()), ([square], ()))
    ]
    scored = garden_lines(cards, [(0, 0, 0, False)], 80, scored=[square])[1].spans[-2:]
    assert all(one != other for index, one in enumerate([*pictures, scored]) for other in [*pictures, scored][:index])


def test_no_garden_no_lines() -> None:
    assert garden_lines(CARDS, [], 80) == []
