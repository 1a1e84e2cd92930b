"""Draws a deck of Samurai Gardener as a picture: a sheet of all its cards, with their numbers.

The four kinds of squares have different drawings, so that they can be told apart in black and white: the straw lines
of a mat, stepping stones, waves, and a bush.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena.core.face import svg
from arena.games.gardener.deck import KINDS, Deck
from arena.games.gardener.geometry import HIGH, WIDE

SQUARE = 34.0
COLUMNS = 8
"""Number of cards side by side."""
MARGIN = 32.0

_GAP = 22.0  # between cards side by side; below a card is a line for the next card's number
_NUMBER = 26.0
_STEP_X, _STEP_Y = WIDE * SQUARE + _GAP, HIGH * SQUARE + _NUMBER
_TITLE, _SMALL, _LEGEND = 36.0, 12.0, 15.0


def gardener_svg(deck: Deck) -> str:
    """Returns the picture of a deck."""
    width = 2 * MARGIN + COLUMNS * _STEP_X - _GAP
    inner = width - 2 * MARGIN
    size = max(14.0, svg.fitting_size(deck.name, _TITLE, inner))
    head, y = [], MARGIN
    for line in svg.lines_of(deck.name, size, inner):
        y += size
        head.append(svg.text(line, MARGIN, y, size, font_family=svg.SERIF, font_weight="bold"))
    y += 26
    head.append(svg.text(f"Samurai Gardener · {len(deck.cards)} cards", MARGIN, y, 16.0))
    for line in svg.lines_of(deck.source, _SMALL, inner):
        y += 1.4 * _SMALL
        head.append(svg.text(line, MARGIN, y, _SMALL, fill=svg.FAINT))
    y += 12
    sheet = []
    for number, card in enumerate(deck.cards):
        down, right = divmod(number, COLUMNS)
        sheet.append(_card(number, card, MARGIN + right * _STEP_X, y + down * _STEP_Y))
    y += -(-len(deck.cards) // COLUMNS) * _STEP_Y + SQUARE
    legend = _legend(deck, y, inner)
    height = y + SQUARE / 2 + MARGIN
    return svg.document(deck.name, width, height, svg.element("defs", *_definitions()), *head, *sheet, *legend)


def _card(number: int, card: bytes, left: float, top: float) -> str:
    frame = svg.element(
        "rect", x=left, y=top + _NUMBER, width=WIDE * SQUARE, height=HIGH * SQUARE, rx=5, fill="none",
        stroke=svg.INK, stroke_width=2.2,
    )  # fmt: skip
    squares = (
        svg.use(f"deck-{KINDS[kind]}", left + (at % WIDE + 0.5) * SQUARE, top + _NUMBER + (at // WIDE + 0.5) * SQUARE)
        for at, kind in enumerate(card)
    )
    label = svg.text(str(number), left + SQUARE, top + _NUMBER - 6, 12.0, text_anchor="middle", font_weight="bold")
    return svg.element("g", *squares, frame, label)


def _legend(deck: Deck, y: float, width: float) -> Iterator[str]:
    """Draws the kinds side by side, each with the number of its squares."""
    squares = b"".join(deck.cards)
    for place, kind in enumerate(KINDS):
        left = MARGIN + place * width / len(KINDS)
        yield svg.use(f"deck-{kind}", left + SQUARE / 2, y)
        yield svg.text(kind, left + SQUARE + 10, y - 2, _LEGEND, font_weight="bold")
        yield svg.text(f"{squares.count(place)} squares", left + SQUARE + 10, y + 14, _SMALL, fill=svg.FAINT)


def _definitions() -> Iterator[str]:
    for kind, drawn in square_symbols():
        yield svg.element("g", drawn, id=f"deck-{kind}")


def square_symbols() -> Iterator[tuple[str, str]]:
    """Yields each kind with the drawing of its square around its centre."""
    signs = {"tatami": ("#ecdfae", _mat()), "path": ("#f1ece2", _stones()), "pond": ("#c4dfec", _waves()),
             "garden": ("#d9e6bd", _bush())}  # fmt: skip
    for kind, (fill, sign) in signs.items():
        ground = svg.element(
            "rect", x=-SQUARE / 2, y=-SQUARE / 2, width=SQUARE, height=SQUARE, fill=fill, stroke="#8d8066",
            stroke_width=0.8,
        )  # fmt: skip
        yield kind, "".join([ground, *sign])


def _mat() -> list[str]:
    straw = "".join(f"M{x},-14V14" for x in range(-8, 9, 4))
    return [
        svg.element("path", d=straw, stroke="#b9a566", stroke_width=1.2),
        svg.element("path", d="M-13,-14V14M13,-14V14", stroke="#4e5a34", stroke_width=3.4),
    ]


def _stones() -> list[str]:
    stones = ((-7.5, -8, 6.5, 5), (6.5, -3.5, 6, 4.6), (-5.5, 4.5, 5.6, 4.2), (7, 10.5, 6.2, 4))
    return [
        svg.element("ellipse", cx=x, cy=y, rx=rx, ry=ry, fill="#b9b1a3", stroke="#6a6257", stroke_width=1.2)
        for x, y, rx, ry in stones
    ]


def _waves() -> list[str]:
    waves = "".join(f"M-13,{y} q3.25,-5.5 6.5,0 t6.5,0 t6.5,0 t6.5,0" for y in (-8, 1, 10))
    return [svg.element("path", d=waves, fill="none", stroke="#3f7fa3", stroke_width=2)]


def _bush() -> list[str]:
    leaves = ((0, -6, 7.5), (-6.5, 1, 6.5), (6.5, 1, 6.5), (0, 2, 6.5))
    return [
        svg.element("path", d="M0,4V14M-5,14H5", stroke="#5b4327", stroke_width=2.6, stroke_linecap="round"),
        *(svg.element("circle", cx=x, cy=y, r=r, fill="#55813f") for x, y, r in leaves),
        *(svg.element("circle", cx=x, cy=y, r=1.7, fill="#fdf3f0") for x, y in ((-6, 0), (1, -7), (5.5, 2))),
    ]
