"""Brings remote bots to their games: who serves which version, and the sittings between authors and seats.

Laws:
1. A sitting belongs to the connection that it was offered to. Its name is 128 random bits; from another connection it
   is unknown.
2. In each direction `seq` rises by one. A gap, a repetition, a frame that cannot be handed on: the sitting is lost.
3. A lost sitting costs the game, never more: its seat is told why and ends, and the referee does the rest.
4. The door does not read the frames of a game. What they say is between bot and referee.
"""

from __future__ import annotations

import secrets
from collections import deque
from statistics import median
from typing import Final, Protocol

import msgspec

from arena.league.door import messages
from arena.league.door.limits import MOST_BOTS
from arena.league.door.refusals import Refusal
from arena.league.door.seats import FRAME, VERSION, Gone, SeatConnection

_KEPT_PINGS: Final = 64


class Peer(Protocol):
    """A connection to an author's program."""

    def send(self, message: messages.FromDoor) -> bool:
        """Sends a message. Returns False if it cannot be handed over."""


class Served(msgspec.Struct):
    """A bot that an author serves."""

    peer: Peer
    author: str
    bot: str
    said: messages.Serving
    """What its author was told last: which version it is, and its state."""
    heard: float
    """When its connection last gave a sign of life."""
    known: bool
    """Whether the league has published the version as this author's."""
    withdrawn: bool = False  # no game of it is to begin any more
    pings: int = 0
    pinged: float = 0.0
    journeys: deque[float] = msgspec.field(default_factory=lambda: deque(maxlen=_KEPT_PINGS))
    """The latest journeys there and back, in seconds."""


class RemoteSitting(msgspec.Struct):
    """A game of a remote bot."""

    name: str
    served: Served
    seat: SeatConnection
    sent: int = 0
    """Frames that went to the author."""
    received: int = 0
    """Frames that came from the author."""
    began: int = 0
    """Number of pings before it."""


class Presence(msgspec.Struct, frozen=True):
    """What is known about the connection of a bot that is served."""

    author: str
    bot: str
    sittings: int
    network_us: int | None
    """The journey there and back, the median of the latest pings, in microseconds; None before the first pong."""


class RemoteBots:
    """All remote bots of a league."""

    def __init__(self) -> None:
        self.served: dict[str, Served] = {}
        """Bots that are served now, by version."""
        self._sittings: dict[str, RemoteSitting] = {}

    # Authors

    def serve(self, peer: Peer, author: str, bot: str, said: messages.Serving, now: float) -> None:
        """Notes that a connection serves a version. Whoever did so before is told, and loses its sittings.

        Raises:
            Refusal: The author serves as many bots as one may.
        """
        older = self.served.get(said.version)
        others = sum(served.author == author for served in self.served.values() if served is not older)
        if others >= MOST_BOTS:
            raise Refusal(
                "busy", f"expected at most {MOST_BOTS} remote bots of an author, got: one more", "stop another first"
            )
        if older is not None:
            self._drop(older, "another connection of its author serves the bot now")
            if older.peer is not peer:
                message = f"expected one connection that serves {said.version}, got: another one"
                older.peer.send(messages.Error("replaced", message, "serve it from one place only"))
        self.served[said.version] = Served(peer, author, bot, said, now, older is not None and older.known)

    def frame(self, peer: Peer, message: messages.Frame) -> None:
        """Takes a frame of a bot to its seat. A frame of a sitting that is over, or another's, is ignored."""
        sitting = self._of(peer, message.sitting)
        if sitting is None:
            return
        if message.seq != sitting.received + 1:
            self._lose(sitting, f"sent frame {message.seq} where {sitting.received + 1} was expected")
            return
        sitting.received += 1
        try:
            sitting.seat.send(FRAME, message.data)
        except Gone:
            self.left(sitting.seat)

    def leave(self, peer: Peer, message: messages.Leave) -> None:
        """Ends a sitting whose bot has ended."""
        sitting = self._of(peer, message.sitting)
        if sitting is not None:
            self._lose(sitting, message.reason or "ended on its author's machine")

    def withdraw(self, peer: Peer) -> None:
        """Shows the bots of a connection as absent; what was begun, or begins before the league sees it, is played."""
        for served in self.served.values():
            served.withdrawn |= served.peer is peer

    def pong(self, peer: Peer, message: messages.Pong, now: float) -> None:
        """Takes the answer to a ping."""
        for served in self.served.values():
            if served.peer is peer:
                if message.number == served.pings:
                    served.journeys.append(max(0.0, now - served.pinged))
                served.heard = now

    def gone(self, peer: Peer, reason: str) -> None:
        """Forgets all that a connection serves: it cannot be reached, or its key was revoked."""
        for served in [served for served in self.served.values() if served.peer is peer]:
            self._drop(served, reason)

    def taken(self, version: str) -> None:
        """Ends serving a bot that was handed over: its games are another author's."""
        served = self.served[version]
        self._drop(served, "serves a bot of another author")
        served.peer.send(messages.Error("replaced", f"expected a bot of yours, got: {version}", "serve it no more"))

    # Seats

    def seated(self, seat: SeatConnection, version: str) -> None:
        """Takes a seat in which a version is to play: offers a sitting to whoever serves it."""
        served = self.served.get(version)
        if served is None:
            seat.end("is not served by its author now")
            return
        sitting = RemoteSitting(secrets.token_hex(16), served, seat, began=served.pings)
        seat.sitting, seat.version = sitting.name, version
        self._sittings[sitting.name] = sitting
        self._tell(sitting, messages.Offer(sitting.name, served.bot))

    def from_seat(self, seat: SeatConnection, kind: bytes, content: bytes) -> None:
        """Takes a message of a seat. One that is not allowed ends the seat."""
        if kind == VERSION and not seat.version:
            self.seated(seat, content.decode(errors="replace"))
            return
        sitting = self._sittings.get(seat.sitting)
        if kind != FRAME or sitting is None:
            seat.end()
            return
        sitting.sent += 1
        self._tell(sitting, messages.Frame(sitting.name, sitting.sent, content))

    def left(self, seat: SeatConnection) -> None:
        """Takes the end of a seat: the game is over."""
        seat.end()
        sitting = self._sittings.get(seat.sitting)
        if sitting is not None:
            self._finish(sitting, "the game is over", lost=False)

    # Time

    def tick(self, now: float) -> None:
        """Pings whom it is time for, and gives up on those who are silent. Call it every second or so."""
        for served in list(self.served.values()):
            if now - served.heard > messages.SILENCE_S:
                self._drop(served, f"was silent for {messages.SILENCE_S} seconds")
            elif now - served.pinged >= messages.PING_S:
                served.pings += 1
                served.pinged = now
                if not served.peer.send(messages.Ping(served.pings)):
                    self._drop(served, "cannot be reached")

    def presence(self) -> dict[str, Presence]:
        """Returns who is served now, by version."""
        return {
            version: Presence(
                served.author,
                served.bot,
                sum(sitting.served is served for sitting in self._sittings.values()),
                _microseconds(list(served.journeys)),
            )
            for version, served in self.served.items()
            if not served.withdrawn
        }

    # Ends

    def _of(self, peer: Peer, name: str) -> RemoteSitting | None:
        sitting = self._sittings.get(name)
        return sitting if sitting is not None and sitting.served.peer is peer else None

    def _tell(self, sitting: RemoteSitting, message: messages.Offer | messages.Frame) -> None:
        if not sitting.served.peer.send(message):  # it has gone, or does not read: nor would it the next game
            self._drop(sitting.served, "did not read what it was sent")

    def _drop(self, served: Served, reason: str) -> None:
        if self.served.get(served.said.version) is served:
            del self.served[served.said.version]
        for sitting in [sitting for sitting in self._sittings.values() if sitting.served is served]:
            self._lose(sitting, reason)

    def _lose(self, sitting: RemoteSitting, reason: str) -> None:
        sitting.seat.end(reason)
        self._finish(sitting, reason, lost=True)

    def _finish(self, sitting: RemoteSitting, reason: str, *, lost: bool) -> None:
        if self._sittings.pop(sitting.name, None) is None:
            return
        served = sitting.served
        recent = served.pings - sitting.began + 1
        journeys = list(served.journeys)[-recent:]
        served.peer.send(messages.Closed(sitting.name, reason, lost, _microseconds(journeys)))


def _microseconds(journeys: list[float]) -> int | None:
    return round(median(journeys) * 1e6) if journeys else None
