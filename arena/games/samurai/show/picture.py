"""Draws a board of Samurai as a picture: hexagons of sea, land, and settlements with places for their pieces.

Every space shows its column and row, as in the board file, and its number, as in the protocol. The title is in the
top left corner and the legend in a corner at the bottom; the map is moved only as far as it must.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena.core.face import layouts, svg
from arena.games.samurai.board import CASTES, PIECES, Board, Kind, Space
from arena.games.samurai.show.hexagons import RADIUS, RISE, centre, coast, corners

MARGIN = 28.0

_CORNERS = corners()
_FILL: dict[Kind, str] = {
    "sea": "#d3e5ee", "land": "#eceed2", "village": "#f6dfae", "city": "#f1c389", "edo": "#e9a172",
}  # fmt: skip
_BORDER: dict[Kind, str] = {"sea": "#a9c8d8"}
_WAVE = "M-13,{y} q3.25,-5 6.5,0 t6.5,0 t6.5,0 t6.5,0"
_TITLE, _SUBTITLE, _SMALL = 40.0, 17.0, 12.0
_TITLE_WIDTH = 460.0
_NAME_WIDTH = 46.0
_LONGEST_NAME = 16  # characters of a name on a space; pointing at the space shows the whole name
_LEGEND_STEP = 48.0
_LEGEND_WIDTH = 236.0
_LEGEND_SCALE = 0.66


def samurai_svg(board: Board, players: int) -> str:
    """Returns the picture of a board as it is for a number of players."""
    head = _Head(board, players)
    raw = [centre(space) for space in board.spaces]
    left = min(x for x, _ in raw) - RADIUS - MARGIN
    width = max(max(x for x, _ in raw) + RADIUS - left, MARGIN + head.width, MARGIN + _LEGEND_WIDTH) + MARGIN
    below_head = [y for x, y in raw if x - RADIUS - left < MARGIN + head.width + RADIUS]
    top = min([min(y for _, y in raw) - MARGIN, *(y - head.height - 2 * MARGIN for y in below_head)]) - RISE
    centres = [(x - left, y - top) for x, y in raw]

    legend = list(_legend(board))
    places = _legend_places(len(legend), centres, width, MARGIN + head.height)
    bottom = max(max(y for _, y in centres) + RISE, places[-1][1] + _LEGEND_STEP)
    return svg.document(
        f"{board.name}, {players} players",
        width,
        bottom + MARGIN,
        svg.element("defs", *_definitions()),
        *head.draw(),
        *(svg.use(f"map-{space.kind}", x, y) for space, (x, y) in zip(board.spaces, centres, strict=True)),
        _coast(board, centres),
        *(_labels(space, number, *centres[number]) for number, space in enumerate(board.spaces)),
        *(
            svg.element("g", *item, transform=f"translate({x:.2f} {y:.2f})")
            for item, (x, y) in zip(legend, places, strict=True)
        ),
    )


class _Head:
    """The title, what the board is for, and where it comes from."""

    def __init__(self, board: Board, players: int) -> None:
        pieces = sum(PIECES.get(space.kind, 0) for space in board.spaces) // CASTES
        plural = "piece" if pieces == 1 else "pieces"
        self.size = max(16.0, svg.fitting_size(board.name, _TITLE, _TITLE_WIDTH))
        self.title = svg.lines_of(board.name, self.size, _TITLE_WIDTH)
        self.subtitle = f"Samurai · {players} players · {pieces} {plural} of each caste"
        self.source = svg.lines_of(board.source, _SMALL, _TITLE_WIDTH)
        self.width = max(
            *(svg.text_width(line, self.size) for line in self.title),
            *(svg.text_width(line, _SMALL) for line in self.source),
            svg.text_width(self.subtitle, _SUBTITLE),
        )
        self.height = 1.2 * (self.size * len(self.title) + _SUBTITLE + _SMALL * len(self.source)) + 10

    def draw(self) -> Iterator[str]:
        y = MARGIN
        for line in self.title:
            y += 1.2 * self.size
            yield svg.text(line, MARGIN, y - 0.3 * self.size, self.size, font_family=svg.SERIF, font_weight="bold")
        y += 1.2 * _SUBTITLE
        yield svg.text(self.subtitle, MARGIN, y, _SUBTITLE)
        y += 6
        for line in self.source:
            y += 1.2 * _SMALL
            yield svg.text(line, MARGIN, y, _SMALL, fill=svg.FAINT)


def _definitions() -> Iterator[str]:
    for kind, fill in _FILL.items():
        border = _BORDER.get(kind, "#c9c39b")
        parts = [svg.element("polygon", points=svg.points(_CORNERS), fill=fill, stroke=border, stroke_width=1)]
        if kind == "sea":
            waves = "".join(_WAVE.format(y=y) for y in (-3, 5))
            parts.append(svg.element("path", d=waves, fill="none", stroke="#86aec4", stroke_width=1.4))
        for number in range(PIECES.get(kind, 0)):
            x = 15.0 * (number - (PIECES[kind] - 1) / 2)
            parts.append(svg.element("circle", cx=x, cy=-3.0, r=6.2, fill="#ffffff", stroke=svg.INK, stroke_width=1.6))
        yield svg.element("g", *parts, id=f"map-{kind}")


def _coast(board: Board, centres: list[tuple[float, float]]) -> str:
    line = coast(board, centres)
    return svg.element("path", d=line, fill="none", stroke="#7d6a45", stroke_width=2.6, stroke_linecap="round")


def _labels(space: Space, number: int, x: float, y: float) -> str:
    parts = [
        svg.text(f"{space.col}-{space.row}", x, y - 17, 8.0, fill=svg.FAINT),
        svg.text(str(number), x, y + 25, 9.5, font_weight="bold"),
    ]
    if space.name:
        name = layouts.clip(space.name, _LONGEST_NAME)
        size = svg.fitting_size(name, 10.0, _NAME_WIDTH)
        name = svg.text(name, x, y + 14, size, font_family=svg.SERIF, font_style="italic", font_weight="bold")
        parts = [svg.title(space.name), *parts, name]
    return svg.element("g", *parts, text_anchor="middle")


def _legend_places(
    count: int, centres: list[tuple[float, float]], width: float, head: float
) -> list[tuple[float, float]]:
    """Returns where each of the `count` lines of the legend begins.

    The lines are one below another, in the bottom corner in which they can be higher, but below the head. If neither
    corner is free, they are side by side below the map.
    """
    corners = []
    for left in (width - MARGIN - _LEGEND_WIDTH, MARGIN):
        over = [y + RISE for x, y in centres if left - RADIUS < x < left + _LEGEND_WIDTH + RADIUS]
        corners.append((max(head, *over, 0.0) + MARGIN, left))
    top, left = min(corners)
    columns = 1
    if top > max(y for _, y in centres):
        left, columns = MARGIN, max(1, int((width - 2 * MARGIN) / _LEGEND_WIDTH))
    return [(left + at % columns * _LEGEND_WIDTH, top + (at // columns + 0.5) * _LEGEND_STEP) for at in range(count)]


def _legend(board: Board) -> Iterator[list[str]]:
    """Yields the signs and their meanings, each around the left end of its line."""
    kinds = {space.kind for space in board.spaces}
    names: dict[Kind, str] = {"sea": "sea", "land": "land", "village": "village", "city": "city", "edo": "Edo"}
    for kind, name in names.items():
        if kind in kinds:
            pieces = PIECES.get(kind, 0)
            held = f": {pieces} piece{'s' * (pieces > 1)}" if pieces else ""
            sign = svg.element(
                "g", svg.use(f"map-{kind}", 0, 0), transform=f"translate({RADIUS} 0) scale({_LEGEND_SCALE})"
            )
            yield [sign, svg.text(name + held, 2 * RADIUS + 14, 5, 15.0)]
    key = "column-row, as in the file", "number, as in a game"
    below = RADIUS - _LEGEND_STEP / 2 + 4  # this sign is as large as on the map, so that it can be read
    yield [
        svg.element(
            "polygon", points=svg.points((x + RADIUS, y + below) for x, y in _CORNERS), fill="none", stroke=svg.FAINT
        ),
        _labels(Space("land", (), 14, 13), 40, RADIUS, below),
        *(svg.text(line, 2 * RADIUS + 14, y + below, 12.5) for line, y in zip(key, (-14, 24), strict=True)),
    ]
