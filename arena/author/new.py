"""Makes a new bot's folder from a template in `bots/`, with the files beside it that the template includes.

Files from outside the template's folder are put inside the new one: `../arena_bot.h` becomes `arena_bot.h`. So the
folder is complete, and can be moved, shared and submitted.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Final

import msgspec

from arena.core.errors import BotError, ConfigError, InternalError, did_you_mean
from arena.core.files import MOST_TEXT, read, write
from arena.core.link.bots import (
    MANIFEST,
    TEMPLATE,
    Manifest,
    bundled_folders,
    check_name,
    missing,
    missing_tool,
    read_manifest,
    work,
)
from arena.core.link.contents import LEFT_OUT
from arena.core.resources import bots_folder, protocol_folder

LONGEST_AUTHOR: Final = 256
"""How many characters an author's name in a manifest may have."""
_NAMED: Final = (MANIFEST, "README.md", "AGENTS.md")
"""The files of a new bot in which the word NAME is replaced by the bot's name."""
_BRIDGED: Final = "perl"
"""The language whose template reads and writes lines: what a bot in any other begins from."""


class NewBot(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that was just made."""

    folder: Path
    language: str
    build: str
    """What `arena bot build` runs for it; empty if nothing needs building."""
    missing: str | None
    """A program that builds or runs it and is not installed."""


def templates() -> dict[str, Path]:
    """Returns the folder of each template, by language."""
    return {path.parent.parent.name: path.parent for path in sorted(bots_folder().glob(f"*/{TEMPLATE}/{MANIFEST}"))}


def new_bot(name: str, *, language: str, author: str, parent: Path, bridge: bool = False) -> NewBot:
    """Makes a bot's folder, named after the bot.

    Args:
        name: The bot's name.
        language: One of `templates()`; any, where `bridge` is set.
        author: Who writes it; may be empty.
        parent: The folder in which the new one is made.
        bridge: Whether it reads and writes lines. It plays as it is, and is to be written anew in its language.

    Raises:
        ConfigError: The name, the language or the author cannot be used, the folder is there already, or it cannot be
            written. Nothing has changed, except in the last case.
    """
    template = templates()[_BRIDGED] if bridge else _template(language)
    check_name(name)
    if name in bundled_folders():
        raise BotError(f"expected the name of a new bot, got: {name!r}, which is a bundled bot; choose another name")
    for what, text in (("author", author), ("language", language)):
        if len(text) > LONGEST_AUTHOR or not text.isprintable():
            raise ConfigError(f"expected at most {LONGEST_AUTHOR} visible characters as the {what}, got: {text!r}")
    folder = parent / name
    if os.path.lexists(folder):
        raise ConfigError(
            f"expected a name that is free, got: {str(folder)!r}, which is there already; choose another name or folder"
        )
    files = _files(template)
    for file in _NAMED:
        if file in files:
            files[file] = re.sub(rb"\bNAME\b", name.encode(), files[file])
    files[MANIFEST] = _alone(files[MANIFEST].decode(), author, language).encode()
    try:
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            write(target, content)
    except OSError as error:
        raise ConfigError(f"expected a folder that can be written, got: {str(folder)!r}: {error.strerror}") from None
    manifest = read_manifest(folder)
    if (manifest.name, manifest.author, manifest.include) != (name, author, ()):
        raise InternalError(f"expected a bot from the template in {template}, got: {manifest}")
    return NewBot(folder=folder, language=language, build=work(manifest), missing=_missing_program(manifest, folder))


def _template(language: str) -> Path:
    found = templates()
    if language not in found:
        raise ConfigError(
            f"expected a language among {', '.join(found)}, got: {language!r}{did_you_mean(language, found)}; "
            "for any other add --bridge, which makes a bot that reads and writes lines"
        )
    return found[language]


def _files(template: Path) -> dict[str, bytes]:
    """Returns the files of a template: their contents by their paths in the new folder."""
    manifest = read_manifest(template)
    own = (path.relative_to(template) for path in sorted(template.rglob("*")) if path.is_file())
    paths = {str(path): path for path in own if not _is_made(path, manifest)}
    paths |= {re.sub(r"^(\.\./)+", "", name): Path(name) for name in manifest.include}
    paths |= {"AGENTS.md": bots_folder() / "AGENTS.md", "BOT.md": protocol_folder() / "BOT.md"}
    return {
        name: read(template / path, f"the file {name!r} of a template", MOST_TEXT, InternalError)
        for name, path in paths.items()
    }


def _is_made(path: Path, manifest: Manifest) -> bool:
    """Says whether a file was made by building or running the template in place."""
    return not LEFT_OUT.isdisjoint(path.parts) or any(
        path.is_relative_to(name) for name in (*manifest.built, *manifest.fetched)
    )


def _alone(manifest: str, author: str, language: str) -> str:
    """Returns a template's manifest with its author and language, without files from outside."""
    manifest = re.sub(r"(?m)^include = \[[^\]]*\].*\n", "", manifest)
    for key, text in (("author", author), ("language", language)):
        line = f"{key} = {json.dumps(text, ensure_ascii=False)}".replace("\\", r"\\")
        manifest = re.sub(rf"(?m)^{key} = .*$", line, manifest)
    return manifest


def _missing_program(manifest: Manifest, folder: Path) -> str | None:
    """Returns a program that must be installed before the bot can be built and run, if there is one."""
    lack = missing_tool(manifest, folder) or missing(manifest, folder)
    return lack.what if lack is not None and lack.program else None
