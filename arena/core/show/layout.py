"""Lays out text for a terminal: blocks side by side, words beside labels, cut or joined; and draws it as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from arena.core.extras import need
from arena.core.text import plain

if TYPE_CHECKING:
    from PIL.Image import Image
    from rich.console import Console

GAP = 2

WIDEST = 100
"""The most columns for words: longer lines are hard to read."""
NARROWEST = 20
"""The fewest columns for words, whatever the width."""

SIZE = 15  # pixels
INK, PAPER = (0, 0, 0), (255, 255, 255)


@cache
def wrapper() -> Console:
    """Returns the console that wrapping a text asks for, which prints nothing; to import it takes as long as a game."""
    from rich.console import Console

    return Console(width=80, color_system=None)


def paragraph(text: Text, width: int) -> list[Text]:
    """Wraps a text into lines of at most `width` characters, all but the first indented further."""
    first, rest = split(text, width - 2)
    lines = [Text("  ") + first, *(Text("    ") + line for line in rest.wrap(wrapper(), width - 4) if rest)]
    for line in lines:
        line.rstrip()
    return lines


def split(text: Text, width: int) -> tuple[Text, Text]:
    """Returns as much of a text as fits a line of `width` characters, and the rest."""
    first = text.wrap(wrapper(), width)[0]
    return first, text[len(text) - len(text.plain[len(first) :].lstrip()) :]


def flow(items: Sequence[Text], width: int) -> list[Text]:
    """Sets items side by side in lines of at most `width` characters."""
    lines: list[Text] = []
    for item in items:
        if lines and lines[-1].cell_len + GAP + item.cell_len <= width:
            lines[-1].append(" " * GAP).append_text(item)
        else:
            lines.append(item.copy())
    return lines


def shelves(blocks: Iterable[Sequence[Text]], width: int, *, gap: int = 3) -> list[Text]:
    """Sets blocks side by side, `gap` apart, as far as they fit into `width` characters.

    The next blocks come below, after an empty line. A wider block gets a shelf of its own; a block without lines takes
    no room.
    """
    lines: list[Text] = []
    top = end = 0
    for block in filter(None, blocks):
        wide = max(line.cell_len for line in block)
        if not lines or end + gap + wide > width:
            lines += [Text()] if lines else []
            top, start = len(lines), 0
        else:
            start = end + gap
        lines += [Text() for _ in range(top + len(block) - len(lines))]
        for line, part in zip(lines[top:], block, strict=False):
            line.append(" " * (start - line.cell_len) if part else "").append_text(part)
        end = start + wide
    return lines


def beside(middle: Sequence[Text], first: Sequence[Text], last: Sequence[Text], width: int) -> list[Text]:
    """Sets two blocks into free corners of a middle block: the first at the top left, the last at the bottom right.

    The last block is a list of items that flow. A block that does not fit into its corner goes above or below.
    """
    lines = list(middle)
    margins = [line.cell_len - len(line.plain.lstrip()) for line in lines]
    needed = [block.cell_len + GAP - margin for block, margin in zip(first, margins, strict=False)]
    shift = max(0, *needed, 0)
    if len(first) > len(lines) or shift + max(line.cell_len for line in lines) > width:
        lines = [*first, Text(), *lines]
    else:
        lines = [
            _over(Text(" " * shift) + line, first[row] if row < len(first) else Text())
            for row, line in enumerate(lines)
        ]
    for room in range(width // 2, 20, -4):
        items = flow(last, room)
        start = max(line.cell_len for line in lines[-len(items) :]) + GAP
        if len(items) <= len(middle) // 2 and start + room <= width:
            for line, item in zip(lines[-len(items) :], items, strict=True):
                line.append(" " * (start - line.cell_len))
                line.append_text(item)
            return lines
    return [*lines, Text(), *flow(last, width)]


def _over(line: Text, block: Text) -> Text:
    """Returns a line with a block in the free space at its start."""
    return block + line[block.cell_len :] if block else line


def entry(label: str, words: str, column: int, width: int, style: str = "bold") -> Iterator[Text]:
    """Yields the lines of an entry, escaped for terminals: the label, and words that begin in a column."""
    label = plain(label)
    room = max(NARROWEST, min(width, WIDEST) - column)
    for line in wrap(plain(words), room, break_on_hyphens=False) or [""]:
        yield Text.assemble((f"{label:{column}}", style), line)
        label = ""


def span(numbers: Sequence[int]) -> str:
    """Returns ascending numbers for people: `2 to 4`, `2 or 3`, `3`."""
    if len(numbers) == 1:
        return str(numbers[0])
    return f"{numbers[0]} {'or' if len(numbers) == 2 else 'to'} {numbers[-1]}"


def clip(text: str, width: int) -> str:
    """Returns the text made `plain`, and cut off with an ellipsis if it is longer than `width` columns."""
    clipped = Text(plain(text))
    clipped.truncate(width, overflow="ellipsis")
    return clipped.plain


def listed(items: Iterable[object]) -> str:
    """Returns items as people write them: `5, 12 and 31`."""
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}" if most else last


def picture(lines: Sequence[Text], width: int) -> Image:
    """Returns a picture of lines of so many characters.

    Raises:
        ConfigError: What draws pictures is not installed.
    """
    need("pages", "a picture of the board")
    import matplotlib  # it brings Pillow, and a font in which all letters have one width
    from PIL import Image, ImageDraw, ImageFont
    from rich.console import Console

    font = ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSansMono.ttf", SIZE)
    wide, high = font.getlength("M"), SIZE * 5 // 4
    image = Image.new("RGB", (round(wide * width), high * max(1, len(lines))), PAPER)
    draw, console = ImageDraw.Draw(image), Console(width=width, color_system="truecolor")
    for row, line in enumerate(lines):
        column = 0
        for text, style, _ in line.render(console):
            at, cells = (column * wide, row * high), cell_len(text)
            colours = (style.color, style.bgcolor) if style else (None, None)
            ink, paper = (None if one is None or one.is_default else one.get_truecolor() for one in colours)
            if paper:
                draw.rectangle((*at, at[0] + cells * wide, at[1] + high), fill=tuple(paper))
            draw.text(at, text, fill=tuple(ink) if ink else INK, font=font)
            column += cells
    return image
