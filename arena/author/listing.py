"""Lists the bots, bundled and in this folder, and says whether they can play."""

from __future__ import annotations

from pathlib import Path

from arena.author.build import local_bots
from arena.core.face import Payload, bot_manifests, errors


def list_bots() -> list[Payload]:
    """Returns the bundled bots by name, then those in this folder."""
    bundled = bot_manifests.bundled_folders()
    here = {f"./{ref}" if ref in bundled else ref: Path(ref) for ref in local_bots()}
    return [
        *(_listed(ref, folder, bundled=True) for ref, folder in sorted(bundled.items())),
        *(_listed(ref, folder, bundled=False) for ref, folder in here.items()),
    ]


def _listed(ref: str, folder: Path, *, bundled: bool) -> Payload:
    """Returns a bot as `--json` prints it.

    Its `state` says whether it can play: at once (`ready`), or after it is built (`unbuilt`), something is installed
    (`missing`), or its manifest is fixed (`broken`). `remedy` is the command that builds it, what is missing,
    or what is wrong with the manifest. `rules` are the games it plays; none if its manifest does not say.
    """
    told: Payload = {"name": "", "version": "", "author": "", "language": "", "rules": ()}
    state, remedy = "ready", ""
    try:
        manifest = bot_manifests.read_manifest(folder)
    except errors.BotError as error:
        state, remedy = "broken", str(error)
    else:
        told = {name: getattr(manifest, name) for name in told}
        if lack := bot_manifests.missing(manifest, folder):
            tool = bot_manifests.missing_tool(manifest, folder)
            if lack.buildable and tool is None:
                state, remedy = "unbuilt", bot_manifests.work(manifest)
            else:
                lack = tool if lack.buildable and tool else lack
                state, remedy = "missing", lack.what if lack.why.is_absent else lack.told
    place = {"folder": str(folder.resolve()), "bundled": bundled}
    return {"bot": ref, **told, **place, "state": state, "remedy": remedy}
