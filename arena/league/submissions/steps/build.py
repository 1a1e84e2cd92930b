"""The step in which a bot is built from its archive alone, and put where the league plays it."""

from __future__ import annotations

import os
from pathlib import Path

from arena.author.archives import Archive
from arena.author.archives import check as check_archive
from arena.author.archives.building import build_archive
from arena.core.face import Level, Payload, errors
from arena.league.store.records import StepReport
from arena.league.submissions.steps.step_report import Stopwatch
from arena.league.submissions.submitting import BYTES, footprint
from arena.sandbox.building import Bounds


def build(archive: Archive, bots: Path, level: Level, bounds: Bounds | None = None) -> StepReport:
    """Builds a bot, once: if it was built before, that is all.

    Args:
        bots: The folder of all bots. The bot comes to lie in the folder there that is called like its digest.
        level: How far the build is confined. At `trusted` it is not.
        bounds: How much it may take.

    Returns:
        The report. In `detail`, `folder` is the bot's own folder, relative to `bots`, and `bytes` says how much of the
        disk is taken by what the build left.
    """
    watch = Stopwatch("build")
    return watch.guarded(lambda: _build(watch, archive, bots, level, bounds))


def _build(watch: Stopwatch, archive: Archive, bots: Path, level: Level, bounds: Bounds | None) -> StepReport:
    try:
        contents = check_archive(archive)
    except errors.ArchiveError as error:
        return watch.failed(str(error), detail={"rule": error.rule, "path": error.path, "limit": error.limit})
    watch.command_to_repeat = f"arena bot build {contents.manifest.name}"
    detail: Payload = {"folder": os.path.normpath(f"{contents.digest}/{contents.bot}")}
    built = build_archive(archive, contents, bots, level, bounds)
    if not built.finding:
        detail[BYTES] = footprint(bots / contents.digest)
    if built.before:
        return watch.passed(detail={**detail, "built_before": True}, tree_digest=built.tree)
    found = {} if built.run is None else {"memory_mib": built.run.memory_mib, "output": built.run.output}
    if built.finding:
        return watch.failed(built.finding, detail=detail, **found)
    return watch.passed(detail={**detail, "removed": built.removed}, tree_digest=built.tree, **found)
