"""The files of pages. What the viewer of a game consists of is said here alone, for all pages that show one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, StrictUndefined

from arena.core.face import errors, files

HERE: Final = Path(__file__).parent
_VIEWER: Final = HERE / "viewer"


def read_part(path: Path) -> str:
    """Returns the text of a part of a page.

    Raises:
        InternalError: It is not there: arena is not installed whole.
    """
    return files.read_text(path, "a part of a page", files.MOST_TEXT, errors.InternalError)


def colours() -> str:
    """Returns the style that gives the colours their names. All pages begin with it."""
    return read_part(_VIEWER / "colours.css")


def tools() -> str:
    """Returns the script with which all scripts make elements."""
    return read_part(_VIEWER / "tools.js")


def viewer_style() -> str:
    """Returns the style of the viewer, its colours among it. That of a game's symbols comes after it."""
    return colours() + read_part(_VIEWER / "viewer.css")


def viewer_script() -> str:
    """Returns the script of the viewer, the tools among it."""
    return tools() + "".join(read_part(_VIEWER / f"{name}.js") for name in ("charts", "viewer"))


def render(template: Path, **values: Any) -> str:
    """Returns a page made of a template. All values are escaped but those that are `Markup`."""
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(read_part(template)).render(**values)
