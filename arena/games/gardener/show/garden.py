"""Draws gardens and cards of Samurai Gardener for a terminal.

A square is two characters wide and one line high: a place for a mark, then the sign of its kind. Whatever a colour
says, a character says too: each kind has a sign, a new card is in brackets, and a row that has just been scored has
exclamation marks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from rich.style import Style
from rich.text import Text

from arena.core.face import Payload
from arena.games.gardener.deck import KINDS, SYMBOLS

Square: TypeAlias = tuple[int, int]
"""x to the right, y down."""
Cards: TypeAlias = Sequence[Sequence[str]]
"""The kinds of each card's six squares."""

SIGNS = dict(zip(KINDS, SYMBOLS, strict=True))
"""The sign of each kind, as in a deck's file."""
SCORED = "!"
"""Marks each square of a row that has just been scored."""
NEW = "*"
"""Marks the lines of a new card, where a square has no room for a mark."""
DOWN = "-"
"""The sign of a feature card that lies face down, and of no card."""

# Dark for old cards, bright for new ones: colours that terminals with 256 colours have too.
_COLOURS = {
    "tatami": ("#875f00", "#d7af5f"),
    "path": ("#585858", "#bcbcbc"),
    "pond": ("#005f87", "#5fafff"),
    "garden": ("#005f00", "#5fd75f"),
}
_OLD = {kind: Style(color="#e4e4e4", bgcolor=dark) for kind, (dark, _) in _COLOURS.items()}
_NEW = {kind: Style(color="#000000", bgcolor=bright, bold=True) for kind, (_, bright) in _COLOURS.items()}
# Reversed, so that it is visible where colours are off.
_SCORED = Style(color="#ffffff", bgcolor="#1c1c1c", bold=True, reverse=True)
_BRACKET = Style(bold=True)
_MARGIN = 4  # columns for the numbers of lines, and the mark of those with a new card


def sign(kind: str) -> Text:
    """Returns a kind's sign on its colour."""
    return Text.assemble((SIGNS[kind], _NEW[kind]))


def squares_of(card: Sequence[str], x: int, y: int, *, turned: bool = False) -> Iterator[tuple[Square, str]]:
    """Yields the squares that a card at a position covers, each with its kind."""
    for index, kind in enumerate(reversed(card) if turned else card):
        yield (x + index % 2, y + index // 2), kind


def row_squares(row: Payload) -> Iterator[Square]:
    """Yields the squares of a row."""
    x, y = row["at"]
    for step in range(row["length"]):
        yield (x + step, y) if row["along"] == "across" else (x, y + step)


def card_lines(card: Sequence[str]) -> list[Text]:
    """Draws a single card."""
    kinds = dict(squares_of(card, 0, 0))
    return [_line(kinds, range(2), y) for y in range(3)]


def small_card_lines(card: Sequence[str]) -> list[Text]:
    """Draws a single card with one character for each square."""
    kinds = dict(squares_of(card, 0, 0))
    return [Text.assemble(*((SIGNS[kinds[x, y]], _OLD[kinds[x, y]]) for x in range(2))) for y in range(3)]


def garden_lines(
    cards: Cards,
    garden: Sequence[tuple[int, int, int, bool]],
    width: int,
    *,
    new: Collection[Square] = (),
    scored: Collection[Square] = (),
) -> list[Text]:
    """Draws a garden, with x above and y at the left. A garden that is too wide is drawn in parts, from left to right.

    Args:
        garden: A garden as in views: card, x, y, turned.
        width: Characters in a line.
    """
    kinds: dict[Square, str] = {}
    for card, x, y, turned in garden:
        kinds.update(squares_of(cards[card], x, y, turned=turned))
    if not kinds:
        return []
    xs, ys = ([*zip(*kinds, strict=True)][axis] for axis in (0, 1))
    down = range(min(ys), max(ys) + 1)
    margin = max(len(f"{down[0]}"), len(f"{down[-1]}"), 3)
    most = (width - margin - 1) // 2
    lines: list[Text] = []
    for left in range(min(xs), max(xs) + 1, most):
        across = range(left, min(left + most, max(xs) + 1))
        lines += [Text()] if lines else []
        lines.append(_columns(across, margin))
        lines += [Text().append(f"{y:{margin}}", "dim").append_text(_line(kinds, across, y, new, scored)) for y in down]
    return lines


def window_lines(
    cards: Cards,
    garden: Sequence[tuple[int, int, int, bool]],
    width: int,
    height: int,
    *,
    new: Collection[Square] = (),
    scored: Collection[Square] = (),
) -> list[Text]:
    """Draws a garden with one character for each square. Of one that is too large the part around its last card is
    drawn, with `<` and `>` where it goes on. Lines of a new card are marked.

    Args:
        width: Characters in a line.
        height: Lines, that of the columns' numbers included.
    """
    kinds: dict[Square, str] = {}
    for card, x, y, turned in garden:
        kinds.update(squares_of(cards[card], x, y, turned=turned))
    if not kinds:
        return []
    xs, ys = ([*zip(*kinds, strict=True)][axis] for axis in (0, 1))
    _, last_x, last_y, _ = garden[-1]
    across = _around(range(min(xs), max(xs) + 1), last_x, width - _MARGIN - 2)
    down = _around(range(min(ys), max(ys) + 1), last_y + 1, height - 1)
    lines = [Text().append(f"{'':{_MARGIN}}{across[0]}".ljust(_MARGIN + 1), "dim")]
    for y in down:
        changed = any((x, y) in new or (x, y) in scored for x in across)
        line = Text().append(f"{y:{_MARGIN - 1}}", "dim").append(NEW if changed else " ", _BRACKET)
        line.append("<" if (across[0] - 1, y) in kinds else " ", "dim")
        for x in across:
            kind = kinds.get((x, y))
            if kind is None:
                line.append(" ")
            else:
                style = _SCORED if (x, y) in scored else (_NEW if (x, y) in new else _OLD)[kind]
                line.append(SIGNS[kind], style)
        line.append(">" if (across[-1] + 1, y) in kinds else "", "dim")
        line.rstrip()
        lines.append(line)
    return lines


def _around(whole: range, middle: int, size: int) -> range:
    """Returns a part of a range of at most `size` numbers, with one of them in its middle as far as can be."""
    if len(whole) <= size:
        return whole
    begin = max(whole.start, min(middle - size // 2, whole.stop - size))
    return range(begin, begin + size)


def _columns(across: range, margin: int) -> Text:
    """Returns a line with every other x; there is no room for all."""
    line = Text()
    for index, x in enumerate(across):
        if x % 2 == 0 or len(across) == 1:
            line.append(f"{x:{margin + 2 * index + 2 - len(line)}}", "dim")
    return line


def _line(
    kinds: Mapping[Square, str], across: range, y: int, new: Collection[Square] = (), scored: Collection[Square] = ()
) -> Text:
    # One more column than there are squares, for the bracket that closes the last one.
    line = Text()
    for x in range(across.start, across.stop + 1):
        here, left = (x, y), (x - 1, y)
        opens, closes = here in new and left not in new, left in new and here not in new
        mark = "[" if opens else "]" if closes else " "
        kind = kinds.get(here) if x in across else None
        if kind is None:
            line.append(mark, _BRACKET).append(" ")
        elif here in scored:
            line.append(f"{SCORED}{SIGNS[kind]}", _SCORED)
        else:
            line.append(f"{mark}{SIGNS[kind]}", (_NEW if here in new else _OLD)[kind])
    line.rstrip()
    return line
