"""Answers authors' requests: what is published, uploads, orders. No sockets and no clock of its own.

An author is who the key belongs to at the moment of the message. Nothing here asks for an author by a name that a
message contains.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from arena.door.limits import LIMITS, Usage
from arena.door.messages import (
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
    Standings,
    Status,
    Submit,
    Upload,
    Welcome,
)
from arena.door.orders import Orders, Waiting, check_waiting
from arena.door.published import Published
from arena.door.refusals import Refusal
from arena.door.uploads import Begun, Uploads

Check: TypeAlias = Callable[[Path], str]
"""Returns the digest of an archive, or raises `Refusal` if the archive breaks a rule."""
_MOST_GAMES: Final = 100


class Desk:
    """Answers what needs no other connection."""

    def __init__(self, published: Published, orders: Orders, uploads: Uploads, usage: Usage, check: Check) -> None:
        self._published = published
        self._orders = orders
        self._uploads = uploads
        self._usage = usage
        self._check = check

    def answer(self, key: str, author: str, message: Request, waiting: int, now: float) -> FromDoor | Waiting:
        """Returns the answer to a request, or the order that has to be answered first.

        Args:
            key: The key that the connection has proved to hold.
            author: To whom the key belongs now.
            message: The request; `serve` is not answered here.
            waiting: How many orders of the author wait for an answer already.
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
                self._usage.take(key, "uploads", len(message.data), now)
                return Have(message.id, self._uploads.add(author, message.upload, message.offset, message.data))
            case Finish():
                check_waiting(waiting)
                return self._finish(key, author, message, now)
            case Retire():
                check_waiting(waiting)
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
                part = self._published.log(author, message.game, message.offset or 0, message.id)
                self._usage.take(key, "logs", len(part.data), now)
                return part
            case Report():
                part = self._published.report(author, message.version, message.kind, message.offset or 0, message.id)
                self._usage.take(key, "logs", len(part.data), now)
                return part
        raise Refusal("protocol", "expected a request that the desk answers, got: another", "report this")

    def _welcome(self, author: str, message: Hello) -> FromDoor:
        if message.protocol.partition(".")[0] != PROTOCOL.partition(".")[0]:
            raise Refusal(
                "version",
                f"expected version {PROTOCOL} of the league's protocol, got: {message.protocol}",
                "use the version of arena that the league has",
            )
        limits = {name: int(limit.burst) for name, limit in LIMITS.items()}
        return Welcome(message.id, PROTOCOL, author, self._published.league(), limits)

    def _submit(self, author: str, message: Submit) -> FromDoor:
        for version in self._published.versions(author):
            if version.get("digest") == message.digest and version.get("bot") == message.bot:
                return Accepted(message.id, "", {**version, "same": True})
        have = self._uploads.begin(author, Begun(message.bot, message.digest, message.size))
        return Upload(message.id, message.digest, have)

    def _finish(self, key: str, author: str, message: Finish, now: float) -> FromDoor | Waiting:
        begun, path = self._uploads.whole(author, message.upload)
        self._usage.take(key, "submissions", 1, now)
        try:
            digest = self._check(path)
            if digest != begun.digest:
                raise Refusal(
                    "digest",
                    f"expected an archive with the digest {begun.digest}, got: {digest}",
                    "pack the bot again, and submit that",
                )
        except Refusal:
            self._uploads.drop(author, message.upload)
            raise
        arguments = {"bot": begun.bot, "digest": begun.digest, "size": begun.size}
        waiting = self._orders.give(author, "submit", arguments, message.id, now, archive=path)
        self._uploads.drop(author, message.upload)
        return waiting
