"""Locates the boards, bots and protocol shipped with the package.

In a checkout they are beside the package; in an installed wheel they are under `arena/bundled/`.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

from arena import __version__
from arena.core import files
from arena.core.errors import ConfigError, InternalError, did_you_mean

_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def code_version() -> str:
    """Returns the version of this program with a digest of its modules: programs that have the same are the same.

    Its place, and what is bundled in a wheel, do not count.
    """
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(_PACKAGE).as_posix(), path) for path in _PACKAGE.rglob("*.py")):
        if not name.startswith("bundled/"):
            data = files.read(path, "a module", files.MOST_TEXT, InternalError)
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return f"{__version__} ({digest.hexdigest()[:16]})"


def bots_folder() -> Path:
    """Returns the folder of the bundled bots: `LANGUAGE/NAME/bot.toml`."""
    return _folder("bots")


def boards_folder() -> Path:
    """Returns the folder of the bundled boards: `NAME.txt`."""
    return _folder("boards")


def protocol_folder() -> Path:
    """Returns the folder of the protocol's specification, schemas and vectors."""
    return _folder("protocol")


def board_names() -> list[str]:
    """Returns the names of the bundled boards, sorted."""
    return sorted(path.stem for path in boards_folder().glob("*.txt"))


def board_text(ref: str) -> tuple[str, str]:
    """Returns the name and the text of a board: a bundled one by its name, or a file by its path.

    A plain name means the bundled board of that name first, then a file. The board is not checked.

    Raises:
        ConfigError: There is no such board, or the file cannot be read as text. Show the message to the operator.
    """
    names = board_names()
    if ref in names:
        path = boards_folder() / f"{ref}.txt"
    else:
        path = Path(ref)
        if not os.path.exists(path):
            bundled = f"a bundled board ({', '.join(names)})"
            raise ConfigError(f"expected a board file, or {bundled}, got: {ref!r}{did_you_mean(ref, names)}")
    return path.stem, files.read_text(path, "a board file", files.MOST_TEXT, ConfigError)


def _folder(name: str) -> Path:
    for parent in (_PACKAGE / "bundled", _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise InternalError(f"expected the folder {name!r} in {_PACKAGE / 'bundled'} or {_PACKAGE.parent}, got: neither")
