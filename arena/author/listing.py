"""Lists the bots, bundled and in this folder, and says whether they can play."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from arena.author.build import local_bots
from arena.core.face import bot_manifests, errors


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A bot, by its manifest."""

    bot: str
    """Its name on the command line."""
    name: str = ""
    version: str = ""
    author: str = ""
    language: str = ""
    rules: tuple[str, ...] = ()
    """The games it plays; empty if its manifest does not say."""
    folder: str
    bundled: bool
    state: Literal["ready", "unbuilt", "missing", "broken"]
    """Whether it can play: at once, or after it is built, something is installed, or its manifest is fixed."""
    remedy: str = ""
    """Remedy: the command that builds it, the missing program or file, or what is wrong with the manifest."""


def list_bots() -> list[Listed]:
    """Returns the bundled bots by name, then those in this folder."""
    bundled = bot_manifests.bundled_folders()
    here = {f"./{ref}" if ref in bundled else ref: Path(ref) for ref in local_bots()}
    return [
        *(_listed(ref, folder, bundled=True) for ref, folder in sorted(bundled.items())),
        *(_listed(ref, folder, bundled=False) for ref, folder in here.items()),
    ]


def _listed(ref: str, folder: Path, *, bundled: bool) -> Listed:
    place = str(folder.resolve())
    try:
        manifest = bot_manifests.read_manifest(folder)
    except errors.BotError as error:
        return Listed(bot=ref, folder=place, bundled=bundled, state="broken", remedy=str(error))
    state: Literal["ready", "unbuilt", "missing"] = "ready"
    remedy = ""
    if lack := bot_manifests.missing(manifest, folder):
        tool = bot_manifests.missing_tool(manifest, folder)
        if lack.buildable and tool is None:
            state, remedy = "unbuilt", bot_manifests.work(manifest)
        else:
            lack = tool if lack.buildable and tool else lack
            state, remedy = "missing", lack.what if lack.why.is_absent else lack.told
    return Listed(
        bot=ref,
        **{name: getattr(manifest, name) for name in ("name", "version", "author", "language", "rules")},
        folder=place,
        bundled=bundled,
        state=state,
        remedy=remedy,
    )
