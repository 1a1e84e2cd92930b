"""Chooses who enters: bots by name, folders of bots, and all bundled bots.

A bot that is named must be able to play. Of a folder of bots, those enter that can play; the others are left out with
the reason. A shell expands `bots/*` to files too: they are left out if they lie beside a bot that is named.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from arena.core.catalogue import game
from arena.core.errors import BotError
from arena.core.link import bots as manifests
from arena.core.link.contents import LEFT_OUT
from arena.core.resources import bots_folder


class LeftOut(msgspec.Struct, frozen=True):
    """A bot, or a file, that does not enter."""

    bot: str
    reason: str


class Chosen(msgspec.Struct, frozen=True):
    """Who enters."""

    refs: tuple[str, ...]
    """Their names on the command line; each is that of one bot."""
    left_out: tuple[LeftOut, ...]


def choose(refs: Sequence[str], rules: str, *, bundled: bool = False) -> Chosen:
    """Replaces each folder of bots by those in it that can play.

    The order is that of `refs`; the bots of a folder come by name. All bundled bots, if asked for, come first.

    Args:
        refs: Bots, their `bot.toml` files, and folders of bots. A ref that is none of these is kept as it is: reading
            the bot says what is wrong with it.
        bundled: Whether all bundled bots enter that can play.

    Raises:
        ConfigError: There is no such game, or a folder has no bot that can play. Show the message to the operator.
    """
    game(rules)
    names = manifests.bundled_folders()
    chosen: list[str] = []
    left_out: list[LeftOut] = []
    groups = {ref: {} if _is_bot(ref, names) else _bots_in(ref) for ref in refs}
    beside = {Path(ref).parent for ref, found in groups.items() if found or (Path(ref) / manifests.MANIFEST).is_file()}
    if bundled:
        able, unable = _sort_out(dict(sorted(names.items())), rules)
        chosen += able
        left_out += unable
    for ref in refs:
        path = Path(ref)
        if found := groups[ref]:
            able, unable = _sort_out(found, rules)
            if not able:
                reasons = "; ".join(f"{bot.bot}: {bot.reason}" for bot in unable)
                raise BotError(f"expected a folder with a bot that can play {rules}, got: {ref} ({reasons})")
            chosen += able
            left_out += unable
        elif path.name == manifests.MANIFEST and path.is_file():
            chosen.append(_as_ref(path.parent))
        elif path.exists() and path.parent in beside and not _is_bot(ref, names):
            left_out.append(LeftOut(ref, f"expected a folder with a {manifests.MANIFEST}, or of such folders"))
        else:
            chosen.append(ref)
    return Chosen(tuple(chosen), tuple(left_out))


def _is_bot(ref: str, names: Collection[str]) -> bool:
    name, bot, values = manifests.read_ref(ref)
    is_bot = bot.startswith(manifests.COMMAND) or bot in names or (Path(bot) / manifests.MANIFEST).is_file()
    return is_bot or bool(name or values)


def _bots_in(ref: str) -> dict[str, Path]:
    """Returns the folders of the bots in a folder, by their names on the command line, in the order of their names.

    Raises:
        BotError: It has no bots, but folders of bots.
    """
    name, bot, values = manifests.read_ref(ref)
    folder = Path(bot)
    if name or values or not folder.is_dir():
        return {}
    inner = [path for path in folder.iterdir() if path.name not in LEFT_OUT and not path.name.startswith(".")]
    found = [path for path in inner if (path / manifests.MANIFEST).is_file()]
    if not found and (deeper := sorted({path.parent.parent for path in folder.glob(f"*/*/{manifests.MANIFEST}")})):
        folders = " ".join(map(_as_ref, deeper))
        raise BotError(
            f"expected a folder with a {manifests.MANIFEST}, or of such folders, got: {ref}; "
            f"name those in it: {folders}"
        )
    return {_as_ref(path): path for path in sorted(found, key=lambda path: (_name(path), path.name))}


def _name(folder: Path) -> str:
    """Returns a bot's name, or its folder's if the manifest cannot be read."""
    try:
        return manifests.read_manifest(folder).name
    except BotError:
        return folder.name


def _as_ref(folder: Path) -> str:
    text = str(folder)
    return text if "/" in text or text.startswith(".") else f"./{text}"


def _sort_out(folders: Mapping[str, Path], rules: str) -> tuple[list[str], list[LeftOut]]:
    reasons = {ref: _reason(ref, folder, rules) for ref, folder in folders.items()}
    able = [ref for ref, reason in reasons.items() if reason is None]
    return able, [LeftOut(ref, reason) for ref, reason in reasons.items() if reason is not None]


def _reason(ref: str, folder: Path, rules: str) -> str | None:
    if folder.name == manifests.TEMPLATE and folder.resolve().parent.parent == bots_folder():
        return "it is what new bots begin from (`arena bot new`)"
    try:
        manifest = manifests.read_manifest(folder)
        if manifest.rules and rules not in manifest.rules:
            return f"it plays {', '.join(manifest.rules)}, not {rules}"
        lack = manifests.missing(manifest, folder)
        if lack is None:
            manifests.load_bot(ref)
            return None
    except BotError as error:
        return str(error)
    if not lack.buildable:
        return f"it needs {lack.told}"
    if (tool := manifests.missing_tool(manifest, folder)) is not None:
        return f"it is not built, and needs for that {tool.told}"
    return f"it is not built; run `arena bot build {ref}`"
