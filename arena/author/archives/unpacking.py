"""Unpacks an archive into a folder that did not exist before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from arena.author.archives.base import HERE, LABEL, LIMITS, MOST_LABEL, Entry, Label, Limits, Rule, check_path
from arena.author.archives.checking import Archive, check, label_bytes, read_archive
from arena.core.face import errors, files, warden

_FOLDER, _FILE, _PROGRAM = 0o755, 0o644, 0o755
_PLAIN: Final = "a folder that an archive was unpacked to"


def unpack(archive: Archive, into: Path, limits: Limits = LIMITS) -> Path:
    """Checks an archive, unpacks it, and returns the bot's folder.

    Args:
        archive: The archive.
        into: The folder for it, which is made. Nothing is written elsewhere.
        limits: How large it may be.

    Raises:
        ArchiveError: It breaks a rule. Nothing is left of it.
        ConfigError: There is no such archive, or the folder is there already.
        OSError: The folder cannot be written. Nothing is left of it.
    """
    check(archive, limits)
    try:
        into.mkdir()
    except FileExistsError:
        raise errors.ConfigError(f"expected a folder that is not there yet, got: {str(into)!r}; remove it") from None
    try:
        os.chmod(into, _FOLDER)
        folders = {into}

        def take(entry: Entry, content: Iterator[bytes]) -> None:
            path = into / entry.path
            _make(path.parent, folders)
            files.create(path, content, _PROGRAM if entry.executable else _FILE)

        contents = read_archive(archive, limits, take)
        files.create(into / LABEL, iter((label_bytes(contents.bot),)), _FILE)
    except BaseException:
        warden.remove_tree(str(into))
        raise
    return _inside(into, contents.bot)


def bot_folder(into: Path) -> Path:
    """Returns the bot's folder in one that an archive was unpacked to.

    Raises:
        ConfigError: It is no such folder.
    """
    data = files.read(into / LABEL, _PLAIN, MOST_LABEL, errors.ConfigError, links=False)
    with suppress(msgspec.DecodeError, errors.ArchiveError):
        bot = msgspec.json.decode(data, type=Label).bot
        if bot != HERE:
            check_path(bot)
        return _inside(into, bot)
    raise errors.ArchiveError(
        Rule.LABEL, f"expected {_PLAIN}, got: another {LABEL} - at {into}; unpack it again", path=LABEL
    )


def _inside(into: Path, bot: str) -> Path:
    return into if bot == HERE else into / bot


def _make(folder: Path, folders: set[Path]) -> None:
    """Makes a folder and those above it, as far as that was not done."""
    if folder not in folders:
        _make(folder.parent, folders)
        folder.mkdir()
        os.chmod(folder, _FOLDER)
        folders.add(folder)
