"""Builds a bot from its archive alone, and puts it in the place from which it will be played.

The work is done in a folder beside that place, which gets its name in one step when all is well. So a bot's folder is
whole or not there, whatever is killed when.
"""

from __future__ import annotations

import os
import secrets
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import msgspec

from arena.author.archives.checking import Archive, Contents
from arena.author.archives.rules import LABEL, MOST, Limits
from arena.author.archives.settling import settle, tree_digest, what_stays
from arena.author.archives.unpacking import unpack
from arena.core.face import Level, bot_manifests, confining, errors, files, programs, runtimes, warden
from arena.sandbox.binds import BOT
from arena.sandbox.building import Bounds, Run, run_build
from arena.sandbox.fenced import check_build

PART: Final = ".part"
"""Suffix of the names of `part_of`. Nobody needs such a folder when no builder runs."""


class BuiltArchive(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a build."""

    finding: str = ""
    """Complaint, which may quote the bot: what was expected, what was got, what to do; empty if it is in its place."""
    tree: str = ""
    """SHA-256 (hex) over the files in that place."""
    before: bool = False
    """Whether it was there already."""
    removed: int = 0
    """Files that the build left and that nobody needs: they are gone."""
    run: Run | None = None
    """Result of its command; None if there was none, or it did not begin."""


def place_of(bots: Path, contents: Contents) -> Path:
    """Returns the folder that a bot's archive is unpacked to and built in, in the folder of all bots."""
    return bots / contents.digest


def part_of(place: Path) -> Path:
    """Returns a new name beside a bot's place, for what is not whole: being built there, or being removed."""
    return place.with_name(f"{place.name}.{secrets.token_hex(8)}{PART}")


def build_archive(
    archive: Archive,
    contents: Contents,
    bots: Path,
    level: Level,
    bounds: Bounds | None = None,
    limits: Limits = MOST,
) -> BuiltArchive:
    """Builds a bot, once: if it was built before, that is all. It comes to lie in `place_of(bots, contents)`.

    Raises:
        LevelError: This machine cannot confine the build so.
        MachineFault: The machine is the reason that it could not run, or not to its end. The bot is not to blame.
        OSError: The folder cannot be written.
    """
    place = place_of(bots, contents)
    if place.exists():
        return BuiltArchive(tree=tree_digest(place), before=True)
    confining.require(level)
    programs.check_disk(bots)
    with ExitStack() as held:
        part = part_of(place)
        part.mkdir(0o755)
        held.callback(warden.remove_tree, str(part))
        part.chmod(0o755)
        top, temporary = part / "top", part / "tmp"
        unpack(archive, top, limits)
        temporary.mkdir()
        temporary.chmod(0o711)  # the build may be another user
        run = None
        try:
            run = _run(contents, top, temporary, level, bounds or Bounds())
            if run is not None and run.problem:
                command = shlex.join(contents.manifest.build)
                expected = f"expected `{command}` to succeed without a network"
                return BuiltArchive(finding=f"{expected}, got: it {run.problem}; its output says more", run=run)
            finding, removed = _settled(contents, top, limits)
            if finding:
                return BuiltArchive(finding=finding, run=run)
        except errors.BotError as error:
            return BuiltArchive(finding=str(error).replace(f"{top}/", ""), run=run)
        digest = tree_digest(top)
        os.sync()  # a folder that is in its place is whole, even if the power fails
        top.rename(place)
    return BuiltArchive(tree=digest, removed=removed, run=run)


def _run(contents: Contents, top: Path, temporary: Path, level: Level, bounds: Bounds) -> Run | None:
    """Runs the build; returns None if there is nothing to build.

    Raises:
        BotError: Its program is not there, or nothing can be built at this level.
    """
    command = contents.manifest.build
    if not command:
        return None
    if level is Level.FENCED:
        check_build(contents.manifest.name, command)
    if (why := programs.unfit(runtimes.resolved(command)[0], top / contents.bot)) is not None:
        if why.of_machine:
            raise errors.MachineFault(f"expected to run {command[0]!r}, got: {why.got}; {why.remedy}")
        if why.of_path:
            raise errors.BotError(
                f"expected a build by programs that this machine has, got: {command[0]!r}, which it has not; "
                "ask its operator, or send what needs no building"
            )
        raise errors.BotError(
            f"expected {command[0]!r}, which builds {contents.manifest.name}, got: {why.got}; {why.remedy}"
        )
    folder = os.path.normpath((top if level is Level.TRUSTED else Path(BOT)) / contents.bot)
    spec = bot_manifests.BotSpec(
        name=contents.manifest.name, version=contents.manifest.version, command=command, folder=folder, digest=""
    )
    try:
        return run_build(spec, top, temporary, level, bounds)
    except errors.BotError as error:  # about the league's own files
        raise errors.MachineFault(str(error)) from None


def _settled(contents: Contents, top: Path, limits: Limits) -> tuple[str, int]:
    """Takes over what was built. Returns what is wrong with it, if anything, and how many files were removed."""
    manifest, folder = contents.manifest, top / contents.bot
    sent = [entry.path for entry in contents.entries]
    removed = settle(top, [LABEL, *what_stays(contents.bot, manifest, sent)])
    # They are read again at each start of a league, by each of their names: a build may have made them one large file.
    if sum(path.stat().st_size for name in sent if (path := top / name).is_file()) > limits.unpacked:
        most_sent = f"below {limits.unpacked:,} bytes"
        return f"expected a build that leaves what was sent {most_sent}, got: more; write new files", 0
    own, most = bot_manifests.MANIFEST, bot_manifests.MOST_MANIFEST
    data = files.read(folder / own, "the manifest after the build", most, errors.BotError, links=False)
    if bot_manifests.parse_manifest(data, own) != manifest:
        return f"expected a build that leaves {own} as it is, got: another one; do not write to it", removed
    lack = bot_manifests.missing(manifest, folder)
    if lack is not None:
        if lack.why.of_machine:
            raise errors.MachineFault(f"expected to start {lack.what!r}, got: {lack.why.got}; {lack.why.remedy}")
        got, remedy = f"no such {'program on the path' if lack.program else 'file after the build'}", lack.why.remedy
        if not lack.why.is_absent:
            got = lack.why.got
        elif manifest.built and not manifest.build:
            remedy = f"what `built` names is not sent: give {own} a `build` that makes it, or take it out of `built`"
        else:
            needs = "put into the archive what it needs (`include`, `fetched`)"
            remedy = f"name what the build makes in `built` of {own}, and {needs}"
        return f"expected {lack.what!r}, which {manifest.name} needs, got: {got}; {remedy}", removed
    bot_manifests.load_bot(str(folder))
    return "", removed
