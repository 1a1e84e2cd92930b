"""The deck loader: the bundled deck with its properties, and texts that are no decks."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest

from arena.core.catalogue import default_board
from arena.core.errors import BoardError
from arena.games.gardener.deck import KINDS, SYMBOLS, Deck, find_problems, parse_deck, remarks
from arena.games.gardener.game import Gardener

ROOT = Path(__file__).parents[3]
BLOCK = "=. .~ ~* *= =. .~ ~* *=\n.= ~. *~ =* .= ~. *~ =*\n=~ .* ~= *. ~* *= =. .~\n\n"
HEAD = "# A comment.\nname: Eight times eight\nsource: a test\ncards:\n"
GOOD = HEAD + BLOCK * 8
ADJACENT = ((0, 1), (2, 3), (4, 5), (0, 2), (2, 4), (1, 3), (3, 5))


@pytest.fixture(scope="module")
def garden() -> Deck:
    return parse_deck((ROOT / "boards/garden.txt").read_text(encoding="utf-8"), "boards/garden.txt")


def relabelled(card: bytes, kinds: tuple[int, ...]) -> bytes:
    return bytes(kinds[kind] for kind in card)


def test_the_bundled_deck_is_what_its_script_writes() -> None:
    made = subprocess.run([sys.executable, ROOT / "boards/make_garden.py"], capture_output=True, check=True).stdout
    assert made == (ROOT / "boards/garden.txt").read_bytes()


def test_the_bundled_deck_says_that_it_is_not_the_published_one(garden: Deck) -> None:
    assert "arena's own" in garden.source
    assert "not the published cards" in garden.text


def test_every_kind_occurs_96_times_and_no_card_has_a_column_of_three(garden: Deck) -> None:
    assert len(garden.cards) == 64
    assert Counter(kind for card in garden.cards for kind in card) == dict.fromkeys(range(4), 96)
    assert all(len(set(card[column::2])) > 1 for card in garden.cards for column in (0, 1))


def test_the_bundled_deck_is_sixteen_patterns_each_in_four_cyclic_relabellings(garden: Deck) -> None:
    patterns = [garden.cards[first : first + 4] for first in range(0, 64, 4)]
    for cards in patterns:
        for shift, card in enumerate(cards):
            assert card == bytes((kind + shift) % 4 for kind in cards[0])
    alike = Counter(sum(cards[0][one] == cards[0][other] for one, other in ADJACENT) for cards in patterns)
    assert alike == {0: 4, 1: 8, 2: 4}


def test_no_base_pattern_is_another_relabelled_or_turned(garden: Deck) -> None:
    base = garden.cards[::4]
    for number, card in enumerate(base):
        forms = {relabelled(turned, kinds) for kinds in permutations(range(4)) for turned in (card, card[::-1])}
        assert not forms & {*base[:number], *base[number + 1 :]}
    assert len({frozenset((card, card[::-1])) for card in garden.cards}) == 64, "and no two cards are alike"


def test_cards_are_numbered_as_one_reads_and_their_squares_row_by_row(garden: Deck) -> None:
    drawn = GOOD.replace("=. .~", "=* ~~", 1).replace("=~ .* ~= *. ~*", ".. .* ~= *. ==", 1)
    cards = parse_deck(drawn, "").cards
    assert ["".join(SYMBOLS[kind] for kind in card) for card in cards[:5]] == [
        "=*.=..",
        "~~~..*",
        "~**~~=",
        "*==**.",
        "=..===",
    ]
    assert cards[8:16] == parse_deck(GOOD, "").cards[:8]
    assert dict(zip(SYMBOLS, KINDS, strict=True)) == {"=": "tatami", ".": "path", "~": "pond", "*": "garden"}


def test_blocks_may_be_of_any_width_and_cards_anywhere_in_them() -> None:
    one = "=.\n.=\n=~\n\n"
    assert (
        parse_deck(HEAD + "\n\n" + one.replace("\n", " \n", 1) * 2 + "\n" + BLOCK * 7 + one * 6, "").cards[:2]
        == (parse_deck(GOOD, "").cards[0],) * 2
    )
    spread = BLOCK.replace(" ", "    ")
    assert parse_deck(HEAD + spread * 8, "").cards == parse_deck(GOOD, "").cards


def test_the_hash_is_that_of_the_text_whatever_its_line_ends() -> None:
    decks = [parse_deck(text, "") for text in (GOOD, GOOD.replace("\n", "\r\n"), GOOD.replace("\n", "\r"))]
    assert decks[0] == decks[1] == decks[2]
    assert decks[0].hash == hashlib.sha256(GOOD.encode()).hexdigest()


def test_remarks_say_how_balanced_a_deck_is(garden: Deck) -> None:
    assert remarks(garden) == [
        "Every kind of square occurs 96 times.",
        "No card has a column of three alike, which would be a row by itself.",
    ]
    text = GOOD.replace("=. .~", "=. ~~", 1).replace(".= ~.", ".= *~", 1).replace("=~ .*", "=~ *~", 1)
    assert remarks(parse_deck(text, "")) == [
        "The kinds of squares do not occur equally often, 96 times: tatami 96, path 93, pond 98, garden 97.",
        "A column of three alike is a row by itself, and these cards have one: 1.",
    ]


MALFORMED = {
    # name: (text, or what to replace in GOOD and by what; line, column, reason); of headers test_board.py has the rest
    "empty file": ("", 1, 1, "expected a line `cards:`"),
    "a map": (GOOD.replace("cards:", "map:"), 35, 1,
        "a line `cards:` with the cards below it, got the end of the file"),
    "no cards": (HEAD, 4, 1, "expected 64 cards below `cards:`, got 0: draw more"),
    "missing name": (("name: Eight times eight\n", ""), 3, 1, "expected a line `name: ...` above `cards:`"),
    "unknown kind": (("=. .~", "=. .v"), 5, 5, "expected the character of a kind (= . ~ *), got 'v'"),
    "comment in the cards": (("*=\n", "*= # last\n"), 5, 25, "got '#': comments go above `cards:`"),
    "tab": (("=. .~", "=.\t.~"), 5, 3, "expected the character of a kind (= . ~ *), got '\\t'"),
    "card too narrow": (("=. .~", "=  .~"), 5, 1, "expected 2 characters of a card, got '='"),
    "cards run together": (("=. .~", "=..~ "), 5, 1, "expected 2 characters of a card, got '=..~'"),
    "card off its column": ((".= ~. *~", ".=  ~.*~"), 6, 5, "expected 2 characters of a card, got '~.*~'"),
    "card without a line": ((".= ~. *~", ".=    *~"), 6, 4, "expected squares of the card above, got none"),
    "line without a card": (("*= =. .~ ~* *=\n", "*= =. .~ ~*\n"), 6, 22,
        "expected spaces here, as above, got squares"),
    "two lines": (("=~ .* ~= *. ~* *= =. .~\n", ""), 6, 1, "expected 3 lines of cards, got 2: a card is three lines"),
    "no empty line": ((".~\n\n", ".~\n"), 8, 1, "expected an empty line below 3 lines of cards, got another line"),
    "too few cards": (HEAD + BLOCK * 7, 4, 1, "expected 64 cards below `cards:`, got 56: draw more"),
    "too many cards": (GOOD + "==\n==\n==", 4, 1, "expected 64 cards below `cards:`, got 65: remove some"),
}  # fmt: skip


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_deck_is_refused_with_line_column_and_reason(case: str) -> None:
    change, line, column, reason = MALFORMED[case]
    text = change if isinstance(change, str) else GOOD.replace(*change, 1)
    assert text != GOOD
    with pytest.raises(BoardError) as caught:
        parse_deck(text, "bad.txt")
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert reason in error.reason
    assert str(error).startswith(f"bad.txt:{line}:{column}: expected ")
    assert ": " in error.reason, "the reason ends with a remedy"


def test_a_shifted_card_is_named_where_it_is_and_where_it_should_be() -> None:
    shifted = GOOD.replace(".= ~. *~ =* .= ~. *~ =*", ".= ~. *~ =* .= ~. *~  =*", 1)
    problems = find_problems(shifted, "bad.txt")
    assert [(problem.line, problem.column) for problem in problems] == [(6, 22), (6, 23)]


def test_the_game_reads_decks(garden: Deck) -> None:
    assert Gardener.boards.parse(garden.text, "garden", 5) == garden
    assert Gardener.boards.players(garden.text, "garden") == (2, 3, 4, 5)
    assert parse_deck(default_board("gardener").text, "garden") == garden
    assert Gardener.boards.problems(garden.text, "garden") == []
    assert [str(problem)[:10] for problem in Gardener.boards.problems("name: x\ncards:\n", "bad.txt")] == [
        "bad.txt:2:"
    ] * 2
    for read in (Gardener.boards.players, lambda text, source: Gardener.boards.parse(text, source, 2)):
        with pytest.raises(BoardError):
            read("", "bad.txt")


def test_all_problems_are_found_in_one_pass_in_the_order_of_the_text() -> None:
    text = (
        GOOD.replace("name:", "nmae:").replace("*= =.", "*=  =.").replace("=~ .*", "=x .*").replace("*~ =*\n", "*\n", 1)
    )
    problems = [(problem.line, problem.column) for problem in find_problems(text, "bad.txt")]
    assert problems == [(2, 1), (4, 1), (6, 19), *((7 + 4 * block, 2) for block in range(8))]
    assert find_problems(GOOD, "good.txt") == []
