"""Unpacks an archive into a folder that did not exist before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.author.archives.checking import Archive, check, read_archive
from arena.author.archives.rules import LABEL, MOST, MOST_LABEL, ArchiveEntry, Limits, Rule, label_bytes, labelled
from arena.core.face import errors, files, warden

_FOLDER, _FILE, _PROGRAM = 0o755, 0o644, 0o755
_PLAIN: Final = "a folder that an archive was unpacked to"


class UnpackedTree:
    """A folder that files are written into, each below folders that were made for it: through no link, over no file."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._folders = {""}
        self.files: set[str] = set()
        """Paths of files and links, from the top."""

    @property
    def count(self) -> int:
        """The number of files and folders that were made."""
        return len(self._folders) + len(self.files) - 1

    def add(self, path: str, content: Iterable[bytes], *, executable: bool) -> None:
        """Writes a file. Its path was checked.

        Raises:
            FileExistsError: There is something by this path, or a file on the way to it.
            OSError: It cannot be written.
        """
        files.create(self._new(path), content, _PROGRAM if executable else _FILE)

    def link(self, path: str, target: str) -> None:
        """Makes a symbolic link. Path and target were checked. Errors are those of `add`."""
        self._new(path).symlink_to(target)

    def folder(self, path: str) -> None:
        """Makes a folder and those above it, as far as that was not done. Errors are those of `add`."""
        if path not in self._folders:
            self.folder(path.rpartition("/")[0])
            (self._top / path).mkdir()
            (self._top / path).chmod(_FOLDER)
            self._folders.add(path)

    def _new(self, path: str) -> Path:
        self.folder(path.rpartition("/")[0])
        self.files.add(path)
        return self._top / path


def unpack(archive: Archive, into: Path, limits: Limits = MOST) -> Path:
    """Checks an archive, unpacks it into a new folder, and returns the bot's. Nothing is written elsewhere.

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
        tree = UnpackedTree(into)

        def take(entry: ArchiveEntry, content: Iterator[bytes]) -> None:
            tree.add(entry.path, content, executable=entry.executable)

        contents = read_archive(archive, limits, take)
        tree.add(LABEL, iter((label_bytes(contents.bot),)), executable=False)
    except BaseException:
        warden.remove_tree(str(into))
        raise
    return into / contents.bot


def bot_folder(into: Path) -> Path:
    """Returns the bot's folder in one that an archive was unpacked to. Raises ConfigError: it is no such folder."""
    data = files.read(into / LABEL, _PLAIN, MOST_LABEL, errors.ConfigError, links=False)
    with suppress(errors.ArchiveError):
        if (bot := labelled(data)) is not None:
            return into / bot
    raise errors.ArchiveError(
        Rule.LABEL, f"expected {_PLAIN}, got: another {LABEL} - at {into}; unpack it again", path=LABEL
    )
