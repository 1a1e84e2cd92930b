"""Looks whether the files of a bot are those that were committed to."""

from __future__ import annotations

import os
from pathlib import Path

from arena.core.errors import BotError
from arena.core.link.bots import COMMAND, MANIFEST, BotSpec, read_manifest
from arena.core.link.contents import changed_files, files_in, files_of, is_unchanged


class FilesChanged(BotError):
    """A bot's files are not those that its digest was made of. No bot is to blame: show the message to the operator."""

    def __init__(self, message: str, bot: tuple[str, str] = ("", "")) -> None:
        """Takes the bot's name and version, too."""
        super().__init__(message)
        self.bot = bot


def check_files(spec: BotSpec) -> None:
    """Checks that a bot's files are those that its digest was made of.

    Raises:
        FilesChanged: They are not.
    """
    folder = Path(spec.folder)
    if not spec.source or is_unchanged(folder, spec.digest):
        return
    try:
        if spec.source == MANIFEST:
            manifest = read_manifest(folder)
            changed = changed_files(
                folder, spec.digest, files_of(folder, manifest.include, (*manifest.built, *manifest.fetched))
            )
        else:
            line = os.fsencode(spec.source.removeprefix(COMMAND))
            changed = changed_files(folder, spec.digest, files_in(spec.command, folder), line)
    except BotError as error:
        changed = [str(error)]
    if changed:
        told = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
        raise FilesChanged(
            f"expected the files of {spec.name} in {folder} to stay as they were when its games began, got: {told}, "
            "which changed meanwhile; undo that and give the same command again, or begin anew with the bot as it "
            "is. What a bot writes itself goes into files whose names begin with a dot",
            (spec.name, spec.version),
        )
