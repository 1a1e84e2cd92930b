"""Receives submissions: checks an archive and its author's quotas, keeps it, and stores the version.

Law: what a build left on the disk is measured once, by the step, and is in its report. A folder is walked through only
if it was built before reports said so.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.author import archives
from arena.core.face import Level, Payload, bot_manifests, capping, errors, files, runtimes
from arena.league.folder import SETTINGS
from arena.league.order_context import OrderContext
from arena.league.settings import Limits
from arena.league.store import LeagueStore
from arena.league.store.records import Received, StepReport, Verdict, Version
from arena.league.store.states import State
from arena.sandbox import fenced
from arena.sandbox.usage import used

BYTES: Final = "bytes"
"""The key, in the `detail` of a build's report, of the bytes on the disk that the build left."""
_LEAST: Final = 4_096
"""The least bytes that a file counts as: an empty one takes room, too, and there is no end of such files."""


def submit(context: OrderContext) -> Payload:
    """Receives a version: checks its archive, keeps it, and stores the version."""
    store, folder = context.store, context.folder
    sender = store.authors.known(context.order.author or context.text("author"))
    author = sender.name
    if context.archive is None:
        raise errors.Refused("archive", "expected an archive with a submission, got none")
    limits = context.settings.limits.of_author(sender.quotas)
    try:
        contents = archives.check(context.archive, archives.within(limits["archive_mib"]))
    except errors.ArchiveError as error:
        remedy = f"the rule is '{error.rule}' of docs/archives.md; pack the bot with `arena league submit`"
        raise errors.Refused("archive", str(error), remedy, limit=error.limit) from None
    manifest = msgspec.to_builtins(contents.manifest)
    name = contents.manifest.name
    if (promised := context.order.arguments.get("digest", contents.digest)) != contents.digest:
        raise errors.Refused(
            "digest", f"expected an archive with the digest {promised}, got: {contents.digest}", "pack again"
        )
    if (ordered := context.text("bot", name)) != name:
        raise errors.Refused(
            "archive",
            f"expected an archive of the bot {ordered!r:.100}, got: one whose manifest names {name!r}",
            f"correct `name` in {bot_manifests.MANIFEST}, or submit it as {name}",
        )
    rules = contents.manifest.rules
    if rules and context.settings.game.rules not in rules:
        raise errors.Refused(
            "rules",
            f"expected a bot that plays {context.settings.game.rules}, got: one of {', '.join(rules)}",
            f"add it to `rules` in {bot_manifests.MANIFEST}, or leave that out",
        )
    try:
        capping.granted(contents.manifest.limits, bot_manifests.MANIFEST, context.settings.caps, SETTINGS)
    except capping.BeyondCaps as error:
        raise errors.Refused("archive", *str(error).split("; ", 1), limit=error.cap) from None
    if context.settings.level is not Level.TRUSTED and (wrong := _not_runnable(contents)):
        raise errors.Refused("archive", *str(wrong).split("; ", 1))
    if context.settings.level is Level.FENCED:
        try:
            fenced.check(name, contents.manifest.command)
            fenced.check_build(name, contents.manifest.build)
        except errors.BotError as error:
            raise errors.Refused("archive", *str(error).split("; ", 1)) from None
    _check_new(context, author, name, contents.digest)
    kept = folder.archive(contents.digest)
    if not kept.exists():
        with open(context.archive, "rb") as sent, files.writing(kept) as file:
            shutil.copyfileobj(sent, file)
    size, level = context.archive.stat().st_size, context.settings.bots.level
    received = store.versions.receive(
        author, name, contents.digest, manifest, size, _now(), level=level, by=context.actor
    )
    return answer_of(received)


def remote(context: OrderContext) -> Payload:
    """Receives a bot that plays from its author's machine: there is no archive, only what it is called."""
    if not context.settings.bots.remote:
        raise errors.Refused(
            "not_accepted",
            "expected a league that takes remote bots, got: one that does not",
            "submit the bot instead: `arena league submit`",
        )
    author = context.store.authors.known(context.order.author or context.text("author")).name
    name, digest = context.name("bot", "a bot"), context.text("digest")
    if not archives.is_digest(digest):
        raise errors.Refused("argument", f"expected a digest of 64 hexadecimal digits, got: {digest!r:.80}")
    manifest = context.order.arguments.get("manifest", {})
    if not isinstance(manifest, dict):
        raise errors.Refused("argument", f"expected a manifest, got: {manifest!r:.80}")
    if (size := len(msgspec.json.encode(manifest))) > archives.LIMITS.manifest:
        raise errors.Refused("argument", f"expected a manifest of at most 64 KiB, got: {size} bytes")
    _check_new(context, author, name, digest)
    received = context.store.versions.receive(
        author, name, digest, {**manifest, "name": name}, 0, _now(), level=Level.REMOTE, by=context.actor
    )
    return answer_of(received)


def check_frozen(context: OrderContext) -> None:
    """Checks that submissions are not frozen. How long the order waited for the league is not its author's fault.

    Raises:
        Refused: They are.
    """
    season = context.store.seasons.current()
    dates = context.settings.season.dates.of_season(season.opened if season else None)
    if season is None or dates.freezes is None or datetime.fromisoformat(context.order.at).timestamp() < dates.freezes:
        return
    follows = f", which begins when this one closes: {dates.text(dates.closes)}" if dates.closes else ""
    raise errors.Refused(
        "not_accepted",
        f"expected a submission before {dates.text(dates.freezes)}, when those to the season {season.name} froze, got: "
        "a later one",
        f"submit it to the next season{follows}",
    )


def answer_of(received: Received) -> Payload:
    """Returns the answer to a submission."""
    version = received.version
    return {
        "version": version.name,
        "digest": version.digest,
        "state": version.state,
        "before": received.before,
        "same": received.same,
    }


def check_quotas(context: OrderContext, author: str, bot: str, *, submits: bool = True) -> None:
    """Checks that an author may submit one more version, or have one more bot.

    Raises:
        Refused: They may not; the error names the limit, and when they may.
    """
    limits = context.settings.limits.of_author(context.store.authors.known(author).quotas)
    versions = context.store.versions.of_author(author)
    bots = {version.bot for version in versions if version.state not in (State.RETIRED, State.REJECTED)}
    if bot not in bots and len(bots) >= limits["bots"]:
        raise errors.Refused(
            "quota",
            f"expected at most {limits['bots']} bots of one author, got: one more, {bot}",
            "retire one with `arena league retire BOT`, or give this one the name of one",
            limit=limits["bots"],
        )
    allowance = Allowance(context.store, context.folder.bots, context.settings.limits)
    if sum(allowance.taken(author).values()) >= limits["built_mib"] * files.MIB:
        raise errors.Refused(
            "quota",
            f"expected what is built of one author's bots to take less than {limits['built_mib']:,} MiB, got: more",
            allowance.remedy(author),
            limit=limits["built_mib"],
        )
    if not submits:
        return
    # One that waits gives its place to a newer one of the same bot.
    pending = [one for one in versions if one.is_pending and not (one.bot == bot and one.state is State.RECEIVED)]
    if len(pending) >= limits["pending"]:
        raise errors.Refused(
            "quota",
            f"expected at most {limits['pending']} versions of one author that wait or are tried, got: one more",
            f"wait until {pending[-1].name} is through",
            limit=limits["pending"],
        )
    check_day((one.received for one in versions), limits["submissions"], "submissions")


def check_day(times: Iterable[str], limit: int, what: str) -> None:
    """Checks that an author did something less often than `limit` in 24 hours, by when they did it (UTC, ISO 8601).

    Raises:
        Refused: They did not; the error says when they may again.
    """
    now, day = datetime.now(UTC), timedelta(days=1)
    # What came later than now came while the clock was ahead: nobody may have to wait until it is that late.
    recent = sorted(at for at in times if _text(now - day) <= at <= _text(now))
    if len(recent) >= limit:
        left = 1
        if limit:
            first = datetime.fromisoformat(recent[-limit])
            left = max(1, math.ceil((first + day - now).total_seconds()))
        raise errors.Refused(
            "quota", f"expected at most {limit} {what} of one author in 24 hours, got: one more",
            f"try again in {left} s", limit=limit, retry_after_s=left,
        )  # fmt: skip


def _check_new(context: OrderContext, author: str, bot: str, digest: str) -> None:
    """Checks that submissions are open to one more version, unless it is there already."""
    if all(version.digest != digest for version in context.store.versions.of_bot(bot)):
        check_frozen(context)
        check_quotas(context, author, bot)


def _not_runnable(contents: archives.Contents) -> errors.BotError | None:
    """Returns what is wrong with the programs that a bot calls; None if all are its own or granted."""
    name, own = contents.manifest.name, contents.manifest.command[0]
    for program in (own, *contents.manifest.needs):
        if "/" not in program and not runtimes.is_granted(program):
            return runtimes.not_granted(name, program)
    if "/" in own and os.path.normpath(os.path.join(contents.bot, own)) in contents.scripts:
        return runtimes.script(name, own)
    return None


def _now() -> str:
    return _text(datetime.now(UTC))


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def footprint(place: Path) -> int:
    """Returns how many bytes of the disk a folder takes."""
    size, entries, _ = used([place], sys.maxsize)
    return max(size, _LEAST * entries)


class Allowance:
    """How much of the disk the built bots of each author take, and may take.

    Args:
        limits: What authors may have, but for those who have limits of their own.
    """

    def __init__(self, store: LeagueStore, bots: Path, limits: Limits) -> None:
        self._store = store
        self._bots = bots
        self._limits = limits
        self._known: dict[str, int] = {}
        """Bytes that each build takes, by digest."""

    def limit(self, author: str) -> int:
        """Returns how many MiB an author's built bots may take."""
        return self._limits.of_author(self._store.authors.quotas(author))["built_mib"]

    def taken(self, author: str, but: int | None = None) -> dict[str, int]:
        """Returns by name how many bytes each version of an author but one takes whose built files stay."""
        versions = (
            version
            for version in self._store.versions.in_use()
            if version.author == author and version.level != Level.REMOTE and not version.is_of_house
        )
        return {version.name: self._bytes(version) for version in versions if version.id != but}

    def judge(self, version: Version, report: StepReport) -> StepReport:
        """Returns the report of a build; failed, if the author's bots would take too much with what it left."""
        if report.kind != "build" or report.verdict is not Verdict.PASSED or version.level == Level.REMOTE:
            return report
        own = int(report.detail.get(BYTES, 0))
        others = self.taken(version.author, version.id)
        limit = self.limit(version.author)
        total = own + sum(others.values())
        if total <= limit * files.MIB:
            return report
        finding = (
            f"expected what is built of one author's bots to take at most {limit:,} MiB, got: {_mib(total)} with "
            f"{_mib(own)} of {version.name}; let its build leave less{_or_retire(others)}"
        )
        detail = {**report.detail, "limit_mib": limit, "others": others}
        return replace(report, verdict=Verdict.FAILED, finding=finding, detail=detail)

    def remedy(self, author: str) -> str:
        """Returns what an author can do who may not have more."""
        return f"submit bots whose build leaves less{_or_retire(self.taken(author))}"

    def _bytes(self, version: Version) -> int:
        if version.digest not in self._known:
            reports = (each.detail for each in self._store.reports.of(version.id) if each.kind == "build")
            detail = next((found for found in reports if BYTES in found), None)
            place = self._bots / version.digest
            if detail is None and not place.is_dir():
                return 0  # it is not built yet
            self._known[version.digest] = footprint(place) if detail is None else int(detail[BYTES])
        return self._known[version.digest]


def _or_retire(versions: dict[str, int]) -> str:
    """Returns the end of a sentence: which version to retire, the largest."""
    if not versions:
        return ""
    name, size = max(versions.items(), key=lambda item: item[1])
    return f", or retire a version: {name} has {_mib(size)} (`arena league retire {name}`)"


def _mib(size: int) -> str:
    return f"{-(-size // files.MIB):,} MiB"
