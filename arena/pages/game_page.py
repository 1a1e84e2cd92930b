"""Makes a page of a game: one HTML file that needs no other file and no network."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

import arena
from arena.core.face import Seat, log_records, replays
from arena.pages.frames import film
from arena.pages.parts import HERE, render, viewer_script, viewer_style
from arena.pages.security import json_in_script, policy, raw


def game_page(
    log: log_records.Log, seat: Seat | None = None, remarks: Mapping[int, replays.Remark] | None = None
) -> str:
    """Returns the page of a game.

    Args:
        seat: The seat whose knowledge is shown; None means that of every seat, and of all together.
        remarks: What is said of decisions, by their line in the log.

    Raises:
        LogError: A record does not fit the game.
    """
    data, drawn = film(log, seat, remarks=remarks)
    script, style = raw(viewer_script()), raw(viewer_style() + drawn)
    names = f" {data['between']} ".join(seat["name"] for seat in data["seats"])
    return render(
        HERE / "game.html.jinja",
        policy=policy(script, style),
        version=arena.__version__,
        title=f"{names} · {data['game']}",
        facts=", ".join(data["facts"]),
        style=Markup(style),
        data=Markup(json_in_script(data)),
        script=Markup(script),
    )
