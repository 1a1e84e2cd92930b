"""Makes a new bot's folder from a template in `bots/`, with the files beside it that the template includes.

Files from outside the template's folder are put inside the new one: `../arena_bot.h` becomes `arena_bot.h`. So the
folder is complete, and can be moved, shared and submitted.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from arena.core.face import bot_files, bot_manifests, errors, files, resources

LONGEST_AUTHOR: Final = 256  # characters
_NAMED: Final = (bot_manifests.MANIFEST, "README.md", "AGENTS.md")
"""The files of a new bot in which the word NAME is replaced by the bot's name."""
_BRIDGED: Final = "perl"
"""The language whose template reads and writes lines: what a bot in any other begins from."""


class NewBot(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that was just made."""

    folder: Path
    build: str
    """Command that `arena bot build` runs for it; empty if nothing needs building."""
    missing: str | None
    """A program that builds or runs it and is not installed."""
    rules: tuple[str, ...] = ()
    """The games that it is for; empty if any."""


def templates() -> dict[str, Path]:
    """Returns the folder of each template, by language."""
    return {
        path.parent.parent.name: path.parent
        for path in sorted(resources.bots_folder().glob(f"*/{bot_manifests.TEMPLATE}/{bot_manifests.MANIFEST}"))
    }


def new_bot(
    name: str, *, language: str, author: str, parent: Path, bridge: bool = False, policy: Path | None = None
) -> NewBot:
    """Makes a bot's folder, named after the bot.

    Args:
        language: One of `templates()`; any, where `bridge` is set.
        bridge: Whether it reads and writes lines. It plays as it is, and is to be written anew in its language.
        policy: A file of `arena.learn.adapters.policies` by which it plays, in Python.

    Raises:
        ConfigError: The name, the language or the author cannot be used, the folder is there already, or it cannot be
            written. Nothing has changed, except in the last case.
    """
    found = templates()
    if not bridge and language not in found:
        raise errors.ConfigError(
            f"expected a language among {', '.join(found)}, got: {language!r}{errors.did_you_mean(language, found)}; "
            "for any other add --bridge, which makes a bot that reads and writes lines"
        )
    template = found[_BRIDGED if bridge else language]
    bot_manifests.check_name(name, "a bot, which is no path (--folder says where)")
    if name in bot_manifests.bundled_folders():
        raise errors.BotError(
            f"expected the name of a new bot, got: {name!r}, which is a bundled bot; choose another name"
        )
    for what, text in (("author", author), ("language", language)):
        if len(text) > LONGEST_AUTHOR or not text.isprintable():
            raise errors.ConfigError(
                f"expected at most {LONGEST_AUTHOR} visible characters as the {what}, got: {text!r}"
            )
    folder = parent / name
    if os.path.lexists(folder):
        raise errors.ConfigError(
            f"expected a name that is free, got: {str(folder)!r}, which is there already; choose another name or folder"
        )
    made = _files(template)
    if policy is not None:
        _play_by(policy, made)
    for file in _NAMED:
        if file in made:
            made[file] = re.sub(rb"\bNAME\b", name.encode(), made[file])
    made[bot_manifests.MANIFEST] = _alone(made[bot_manifests.MANIFEST].decode(), author, language).encode()
    try:
        for path, content in made.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            files.write(target, content)
    except OSError as error:
        raise errors.ConfigError(
            f"expected a folder that can be written, got: {str(folder)!r}: {error.strerror}"
        ) from None
    manifest = bot_manifests.read_manifest(folder)
    if (manifest.name, manifest.author, manifest.include) != (name, author, ()):
        raise errors.InternalError(f"expected a bot from the template in {template}, got: {manifest}")
    lack = bot_manifests.missing_tool(manifest, folder) or bot_manifests.missing(manifest, folder)
    missing = lack.what if lack is not None and lack.program else None
    build = bot_manifests.work(manifest)
    return NewBot(folder=folder, build=build, missing=missing, rules=tuple(manifest.rules))


def _files(template: Path) -> dict[str, bytes]:
    """Returns the files of a template: their contents by their paths in the new folder."""
    manifest = bot_manifests.read_manifest(template)
    own = (path.relative_to(template) for path in sorted(template.rglob("*")) if path.is_file())
    paths = {str(path): path for path in own if not _is_made(path, manifest)}
    paths |= {re.sub(r"^(\.\./)+", "", name): Path(name) for name in manifest.include}
    paths |= {"AGENTS.md": resources.bots_folder() / "AGENTS.md", "BOT.md": resources.protocol_folder() / "BOT.md"}
    return {
        name: files.read(template / path, f"the file {name!r} of a template", files.MOST_TEXT, errors.InternalError)
        for name, path in paths.items()
    }


class _Layer(msgspec.Struct):
    inputs: int
    weights: bytes
    bias: bytes


class _Policy(msgspec.Struct):
    format: Literal[1]
    rules: Literal["gardener", "samurai"]
    layers: Annotated[list[_Layer], msgspec.Meta(min_length=1)]

    def __post_init__(self) -> None:
        for layer, after in zip(self.layers, [*self.layers[1:], None], strict=True):
            outputs = len(layer.bias) // 4
            if len(layer.weights) != 4 * layer.inputs * outputs or (after is not None and after.inputs != outputs):
                raise ValueError("layers that do not fit")


def _play_by(policy: Path, made: dict[str, bytes]) -> None:
    """Makes of a new bot's files those of one that plays by a policy: one program, and the policy beside it."""
    made["policy.json"] = files.read(policy, "a policy", files.MOST_LOG, errors.ConfigError)
    try:
        rules = msgspec.json.decode(made["policy.json"], type=_Policy).rules
    except msgspec.DecodeError as error:
        raise errors.ConfigError(
            "expected a policy for gardener or samurai as `arena.learn.adapters.policies.save` writes it, got: "
            f"{str(policy)!r}: {error}"
        ) from None
    folder = resources.bots_folder() / "python" / "policy"
    game, bot, readme = (
        files.read(folder / name, "a part of a policy's bot", files.MOST_TEXT, errors.InternalError)
        for name in (f"{rules}.py", "bot.py", "README.md")
    )
    head, _, rest = bot.partition(b"from arena_bot import Bot, run\nfrom gardener import Table\n")
    made["bot.py"] = head + made.pop("arena_bot.py") + game + rest
    made["README.md"] = readme.replace(b"RULES", rules.encode())
    made[bot_manifests.MANIFEST] += f'rules = ["{rules}"]\n'.encode()


def _is_made(path: Path, manifest: bot_manifests.Manifest) -> bool:
    """Says whether a file was made by building or running the template in place."""
    return not bot_files.LEFT_OUT.isdisjoint(path.parts) or any(
        path.is_relative_to(name) for name in (*manifest.built, *manifest.fetched)
    )


def _alone(manifest: str, author: str, language: str) -> str:
    """Returns a template's manifest with its author and language, without files from outside."""
    manifest = re.sub(r"(?m)^include = \[[^\]]*\].*\n", "", manifest)
    for key, text in (("author", author), ("language", language)):
        line = f"{key} = {json.dumps(text, ensure_ascii=False)}".replace("\\", r"\\")
        manifest = re.sub(rf"(?m)^{key} = .*$", line, manifest)
    return manifest
