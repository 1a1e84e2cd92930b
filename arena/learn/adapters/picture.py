"""Lines of a terminal as a picture, where nothing shows a terminal: for programs that learn, and files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from arena.core.face import need

if TYPE_CHECKING:
    from PIL.Image import Image

SIZE = 15
"""The height of letters, in pixels."""
INK, PAPER = (0, 0, 0), (255, 255, 255)


def picture(lines: Sequence[Text], width: int) -> Image:
    """Returns a picture of lines of so many characters.

    Raises:
        ConfigError: What draws pictures is not installed.
    """
    need("pages", "a picture of the board")
    import matplotlib  # it brings Pillow, and a font in which all letters have one width
    from PIL import Image, ImageDraw, ImageFont

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
