"""Makes a bot that an author serves a version of the league, once, and has the door offer it sittings."""

from __future__ import annotations

from arena.door.messages import FromDoor, Serve, Serving
from arena.door.orders import Orders, Waiting
from arena.door.published import Published
from arena.door.refusals import Refusal
from arena.door.remote_bots import Peer, RemoteBots
from arena.types import Level, Payload


class Registering:
    """Answers `serve`."""

    def __init__(self, published: Published, orders: Orders, remote_bots: RemoteBots) -> None:
        self._published = published
        self._orders = orders
        self._remote_bots = remote_bots

    def serve(self, peer: Peer, author: str, message: Serve, waiting: int, now: float) -> FromDoor | Waiting:
        """Returns which version the bot is, or the order that makes it one.

        Raises:
            Refusal: The league takes no remote bots, or no more of this author.
        """
        if self._published.league().get("remote") is not True:
            raise Refusal(
                "not_accepted",
                "expected a league that takes remote bots, got: one that does not",
                "submit the bot instead: `arena league submit`",
            )
        for version in self._published.versions(author):
            # Whatever its state: the league has one version of a content, and would answer with this one.
            same = (version.get("bot"), version.get("digest")) == (message.bot, message.digest)
            if same and version.get("level") == Level.REMOTE:
                return self._begin(peer, author, message, version, now)
        self._orders.permit(peer[1], author, waiting, now)
        manifest = {
            "name": message.bot,
            "version": message.version,
            "language": message.language,
            "rules": list(message.rules),
        }
        arguments = {"bot": message.bot, "digest": message.digest, "manifest": manifest}
        return self._orders.give(
            author,
            "remote",
            arguments,
            message.id,
            now,
            then=lambda said: self._begin(peer, author, message, said, now),
        )

    def _begin(self, peer: Peer, author: str, message: Serve, version: Payload, now: float) -> FromDoor:
        name = str(version.get("version", ""))
        self._remote_bots.serve(peer, author, message.bot, name, now)
        return Serving(message.id, name, str(version.get("state", "")))
