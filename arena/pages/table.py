"""The files of the page at which a person plays. `arena.web.table` serves them."""

from __future__ import annotations

from arena.pages.parts import HERE, read_part, render, viewer_script, viewer_style
from arena.record.log import Header
from arena.text import plain


def page(header: Header) -> str:
    """Returns the page. It has no data: these come by its stream."""
    return render(HERE / "play.html.jinja", title=plain(header.settings.rules).replace("_", " ").capitalize())


def script() -> str:
    """Returns its one script."""
    return viewer_script() + read_part(HERE / "viewer" / "play.js")


def style(drawn: str) -> str:
    """Returns its one style, with that of the game's symbols."""
    return viewer_style() + read_part(HERE / "viewer" / "play.css") + drawn
