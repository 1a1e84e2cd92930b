"""The files of the live pages: templates, scripts and styles, those of the games' viewer among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Final

import arena
from arena.pages.parts import read_part, render, tools, viewer_script, viewer_style

_OWN: Final = Path(__file__).parent / "pages"
SCRIPTS: Final[dict[str, Callable[[], str]]] = {
    "tools.js": tools,
    "viewer.js": viewer_script,
    "watch.js": partial(read_part, _OWN / "watch.js"),
    "game.js": partial(read_part, _OWN / "game.js"),
}
"""Where each script comes from."""
STYLES: Final[dict[str, Callable[[], str]]] = {
    "viewer.css": viewer_style,
    "watch.css": partial(read_part, _OWN / "watch.css"),
}


@cache
def part(name: str) -> str:
    """Returns a script or a style by its name.

    Raises:
        KeyError: There is none of that name.
    """
    return (SCRIPTS | STYLES)[name]()


def page(template: str, title: str) -> str:
    """Returns a page made of one of the templates."""
    return render(_OWN / f"{template}.html.jinja", title=title, version=arena.__version__)
