"""Answers authors' requests: what is published, uploads, orders. No sockets and no clock of its own.

An author is who the key belongs to at the moment of the message. Nothing here asks for an author by a name that a
message contains. What cannot succeed by what is published is refused here: an order that is given is a row for ever.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from arena.league.door.checks import Checking, Checks
from arena.league.door.limits import LIMITS, MOST_BOTS, MOST_WAITING, Usage, orders_of
from arena.league.door.messages import (
    PROTOCOL,
    Accepted,
    Chunk,
    Finish,
    FromDoor,
    Games,
    Have,
    Hello,
    Log,
    Report,
    Request,
    Retire,
    Season,
    Standings,
    Status,
    Submit,
    Upload,
    Welcome,
)
from arena.league.door.orders import Orders, Waiting
from arena.league.door.published import Published
from arena.league.door.refusals import Refusal, unknown
from arena.league.door.uploads import Begun, Uploads

Later: TypeAlias = Waiting | Checking
"""What has to be known before a request is answered: what the league says to an order, or the check of an archive."""
_MOST_GAMES: Final = 100


class LocalRequests:
    """Answers what needs no other connection."""

    def __init__(self, published: Published, orders: Orders, uploads: Uploads, usage: Usage, checks: Checks) -> None:
        self._published = published
        self._orders = orders
        self._uploads = uploads
        self._usage = usage
        self._checks = checks

    def answer(self, key: str, author: str, message: Request, waiting: int, now: float) -> FromDoor | Later:
        """Returns the answer to a request, or what has to be known first.

        Args:
            key: The key that the connection has proved to hold.
            author: To whom the key belongs now.
            message: The request; `serve` is not answered here.
            waiting: How many requests of the author wait already.
            now: The door's clock, in seconds.

        Raises:
            Refusal: It is not granted.
            OSError: The disk has failed.
        """
        match message:
            case Hello():
                return self._welcome(author, message)
            case Submit():
                return self._submit(author, message)
            case Chunk():
                self._checks.need_none(author)
                self._usage.take(key, "uploads", len(message.data), now)
                return Have(message.id, self._uploads.add(author, message.upload, message.offset, message.data))
            case Finish():
                self._checks.need_none(author)
                begun, path = self._uploads.whole(author, message.upload)
                self._orders.permit(key, author, waiting, now)
                return self._checks.begin(author, message.id, begun, path)
            case Retire():
                if not self._orders.may_have(author, message.bot):
                    raise unknown("a bot of yours that is not retired", message.bot)
                self._orders.permit(key, author, waiting, now)
                return self._orders.give(author, "retire", {"bot": message.bot}, message.id, now)
            case Status():
                return self._published.status(author, message.bot, message.id)
            case Games():
                return self._published.games(
                    author,
                    bot=message.bot,
                    only=message.only,
                    after=message.after,
                    limit=message.limit or _MOST_GAMES,
                    number=message.id,
                )
            case Standings():
                return self._published.standings(message.after or 0, message.id)
            case Log():
                seen_by = "" if message.public else author
                part = self._published.log(seen_by, message.game, message.offset or 0, message.id)
                self._usage.take(key, "logs", len(part.data), now)
                return part
            case Season():
                part = self._published.season(message.tournament, message.file, message.offset or 0, message.id)
                self._usage.take(key, "logs", len(part.data), now)
                return part
            case Report():
                part = self._published.report(author, message.version, message.kind, message.offset or 0, message.id)
                self._usage.take(key, "logs", len(part.data), now)
                return part
        raise Refusal(
            "protocol", "expected a request that can be answered at this address, got: another", "report this"
        )

    def _welcome(self, author: str, message: Hello) -> FromDoor:
        if message.protocol.partition(".")[0] != PROTOCOL.partition(".")[0]:
            raise Refusal(
                "version",
                f"expected version {PROTOCOL} of the league's protocol, got: {message.protocol}",
                "use the version of arena that the league has",
            )
        return Welcome(message.id, PROTOCOL, author, self._published.league(), self._limits(author))

    def _limits(self, author: str) -> dict[str, int]:
        """Returns what an author and a key of theirs may: the door's limits, and the league's."""
        of_league = self._published.limits(author)
        limits = {**LIMITS, "orders": orders_of(of_league.get("submissions", 0))}
        of_door = {name: int(limit.burst) for name, limit in limits.items()}
        return {**of_league, **of_door, "waiting": MOST_WAITING, "remote": MOST_BOTS}

    def _submit(self, author: str, message: Submit) -> FromDoor:
        for version in self._published.versions(author):
            if version.get("digest") == message.digest and version.get("bot") == message.bot:
                return Accepted(message.id, "", {**version, "same": True})
        self._checks.need_none(author)
        have = self._uploads.begin(author, Begun(message.bot, message.digest, message.size))
        return Upload(message.id, message.digest, have)

    def checked(self, checking: Checking, now: float) -> FromDoor | Later:
        """Returns what follows of a check: the order that it was for, or the check itself while it runs.

        Raises:
            Refusal: The archive breaks a rule. The upload is forgotten.
            OSError: The disk has failed.
        """
        if not checking.digest.done():
            return checking
        author, begun = checking.author, checking.begun
        try:
            self._checks.end(checking)
        except Refusal:
            self._uploads.drop(author, begun.digest)
            raise
        arguments = {"bot": begun.bot, "digest": begun.digest, "size": begun.size}
        waiting = self._orders.give(author, "submit", arguments, checking.number, now, archive=checking.path)
        self._uploads.drop(author, begun.digest)
        return waiting
