"""A new bot's folder: a template of `bots/`, with the files from beside it that the template includes.

What a template includes from outside its folder lies inside the new one: `../arena_bot.h` becomes `arena_bot.h`. So the
folder stands alone, and can be moved, shared and submitted.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Final

import msgspec

from arena.errors import BotError, ConfigError, InternalError, did_you_mean
from arena.link.bots import (
    LEFT_OUT,
    MANIFEST,
    TEMPLATE,
    Manifest,
    build_command,
    bundled_folders,
    check_name,
    missing,
    missing_tool,
    read_manifest,
)
from arena.resources import bots_folder

LONGEST_AUTHOR: Final = 256
"""Characters that a manifest takes as the author."""
_NAMED: Final = (MANIFEST, "README.md")
"""The files of a template in which the word NAME stands for the bot's name."""


class NewBot(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that was just made."""

    folder: Path
    language: str
    build: tuple[str, ...]
    """The command that builds it; empty if nothing needs building."""
    missing: str | None
    """A program that builds it or runs it, and is not on this machine's path."""


def templates() -> dict[str, Path]:
    """The folders that new bots begin from, by language."""
    return {path.parent.parent.name: path.parent for path in sorted(bots_folder().glob(f"*/{TEMPLATE}/{MANIFEST}"))}


def new_bot(name: str, *, language: str, author: str, parent: Path) -> NewBot:
    """Make a bot's folder, called like the bot.

    Args:
        name: The bot's name.
        language: One of `templates()`.
        author: Who writes it; may be empty.
        parent: Where the folder shall lie.

    Raises:
        ConfigError: The name, the language or the author cannot be used, the folder is there already, or it cannot be
            written. Nothing was changed, but in the last case.
    """
    template = _template(language)
    check_name(name)
    if name in bundled_folders():
        raise BotError(f"expected the name of a new bot, got: {name!r}, which is a bundled bot; choose another name")
    if len(author) > LONGEST_AUTHOR or not author.isprintable():
        raise ConfigError(f"expected at most {LONGEST_AUTHOR} visible characters as the author, got: {author!r}")
    folder = parent / name
    if os.path.lexists(folder):
        raise ConfigError(
            f"expected a name that is free, got: {str(folder)!r}, which is there already; choose another name or folder"
        )
    files = _files(template)
    for file in _NAMED:
        if file in files:
            files[file] = re.sub(rb"\bNAME\b", name.encode(), files[file])
    files[MANIFEST] = _alone(files[MANIFEST].decode(), author).encode()
    try:
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except OSError as error:
        raise ConfigError(f"expected a folder that can be written, got: {str(folder)!r}: {error.strerror}") from None
    manifest = read_manifest(folder)
    if (manifest.name, manifest.author, manifest.include) != (name, author, ()):
        raise InternalError(f"expected a bot from the template in {template}, got: {manifest}")
    return NewBot(
        folder=folder, language=language, build=build_command(manifest), missing=_missing_program(manifest, folder)
    )


def _template(language: str) -> Path:
    found = templates()
    if language not in found:
        raise ConfigError(
            f"expected a language among {', '.join(found)}, got: {language!r}{did_you_mean(language, found)}; "
            "for any other begin with perl, whose bot reads and writes JSON lines"
        )
    return found[language]


def _files(template: Path) -> dict[str, bytes]:
    """All that a template consists of: contents by their places in the new folder."""
    manifest = read_manifest(template)
    own = (path.relative_to(template) for path in sorted(template.rglob("*")) if path.is_file())
    try:
        files = {str(path): (template / path).read_bytes() for path in own if not _is_made(path, manifest)}
        files |= {re.sub(r"^(\.\./)+", "", name): (template / name).read_bytes() for name in manifest.include}
    except OSError as error:
        raise InternalError(f"expected a whole template in {template}, got: {error}") from None
    return files


def _is_made(path: Path, manifest: Manifest) -> bool:
    """Whether somebody who tried a template where it lies has left this there."""
    return not LEFT_OUT.isdisjoint(path.parts) or any(path.is_relative_to(name) for name in manifest.built)


def _alone(manifest: str, author: str) -> str:
    """A template's manifest for a folder that stands alone: all of the bot is inside. It gets its author too."""
    manifest = re.sub(r"(?m)^include = \[[^\]]*\].*\n", "", manifest)
    return re.sub(r"(?m)^author = .*$", lambda _: f"author = {json.dumps(author, ensure_ascii=False)}", manifest)


def _missing_program(manifest: Manifest, folder: Path) -> str | None:
    """A program that must be installed before the bot can be built and run."""
    tool = missing_tool(manifest, folder)
    lack = missing(manifest, folder)
    return tool or (lack.what if lack is not None and lack.program else None)
