"""A folder of static pages, as an application.

Laws:
1. Only regular files inside the folder are served: no link leads out of it, and no name that begins with a dot or is a
   file half written.
2. Browsers ask again whether a page has changed, and get it anew only then. What lies in `assets` never changes.
3. No script runs but files of this origin, and the one that the page of a game holds and names by its hash: beside
   these pages lies one in which authors are signed in, and a script of this origin could act as they do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from markupsafe import escape
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from arena.core.face import errors, files
from arena.pages.security import own_script

FIXED: Final = "assets"
"""The folder of files whose names say what is in them."""
_HERE: Final = b"<!--live-->"
"""Stands in pages where links to what is served beside them are put: only who serves both knows where that is."""


class Site(StaticFiles):
    """The static pages.

    Args:
        beside: What is served beside them: its path from the root, and what a link to it says.
    """

    def __init__(self, directory: Path, beside: tuple[str, str]) -> None:
        super().__init__(directory=directory, html=True)
        self._beside = beside

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Returns a file, or that it has not changed."""
        parts = Path(path).parts
        if any((part.startswith(".") and part != ".") or files.final_name(part) != part for part in parts):
            raise HTTPException(404)
        script = ""
        try:
            response = await super().get_response(path, scope)
            if isinstance(response, FileResponse) and str(response.path).endswith(".html"):
                up = "../" * (len(parts) - (parts[-1:] != () and parts[-1].endswith(".html")))
                page = files.read(Path(response.path), "a page", files.MOST_DOCUMENT, errors.ConfigError)
                script = own_script(page)
                page = page.replace(_HERE, f'<a href="{up}{self._beside[0]}">{escape(self._beside[1])}</a>'.encode())
                marks = {name: response.headers[name] for name in ("etag", "last-modified")}
                response = Response(page, response.status_code, marks, "text/html")
        except (OSError, RuntimeError, errors.ConfigError) as error:  # what cannot be read is not there
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
