"""Receives submissions: checks an archive and its author's quotas, keeps it, and stores the version."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import msgspec

from arena import files, parcels
from arena.errors import BotError, ParcelError, Refused, StoreError
from arena.league.allowance import Allowance
from arena.league.desk import Desk
from arena.link import runtimes
from arena.link.bots import MANIFEST
from arena.link.sandbox import fenced
from arena.store.league import LeagueStore
from arena.store.league.records import Received
from arena.store.league.states import State
from arena.types import Level, Payload


def submit(desk: Desk) -> Payload:
    """Receives a version: checks its archive, keeps it, and stores the version."""
    store, folder = desk.store, desk.folder
    author = store.authors.known(desk.order.author or desk.text("author")).name
    if desk.archive is None:
        raise Refused("archive", "expected an archive with a submission, got none")
    try:
        contents = parcels.check(desk.archive)
    except ParcelError as error:
        raise Refused("archive", str(error), _remedy(error), limit=error.limit) from None
    data = files.read(desk.archive, "an archive", parcels.LIMITS.packed, StoreError, links=False)
    manifest = msgspec.to_builtins(contents.manifest)
    name = contents.manifest.name
    if (promised := desk.order.arguments.get("digest", contents.digest)) != contents.digest:
        raise Refused("digest", f"expected an archive with the digest {promised}, got: {contents.digest}", "pack again")
    rules = contents.manifest.rules
    if rules and desk.settings.game.rules not in rules:
        raise Refused(
            "rules",
            f"expected a bot that plays {desk.settings.game.rules}, got: one of {', '.join(rules)}",
            f"add it to `rules` in {MANIFEST}, or leave that out",
        )
    if desk.settings.level is not Level.TRUSTED and (wrong := _not_runnable(contents)):
        raise Refused("archive", *str(wrong).split("; ", 1))
    if desk.settings.level is Level.FENCED:
        try:
            fenced.check(name, contents.manifest.command)
            fenced.check_build(name, contents.manifest.build)
        except BotError as error:
            raise Refused("archive", *str(error).split("; ", 1)) from None
    if not _is_there(store, name, contents.digest):
        check_quotas(desk, author, name)
    kept = folder.archive(contents.digest)
    if not kept.exists():
        files.write(kept, data, durably=True)
    return answer_of(
        store.versions.receive(
            author,
            name,
            contents.digest,
            manifest,
            len(data),
            _now(),
            level=desk.settings.bots.level,
            by=desk.actor,
        )
    )


def remote(desk: Desk) -> Payload:
    """Receives a bot that plays from its author's machine: there is no archive, only what it is called."""
    if not desk.settings.bots.remote:
        raise Refused(
            "not_accepted",
            "expected a league that takes remote bots, got: one that does not",
            "submit the bot instead: `arena league submit`",
        )
    author = desk.store.authors.known(desk.order.author or desk.text("author")).name
    name, digest = desk.name("bot", "a bot"), desk.text("digest")
    if not parcels.is_digest(digest):
        raise Refused("argument", f"expected a digest of 64 hexadecimal digits, got: {digest!r:.80}")
    manifest = desk.order.arguments.get("manifest", {})
    if not isinstance(manifest, dict) or len(msgspec.json.encode(manifest)) > parcels.LIMITS.manifest:
        raise Refused("argument", "expected a manifest of at most 64 KiB")
    if not _is_there(desk.store, name, digest):
        check_quotas(desk, author, name)
    received = desk.store.versions.receive(
        author, name, digest, {**manifest, "name": name}, 0, _now(), level=Level.REMOTE, by=desk.actor
    )
    return answer_of(received)


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


def check_quotas(desk: Desk, author: str, bot: str) -> None:
    """Checks that an author may submit one more version.

    Raises:
        Refused: They may not; the error names the limit, and when they may.
    """
    limits = desk.settings.limits.of_author(desk.store.authors.known(author).quotas)
    versions = desk.store.versions.of_author(author)
    bots = {version.bot for version in versions if version.state not in (State.RETIRED, State.REJECTED)}
    if bot not in bots and len(bots) >= limits["bots"]:
        raise Refused(
            "quota",
            f"expected at most {limits['bots']} bots of one author, got: one more, {bot}",
            "retire one with `arena league retire BOT`, or give this one the name of one",
            limit=limits["bots"],
        )
    allowance = Allowance(desk.store, desk.folder.bots, desk.settings.limits)
    if sum(allowance.taken(author).values()) >= limits["built_mib"] * files.MIB:
        raise Refused(
            "quota",
            f"expected what is built of one author's bots to take less than {limits['built_mib']:,} MiB, got: more",
            allowance.remedy(author),
            limit=limits["built_mib"],
        )
    # One that waits gives its place to a newer one of the same bot.
    pending = [one for one in versions if one.is_pending and not (one.bot == bot and one.state is State.RECEIVED)]
    if len(pending) >= limits["pending"]:
        raise Refused(
            "quota",
            f"expected at most {limits['pending']} versions of one author that wait or are tried, got: one more",
            f"wait until {pending[-1].name} is through",
            limit=limits["pending"],
        )
    day = timedelta(days=1)
    recent = sorted(one.received for one in versions if one.received >= _text(datetime.now(UTC) - day))
    if len(recent) >= limits["submissions"]:
        left = 1
        if limits["submissions"]:
            first = datetime.fromisoformat(recent[-limits["submissions"]])
            left = max(1, int((first + day - datetime.now(UTC)).total_seconds()) + 1)
        raise Refused(
            "quota",
            f"expected at most {limits['submissions']} submissions of one author in 24 hours, got: one more",
            f"try again in {left} s",
            limit=limits["submissions"],
            retry_after_s=left,
        )


def _is_there(store: LeagueStore, bot: str, digest: str) -> bool:
    return any(version.digest == digest for version in store.versions.of_bot(bot))


def _not_runnable(contents: parcels.Contents) -> BotError | None:
    """Returns what is wrong with the programs that a bot calls; None if all are its own or granted."""
    name, own = contents.manifest.name, contents.manifest.command[0]
    for program in (own, *contents.manifest.needs):
        if "/" not in program and not runtimes.is_granted(program):
            return runtimes.not_granted(name, program)
    if "/" in own and os.path.normpath(os.path.join(contents.bot, own)) in contents.scripts:
        return runtimes.script(name, own)
    return None


def _remedy(error: ParcelError) -> str:
    return f"the rule is {error.rule!r} of docs/parcels.md; pack the bot with `arena league submit`"


def _now() -> str:
    return _text(datetime.now(UTC))


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
