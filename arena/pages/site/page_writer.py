"""Writes pages from templates, and only those of which something has changed.

A page names what it was made from, in its head. A page that names the same is not made again. So nothing has to be
remembered beside the pages, and a page that somebody removed or an older version made comes back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import arena
from arena.core.face import errors, files, plain, texts
from arena.pages.exhibits import number_texts
from arena.pages.parts import read_part
from arena.pages.site.figures import time_text
from arena.pages.site.parts import HERE

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; base-uri 'none'; form-action 'none'"
)
"""Content-Security-Policy: a page may load and run files of the same site."""
_MADE_FROM: Final = b'<meta name="arena-made-from"'
_TEMPLATES: Final = HERE / "templates"
_HEAD: Final = 1000
"""In so many first bytes a page names what it was made from."""


class PageWriter:
    """Makes the pages of a site.

    Args:
        parts: What its style and scripts are called.
    """

    def __init__(self, folder: Path, parts: Mapping[str, str], title: str, address: str = "") -> None:
        self.folder = folder
        self.written = 0
        self._shared = {"policy": POLICY, "parts": dict(parts), "site": title, "version": arena.__version__}
        self._shared["address"] = address and f"{address.rstrip('/')}/"
        edition = [arena.__version__, title, address, *sorted(parts.values())]
        edition += [read_part(path) for path in sorted(_TEMPLATES.iterdir()) if path.suffix == ".jinja"]
        self._edition = hashlib.sha256("\0".join(edition).encode()).hexdigest()

    def is_current(self, name: str, facts: Any) -> bool:
        """Says whether a page was made from these facts."""
        return self._key(facts).encode() in _head(self.folder / name)

    def page(self, name: str, template: str, facts: Any, context: Callable[[], Mapping[str, Any]]) -> None:
        """Writes a page unless it was made from the same facts.

        Args:
            facts: All that it shows, or something that changes whenever that does.
            context: Returns what the template is given.

        Raises:
            OSError: It cannot be written.
        """
        if self.is_current(name, facts):
            return
        path = self.folder / name
        given = {**self._shared, **context(), "key": self._key(facts)}
        text = _templates().get_template(f"{template}.html.jinja").render(given)
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, text.encode())
        self.written += 1

    def _key(self, facts: Any) -> str:
        try:
            encoded = msgspec.json.encode(facts)
        except UnicodeEncodeError:
            encoded = msgspec.json.encode(texts.without_surrogates(msgspec.to_builtins(facts)))
        return hashlib.sha256(self._edition.encode() + encoded).hexdigest()[:24]


def is_page(path: Path) -> bool:
    """Says whether a file is a page that was written here."""
    return _MADE_FROM in _head(path)


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    templates.filters |= {"time": time_text, "numbers": number_texts}
    return templates


def _shown(value: Any) -> Any:
    """Makes every text that a template shows plain: most come from others."""
    return plain(value) if type(value) is str else value


def _head(path: Path) -> bytes:
    try:
        with files.opened(path, "a page", files.MOST_LOG, errors.ArenaError, links=False) as file:
            return next(file.chunks(), b"")[:_HEAD]
    except errors.ArenaError:
        return b""
