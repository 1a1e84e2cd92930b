"""Takes out of a site what was removed from its database. Nothing is removed that a site does not consist of."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from arena import files
from arena.errors import ArenaError
from arena.pages.site import promises, replays
from arena.pages.site.parts import ASSETS
from arena.pages.site.press import is_page

_LAST: Final = "game.html"
"""A page that every tournament has, and no other folder of a site."""
_OURS: Final = re.compile(r"(index|games-\d+|bot-\d+)\.html|rating-[0-9a-f]+-(light|dark)\.svg")
_NAMED: Final = re.compile(rb'"([a-z0-9.-]+)"')
"""The name of a part, in what a replay begins with."""
_HEAD: Final = 300


def remove_gone(site: Path, tournaments: Collection[str]) -> None:
    """Removes the pages of all tournaments but these, and what no replay needs any more.

    Raises:
        OSError: Something cannot be removed.
    """
    gone = [folder for folder in _folders(site) if folder.name not in tournaments]
    for folder in gone:
        for path in folder.iterdir():
            if path.name == replays.FOLDER:
                shutil.rmtree(path)
            elif path.name == promises.FILE or _OURS.fullmatch(path.name):
                path.unlink()
        (folder / _LAST).unlink()  # after a kill the others are found by it
        if not any(folder.iterdir()):
            folder.rmdir()
    if gone:
        _remove_shared(site)


def _folders(site: Path) -> Iterator[Path]:
    """Yields the folders of tournaments: those with that page of ours."""
    for path in sorted(site.iterdir()):
        if path.name != ASSETS and path.is_dir() and not path.is_symlink() and is_page(path / _LAST):
            yield path


def _remove_shared(site: Path) -> None:
    """Removes what replays are drawn with, if none of those that are left needs it."""
    needed: set[bytes] = set()
    for path in site.glob(f"*/{replays.FOLDER}/*/*.js"):
        needed.update(_NAMED.findall(_head(path)))
    for path in (site / ASSETS).iterdir():
        if path.name.startswith(replays.SHARED) and path.name.encode() not in needed:
            path.unlink()


def _head(path: Path) -> bytes:
    with files.opened(path, "a replay", files.MOST_LOG, ArenaError, links=False) as file:
        return next(file.chunks(), b"")[:_HEAD]
