"""A folder of static pages, as an application, and what is served beside them.

Laws:
1. Only regular files inside the folder are served: no link leads out of it, and no name that begins with a dot or is a
   file half written.
2. Browsers ask again whether a page has changed, and get it anew only then. What lies in `assets` never changes.
3. No script runs but files of this origin, and the one that the page of a game holds and names by its hash: beside
   these pages lies one in which authors are signed in, and a script of this origin could act as they do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from anyio import to_thread
from markupsafe import escape
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from arena.core.face import errors, files
from arena.pages.parts import HERE, colours, read_part, tools
from arena.pages.security import own_script
from arena.pages.web.guard import HEADERS, POLICY

FIXED: Final = "assets"
"""The folder of files whose names say what is in them."""
_LINKS: Final = b"<!--live-->"
"""Stands in pages where links to what is served beside them are put: only who serves both knows where that is."""
LEAST_ZIPPED: Final = 1_000
"""Bytes from which on an answer is compressed."""
MOST_THREADS: Final = 4
"""Threads that read files. Each takes 8 MiB of what a league's door may have; as they come there are up to 40."""
_WEB: Final = HERE / "web"
_AUTHORS_PAGE: Final = {
    **HEADERS,
    "content-security-policy": f"{POLICY}; require-trusted-types-for 'script'; trusted-types 'none'",
    "cache-control": "no-cache",
}


class PagesFolder(StaticFiles):
    """The static pages.

    Args:
        beside: What is served beside them: its path from the root, and what a link to it says.
    """

    def __init__(self, directory: Path, beside: tuple[str, str]) -> None:
        super().__init__(directory=directory, html=True)
        self._beside = beside

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Returns a file, or that it has not changed."""
        to_thread.current_default_thread_limiter().total_tokens = MOST_THREADS
        parts = Path(path).parts
        if any((part.startswith(".") and part != ".") or files.final_name(part) != part for part in parts):
            raise HTTPException(404)
        script = ""
        try:
            if self.lookup_path(path)[1] is None:  # threads are few: who asks for what is not there gets none
                raise HTTPException(404)
            response = await super().get_response(path, scope)
            if isinstance(response, FileResponse) and str(response.path).endswith(".html"):
                up = "../" * (len(parts) - (parts[-1:] != () and parts[-1].endswith(".html")))
                page = files.read(Path(response.path), "a page", files.MOST_DOCUMENT, errors.ConfigError)
                script = own_script(page)
                page = page.replace(_LINKS, f'<a href="{up}{self._beside[0]}">{escape(self._beside[1])}</a>'.encode())
                marks = {name: response.headers[name] for name in ("etag", "last-modified")}
                response = Response(page, response.status_code, marks, "text/html")
        except (OSError, RuntimeError, ValueError, errors.ConfigError) as error:  # what cannot be read is not there
            raise HTTPException(404) from error
        response.headers["cache-control"] = "no-cache"
        response.headers["x-content-type-options"] = "nosniff"
        if response.status_code != 304:  # a browser would take it for that of the page which it has
            response.headers["content-security-policy"] = _policy(script, embedded=b"embed" in scope["query_string"])
        if parts[:1] == (FIXED,) and response.status_code < 400:
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


def _policy(script: str, *, embedded: bool) -> str:
    """Returns what any page may load; each says more strictly itself. Nothing comes from elsewhere, whatever it says.

    Styles may stand in a page: pages of games have one of their own, and so have pictures.

    Args:
        script: The hash of the script that the page may hold; empty if there is none.
        embedded: Whether it is a board that is there to be framed by pages of others.
    """
    ancestors = "" if embedded else "; frame-ancestors 'none'"
    return (
        f"default-src 'self' data:; script-src 'self' {script}; style-src 'self' 'unsafe-inline'; object-src 'none'; "
        f"base-uri 'none'; form-action 'none'{ancestors}"
    )


def site_app(
    folder: Path, beside: tuple[str, str], routes: Sequence[BaseRoute], lifespan: Callable[[Any], Any] | None = None
) -> Starlette:
    """Returns the application of a folder of pages and of what is served beside them.

    Args:
        folder: It is made if it is not there. While it has no first page, what is beside it comes first.
        beside: As for `PagesFolder`.
        routes: What is served beside the pages.
    """

    async def first(request: Request) -> Response:
        if (folder / "index.html").is_file():
            return await pages.get_response("index.html", request.scope)
        return RedirectResponse(f"/{beside[0]}")

    folder.mkdir(exist_ok=True)
    pages = PagesFolder(folder, beside)
    zipped = Middleware(GZipMiddleware, minimum_size=LEAST_ZIPPED)
    return Starlette(routes=[Route("/", first), *routes, Mount("/", pages)], middleware=[zipped], lifespan=lifespan)


def fixed(path: str, text: str, headers: Mapping[str, str] | None = None) -> Route:
    """Returns the route of a text that never changes: a script, a style, or a page, as its path ends."""
    kind = {"js": "javascript", "css": "css"}.get(path.rpartition(".")[2], "html")

    async def send(request: Request) -> Response:
        return Response(text, media_type=f"text/{kind}", headers=headers)

    return Route(path, send)


def league_pages(folder: Path) -> Starlette:
    """Returns the application of a league's pages and of the one at which its authors sign in."""
    script = tools() + read_part(_WEB / "zip.js") + read_part(_WEB / "me.js")
    style = colours() + read_part(HERE / "site" / "site.css") + read_part(_WEB / "me.css")
    parts = {"/me": read_part(_WEB / "me.html"), "/me.js": script, "/me.css": style}
    routes = [fixed(path, text, _AUTHORS_PAGE) for path, text in parts.items()]
    return site_app(folder, ("me", "my bots"), routes)
