"""Decks: a text that a person can edit, and the 64 cards that a game is played with.

1. This module opens no file: it is handed the text, and says in its errors where in the text something is wrong.
2. `find_problems` finds everything that is wrong with a text, in one pass.
3. Cards are numbered from 0 as one reads the file: block by block, from left to right.

`boards/README.md` describes the format.
"""

from __future__ import annotations

import re

from arena.core.face import BoardText, Payload, errors, game_kit
from arena.games.gardener.geometry import HIGH, WIDE

KINDS = ("tatami", "path", "pond", "garden")
"""The kinds of squares, in the order in which they are always named. Inside the engine a kind is its index here."""
SYMBOLS = "=.~*"
CARDS = 64
PLAYERS = range(2, 6)

SECTION = "cards"
"""Name of the cards in the file."""


class Deck(game_kit.Board, frozen=True):
    """A deck."""

    cards: tuple[bytes, ...]
    """Kinds of the squares of each card, row by row from the top left. A card's number is its index."""

    def payload(self) -> Payload:
        return super().payload() | {"cards": [[KINDS[kind] for kind in card] for card in self.cards]}


class DeckFormat(game_kit.BoardFormat):
    """The decks of Samurai Gardener as files. Every deck is for every number of players."""

    section = SECTION
    default = "garden"

    def problems(self, text: str, source: str) -> list[errors.BoardError]:
        return find_problems(text, source)

    def players(self, text: str, source: str) -> tuple[int, ...]:
        parse_deck(text, source)
        return tuple(PLAYERS)

    def parse(self, text: str, source: str, players: int) -> Deck:
        return parse_deck(text, source)


def parse_deck(text: str, source: str) -> Deck:
    """Reads a deck file.

    Raises:
        BoardError: The text is not a deck; this is the first of `find_problems`.
    """
    parser = _Parser(text, source)
    if parser.problems:
        raise parser.problems[0]
    return Deck(parser.header["name"], parser.header["source"], parser.text, tuple(parser.cards))


def find_problems(text: str, source: str) -> list[errors.BoardError]:
    """Returns everything that keeps `text` from being a deck, in the order of the text; nothing if it is one."""
    return _Parser(text, source).problems


def remarks(deck: Deck) -> list[str]:
    """Returns what the maker of a deck may want to know about its balance, in sentences."""
    counts = [sum(card.count(kind) for card in deck.cards) for kind in range(len(KINDS))]
    listed = ", ".join(f"{name} {count}" for name, count in zip(KINDS, counts, strict=True))
    even = CARDS * WIDE * HIGH // len(KINDS)
    if set(counts) == {even}:
        found = [f"Every kind of square occurs {even} times."]
    else:
        found = [f"The kinds of squares do not occur equally often, {even} times: {listed}."]
    columns = [
        str(number)
        for number, card in enumerate(deck.cards)
        if any(len({*card[column::WIDE]}) == 1 for column in range(WIDE))
    ]
    if columns:
        found.append(f"A column of three alike is a row by itself, and these cards have one: {', '.join(columns)}.")
    else:
        found.append("No card has a column of three alike, which would be a row by itself.")
    return found


class _Parser(BoardText):
    """Reads the text of a deck."""

    section = SECTION

    def __init__(self, text: str, source: str) -> None:
        self.cards: list[bytes] = []
        super().__init__(text, source)

    def read_section(self, head: int) -> None:
        """Reads the cards."""
        before = len(self.found)
        block: list[int] = []  # the indices of its lines
        for index in range(head + 1, len(self.lines) + 1):
            if index < len(self.lines) and self.lines[index].strip(" "):
                block.append(index)
            elif block:
                self._read_block(block)
                block = []
        if len(self.found) == before and len(self.cards) != CARDS:
            remedy = "remove some" if len(self.cards) > CARDS else "draw more"
            self.problem(head + 1, 1, f"{CARDS} cards below `cards:`", str(len(self.cards)), remedy)

    def _read_block(self, block: list[int]) -> None:
        before = len(self.found)
        drawn = [self._read_line(index) for index in block]
        if len(self.found) > before:
            return
        if len(block) > HIGH:
            expected = f"an empty line below {HIGH} lines of cards"
            self.problem(block[HIGH] + 1, 1, expected, "another line", "a card is three lines high; add one")
        elif len(block) < HIGH:
            expected = f"{HIGH} lines of cards"
            self.problem(block[-1] + 1, 1, expected, f"{len(block)}", "a card is three lines high; add the others")
        else:
            for index, line in zip(block[1:], drawn[1:], strict=True):
                self._compare(index, drawn[0], line)
            if len(self.found) == before:
                self.cards += [b"".join(line[start] for line in drawn) for start in drawn[0]]

    def _read_line(self, index: int) -> dict[int, bytes]:
        line, parts = self.lines[index], {}
        for match in re.finditer(r"[^ ]+", line):
            start, part = match.start(), match[0]
            wrong = next((at for at, symbol in enumerate(part) if symbol not in SYMBOLS), None)
            if wrong is not None:
                remedy = "comments go above `cards:`" if part[wrong] == "#" else "use one of these, and spaces"
                expected = f"the character of a kind ({' '.join(SYMBOLS)})"
                self.problem(index + 1, start + wrong + 1, expected, repr(part[wrong]), remedy)
                break  # the rest of a comment, say, is not worth a problem each
            if len(part) != WIDE:
                remedy = "a card is two characters wide, with a space before the next"
                self.problem(index + 1, start + 1, f"{WIDE} characters of a card", repr(part), remedy)
            parts[start] = bytes(map(SYMBOLS.index, part))
        return parts

    def _compare(self, index: int, above: dict[int, bytes], line: dict[int, bytes]) -> None:
        """Checks that the parts of cards stand below those of the block's first line."""
        for start in sorted(line.keys() ^ above.keys()):
            if start in line:
                self.problem(index + 1, start + 1, "spaces here, as above", "squares", "put them below their card")
            else:
                self.problem(index + 1, start + 1, "squares of the card above", "none", "a card is three lines high")
