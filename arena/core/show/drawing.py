"""Draws a game as sprites and cells: what lies where, so that a page can show any game without knowing its rules.

1. A drawing has *symbols*, drawn once as SVG, and for every moment of the game a *scene*: a flat map of sprites (a
   symbol at a place) and cells (a value beside a seat's name). A scene names symbols and holds no SVG.
2. A scene is made from the views of some seats and what these were told, and from nothing else. So what a seat cannot
   know is in no scene of that seat.
3. Equal scenes are equal maps: what changes from one moment to the next is the difference of two maps.
4. Text from others (names, boards, values of views) goes through `arena.core.text.plain`; symbols and grounds
   escape it.
5. Symbols take their colours from the page (`var(--ink)`), so that one drawing serves light and dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import msgspec

from arena.core.rules.base import Rules
from arena.core.show.seats import EVERYBODY
from arena.core.show.svg import element
from arena.core.text import plain
from arena.core.types import Payload, Seat

Sprite: TypeAlias = tuple[Any, ...]
"""Result of `sprite` and `words`."""
Scene: TypeAlias = dict[str, Any]
"""Sprites by key, and cells by `#SEAT.NAME`, or `#.NAME` for a cell that belongs to no seat.

A cell's value is a text or a list of items: the name of a symbol, or a symbol with how many there are.
"""

STATE = "state"
"""The name of the cell beside a seat's name: "to move"."""
LAYERS = 5
"""Number of layers of a drawing; sprites of a higher one lie above the others."""

MARK_SHAPES = (
    "M0,-9L8.8,7.4H-8.8Z",
    "M-7.6,-7.6H7.6V7.6H-7.6Z",
    "M8.4,0A8.4,8.4 0 1 1 -8.4,0A8.4,8.4 0 1 1 8.4,0Z",
    "M0,-9.8L9.8,0L0,9.8L-9.8,0Z",
    "M0,-10L2.5,-3.3L9.5,-3.1L3.9,1.2L5.9,8.1L0,4.1L-5.9,8.1L-3.9,1.2L-9.5,-3.1L-2.5,-3.3Z",
)
"""The marks of the seats, ▲■●◆★, as paths around their centres: fonts lack some of the letters."""


class Symbol(msgspec.Struct, frozen=True):
    """Something that is drawn once and placed often, around its centre."""

    name: str
    """Letters and digits; the page's own are `M0` to `M4`, the marks of the seats."""
    markup: str
    """SVG elements."""
    width: float
    """The room that it takes, in the units of the board."""
    height: float
    words: str = ""
    """Name for people who do not see it."""


def sprite(layer: int, symbol: str, x: float, y: float, title: str = "") -> Sprite:
    """Returns a symbol at a place. The title is shown when somebody points at it."""
    return (layer, symbol, round(x, 1), round(y, 1), title) if title else (layer, symbol, round(x, 1), round(y, 1))


def words(layer: int, text: str, x: float, y: float, style: str = "said") -> Sprite:
    """Returns a line of words, made plain, its baseline centred at a place; `style` is a class of the page."""
    return layer, "", round(x, 1), round(y, 1), "", plain(text), style


def mark_symbols(seats: int) -> Iterator[Symbol]:
    """Yields the marks of the seats, each in its seat's colour."""
    for seat in range(seats):
        mark = element("path", class_=f"mark o{seat}", d=MARK_SHAPES[seat])
        yield Symbol(f"M{seat}", mark, 24.0, 24.0, f"seat {seat}")


class Offered(msgspec.Struct, frozen=True):
    """How a value that a person may choose is shown: on the board, as a picture on a button, or in words alone."""

    at: tuple[float, float] | None = None
    """The middle of its place on the board."""
    ring: str = ""
    symbol: str = ""


class Drawing:
    """Draws a game without a drawing of its own: all that the views hold, as cells, and no board.

    A game's own drawing is a subclass, and its presenter's `drawing` returns one.
    """

    style: ClassVar[str] = ""
    """Rules of CSS for the classes of its symbols. `light-dark(A, B)` gives two colours."""

    def __init__(self, rules: Rules[Any], names: Sequence[str]) -> None:
        self.rules = rules
        self.names = [plain(name) for name in names]
        self.size = (0.0, 0.0)
        """The width and height of the board; without a board, the page shows the cells as a table."""
        self.corner = ""
        """The upper corner of the board that is free for words: `nw`, `ne`, or "" if neither is."""
        self.labels: dict[str, str] = {}
        """Labels of the cells by their names, in the order in which they are shown."""

    def plan(self, events: Iterable[Payload]) -> None:
        """Looks ahead: takes all events of the game that are told, so that the board can have its final size at once.

        It is called before everything else, or never while a game goes on.
        """

    def make_room(self, views: Mapping[Seat, Payload]) -> bool:
        """Sees to it that all fits the board that these seats may put on it next, in a game that still goes on.

        Returns whether places have changed: then the ground and all scenes must be made anew.
        """
        return False

    def offered(self, view: Payload, kind: str, key: str, value: Any) -> Offered:
        """Returns how a value is shown that a person may choose for a play's `key`, in a decision of `kind`."""
        return Offered()

    def symbols(self) -> Iterator[Symbol]:
        """Yields what scenes place, besides the marks of the seats."""
        yield from ()

    def ground(self) -> str:
        """Returns what lies below all sprites, as SVG elements."""
        return ""

    def scene(self, views: Mapping[Seat, Payload], events: Sequence[Payload]) -> Scene:
        """Returns what is seen after a decision by one or more seats; what `events` changed can be marked."""
        scene: Scene = {}
        for seat, view in views.items():
            whose = "" if seat == EVERYBODY else seat
            for key, value in view.items():
                self.labels.setdefault(plain(key), plain(key))
                scene[f"#{whose}.{plain(key)}"] = _cell(value)
        return scene

    def why(self, views: Mapping[Seat, Payload], events: Sequence[Payload]) -> Iterator[str]:
        """Yields sentences on why what happened came about, where the events do not say it: "rice on 19: ▲ 6, ■ 5"."""
        yield from ()


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return plain(value if isinstance(value, str) else msgspec.json.encode(value).decode())
