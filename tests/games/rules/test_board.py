"""The board loader: the board of Samurai as published, and texts that are no boards."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from kit import check_fold, check_rules

from arena.core.catalogue import game_of_board, make_rules, resolve_options
from arena.core.errors import BoardError, ConfigError
from arena.core.types import BoardFile
from arena.games.samurai.board import PIECES, BoardSet, find_problems, parse_board
from arena.games.samurai.game import Samurai

ROOT = Path(__file__).parents[3]

GOOD = """\
# A comment.
name: Three villages
source: a test
players: 2-3
place 1-1: Nara
map:
.2    .2
   v2
.2    v2
   v2
~3    .2
"""


@pytest.fixture(scope="module")
def japan() -> BoardSet:
    return parse_board((ROOT / "boards/japan.txt").read_text(encoding="utf-8"), "boards/japan.txt")


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    return json.loads((ROOT / "tests/data/samurai_board.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_japan_has_the_published_counts(japan: BoardSet, published: dict[str, Any], players: int) -> None:
    spaces = japan.for_players(players).spaces
    kinds = [space.kind for space in spaces]
    counts = {kind: kinds.count(kind) for kind in ("land", "sea", "village", "city", "edo")}
    pieces = counts["village"] + 2 * counts["city"] + 3 * counts["edo"]
    assert {"spaces": len(spaces), **counts, "caste_pieces": pieces, "per_caste": pieces // 3} == (
        published["counts"][str(players)]
    )


@pytest.mark.parametrize("players", [2, 3, 4])
def test_japan_has_the_published_spaces_and_adjacency(japan: BoardSet, published: dict[str, Any], players: int) -> None:
    board = japan.for_players(players)
    ids = [f"{space.col:02}-{space.row:02}" for space in board.spaces]
    found = {
        at: (space.kind, space.name, {ids[number] for number in space.neighbours})
        for at, space in zip(ids, board.spaces, strict=True)
    }
    assert found == {
        space["id"]: (space["kind"], space.get("name", ""), {at for at in space["neighbours"] if at in found})
        for space in published["spaces"]
        if space["min_players"] <= players
    }


def test_a_small_board() -> None:
    board = parse_board(GOOD, "good.txt")
    assert [
        (space.kind, space.col, space.row, space.name, space.neighbours) for space in board.for_players(2).spaces
    ] == [
        ("land", 0, 0, "", (2, 3)),
        ("land", 2, 0, "", (2, 4)),
        ("village", 1, 0, "", (0, 1, 3, 4, 5)),
        ("land", 0, 1, "", (0, 2, 5)),
        ("village", 2, 1, "", (1, 2, 5, 6)),
        ("village", 1, 1, "Nara", (2, 3, 4, 6)),
        ("land", 2, 2, "", (4, 5)),
    ]
    assert (board.name, board.source, board.players) == ("Three villages", "a test", (2, 3))
    assert len(board.for_players(3).spaces) == 8


def islands() -> str:
    page = (ROOT / "docs/boards.md").read_text(encoding="utf-8")
    return re.findall(r"```text\n(# islands\.txt\n.*?)```", page, re.DOTALL)[-1]  # type: ignore[no-any-return]


def test_the_board_drawn_in_the_documentation_is_one() -> None:
    assert find_problems(islands(), "islands.txt") == []
    assert parse_board(islands(), "islands.txt").players == (2, 3)


@pytest.mark.parametrize("ruleset", Samurai.rulesets)
@pytest.mark.parametrize("text", [GOOD, islands()], ids=["villages", "islands"])
def test_a_board_of_ones_own_plays_at_once_with_as_many_pieces_as_it_has_places(text: str, ruleset: str) -> None:
    for seats in (2, 3):
        rules = make_rules("samurai", seats, resolve_options("samurai", ruleset, {})[1], BoardFile.of("own.txt", text))
        settlements = [space["kind"] for space in rules.board.payload()["spaces"] if space["kind"] in PIECES]
        view = rules.first_view(0)
        pieces = {caste: view["supply"][caste] + len(view["pieces"][caste]) for caste in ("buddha", "rice", "castle")}
        assert [*pieces.values()] == [sum(PIECES[kind] for kind in settlements) // 3] * 3
        check_rules(rules, seed=seats)
        check_fold(rules, seed=seats)


def test_the_game_knows_its_boards_and_their_problems() -> None:
    assert game_of_board(GOOD) == "samurai"
    assert game_of_board(GOOD.replace("map:", "mop:")) is None
    assert Samurai.boards.problems(GOOD, "good.txt") == []
    (problem,) = Samurai.boards.problems(GOOD.replace("2-3", "2-9"), "bad.txt")
    assert (problem.line, problem.column) == (4, 10)
    assert Samurai.boards.players(GOOD, "good.txt") == (2, 3)
    assert Samurai.boards.parse(GOOD, "good.txt", 3) == parse_board(GOOD, "good.txt").for_players(3)


def test_the_hash_is_that_of_the_text_whatever_its_line_ends() -> None:
    boards = [parse_board(text, "") for text in (GOOD, GOOD.replace("\n", "\r\n"), GOOD.replace("\n", "\r"))]
    assert boards[0] == boards[1] == boards[2]
    assert boards[0].for_players(2).hash == hashlib.sha256(GOOD.encode()).hexdigest()


def test_a_board_for_another_number_of_players_is_refused(japan: BoardSet) -> None:
    with pytest.raises(ConfigError, match=r"'Japan' is for \(2-4\), got: 5"):
        japan.for_players(5)


FOUR = "name: n\nsource: s\nplayers: 4\nmap:\n"
MALFORMED = {
    # name: (text, or what to replace in GOOD and by what; line, column, reason)
    "empty file": ("", 1, 1, "expected a line `map:`"),
    "no map": (("map:\n", "# map:\n"), 11, 1, "expected a line `map:` with the map below it, got the end of the file"),
    "empty map": (GOOD[: GOOD.index(".2")], 6, 1, "expected cells on the lines below `map:`, got none"),
    "missing name": (("name: Three villages\n", ""), 5, 1, "expected a line `name: ...` above `map:`"),
    "missing source": (("source: a test\n", ""), 5, 1, "expected a line `source: ...` above `map:`"),
    "missing players": (("players: 2-3\n", ""), 5, 1, "expected a line `players: ...` above `map:`"),
    "empty value": (("name: Three villages", "name: "), 2, 7, "expected a value after `name:`, got nothing"),
    "unknown key": (("source: a test", "origin: a test"), 3, 1, "got 'origin': remove it"),
    "misspelt key": (("source: a test", "sorce: a test"), 3, 1, "got 'sorce': did you mean `source`?"),
    "duplicate key": (("source: a test", "source: a test\nname: Again"), 4, 1,
        "expected the key `name` once, got it again"),
    "not a header line": (("source: a test", "source a test"), 3, 1, "expected `key: value`, a `#` comment or `map:`"),
    "players is no number": (("2-3", "two"), 4, 10, "a range of them within 2-4, got 'two'"),
    "too many players": (("2-3", "2-5"), 4, 10, "a range of them within 2-4, got '2-5'"),
    "players reversed": (("2-3", " 3-2"), 4, 11, "a range of them within 2-4, got '3-2'"),
    "place without a cell": (("1-1", "7-7"), 5, 1, "expected a settlement at 7-7, to be called 'Nara', got no space"),
    "place on land": (("1-1", "0-0"), 5, 1, "expected a settlement at 0-0, to be called 'Nara', got land"),
    "place without a position": (("place 1-1", "place"), 5, 1, "expected `place COL-ROW: name`, got 'place'"),
    "place without a name": ((" Nara", ""), 5, 11, "expected a name after `place 1-1:`, got nothing"),
    "place named twice": (("Nara", "Nara\nplace 1-1: Ise"), 6, 1, "expected one name for 1-1, got a second"),
    "escape sequence in a place": (("Nara", "Na\x1b[2Jra"), 5, 14,
        "expected visible characters, got '\\x1b': remove it"),
    "turned writing in the name": (("Three", "\u202eThree"), 2, 7, "expected visible characters, got '\\u202e'"),
    "invisible character": (("a test", "a \u200btest"), 3, 11, "expected visible characters, got '\\u200b'"),
    "long name": (("Nara", "N" * 501), 5, 512, "expected at most 500 characters, got 501: shorten it"),
    "text after map:": (("map:", "map: Japan"), 6, 6, "expected nothing after `map:`, got 'Japan'"),
    "unknown kind": (("   v2\n.2", "   V2\n.2"), 8, 4, "expected the character of a kind (~ . v c E), got 'V'"),
    "comment in the map": (("~3    .2", "~3    .2 # sea"), 11, 10, "got '#': comments go above `map:`"),
    "trailing garbage": ((".2\n", ".2\nthe end\n"), 8, 1, "expected the character of a kind (~ . v c E), got 't'"),
    "missing digit": (("~3    .2", "~3    ."), 11, 8, "expected the smallest number of players after '.', got nothing"),
    "no digit": (("~3", "~x"), 11, 2, "expected the smallest number of players, a digit, after '~', got 'x'"),
    "exotic digit": (("~3", "~\u00b2"), 11, 2, "a digit, after '~', got '\u00b2'"),
    "digit out of range": (("~3", "~4"), 11, 2, "expected a number of players within 2-3, got 4"),
    "cells run together": ((".2    v2", ".2.2  v2"), 9, 3, "expected a space after the cell '.2', got '.2'"),
    "cell off its column": (("~3    .2", "~3   .2"), 11, 6,
        "every sixth character of this line, got one at 6: move it to 1 or 7"),
    "cell of the wrong parity": (("   v2\n~3", "      v2\n~3"), 10, 7, "got one at 7: move it to 4 or 10"),
    "cell left of the first": (("   v2\n~3", " v2\n~3"), 10, 2, "got one at 2: move it to 4"),
    "tab": (("~3    .2", "~3\t.2"), 11, 3, "expected only spaces between cells, got a tab"),
    "too many spaces": (FOUR + (".4    " * 16 + "\n\n") * 15 + ".4    " * 16, 35, 91, "expected at most 255 spaces"),
    "no settlement": (FOUR + ".4", 4, 1, "expected a number of pieces divisible by three for 4 players, got 0"),
    "pieces not divisible": (("   v2\n~3", "   c2\n~3"), 6, 1, "divisible by three for 2 players, got 4"),
    "pieces not divisible for three": (("~3", "v3"), 6, 1, "divisible by three for 3 players, got 4"),
    "settlement without land": (FOUR + "v4    .4\n   v4\n      v4", 5, 1,
        "land beside the village for 4 players, got none"),
    "land only for more players": (FOUR.replace("4", "3-4") + "v3    v3    v3\n   .3    .4", 5, 13,
        "land beside the village for 3 players, got none"),
}  # fmt: skip


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_board_is_refused_with_line_column_and_reason(case: str) -> None:
    change, line, column, reason = MALFORMED[case]
    text = change if isinstance(change, str) else GOOD.replace(*change, 1)
    assert text != GOOD
    with pytest.raises(BoardError) as caught:
        parse_board(text, "bad.txt")
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert reason in error.reason
    assert str(error).startswith(f"bad.txt:{line}:{column}: expected ")
    assert ": " in error.reason, "the reason ends with a remedy"


def test_all_problems_are_found_in_one_pass_in_the_order_of_the_text() -> None:
    text = GOOD.replace("name:", "nmae:").replace("2-3", "9").replace("~3", "?3").replace("   v2\n.2", "   v2\n\t.2")
    problems = find_problems(text, "bad.txt")
    assert [(problem.line, problem.column) for problem in problems] == [(2, 1), (4, 10), (6, 1), (9, 1), (11, 1)]
    assert find_problems(GOOD, "good.txt") == []
