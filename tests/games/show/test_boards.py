"""What a board file is, or all that is wrong with it: right for the bundled ones, and readable for the worst."""

from __future__ import annotations

from functools import partial
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.catalogue import game, names
from arena.core.resources import board_names, board_text
from arena.core.rules.base import Legal
from arena.core.show import boards
from arena.core.show.boards import board_facts, board_lines, board_rows, board_svg, check_board, fact_lines
from arena.core.show.layout import entry, span
from arena.core.testing import play_to_end
from arena.games.gardener.show.game import GardenerFacts
from arena.games.samurai.game import Samurai
from arena.games.samurai.show.game import MapFacts, SamuraiFacts

ONE = "name: One\nsource: a test\nplayers: 2\nmap:\n.2\n   E2\n"


@pytest.mark.parametrize("name", board_names())
def test_every_bundled_board_is_right(name: str) -> None:
    text = board_text(name)[1]
    checked = check_board(text.encode(), name)
    assert check_board(f"\ufeff{text}".encode(), name) == checked
    assert checked.problems == ()
    assert checked.facts == board_facts(text, name)


def test_every_game_has_a_bundled_board() -> None:
    assert {row.facts.rules for row in board_rows()} == {name for name in names() if game(name).boards}


def test_the_facts_of_japan_are_the_published_ones() -> None:
    facts = board_facts(board_text("japan")[1], "japan")
    assert isinstance(facts, SamuraiFacts)
    assert facts.players == (2, 3, 4)
    assert [row.pieces_per_caste for row in facts.maps] == [7, 10, 13]
    assert facts.maps[2] == MapFacts(
        players=4, spaces=174, land=56, sea=84, villages=30, cities=3, edos=1, pieces_per_caste=13
    )


def test_the_facts_of_the_garden() -> None:
    facts = board_facts(board_text("garden")[1], "garden")
    assert facts.players == (2, 3, 4, 5)
    assert isinstance(facts, GardenerFacts)
    assert (facts.deck.cards, set(facts.deck.squares.values())) == (64, {96})
    assert facts.deck.remarks


def reasons(text: str | bytes) -> list[tuple[int, int, str]]:
    data = text if isinstance(text, bytes) else text.encode()
    return [(problem.line, problem.column, problem.reason) for problem in check_board(data, "x.txt").problems]


def test_a_file_of_no_game_is_told_the_sections_there_are() -> None:
    ((line, column, reason),) = reasons("name: a\nhello\n")
    assert (line, column) == (2, 1)
    for name in names():
        boards = game(name).boards
        assert boards is None or f"`{boards.section}:` (for {name})" in reason
    assert reasons("")[0][:2] == (1, 1)


def test_bytes_that_are_no_text_have_a_line_and_a_column() -> None:
    ((line, column, reason),) = reasons("name: é\nsource: ".encode() + b"\xff\n")
    assert (line, column) == (2, 9)
    assert "0xff" in reason


def test_a_board_on_which_a_seat_cannot_play_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Samurai, "legal", lambda self, state, seat: Legal([]))
    ((line, column, reason),) = reasons(ONE)
    assert (line, column) == (1, 1)
    assert reason.startswith("expected a board that 2 can play on, got one with a fault: ")
    assert "expected a legal play for seat 0, which owes the decision" in reason


def test_a_board_on_which_a_game_never_ends_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "play_to_end", partial(play_to_end, longest=3))
    ((_, _, reason),) = reasons(ONE)
    assert "expected a game that is over after 3 steps, got: one that goes on" in reason


@pytest.mark.parametrize("width", [60, 200])
def test_the_facts_fit_the_width(width: int) -> None:
    for row in board_rows():
        lines = [line.plain for line in fact_lines(row.facts, 8, width, row.board)]
        assert max(map(len, lines)) <= width
        assert lines[0].startswith(f"{row.board:8}{row.facts.name}, a ")
        assert all(line.startswith(" " * 8) for line in lines[1:])


def test_one_piece_is_no_pieces() -> None:
    lines = [line.plain for line in fact_lines(board_facts(ONE, "one"), 0, 100)]
    assert lines == [
        "One, a board for samurai, 2 players",
        "2 players: 2 spaces (1 land, 0 sea, 0 villages, 0 cities, 1 Edo), 1 piece of each caste",
    ]
    assert [span(numbers) for numbers in ([3], [2, 3], [2, 3, 4])] == ["3", "2 or 3", "2 to 4"]


HEADS = ("", "map:\n", "cards:\n", "name: a\nsource: b\nplayers: 2-4\nmap:\n", "name: a\nsource: b\ncards:\n")
CONTENTS = st.binary(max_size=120) | st.text(st.sampled_from("~.vcE=*234 \n\t#"), max_size=120).map(str.encode)


@given(st.sampled_from(HEADS), CONTENTS)
def test_any_bytes_are_checked_without_an_error(head: str, content: bytes) -> None:
    data = head.encode() + content
    checked = check_board(data, "x.txt")
    assert bool(checked.problems) != (checked.facts is not None)
    for problem in checked.problems:
        assert 1 <= problem.line <= data.count(b"\n") + data.count(b"\r") + 1
        assert problem.column >= 1
        assert problem.reason.startswith("expected ")


CELLS = st.lists(st.sampled_from("~.vcE"), min_size=3, max_size=9)


@given(CELLS, CELLS)
def test_every_board_that_loads_can_be_played_and_drawn(upper: list[str], lower: list[str]) -> None:
    lines = ["    ".join(f"{kind}2" for kind in upper), "   " + "    ".join(f"{kind}2" for kind in lower)]
    text = "name: a\nsource: b\nplayers: 2\nmap:\n" + "\n".join(lines)
    checked = check_board(text.encode(), "x.txt")
    if checked.facts is None:
        assert all("pieces divisible by three" in at.reason or "land beside" in at.reason for at in checked.problems)
    else:
        ElementTree.fromstring(board_svg(text, "x.txt", 2))
        assert len(list(board_lines(text, "x.txt", 2, 80))) > 4


@given(st.text(max_size=80), st.text(max_size=200), st.integers(0, 30), st.integers(0, 120))
def test_an_entry_cannot_draw_on_the_terminal(label: str, words: str, column: int, width: int) -> None:
    for line in entry(label, words, column, width):
        assert line.plain.isprintable()
