"""What `arena league serve` serves: a folder of static pages, and under `/live/` what is played now.

Laws:
1. Only regular files inside the folder are served: no link leads out of it, and no name that begins with a dot or is a
   file half written.
2. Browsers ask again whether a page has changed, and get it anew only then. What lies in `assets` never changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from arena.core.face import errors, files
from arena.pages.live.app import Watching

LIVE: Final = "/live"
FIXED: Final = "assets"
"""The folder of files whose names say what is in them."""
LEAST_ZIPPED: Final = 1_000
"""Bytes from which on an answer is compressed."""
_HERE: Final = b"<!--live-->"
"""Stands in pages where a link to the live view is put: only who serves both knows where that is."""
_ALONE: Final = "; frame-ancestors 'none'"
"""What keeps pages out of those of others: all but a board that is there to be embedded."""
_HEADERS: Final[Mapping[str, str]] = {
    "cache-control": "no-cache",
    # Each page says more strictly what it may load; nothing comes from elsewhere, whatever it says.
    "content-security-policy": f"default-src 'self' 'unsafe-inline' data:; base-uri 'none'; form-action 'none'{_ALONE}",
}


class Site(StaticFiles):
    """The static pages."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Returns a file, or that it has not changed."""
        parts = Path(path).parts
        if any((part.startswith(".") and part != ".") or files.final_name(part) != part for part in parts):
            raise HTTPException(404)
        try:
            response = await super().get_response(path, scope)
            if isinstance(response, FileResponse) and str(response.path).endswith(".html"):
                up = "../" * (len(parts) - (parts[-1:] != () and parts[-1].endswith(".html")))
                page = files.read(Path(response.path), "a page", files.MOST_DOCUMENT, errors.ConfigError)
                page = page.replace(_HERE, f'<a href="{up}{LIVE[1:]}/">live</a>'.encode())
                marks = {name: response.headers[name] for name in ("etag", "last-modified")}
                response = Response(page, response.status_code, marks, "text/html")
        except (OSError, RuntimeError, errors.ConfigError) as error:  # what cannot be read is not there
            raise HTTPException(404) from error
        for name, value in _HEADERS.items():
            response.headers[name] = value.replace(_ALONE, "") if b"embed" in scope["query_string"] else value
        if parts[:1] == (FIXED,) and response.status_code < 400:
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


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
    pages = Site(directory=site, html=True)
    routes: list[Any] = [Route("/", first), Route(LIVE, live), Mount(LIVE, routes=watching.routes)]
    routes.append(Mount("/", app=pages))
    zipped = Middleware(GZipMiddleware, minimum_size=LEAST_ZIPPED)
    return Starlette(routes=routes, middleware=[zipped], lifespan=watching.lifespan)
