"""Writes what the pages of a site share: style, scripts, and what many games are drawn with.

An asset's name has the digest of its content. So a name never changes its content, pages of before find what they
need until they are replaced, and a server may have it kept for ever.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Final

from arena.core.face import files
from arena.pages.parts import colours, read_part, viewer_script, viewer_style

HERE: Final = Path(__file__).parent
ASSETS: Final = "assets"


def asset_name(name: str, data: bytes) -> str:
    """Returns what an asset is called: `site.css` becomes `site-DIGEST.css`."""
    stem, _, ending = name.rpartition(".")
    return f"{stem}-{hashlib.sha256(data).hexdigest()[:12]}.{ending}"


def write_asset(folder: Path, name: str, data: bytes) -> str:
    """Writes an asset of a site unless it is there. Returns what it is called.

    Raises:
        OSError: It cannot be written.
    """
    called = asset_name(name, data)
    path = folder / ASSETS / called
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, data)
    return called


def write_parts(folder: Path) -> dict[str, str]:
    """Writes the style and the scripts of all pages. Returns what they are called.

    Raises:
        OSError: One cannot be written.
    """
    return {
        "site": write_asset(folder, "site.css", (colours() + read_part(HERE / "site.css")).encode()),
        "times": write_asset(folder, "times.js", read_part(HERE / "times.js").encode()),
        "viewer": write_asset(folder, "viewer.css", viewer_style().encode()),
        "script": write_asset(folder, "viewer.js", (viewer_script() + read_part(HERE / "replay.js")).encode()),
    }


def remove_others(folder: Path, keep: Collection[str]) -> None:
    """Removes the files of a folder that have other names."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name not in keep and path.is_file():
            path.unlink(missing_ok=True)
