"""What `arena league serve` serves: a folder of static pages, and under `/live/` what is played now."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from arena.pages.live.app import Watching
from arena.pages.web import site_app


def public_app(site: Path, watching: Watching) -> Starlette:
    """Returns the application.

    Args:
        site: The folder of the pages. It may be empty: then the live view comes first.
        watching: The live view.
    """

    def live(request: Request) -> Response:
        return RedirectResponse("/live/")

    routes = [Route("/live", live), Mount("/live", routes=watching.routes)]
    return site_app(site, ("live/", "live"), routes, watching.lifespan)
