"""Draws a game of OpenSpiel for a page: boards as boards, hands as cards, and all else as OpenSpiel writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import cos, pi, sin, sqrt
from typing import Any, ClassVar, Final

from arena.rules.base import Rules
from arena.show.drawing import STATE, Drawing, Scene, Symbol, sprite, words
from arena.show.seats import EVERYBODY, MARKS
from arena.show.svg import element, points, text
from arena.types import Payload, Seat
from arena_openspiel.boards import FOG, PIECES, STONES, Board, split_board
from arena_openspiel.cards import RED, Hand, split_hands

SQUARE: Final = 44.0
"""The width of a place."""
SLOPE: Final = sqrt(3) / 2
"""The height of a row of hexagons beside their width."""
LINE: Final = 19.0
"""The height of a line of text."""
LETTER: Final = 9.1
"""The width of a letter."""
CARD: Final = (32.0, 42.0)
"""The width and height of a card, ..."""
APART: Final = 4.0
"""... and what is left free around it."""
MARGIN: Final = 16.0
HEAD: Final = 30.0
"""The room for a seat's name."""
SMALLEST: Final = (220.0, 150.0)
"""The room of a position at least."""
HEX_GAMES: Final = ("dark_hex", "dark_hex_ir")
"""The games whose hexagons are written below each other."""
_PLACES, _PIECES, _WORDS = 0, 1, 2  # layers


class SpielDrawing(Drawing):
    """Draws a game: the position as each seat sees it, side by side."""

    style: ClassVar[str] = """
.d-text{font:15px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:var(--ink)}
.d-light{fill:light-dark(#f1e4c8,#6b6152)}.d-dark{fill:light-dark(#b99f74,#453d31)}
.d-hex,.d-cell{fill:light-dark(#f1e4c8,#5b5346);stroke:light-dark(#b99f74,#2f2a22);stroke-width:1.5}
.d-fog{fill:light-dark(#8d93a1,#1f232b)}
.d-white,.d-black{font:36px "DejaVu Sans",sans-serif;text-anchor:middle;stroke-width:1.2;paint-order:stroke}
.d-white{fill:#fffaf0;stroke:#2a2118}.d-black{fill:#2a2118;stroke:#fffaf0}
.d-card{fill:#fffdf6;stroke:#8d8470;stroke-width:1}
.d-rank{font:600 15px system-ui,"DejaVu Sans",sans-serif;text-anchor:middle;fill:#22201c}.d-rank.d-red{fill:#c0272d}
.d-suit{font:20px "DejaVu Sans",sans-serif;text-anchor:middle;fill:var(--ink);opacity:.45}
.d-name{fill:var(--ink);font-weight:700}
"""

    def __init__(self, rules: Rules[Any], names: Sequence[str]) -> None:
        super().__init__(rules, names)
        self._is_hex = rules.name.partition(":")[2] in HEX_GAMES
        self._room = SMALLEST
        self._blocks = 1 if rules.nothing_hidden else rules.seats
        self._lay_out()

    def plan(self, events: Iterable[Payload]) -> None:
        """Gives positions the room that they need at the end."""
        for event in events:
            self._fit(event.get("text", ""))
        self._lay_out()

    def make_room(self, views: Mapping[Seat, Payload]) -> bool:
        """Gives positions room in a game that goes on."""
        before = self._room
        for view in views.values():
            self._fit(view["text"])
        self._lay_out()
        return self._room != before

    def symbols(self) -> Iterator[Symbol]:
        """Yields places of all kinds, and stones."""
        half = SQUARE / 2
        for kind in ("light", "dark", "fog", "cell"):
            drawn = element("rect", class_=f"d-{kind}", x=-half, y=-half, width=SQUARE, height=SQUARE)
            yield Symbol(f"S{kind}", drawn, SQUARE, SQUARE, "unseen" if kind == "fog" else "")
        wide, high = CARD
        card = element("rect", class_="d-card", x=-wide / 2, y=-high / 2, width=wide, height=high, rx=4.0)
        yield Symbol("Kcard", card, wide, high)
        corners = [(half / SLOPE * sin(turn * pi / 3), half / SLOPE * cos(turn * pi / 3)) for turn in range(6)]
        yield Symbol("Shex", element("polygon", class_="d-hex", points=points(corners)), SQUARE, SQUARE)
        for colour in ("white", "black"):
            yield Symbol(f"P{colour}", element("circle", class_=f"d-{colour}", r=0.36 * SQUARE), SQUARE, SQUARE)

    def ground(self) -> str:
        """Returns the names of the seats above what each sees."""
        if self.rules.nothing_hidden:
            return ""
        named = ((self._left(seat), f"{MARKS[seat]} {self.names[seat]}") for seat in range(self.rules.seats))
        return "".join(text(name, left, MARGIN + 16, 16.0, class_="d-name") for left, name in named)

    def scene(self, views: Mapping[Seat, Payload], events: Sequence[Payload]) -> Scene:
        """Returns the position as each seat sees it, once where nothing is hidden."""
        scene: Scene = {}
        for seat, view in views.items():
            self._put(scene, 0 if self.rules.nothing_hidden or seat == EVERYBODY else seat, view["text"])
            for player, gain in enumerate(view["returns"] or ()):
                scene[f"#{player}.{STATE}"] = gain
            if view["actions"]:
                scene[f"#{view.get('to_move', seat)}.{STATE}"] = "to move"
            if self.rules.nothing_hidden:
                break
        return scene

    def _put(self, scene: Scene, block: int, shown: str) -> None:
        board, lines = split_board(shown, is_hex=self._is_hex)
        left, top = self._left(block), self._top
        if board is not None:
            self._put_board(scene, board, block)
            top += _size_of(board)[1] + LINE / 2
        for number, part in enumerate(split_hands(lines)):
            if isinstance(part, str):
                scene[f"l{block}.{number}"] = words(_WORDS, part, left, top + 0.8 * LINE, "d-text")
            else:
                for place, hand in enumerate(part):
                    right = left + place * _width_of(part) / len(part)
                    _put_hand(scene, hand, f"{block}.{number}.{place}", right, top)
            top += _height_of(part)

    def _put_board(self, scene: Scene, board: Board, block: int) -> None:
        left, top = self._left(block), self._top
        for down, row in enumerate(board.rows):
            for right, letter in enumerate(row):
                x = left + (right + 0.5 + (down / 2 if board.is_hex else 0)) * SQUARE
                y = top + ((down * SLOPE if board.is_hex else down) + 0.5) * SQUARE
                scene[f"s{block}.{down}.{right}"] = sprite(_PLACES, _place(board, down, right), x, y)
                key = f"p{block}.{down}.{right}"
                if board.is_chess and letter.lower() in PIECES:
                    colour = "white" if letter.isupper() else "black"
                    scene[key] = words(_PIECES, PIECES[letter.lower()], x, y + 13, f"d-{colour}")
                elif not board.is_chess and letter in STONES:
                    scene[key] = sprite(_PIECES, f"P{STONES[letter]}", x, y)

    def _fit(self, shown: str) -> None:
        board, lines = split_board(shown, is_hex=self._is_hex)
        parts = list(split_hands(lines))
        wide, high = max([0.0, *map(_width_of, parts)]), sum(map(_height_of, parts))
        if board is not None:
            size = _size_of(board)
            wide, high = max(wide, size[0]), high + size[1] + LINE / 2
        self._room = max(self._room[0], wide), max(self._room[1], high)

    def _left(self, block: int) -> float:
        return MARGIN + block * (self._room[0] + 2 * MARGIN)

    def _lay_out(self) -> None:
        self._top = MARGIN + (0.0 if self.rules.nothing_hidden else HEAD)
        wide = self._left(self._blocks) - MARGIN
        self.size = (wide, self._top + self._room[1] + MARGIN)


def _put_hand(scene: Scene, hand: Hand, key: str, left: float, top: float) -> None:
    """Puts a row of cards for each suit."""
    wide, high = CARD
    for down, (suit, ranks) in enumerate(hand):
        y = top + (down + 0.5) * (high + APART)
        scene[f"s{key}.{down}"] = words(_WORDS, suit, left + wide / 2, y + 7, "d-suit")
        for right, rank in enumerate(ranks, start=1):
            x = left + (right + 0.5) * (wide + APART)
            scene[f"k{key}.{down}.{right}"] = sprite(_PLACES, "Kcard", x, y)
            red = " d-red" if suit in RED else ""
            scene[f"r{key}.{down}.{right}"] = words(_WORDS, f"{rank}{suit}", x, y + 6, f"d-rank{red}")


def _width_of(part: str | list[Hand]) -> float:
    if isinstance(part, str):
        return len(part) * LETTER
    longest = max(len(ranks) for hand in part for _, ranks in hand)
    return len(part) * (1 + longest) * (CARD[0] + APART)


def _height_of(part: str | list[Hand]) -> float:
    return LINE if isinstance(part, str) else len(part[0]) * (CARD[1] + APART)


def _place(board: Board, down: int, right: int) -> str:
    """Returns the symbol of a place."""
    if board.rows[down][right] == FOG:
        return "Sfog"
    if board.is_chess:
        return ("Slight", "Sdark")[(down + right) % 2]
    return "Shex" if board.is_hex else "Scell"


def _size_of(board: Board) -> tuple[float, float]:
    """Returns the width and height of a board."""
    high, wide = len(board.rows), len(board.rows[0])
    if board.is_hex:
        return (wide + (high - 1) / 2) * SQUARE, ((high - 1) * SLOPE + 1.1) * SQUARE
    return wide * SQUARE, high * SQUARE
