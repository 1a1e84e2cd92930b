"""Draws pictures for printing: SVG documents that need no other file.

1. The same board gives the same bytes.
2. Text from a file is made plain and then escaped: XML allows no control characters.
3. Colour alone carries no meaning, so that a picture can be printed in black and white.

Lengths are in user units, which `document` scales to the page.
"""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from rich.cells import cell_len

from arena.core.text import plain

INK = "#33291c"
FAINT = "#6d6150"
PAPER = "#fdfaf3"
SERIF = "Georgia, 'Times New Roman', 'DejaVu Serif', serif"
SANS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
PAGE_MM = (190, 277)
"""The largest width and height of a picture in millimetres: a sheet of A4 within its margins."""

_WIDTH = 0.6  # of a letter, as a fraction of its height; generous, because the reader's fonts are unknown


def element(tag: str, *children: str, **attributes: Any) -> str:
    """Returns an element. In an attribute's name underscores become hyphens, one at the end is dropped.

    Numbers are written without needless digits.
    """
    named = "".join(
        f" {name.rstrip('_').replace('_', '-')}={quoteattr(_value(value))}" for name, value in attributes.items()
    )
    return f"<{tag}{named}>{''.join(children)}</{tag}>" if children else f"<{tag}{named}/>"


def text(words: str, x: float, y: float, size: float, **attributes: Any) -> str:
    """Returns words in one line, escaped. `y` is their baseline."""
    return element("text", escape(plain(words)), x=x, y=y, font_size=size, **attributes)


def use(name: str, x: float, y: float) -> str:
    """Places what was defined under a name."""
    return element("use", href=f"#{name}", x=x, y=y)


def title(words: str) -> str:
    """Returns the words that a viewer shows when the mouse points at the enclosing element."""
    return element("title", escape(plain(words)))


def points(corners: Iterable[tuple[float, float]]) -> str:
    """Returns the corners of a polygon as the text of its attribute."""
    return " ".join(f"{_value(x)},{_value(y)}" for x, y in corners)


def text_width(words: str, size: float) -> float:
    """Estimates how wide words are, rather too wide than too narrow."""
    return _WIDTH * size * cell_len(plain(words))


def lines_of(words: str, size: float, width: float) -> list[str]:
    """Wraps words into lines that fit into a width."""
    return wrap(plain(words), max(8, int(width / (_WIDTH * size)))) or [""]


def fitting_size(words: str, size: float, width: float) -> float:
    """Returns the font size at which words fit into a width, at most `size`."""
    return min(size, size * width / max(1.0, text_width(words, size)))


def document(name: str, width: float, height: float, *children: str) -> str:
    """Returns a whole file: a picture of that width and height on paper, titled `name`."""
    scale = min(PAGE_MM[0] / width, PAGE_MM[1] / height)
    root = element(
        "svg",
        *(f"\n{child}" for child in (title(name), element("rect", width=width, height=height, fill=PAPER), *children)),
        "\n", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {_value(width)} {_value(height)}",
        width=f"{_value(width * scale)}mm", height=f"{_value(height * scale)}mm", font_family=SANS, fill=INK,
    )  # fmt: skip
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'


def _value(value: Any) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
