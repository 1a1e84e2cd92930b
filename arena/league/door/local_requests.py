"""Answers authors' requests: what is published, uploads, orders. No sockets and no clock of its own.

An author is who the token belongs to at the moment of the request. Nothing here asks for an author by a name that a
request contains. What cannot succeed by what is published is refused here: an order that is given is a row for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final, NamedTuple, TypeVar

import msgspec

from arena.core.face import Level, Payload
from arena.league.door.checks import ArchiveChecks
from arena.league.door.limits import ARCHIVE_MIB, LIMITS, MOST_BOTS, MOST_OPEN, MOST_WAITING, Usage, orders_of
from arena.league.door.messages import PROTOCOL, Ordered, Serve, Submitted, Versions, VersionsQuery, Welcome
from arena.league.door.orders import Orders
from arena.league.door.published import Published
from arena.league.door.refusals import Refusal, unknown
from arena.league.door.uploads import Announced, Uploads

_T = TypeVar("_T")
_LOOK_S: Final = 0.5  # seconds between two looks whether a version was tried


class Who(NamedTuple):
    """Who asks."""

    key: str
    """The hash of the token that was shown."""
    author: str
    """To whom it belongs now."""


class LocalRequests:
    """Answers what needs no other connection."""

    def __init__(
        self,
        published: Published,
        orders: Orders,
        uploads: Uploads,
        usage: Usage,
        checks: ArchiveChecks,
        clock: Callable[[], float],
    ) -> None:
        self._published = published
        self._orders = orders
        self._uploads = uploads
        self._usage = usage
        self._checks = checks
        self._clock = clock
        self._sending: set[str] = set()
        """Authors of whom an archive comes, or is checked."""
        self._latest: dict[str, str] = {}
        """Version that each author sent last: the league publishes it a moment after it has answered."""

    def welcome(self, who: Who) -> Welcome:
        """Says who the league is, and what the author may: the door's limits, and the league's."""
        of_league = self._published.limits(who.author)
        limits = {**LIMITS, "orders": orders_of(of_league.get("submissions", 0))}
        of_door = {name: int(limit.burst) for name, limit in limits.items()}
        most = {"waiting": MOST_WAITING, "remote": MOST_BOTS, "open": MOST_OPEN}
        return Welcome(
            protocol=PROTOCOL,
            author=who.author,
            league=self._published.league(),
            limits={**of_league, **of_door, **most},
        )

    async def versions(self, who: Who, query: VersionsQuery) -> Versions:
        """Returns how the author's versions stand; if they wish, once the newest was tried."""
        until = self._clock() + query.wait
        while self._clock() < until and self._is_pending(who.author, query.bot):
            await asyncio.sleep(_LOOK_S)
        return self._published.status(who.author, query.bot)

    def _is_pending(self, author: str, bot: str) -> bool:
        latest = self._latest.get(author, "")
        known = (each.get("version") for each in self._published.versions(author))
        if latest and bot in ("", latest.partition("/")[0]) and latest not in known:
            return True
        return self._published.is_pending(author, bot)

    async def ordered(self, who: Who, verb: str, arguments: Payload) -> Ordered:
        """Gives an order of the author.

        Raises:
            Refusal: The bot is not theirs, there were too many orders, or the league refuses.
            OSError: The disk has failed.
        """
        if verb != "bot_author" and "bot" in arguments and not self._orders.may_have(who.author, arguments["bot"]):
            retired = self._published.retired(who.author, arguments["bot"]) if verb == "retire" else ()
            if retired:  # it was asked for before
                return Ordered(retired=retired)
            raise unknown("a bot of yours that is not retired", arguments["bot"])
        if arguments.get("name", who.author) != who.author:
            raise unknown("your own name", arguments["name"])
        self._orders.permit(*who, self._clock())
        order = self._orders.give(who.author, verb, arguments)
        return _typed({**await self._orders.answer(who.author, order), "order": order}, Ordered)

    def most(self, who: Who) -> int:
        """Returns how many bytes an archive of the author may have."""
        return self._published.limits(who.author).get("archive_mib", ARCHIVE_MIB) << 20

    def have(self, who: Who, upload: str) -> int:
        """Returns how many bytes of an upload are there; it raises `Refusal` if there is none."""
        return self._uploads.have(who.author, upload)

    async def submit(self, who: Who, begun: Announced, offset: int, sent: AsyncIterator[bytes]) -> Submitted:
        """Takes an archive of a bot, and hands it on.

        Args:
            who: The author, who sends one at a time.
            begun: What is sent.
            offset: Where `sent` begins.
            sent: Its bytes. An author who sends more quickly than they may is read more slowly.

        Raises:
            Refusal: The archive or its author breaks a rule, or the league refuses it.
            OSError: The disk has failed.
        """
        if begun.size > (most := self.most(who)):
            raise Refusal(
                "too_large", f"expected at most {most} bytes, got: {begun.size}", "leave something out", limit="size",
            )  # fmt: skip
        if who.author in self._sending:
            raise Refusal(
                "too_many", "expected one archive at a time, got: another while the one before comes, or is checked",
                "try again in 1 s", limit="waiting", retry_after_s=1,
            )  # fmt: skip
        if (same := self._same(who, begun.bot, begun.digest)) is not None:
            return same
        self._sending.add(who.author)
        try:
            handed_on = await self._hand_on(who, begun, offset, sent)
        finally:
            self._sending.discard(who.author)
        if isinstance(handed_on, Submitted):
            return handed_on
        submitted = _typed({**await self._orders.answer(who.author, handed_on), "order": handed_on}, Submitted)
        self._latest[who.author] = submitted.version
        return submitted

    async def _hand_on(self, who: Who, begun: Announced, offset: int, sent: AsyncIterator[bytes]) -> Submitted | str:
        """Returns the order that an archive was handed on with, or the version that it is already."""
        self._uploads.begin(who.author, begun, offset)
        async for piece in sent:
            await self.pay(who, "uploads", len(piece))
            self._uploads.add(who.author, begun, offset, piece)
            offset += len(piece)
        path = self._uploads.whole(who.author, begun)
        self._orders.permit(*who, self._clock())
        try:
            digest = await self._checks.packed(path, self.most(who) >> 20)
            if self._published.author_of(who.key) != who.author:  # an upload takes long
                reason = "expected a token that the league knows, got: one that was revoked meanwhile"
                raise Refusal("unknown_token", reason, "give the league's operator the hash of another")
            if begun.digest not in (None, digest):
                raise Refusal(
                    "digest",
                    f"expected an archive with the digest {begun.digest}, got: {digest}",
                    "pack the bot again, and submit that",
                )
        except Refusal:
            self._uploads.drop(who.author, begun.name)
            raise
        if (same := self._same(who, begun.bot, digest)) is not None:
            self._uploads.drop(who.author, begun.name)
            return same
        arguments = {"bot": begun.bot, "digest": digest, "size": path.stat().st_size}
        order = self._orders.give(who.author, "submit", arguments, archive=path)
        self._uploads.drop(who.author, begun.name)
        return order

    def _same(self, who: Who, bot: str, digest: str | None) -> Submitted | None:
        """Returns the version that a content is already, if it is one."""
        for version in self._published.versions(who.author):
            if digest is not None and (version.get("digest"), version.get("bot")) == (digest, bot):
                return _typed({**version, "same": True}, Submitted)
        return None

    async def pay(self, who: Who, limit: str, units: int) -> None:
        """Takes units of a limit, once there are enough."""
        while True:
            try:
                return self._usage.take(who.key, limit, units, self._clock())
            except Refusal as refusal:
                await asyncio.sleep(min(refusal.problem.retry_after_s or 1, 1))

    async def serve(self, who: Who, message: Serve) -> tuple[str, str]:
        """Returns which version a remote bot is, after an order that makes it one if it is new, and its state.

        Raises:
            Refusal: The league takes no remote bots, no more of this author, or has not answered.
            OSError: The disk has failed.
        """
        if self._published.league().get("remote") is not True:
            raise Refusal(
                "not_accepted",
                "expected a league that takes remote bots, got: one that does not",
                "submit the bot instead: `arena league submit`",
            )
        for version in self._published.versions(who.author):
            # Whatever its state: the league has one version of a content, and would answer with this one.
            same = (version.get("bot"), version.get("digest")) == (message.bot, message.digest)
            if same and version.get("level") == Level.REMOTE:
                return str(version.get("version", "")), str(version.get("state", ""))
        self._orders.permit(*who, self._clock())
        manifest = {
            "name": message.bot,
            "version": message.version,
            "language": message.language,
            "rules": list(message.rules),
        }
        arguments = {"bot": message.bot, "digest": message.digest, "manifest": manifest}
        answer = await self._orders.answer(who.author, self._orders.give(who.author, "remote", arguments))
        if not answer:
            raise Refusal(
                "unanswered",
                "expected the league to answer to a new bot, got: no answer; its service may be stopped",
                "offer the bot again in a minute",
                retry_after_s=60,
            )
        return str(answer.get("version", "")), str(answer.get("state", ""))


def _typed(answer: Payload, kind: type[_T]) -> _T:
    """Returns what the league has said, as the answer of its kind. Fields that this does not have are left out."""
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise Refusal("internal", f"expected an answer of the league, got: {error}", "tell its operator") from None
