"""Builds a bot from its archive alone, and puts it in the place from which it will be played.

The work is done in a folder beside that place, which gets its name in one step when all is well. So a bot's folder is
whole or not there, whatever is killed when.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
from contextlib import ExitStack
from pathlib import Path

from arena.errors import BotError, MachineFault, ParcelError
from arena.files import MOST_TEXT, read
from arena.league.steps.base import StepReport, Stopwatch
from arena.league.steps.tree import settle, tree_digest, what_stays
from arena.link.bots import MANIFEST, BotSpec, build_command, load_bot, missing, parse_manifest
from arena.link.sandbox.building import Bounds, Run, run_build
from arena.link.sandbox.doctor import require
from arena.link.warden import remove_tree
from arena.parcels import LIMITS, Archive, Contents, Limits, unpack
from arena.parcels import check as check_archive
from arena.parcels.base import LABEL
from arena.types import Level

PART = ".part"
"""What the name of a folder ends with while a bot is built in it. Nobody needs one when no builder runs."""


def build(
    archive: Archive, bots: Path, level: Level, bounds: Bounds | None = None, limits: Limits = LIMITS
) -> StepReport:
    """Builds a bot, once: if it was built before, that is all.

    Args:
        archive: The bot's archive.
        bots: The folder of all bots. The bot comes to lie in the folder there that is called like its digest.
        level: How far the build is confined. At `trusted` it is not.
        bounds: How much it may take.
        limits: How large the archive may be.

    Returns:
        The report. In `detail`, `folder` is the bot's own folder, relative to `bots`.
    """
    watch = Stopwatch("build")
    return watch.guarded(lambda: _build(watch, archive, bots, level, bounds or Bounds(), limits))


def _build(watch: Stopwatch, archive: Archive, bots: Path, level: Level, bounds: Bounds, limits: Limits) -> StepReport:
    try:
        contents = check_archive(archive, limits)
    except ParcelError as error:
        return watch.failed(str(error), detail={"rule": error.rule, "path": error.path, "limit": error.limit})
    watch.command_to_repeat = f"arena bot build {contents.manifest.name}"
    place = bots / contents.digest
    detail = {"folder": os.path.normpath(f"{contents.digest}/{contents.bot}")}
    if place.exists():
        return watch.passed(detail={**detail, "built_before": True}, tree_digest=tree_digest(place))
    require(level)
    with ExitStack() as held:
        part = bots / f"{contents.digest}.{secrets.token_hex(8)}{PART}"
        part.mkdir(0o755)
        held.callback(remove_tree, str(part))
        part.chmod(0o755)
        top, temporary = part / "top", part / "tmp"
        unpack(archive, top, limits)
        temporary.mkdir()
        temporary.chmod(0o711)  # the build may be another user
        try:
            run = _run(contents, top, place, temporary, level, bounds)
            found = {} if run is None else {"memory_mib": run.memory_mib, "output": run.output}
            if run is not None and run.problem:
                return watch.failed(_failure(contents, run), detail=detail, **found)
            finding, removed = _settled(contents, top)
            if finding:
                return watch.failed(finding, detail=detail, **found)
        except BotError as error:
            return watch.failed(str(error).replace(f"{top}/", ""), detail=detail)
        digest = tree_digest(top)
        os.sync()  # a folder that is in its place is whole, even if the power fails
        top.rename(place)
    return watch.passed(detail={**detail, "removed": removed}, tree_digest=digest, **found)


def _run(contents: Contents, top: Path, place: Path, temporary: Path, level: Level, bounds: Bounds) -> Run | None:
    """Runs the build; returns None if there is nothing to build.

    Raises:
        BotError: Its program is not there.
    """
    command = build_command(contents.manifest)
    if not command:
        return None
    if "/" not in command[0] and shutil.which(command[0]) is None:
        raise BotError(
            f"expected a build by programs that this league has, got: {command[0]!r}, which it has not; "
            "ask its operator, or send what needs no building"
        )
    folder = (top if level is Level.TRUSTED else place.resolve()) / contents.bot
    spec = BotSpec(
        name=contents.manifest.name, version=contents.manifest.version, command=command, folder=str(folder), digest=""
    )
    try:
        return run_build(spec, top, place.resolve(), temporary, level, bounds)
    except BotError as error:  # about the league's own files
        raise MachineFault(str(error)) from None


def _failure(contents: Contents, run: Run) -> str:
    command = shlex.join(contents.manifest.build)
    return f"expected `{command}` to succeed without a network, got: it {run.problem}; its output says more"


def _settled(contents: Contents, top: Path) -> tuple[str, int]:
    """Takes over what was built. Returns what is wrong with it, if anything, and how many files were removed."""
    manifest, folder = contents.manifest, top / contents.bot
    sent = [entry.path for entry in contents.entries]
    removed = settle(top, [LABEL, *what_stays(contents.bot, manifest, sent)])
    path = folder / MANIFEST
    again = parse_manifest(read(path, "the manifest after the build", MOST_TEXT, BotError, links=False), MANIFEST)
    if again != manifest:
        return f"expected a build that leaves {MANIFEST} as it is, got: another one; do not write to it", removed
    lack = missing(manifest, folder)
    if lack is not None:
        what = "program on the path" if lack.program else "file after the build"
        return (
            f"expected {lack.what!r}, which {manifest.name} needs, got: no such {what}; name what the build makes in "
            f"`built` of {MANIFEST}, and put into the archive what it needs (`include`, `fetched`)",
            removed,
        )
    load_bot(str(folder))
    return "", removed
