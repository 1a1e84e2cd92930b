"""What `arena league serve` serves: a folder of static pages, and under `/live/` what is played now."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from arena.pages.live.app import Watching
from arena.pages.web import Site

LIVE: Final = "/live"
LEAST_ZIPPED: Final = 1_000
"""Bytes from which on an answer is compressed."""


def public_app(site: Path, watching: Watching) -> Starlette:
    """Returns the application.

    Args:
        site: The folder of the pages. It may be empty: then the live view comes first.
        watching: The live view.
    """

    async def first(request: Request) -> Response:
        if (site / "index.html").is_file():
            return await pages.get_response("index.html", request.scope)
        return live(request)

    def live(request: Request) -> Response:
        return RedirectResponse(f"{LIVE}/")

    site.mkdir(exist_ok=True)
    pages = Site(site, (f"{LIVE[1:]}/", "live"))
    routes: list[Any] = [Route("/", first), Route(LIVE, live), Mount(LIVE, routes=watching.routes)]
    routes.append(Mount("/", app=pages))
    zipped = Middleware(GZipMiddleware, minimum_size=LEAST_ZIPPED)
    return Starlette(routes=routes, middleware=[zipped], lifespan=watching.lifespan)
