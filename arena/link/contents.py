"""Says which files belong to a bot: the one decision behind its digest and the archive in which it is sent.

Of its folder all files do, but those that begin with a dot, those in folders that tools make, and what was built or
fetched. Beside these, what its manifest names does, whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from arena.errors import BotError
from arena.resources import bots_folder

LEFT_OUT: Final = frozenset({"node_modules", "__pycache__"})
"""Folders that are not part of a bot, because tools make them. Names that begin with a dot are left out too."""

_MOST_FILES: Final = 100_000
"""Files in a folder that a manifest names."""


class Found(NamedTuple):
    """What lies in a bot's folder."""

    files: list[tuple[str, Path]]
    """The files that belong to it, sorted by their paths relative to its folder, with the places where they are."""
    left_out: list[str]
    """The paths of files and folders that do not, sorted."""


def own_files(folder: Path, made: Iterable[str]) -> Found:
    """Returns what lies in a bot's folder. `made` are the files and folders that were made by its build.

    Raises:
        BotError: A symbolic link leads out of the folder.
    """
    apart = {str(Path(name)) for name in made}
    files: list[str] = []
    left_out: list[str] = []
    for parent, folders, names in os.walk(folder):
        here = Path(parent).relative_to(folder)
        entering = [name for name in folders if _counts(name) and str(here / name) not in apart]
        left_out += [str(here / name) for name in folders if name not in entering]
        folders[:] = entering
        for name in names:
            path = str(here / name)
            counts = not name.startswith(".") and path not in apart and (folder / path).is_file()
            (files if counts else left_out).append(path)
    installed = folder.is_relative_to(bots_folder().resolve())  # some installers make each file a link
    return Found([(name, _resolved(folder, name, installed)) for name in sorted(files)], sorted(left_out))


def outermost(folder: Path, names: Iterable[str]) -> list[str]:
    """Returns what a manifest names, sorted, without what other names mean or contain: few names could be much to read.

    >>> outermost(Path("/bots/fox"), ["model", "../x", "./model/a", "model/../model"])
    ['../x', 'model']
    """
    places = {os.path.normpath(folder / name): name for name in sorted(names, reverse=True)}
    above = {name: map(str, Path(place).parents) for place, name in places.items()}
    return sorted(name for name in above if places.keys().isdisjoint(above[name]))


def named_files(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """Yields a file that a manifest names, or all files of a folder that it names, sorted, hidden ones too.

    Links in such a folder are not followed: package managers make them, for commands.

    Args:
        folder: The bot's folder.
        name: The path relative to it.

    Raises:
        BotError: It names too many: all of the disk, for instance.
    """
    if not os.path.isdir(folder / name):
        yield name, folder / name
        return
    found: list[str] = []
    for parent, folders, names in os.walk(folder / name):
        folders[:] = sorted(folders)
        paths = (os.path.join(parent, each) for each in names)
        found += [path for path in paths if not os.path.islink(path) and os.path.isfile(path)]
        if len(found) > _MOST_FILES:
            raise BotError(
                f"{folder / 'bot.toml'}: include: expected at most {_MOST_FILES:,} files in a folder, got: more in "
                f"{name!r:.200}; name the folders and files that the bot needs"
            )
    for path in sorted(found):
        yield os.path.join(name, os.path.relpath(path, folder / name)), Path(path)


def _resolved(folder: Path, name: str, installed: bool) -> Path:
    """Returns where a file of a bot's folder is."""
    path = (folder / name).resolve()
    if not installed and not path.is_relative_to(folder):
        raise BotError(
            f"{folder / 'bot.toml'}: expected the bot's files in its folder, got: {name!r}, which leads to {path}; "
            "copy the file, or name it in `include` in place of the link"
        )
    return path


def _counts(name: str) -> bool:
    """Says whether a folder of this name is part of a bot."""
    return name not in LEFT_OUT and not name.startswith(".")
