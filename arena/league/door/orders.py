"""Hands authors' orders to the league as files, and waits for its answers, which are files too.

An order is `incoming/ID.json`; an archive that belongs to it is there before, as `incoming/ID.tar.zst`. Both are on the
disk before anything is answered, so that an order that was accepted is never lost. The author in it is the one to whom
the key belonged when the order came.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections import Counter, deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import Payload, files
from arena.league.door.limits import MOST_WAITING, Usage, orders_of
from arena.league.door.published import Published
from arena.league.door.refusals import Refusal

ANSWER_S: Final = 10.0
"""Seconds that an author waits for the league's answer before only the order is confirmed."""
LOOK_S: Final = 0.05
"""How soon it is looked for first."""
_TEXTS: Final = ("code", "message", "remedy", "limit", "rule", "path")
_OF_BOTS: Final = frozenset({"submit", "remote", "bot_author"})
"""What may give an author a bot."""
_OVER: Final = frozenset({"rejected", "retired"})
"""States that a version does not leave."""
_REMEMBERED: Final = 16
ARCHIVE: Final = ".tar.zst"
ORPHAN_S: Final = 3_600
"""How old an archive without an order is before it is removed, in seconds."""


class Orders:
    """The folder `incoming/`, and what waits for an answer."""

    def __init__(self, incoming: Path, published: Published, usage: Usage) -> None:
        self._incoming = incoming
        self._published = published
        self._usage = usage
        self._waiting: Counter[str] = Counter()
        """Number of orders by author that wait for an answer."""
        self._sent: dict[str, deque[str]] = {}
        """Bots of each author that were handed on last: the league publishes them a moment later."""

    def tidy(self) -> None:
        """Removes archives whose order was never written, because the door was killed. Call it at the start."""
        oldest = time.time() - ORPHAN_S
        for path in self._incoming.glob(f"*{ARCHIVE}"):
            order = path.with_name(path.name.removesuffix(ARCHIVE) + ".json")
            if not order.exists() and path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)

    def permit(self, key: str, author: str, now: float) -> None:
        """Counts an order that is about to be given.

        Args:
            key: The hash of the token that was shown.
            author: Whose it is.
            now: The door's clock.

        Raises:
            Refusal: It is one too many.
        """
        if self._waiting[author] >= MOST_WAITING:
            raise Refusal(
                "too_many", f"expected at most {MOST_WAITING} orders that wait for an answer, got: one more",
                "wait until the league has answered", limit="waiting", retry_after_s=int(ANSWER_S),
            )  # fmt: skip
        limit = orders_of(self._published.limits(author).get("submissions", 0))
        self._usage.take(key, "orders", 1, now, limit)

    def give(self, author: str, verb: str, arguments: Payload, *, archive: Path | None = None) -> str:
        """Writes an order, and returns its name. It is on the disk then.

        Args:
            author: Whose it is.
            verb: What is to be done.
            arguments: With what.
            archive: A file that becomes the order's, and leaves its place.

        Raises:
            OSError: It could not be written.
        """
        if verb in _OF_BOTS:
            self._sent.setdefault(author, deque(maxlen=_REMEMBERED)).append(str(arguments["bot"]))
        order = secrets.token_hex(16)
        if archive is not None:
            os.replace(archive, self._incoming / f"{order}{ARCHIVE}")
        document = {
            "id": order,
            "verb": verb,
            "author": author,
            "arguments": arguments,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
        files.write(self._incoming / f"{order}.json", msgspec.json.encode(document), durably=True)
        return order

    async def answer(self, author: str, order: str) -> Payload:
        """Waits for the league's answer to an order, and returns it; an empty one if there is none in time.

        Raises:
            Refusal: The league refuses it.
        """
        self._waiting[author] += 1
        try:
            return await self._answer(order)
        finally:
            self._waiting[author] -= 1

    async def _answer(self, order: str) -> Payload:
        """Looks for an answer, from time to time more seldom: however many wait, that takes little."""
        until, pause = time.monotonic() + ANSWER_S, LOOK_S
        while (said := self._published.answer(order)) is None:
            if time.monotonic() > until:
                return {}
            await asyncio.sleep(pause)
            pause = min(10 * LOOK_S, 1.1 * pause)
        if "code" in said:
            raise _refusal(said)
        return said

    def may_have(self, author: str, bot: str) -> bool:
        """Tells whether an author may have a bot that can be retired: by what is published, or handed on just now."""
        if bot in self._sent.get(author, ()):
            return True
        versions = self._published.versions(author)
        return any(each.get("bot") == bot and each.get("state") not in _OVER for each in versions)


def _refusal(said: Payload) -> Refusal:
    """Returns the error that the league answered with."""
    texts = {name: value if isinstance(value := said.get(name), str) else "" for name in _TEXTS}
    pause = said.get("retry_after_s")
    return Refusal(
        texts["code"] or "refused",
        texts["message"] or "expected an order that the league takes, got: a refusal without a reason",
        texts["remedy"] or ("correct the request" if texts["code"] == "argument" else "ask the league's operator"),
        limit=texts["limit"] or ("" if said.get("limit") is None else str(said["limit"])),
        retry_after_s=pause if type(pause) is int and pause >= 0 else None,
        rule=texts["rule"],
        path=texts["path"],
    )
