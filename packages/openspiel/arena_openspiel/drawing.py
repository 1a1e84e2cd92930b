"""Draws a game of OpenSpiel for a page: boards as boards, hands as cards, and all else as OpenSpiel writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, cos, pi, sin, sqrt
from typing import Any, ClassVar, Final

from arena.core.face import Payload, Seat, drawing_kit, game_kit, seat_styles, svg
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
PAGE: Final = 1.4
"""The width of a page's board beside its height."""
SMALLEST: Final = (220.0, 150.0)
"""The room of a position at least."""
HEX_GAMES: Final = ("dark_hex", "dark_hex_ir")
"""The games whose hexagons are written below each other."""
_PLACES, _PIECES, _WORDS = 0, 1, 2  # layers


class SpielDrawing(drawing_kit.Drawing):
    """Draws a game: the position as each seat sees it, in rows that fill a page; once where all see the same."""

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
.d-name{fill:var(--ink);font:700 16px system-ui,"DejaVu Sans",sans-serif}
"""

    def __init__(self, rules: game_kit.Rules[Any], names: Sequence[str]) -> None:
        super().__init__(rules, names)
        self._is_hex = rules.name.partition(":")[2] in HEX_GAMES
        self._room = self._whole = SMALLEST
        self._blocks = 1 if rules.nothing_hidden else rules.seats
        self._lay_out()

    def plan(self, events: Iterable[Payload]) -> None:
        """Gives positions the room that they need at the end."""
        last = []
        for event in events:
            if event.get("returns") is None:
                self._room = self._fitting(self._room, event.get("text", ""))
            else:
                last.append(event.get("text", ""))
        self._fit(last)

    def make_room(self, views: Mapping[Seat, Payload]) -> bool:
        """Gives positions room in a game that goes on."""
        before = self.size
        self._fit([view["text"] for view in views.values()])
        return self.size != before

    def symbols(self) -> Iterator[drawing_kit.Symbol]:
        """Yields places of all kinds, and stones."""
        half = SQUARE / 2
        for kind in ("light", "dark", "fog", "cell"):
            drawn = svg.element("rect", class_=f"d-{kind}", x=-half, y=-half, width=SQUARE, height=SQUARE)
            yield drawing_kit.Symbol(f"S{kind}", drawn, SQUARE, SQUARE, "unseen" if kind == "fog" else "")
        wide, high = CARD
        card = svg.element("rect", class_="d-card", x=-wide / 2, y=-high / 2, width=wide, height=high, rx=4.0)
        yield drawing_kit.Symbol("Kcard", card, wide, high)
        corners = [(half / SLOPE * sin(turn * pi / 3), half / SLOPE * cos(turn * pi / 3)) for turn in range(6)]
        yield drawing_kit.Symbol(
            "Shex", svg.element("polygon", class_="d-hex", points=svg.points(corners)), SQUARE, SQUARE
        )
        for colour in ("white", "black"):
            yield drawing_kit.Symbol(
                f"P{colour}", svg.element("circle", class_=f"d-{colour}", r=0.36 * SQUARE), SQUARE, SQUARE
            )

    def scene(self, views: Mapping[Seat, Payload], events: Sequence[Payload]) -> drawing_kit.Scene:
        """Returns the position as each seat sees it, once where nothing is hidden or all see the same in the end."""
        scene: drawing_kit.Scene = {}
        ended = [view["text"] for view in views.values() if view["returns"] is not None]
        once = self.rules.nothing_hidden or self._is_same(ended)
        for seat, view in views.items():
            if seat == seat_styles.EVERYBODY or once:
                self._put(scene, 0, view["text"])
            else:
                left, top = self._corner(seat)
                name = f"{seat_styles.MARKS[seat]} {self.names[seat]}"
                scene[f"n{seat}"] = drawing_kit.words(_WORDS, name, left, top + 16 - HEAD, "d-name")
                self._put(scene, seat, view["text"])
            for player, gain in enumerate(view["returns"] or ()):
                scene[f"#{player}.{drawing_kit.STATE}"] = gain
            if view["actions"]:
                scene[f"#{view.get('to_move', seat)}.{drawing_kit.STATE}"] = "to move"
            if once:
                break
        return scene

    def _put(self, scene: drawing_kit.Scene, block: int, shown: str) -> None:
        board, lines = split_board(shown, is_hex=self._is_hex)
        left, top = self._corner(block)
        if board is not None:
            self._put_board(scene, board, block)
            top += _size_of(board)[1] + LINE / 2
        for number, part in enumerate(split_hands(lines)):
            if isinstance(part, str):
                scene[f"l{block}.{number}"] = drawing_kit.words(_WORDS, part, left, top + 0.8 * LINE, "d-text")
            else:
                for place, hand in enumerate(part):
                    right = left + place * _width_of(part) / len(part)
                    _put_hand(scene, hand, f"{block}.{number}.{place}", right, top)
            top += _height_of(part)

    def _put_board(self, scene: drawing_kit.Scene, board: Board, block: int) -> None:
        left, top = self._corner(block)
        for down, row in enumerate(board.rows):
            for right, letter in enumerate(row):
                x = left + (right + 0.5 + (down / 2 if board.is_hex else 0)) * SQUARE
                y = top + ((down * SLOPE if board.is_hex else down) + 0.5) * SQUARE
                scene[f"s{block}.{down}.{right}"] = drawing_kit.sprite(_PLACES, _place(board, down, right), x, y)
                key = f"p{block}.{down}.{right}"
                if board.is_chess and letter.lower() in PIECES:
                    colour = "white" if letter.isupper() else "black"
                    scene[key] = drawing_kit.words(_PIECES, PIECES[letter.lower()], x, y + 13, f"d-{colour}")
                elif not board.is_chess and letter in STONES:
                    scene[key] = drawing_kit.sprite(_PIECES, f"P{STONES[letter]}", x, y)

    def _is_same(self, shown: Sequence[str]) -> bool:
        """Tells whether each seat sees something, and all the same."""
        return len(shown) == self._blocks > 1 and len({*shown}) == 1

    def _fit(self, shown: Sequence[str]) -> None:
        """Gives positions room that are seen at one time."""
        if self._is_same(shown):
            self._whole = self._fitting(self._whole, shown[0])
        else:
            for one in shown:
                self._room = self._fitting(self._room, one)
        self._lay_out()

    def _fitting(self, room: tuple[float, float], shown: str) -> tuple[float, float]:
        """Returns what room a position needs, or the one that there is if that is larger."""
        board, lines = split_board(shown, is_hex=self._is_hex)
        parts = list(split_hands(lines))
        wide, high = max([0.0, *map(_width_of, parts)]), sum(map(_height_of, parts))
        if board is not None:
            size = _size_of(board)
            wide, high = max(wide, size[0]), high + size[1] + LINE / 2
        return max(room[0], wide), max(room[1], high)

    def _corner(self, block: int) -> tuple[float, float]:
        """Returns where a position begins."""
        down, right = divmod(block, self._columns)
        return MARGIN + right * self._block[0], MARGIN + self._head + down * self._block[1]

    def _lay_out(self) -> None:
        self._head = 0.0 if self.rules.nothing_hidden else HEAD
        self._block = wide, high = self._room[0] + 2 * MARGIN, self._room[1] + 2 * MARGIN + self._head
        sizes = {
            columns: (columns * wide, ceil(self._blocks / columns) * high) for columns in range(1, self._blocks + 1)
        }
        self._columns = min(sizes, key=lambda columns: max(sizes[columns][0] / PAGE, sizes[columns][1]))
        wide, high = sizes[self._columns]
        self.size = max(wide, self._whole[0] + 2 * MARGIN), max(high, self._whole[1] + self._head + 2 * MARGIN)


def _put_hand(scene: drawing_kit.Scene, hand: Hand, key: str, left: float, top: float) -> None:
    """Puts a row of cards for each suit."""
    wide, high = CARD
    for down, (suit, ranks) in enumerate(hand):
        y = top + (down + 0.5) * (high + APART)
        scene[f"s{key}.{down}"] = drawing_kit.words(_WORDS, suit, left + wide / 2, y + 7, "d-suit")
        for right, rank in enumerate(ranks, start=1):
            x = left + (right + 0.5) * (wide + APART)
            scene[f"k{key}.{down}.{right}"] = drawing_kit.sprite(_PLACES, "Kcard", x, y)
            red = " d-red" if suit in RED else ""
            scene[f"r{key}.{down}.{right}"] = drawing_kit.words(_WORDS, f"{rank}{suit}", x, y + 6, f"d-rank{red}")


def _width_of(part: str | list[Hand]) -> float:
    if isinstance(part, str):
        return len(part) * LETTER
    longest = max(len(ranks) for hand in part for _, ranks in hand)
    return len(part) * (1 + longest) * (CARD[0] + APART)


def _height_of(part: str | list[Hand]) -> float:
    if isinstance(part, str):
        return LINE if part.strip() else LINE / 2
    return len(part[0]) * (CARD[1] + APART)


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
