"""Makes a page of a game: one HTML file that needs no other file and no network."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

import arena
from arena import files
from arena.errors import InternalError
from arena.pages.frames import film
from arena.pages.security import json_in_script, policy, raw
from arena.record.log import Log
from arena.types import Seat

_FOLDER = Path(__file__).parent


def game_page(log: Log, seat: Seat | None = None) -> str:
    """Returns the page of a game.

    Args:
        log: The log.
        seat: The seat whose knowledge is shown; None means that of every seat, and of all together.

    Raises:
        LogError: A record does not fit the game.
    """
    data, drawn = film(log, seat)
    script = raw("".join(_part(f"viewer/{name}.js") for name in ("tools", "charts", "viewer")))
    style = raw(_part("viewer/colours.css") + _part("viewer/viewer.css") + drawn)
    names = " v. ".join(seat["name"] for seat in data["seats"])
    return (
        Environment(autoescape=True, undefined=StrictUndefined)
        .from_string(_part("game.html.jinja"))
        .render(
            policy=policy(script, style),
            version=arena.__version__,
            title=f"{names} · {data['game']}",
            facts=", ".join(data["facts"]),
            style=Markup(style),
            data=Markup(json_in_script(data)),
            script=Markup(script),
        )
    )


def _part(name: str) -> str:
    return files.read_text(_FOLDER / name, "a part of a page", files.MOST_TEXT, InternalError)
