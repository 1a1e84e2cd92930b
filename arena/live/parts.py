"""The files of the live pages: templates, scripts and styles, those of the games' viewer among them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, StrictUndefined

import arena
from arena import files, pages
from arena.errors import InternalError

_OWN: Final = Path(__file__).parent / "pages"
_VIEWER: Final = Path(pages.__file__).parent / "viewer"
SCRIPTS: Final = {
    "tools.js": (_VIEWER / "tools.js",),
    "viewer.js": tuple(_VIEWER / f"{name}.js" for name in ("tools", "charts", "viewer")),
    "watch.js": (_OWN / "watch.js",),
    "game.js": (_OWN / "game.js",),
}
"""What each script consists of."""
STYLES: Final = {"viewer.css": (_VIEWER / "viewer.css",), "watch.css": (_OWN / "watch.css",)}


@cache
def part(name: str) -> str:
    """Returns a script or a style by its name.

    Raises:
        KeyError: There is none of that name.
    """
    return "".join(_read(path) for path in (SCRIPTS | STYLES)[name])


def page(template: str, title: str) -> str:
    """Returns a page made of one of the templates."""
    made = Environment(autoescape=True, undefined=StrictUndefined).from_string(_read(_OWN / f"{template}.html.jinja"))
    return made.render(title=title, version=arena.__version__)


def _read(path: Path) -> str:
    return files.read_text(path, "a part of a page", files.MOST_TEXT, InternalError)
