"""The files of the page at which a person plays. `arena.web.table` serves them."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, StrictUndefined

from arena import files
from arena.errors import InternalError
from arena.record.log import Header
from arena.text import plain

_FOLDER = Path(__file__).parent
_SCRIPTS = ("tools", "charts", "viewer", "play")


def page(header: Header) -> str:
    """Returns the page. It has no data: these come by its stream."""
    return (
        Environment(autoescape=True, undefined=StrictUndefined)
        .from_string(_part("play.html.jinja"))
        .render(title=plain(header.settings.rules).replace("_", " ").capitalize())
    )


def script() -> str:
    """Returns its one script."""
    return "".join(_part(f"viewer/{name}.js") for name in _SCRIPTS)


def style(drawn: str) -> str:
    """Returns its one style, with that of the game's symbols."""
    return _part("viewer/viewer.css") + _part("viewer/play.css") + drawn


def _part(name: str) -> str:
    return files.read_text(_FOLDER / name, "a part of a page", files.MOST_TEXT, InternalError)
