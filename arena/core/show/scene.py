"""Lays out a frame of a game on a screen of a given size, so that the board stays where it is from frame to frame.

Laws:
1. Nothing is longer than a line, and there are no more lines than the screen has.
2. The board's place depends on the game and on the size of the screen, not on what was said or what has just happened.
3. A board that does not fit is cut, and the window follows what has changed; else it stays where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import msgspec
from rich.text import Text

from arena.core.show.layout import split

LEAST_WIDTH: Final = 80
LEAST_HEIGHT: Final = 16
WORDS: Final = 4
"""Lines for what happened, at least."""
_GAP = 2
_NARROWEST = 24  # columns beside a board in which words can still be read

Words: TypeAlias = Text | Sequence[Text]
"""A sentence, or a list of items of which none is to be broken."""


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A drawing of a board."""

    lines: list[Text]
    changed: tuple[tuple[int, int], ...] = ()
    """Line and column of what has just changed: the window of a board that does not fit follows it."""
    in_corner: bool = False
    """Whether words may stand in the free corner at its top left. Such a board stands at the bottom right."""

    @property
    def width(self) -> int:
        """Width of the widest line."""
        return max((line.cell_len for line in self.lines), default=0)


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """A position as it can be shown on a screen."""

    facts: list[Text]
    """Facts about each seat: a few lines, always as many in a game."""
    sheets: Sequence[Sheet]
    """Drawings of the board, the most legible first: the first that fits is shown, or the last one is cut."""


class Shift(msgspec.Struct, frozen=True):
    """Which part of a board that does not fit is shown."""

    top: int = 0
    left: int = 0
    follow: bool = True
    """Whether the window moves to what has changed."""


class Page(msgspec.Struct, frozen=True):
    """What is on the screen."""

    lines: list[Text]
    place: Shift
    rows: int = 0
    """Lines of the window on a board that does not fit; 0 for one that does."""
    is_cut: bool = False
    """Whether there was no room for all words."""


def page(heading: Text, words: Sequence[Words], scene: Scene, bar: Text, width: int, height: int, place: Shift) -> Page:
    """Returns a screen with a heading, what each seat has, what happened, the board, and a line of help at the end.

    Args:
        bar: The last line. It stands beside the board's last line if there is room.
        place: What was shown of the board before.
    """
    for sheet in scene.sheets:
        if (layout := _Layout.of(sheet, scene.facts, bar, width, height)) is not None:
            return layout.page(heading, words, scene.facts, bar, place)
    sheet = scene.sheets[-1]
    rows = max(WORDS, height - 2 - len(scene.facts) - WORDS)
    top = _window(place.top, rows, len(sheet.lines), [line for line, _ in sheet.changed], follow=place.follow)
    left = _window(place.left, width, sheet.width, [column for _, column in sheet.changed], follow=True)
    window = Sheet(lines=[line[left : left + width] for line in sheet.lines[top : top + rows]])
    facts = scene.facts[: height - 2 - rows - WORDS]
    layout = _Layout(window, height - 1 - rows, width, height, bar_beside=False)
    shown = layout.page(heading, words, facts, bar, place)
    return Page(shown.lines, Shift(top, left, place.follow), rows, shown.is_cut)


class _Layout(msgspec.Struct, frozen=True):
    """Where a board stands."""

    sheet: Sheet
    start: int
    """The board's first line on the screen."""
    width: int
    height: int
    bar_beside: bool
    """Whether the last line is beside the board's last line, not below it."""

    @classmethod
    def of(cls, sheet: Sheet, facts: Sequence[Text], bar: Text, width: int, height: int) -> _Layout | None:
        """Returns the layout of a whole board, or None if it does not fit."""
        if sheet.width > width:
            return None
        if not sheet.in_corner:
            start = 1 + len(facts) + WORDS + max(0, height - 24) // 3
            return cls(sheet, start, width, height, False) if start + len(sheet.lines) < height else None
        shift = width - sheet.width
        last = sheet.lines[-1].plain.rstrip()
        beside = shift + len(last) + _GAP + bar.cell_len <= width
        start = height - len(sheet.lines) - (not beside)
        layout = cls(sheet, start, width, height, beside)
        rooms = layout.rooms()
        fits = start >= 0 and all(line.cell_len <= room for line, room in zip(facts, rooms[1:], strict=False))
        return layout if fits and sum(room >= _NARROWEST for room in rooms[1 + len(facts) :]) >= WORDS else None

    def rooms(self) -> list[int]:
        """Returns by line of the screen how many columns there are for words."""
        if not self.sheet.in_corner:
            return [self.width] * self.start
        shift = self.width - self.sheet.width
        margins = [shift + line.cell_len - len(line.plain.lstrip()) - _GAP for line in self.sheet.lines]
        rooms = [self.width] * max(0, self.start) + margins
        narrow = next((at for at, room in enumerate(rooms) if room < _NARROWEST), len(rooms))
        return rooms[:narrow]

    def page(self, heading: Text, words: Sequence[Words], facts: Sequence[Text], bar: Text, place: Shift) -> Page:
        """Returns the screen."""
        rooms = self.rooms()
        first = heading.copy()
        first.truncate(rooms[0], overflow="ellipsis")
        said = list(_poured(words, rooms[1 + len(facts) :]))
        is_cut = bool(said) and said[-1] is None
        texts = [first, *facts, *(line for line in said if line is not None)]
        lines = [line.copy() for line in texts] + [Text() for _ in range(self.height - len(texts))]
        shift = self.width - self.sheet.width if self.sheet.in_corner else 0
        for row, drawn in enumerate(self.sheet.lines, self.start):
            ink = len(drawn.plain) - len(drawn.plain.lstrip())
            line = lines[row]
            line.append(" " * (shift + ink - line.cell_len))
            line.append_text(drawn[ink:])
        last = lines[-1]
        if self.bar_beside:
            last.rstrip()
            last.append(" " * (self.width - last.cell_len - bar.cell_len))
        last.append_text(bar)
        return Page(lines, place, is_cut=is_cut)


def _poured(words: Sequence[Words], rooms: Sequence[int]) -> Iterator[Text | None]:
    """Yields lines of words, each as wide as there is room in its line; at the end None if there was not enough."""
    row = 0
    for number, text in enumerate(words):
        rest, indent = text, 2
        while not _is_said(rest):
            if row == len(rooms):
                yield None
                return
            room = rooms[row] - indent
            part, rest = _taken(rest, room)
            is_last = row == len(rooms) - 1
            if is_last and (not _is_said(rest) or number < len(words) - 1):
                part.truncate(room - 2)
                part.rstrip()
                part.append(" …")
            yield Text(" " * indent) + part
            indent, row = 4, row + 1


def _is_said(rest: Words) -> bool:
    return not (rest.plain.strip() if isinstance(rest, Text) else rest)


def _taken(rest: Words, room: int) -> tuple[Text, Words]:
    if isinstance(rest, Text):
        return split(rest, room)
    line = rest[0].copy()
    line.truncate(room, overflow="ellipsis")
    for number, item in enumerate(rest[1:], 1):
        if line.cell_len + _GAP + item.cell_len > room:
            return line, rest[number:]
        line.append(" " * _GAP).append_text(item)
    return line, []


def _window(begin: int, size: int, whole: int, changed: Sequence[int], *, follow: bool) -> int:
    """Returns where a window of some size begins, as near as can be to where it began, so that it shows a change."""
    if follow and changed:
        first, last = min(changed), max(changed)
        begin = min(begin, first) if last - first >= size else min(max(begin, last - size + 1), first)
    return max(0, min(begin, whole - size))
