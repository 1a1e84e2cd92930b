"""A board is read as it was drawn, and no text makes the parser fail in another way than it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.games.samurai.board import KINDS, BoardSet, Cell, find_problems, parse_board

NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=12)


@st.composite
def board_files(draw: st.DrawFn) -> BoardSet:
    """Boards of three villages with land below each, and anything else around them."""
    first = draw(st.integers(2, 4))
    players = tuple(range(first, draw(st.integers(first, 4)) + 1))
    cells = {}
    for col, row in draw(st.sets(st.tuples(st.integers(0, 11), st.integers(0, 9)), max_size=60)):
        cells[col, row] = Cell(draw(st.sampled_from(["land", "sea"])), draw(st.sampled_from(players)), col, row)
    for col, row in draw(st.sets(st.tuples(st.integers(0, 11), st.sampled_from([0, 2, 4])), min_size=3, max_size=3)):
        cells[col, row] = Cell("village", first, col, row, draw(st.just("") | NAMES))
        cells[col, row + 1] = Cell("land", first, col, row + 1)
    ordered = tuple(sorted(cells.values(), key=lambda cell: (cell.line, cell.col)))
    return BoardSet(draw(NAMES), draw(NAMES), players, ordered, "")


@given(board_files())
def test_parse_reads_what_was_drawn(board: BoardSet) -> None:
    symbols = {kind: symbol for symbol, kind in KINDS.items()}
    drawn = {(cell.line, cell.col): f"{symbols[cell.kind]}{cell.players} " for cell in board.cells}
    lines = ["".join(drawn.get((line, col), "   ") for col in range(12)).rstrip() for line in range(25)]
    places = [f"place {cell.col}-{cell.row}: {cell.name}" for cell in board.cells if cell.name]
    players = f"{board.players[0]}-{board.players[-1]}"
    head = [f"name: {board.name}", f"source: {board.source}", f"players: {players}", *places, "map:"]
    text = "\n".join([*head, *lines])
    assert parse_board(text, "a board") == BoardSet(board.name, board.source, board.players, board.cells, text)


@given(board_files(), st.integers(2, 4))
def test_neighbours_are_mutual_and_ascending(board: BoardSet, players: int) -> None:
    spaces = board.for_players(min(max(players, board.players[0]), board.players[-1])).spaces
    for number, space in enumerate(spaces):
        assert list(space.neighbours) == sorted(set(space.neighbours) - {number})
        assert all(number in spaces[other].neighbours for other in space.neighbours)


@given(st.text(st.sampled_from("~.vcE234 \n\t:-#aplcemsouryn"), max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    if problems := find_problems("name: a\nsource: b\nplayers: 2-4\n" + text, "a text"):
        assert problems == sorted(problems, key=lambda problem: (problem.line, problem.column))
    for problem in find_problems(text, "a text"):
        assert 1 <= problem.line <= text.count("\n") + 1
        assert problem.column >= 1
