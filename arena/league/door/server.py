"""The door: the one process of a league that the network reaches. It has no database and no secret of a game.

Laws:
1. One loop around one poll. Nothing in it waits for an author, nor for the league, and no request takes long: what
   would is cut into parts (`published.py`), or done beside it (`checks.py`).
2. A connection is in by its key (CURVE, ZAP), and whose it is, is asked again at each message.
3. A routing id that a peer has chosen is refused: one that libzmq made is never given to two peers.
4. What is sent is dropped if the peer does not read: nothing is kept for it.
5. It reads only `published/` and writes only `incoming/` and its own folder, `door/`.
"""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import zmq

from arena.core.face import Level, Payload, errors, files
from arena.league.door import zap
from arena.league.door.checks import Check, Checking, Checks
from arena.league.door.codec import decode, encode, number_of
from arena.league.door.health import Telling
from arena.league.door.keys import Address, Pair, make_pair, read_pair, write_pair
from arena.league.door.limits import MIB, Usage
from arena.league.door.local_requests import Later, LocalRequests
from arena.league.door.messages import MAX_AUTHOR_FRAME, Chunk, Error, Frame, FromDoor, Leave, Pong, Serve, Serving
from arena.league.door.orders import Orders, Waiting
from arena.league.door.published import Published
from arena.league.door.refusals import Refusal
from arena.league.door.relay import SEAT, SOCKET
from arena.league.door.remote_bots import Peer, RemoteBots
from arena.league.door.seats import Gone, Seat
from arena.league.door.uploads import Uploads
from arena.league.door.watch import Watch

QUEUE: Final = 16
"""Messages that wait for a peer."""
UNREAD: Final = 4
"""Messages of a peer that wait for the door."""
ZERO_COPY_RECV: Final = 10
"""An option of libzmq's context for which pyzmq has no name. With it each frame that waits holds the whole buffer that
it came in, 8 KiB, so that frames of 35 bytes fill the memory 200 times as fast as the network."""
HANDSHAKE_MS: Final = 2_000
"""How long a peer may take to prove its key."""
BURST: Final = 100
"""Messages that are answered before anything else is looked at ..."""
BURST_S: Final = 0.05
"""... and how long that may take."""
DESCRIPTORS: Final = 8_192
DATA_BYTES: Final = 512 * MIB
"""What the process may have: so a peer that never ends a message ends the door, and nothing else."""
_TICK_S: Final = 1.0
_LOOK_MS: Final = 50
"""How often answers are looked for while an order waits."""
_LOOK_SHARE: Final = 0.1
"""The largest part of the time that this may take, however many wait."""


class Door:
    """An open door. `run` serves until `stop` says so."""

    def __init__(
        self,
        folder: Path,
        bind: str,
        check: Check,
        *,
        tell: Callable[[str], None] = lambda sentence: None,
        clock: Callable[[], float] = time.monotonic,
        room: Callable[[Path], bool] | None = None,
        falls: int = 0,
    ) -> None:
        """Opens it.

        Args:
            bind: Where to listen, as ZeroMQ has it: `tcp://*:5599`.
            check: What says whether an archive keeps the rules.
            tell: Called with sentences for the operator.
            clock: The time in seconds; it never goes back.
            room: Says whether the disk has room; None means to look.
            falls: How often it fell over before.

        Raises:
            ConfigError: It cannot listen there. Show the message to the operator.
        """
        for name in ("incoming/uploads", "published", SEAT):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self._own = folder / "door"
        self._tell = tell
        self._clock = clock
        self._published = Published(folder / "published")
        self._usage = Usage()
        self._orders = Orders(folder / "incoming", self._published, self._usage)
        self._orders.tidy()
        self._uploads = Uploads(folder / "incoming" / "uploads", **({} if room is None else {"room": room}))
        self._checks = Checks(check)
        self._local_requests = LocalRequests(self._published, self._orders, self._uploads, self._usage, self._checks)
        self._remote_bots = RemoteBots(self._send)
        self._registering = Registering(self._published, self._orders, self._remote_bots)
        self._waiting: list[tuple[Peer, Later]] = []
        self._look_due = 0.0
        """When what they wait for is looked for again, on the monotonic clock."""
        self._seats: dict[int, Seat] = {}
        self._ticked = clock()
        self._looking_took = 0.0
        self._telling = Telling(folder, clock, falls)
        self._keys = _own_keys(self._own / "server.key")
        with ExitStack() as held:
            held.callback(self._checks.close)
            self._context = held.enter_context(zmq.Context())
            self._context.set(ZERO_COPY_RECV, 0)
            self._zap = held.enter_context(self._context.socket(zmq.REP))
            self._zap.bind(zap.ENDPOINT)
            self._router = held.enter_context(self._context.socket(zmq.ROUTER))
            _harden(self._router, self._keys)
            try:
                self._router.bind(bind)
            except zmq.ZMQError as error:
                raise errors.ConfigError(
                    f"expected an address to listen on, such as tcp://*:5599, got: {error} - at {bind!r}; "
                    "give another with --bind, or end what listens there"
                ) from None
            self._relay = held.enter_context(_relay_socket(folder / SEAT / SOCKET))
            self._poller = zmq.Poller()
            for source in (self._zap, self._router, self._relay):
                self._poller.register(source, zmq.POLLIN)
            self._held = held.pop_all()
        endpoint = self._router.getsockopt_string(zmq.LAST_ENDPOINT)
        self._watch = Watch(int(endpoint.rpartition(":")[2]), clock())
        self.address = Address(endpoint, self._keys.public)
        """Where authors find it, as far as this machine knows."""
        files.write(self._own / "address", f"{self.address}\n".encode())

    def run(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Serves until `stop` returns True; it is asked at least once a second."""
        while not stop():
            self.step(_LOOK_MS if self._waiting or len(self._watch) else int(_TICK_S * 1_000))

    def close(self) -> None:
        """Closes it. Whoever waits hears nothing more."""
        for seat in self._seats.values():
            seat.end("lost its league's door")
            seat.close()
        self._telling.end()
        (self._own.parent / SEAT / SOCKET).unlink(missing_ok=True)
        self._held.close()

    def step(self, wait_ms: int) -> None:
        """Waits for something to happen, and does what follows."""
        ready = dict(self._poller.poll(wait_ms))
        if self._zap in ready:
            self._admit()
        if self._router in ready:
            self._receive()
        if self._relay.fileno() in ready:
            self._accept()
        for descriptor, events in ready.items():
            if isinstance(descriptor, int) and (seat := self._seats.get(descriptor)) is not None:
                self._hear(seat, events)
        self._sweep()
        if self._waiting and time.monotonic() >= self._look_due:
            self._look()
        now = self._clock()
        if self._watch.due(now):
            self._guard(now)
        if now - self._ticked >= _TICK_S:
            self._ticked = now
            self._tick(now)

    # Authors

    def _admit(self) -> None:
        """Answers libzmq whether a peer may connect."""
        with suppress(zmq.Again):
            question = self._zap.recv_multipart(zmq.NOBLOCK)
            knows, now = self._published.author_of, self._clock()

            def may_come(key: str) -> bool:
                with suppress(Refusal):
                    self._usage.take(key, "handshakes", 1, now)
                    return True
                return False

            said = zap.answer(question, lambda key: knows(key) is not None, may_come)
            self._telling.turned_away += not said[zap.USER]
            self._zap.send_multipart(said, zmq.NOBLOCK)

    def _receive(self) -> None:
        until = time.monotonic() + BURST_S
        for _ in range(BURST):
            if time.monotonic() >= until:
                return
            try:
                routing_id = self._router.recv(zmq.NOBLOCK)
            except zmq.Again:
                return
            frame = self._router.recv(copy=False)
            data = None if frame.more else bytes(frame.buffer)
            while frame.more:  # one by one: a message may have a million
                frame = self._router.recv(copy=False)
            peer = (routing_id, str(frame.get("User-Id")))
            self._telling.messages += 1
            self._watch.heard(frame.get(zmq.SRCFD), *peer)
            answer = self._answer(peer, data)
            if answer is not None:
                self._send(peer[0], answer)

    def _answer(self, peer: Peer, data: bytes | None) -> FromDoor | None:
        """Returns what to answer to a message at once, if there is something."""
        try:
            author = self._published.author_of(peer[1])
            if author is None:
                self._remote_bots.gone(peer, "lost its author's key")
                raise Refusal(
                    "unknown_key",
                    "expected a key that the league knows, got: one that was revoked",
                    "give the league's operator another public key",
                )
            if data is None or not peer[0].startswith(b"\0"):
                raise Refusal(
                    "protocol",
                    "expected one frame a message, and no routing id, got: another form",
                    "send each message as one frame, and set no routing id",
                    rule="§D4-1",
                )
            return self._take(peer, author, data)
        except Refusal as error:
            refusal = error
        except errors.RemoteProtocolError as error:
            remedy = "see protocol/LEAGUE.md, or use the version of arena that the league has"
            refusal = Refusal(error.error_code, str(error), remedy, rule=error.rule)
            with suppress(Refusal):
                self._usage.take(peer[1], "requests", 1, self._clock())
        except OSError as error:
            refusal = self._failed(error)
        return refusal.message(None if data is None else number_of(data))

    def _take(self, peer: Peer, author: str, data: bytes) -> FromDoor | None:
        now = self._clock()
        message = decode(data)
        if isinstance(message, Frame | Pong | Leave):
            try:
                self._usage.take(peer[1], "frames", 1, now)
            except Refusal:
                self._remote_bots.gone(peer, "sent too many frames")
                raise
            match message:
                case Frame():
                    self._remote_bots.frame(peer, message)
                case Pong():
                    self._remote_bots.pong(peer, message, now)
                case Leave():
                    self._remote_bots.leave(peer, message)
            return None
        if not isinstance(message, Chunk):
            self._usage.take(peer[1], "requests", 1, now)
        if message is None:
            return None
        waits = sum(waiting.author == author for _, waiting in self._waiting)
        answer: FromDoor | Later
        if isinstance(message, Serve):
            answer = self._registering.serve(peer, author, message, waits, now)
        else:
            answer = self._local_requests.answer(peer[1], author, message, waits, now)
        if isinstance(answer, Later):
            self._waiting.append((peer, answer))
            return None
        return answer

    def _look(self) -> None:
        """Answers requests for which it is known now what they waited for."""
        began, now = time.monotonic(), self._clock()
        still = []
        for peer, later in self._waiting:
            answer: FromDoor | Later
            try:
                if isinstance(later, Checking):
                    answer = self._local_requests.checked(later, now)
                else:
                    answer = self._orders.answer(later, now) or later
            except Refusal as refusal:
                answer = refusal.message(later.number)
            except OSError as error:
                answer = self._failed(error).message(later.number)
            if isinstance(answer, Later):
                still.append((peer, answer))
            else:
                self._send(peer[0], answer)
        self._waiting = still
        ended = time.monotonic()
        self._look_due = ended + max(_LOOK_MS / 1_000, (ended - began) / _LOOK_SHARE)

    def _failed(self, error: OSError) -> Refusal:
        self._tell(f"could not answer a request: {error}")
        return Refusal("internal", "expected to write to the league's disk, got: an error", "try again later")

    def _send(self, routing_id: bytes, message: FromDoor) -> bool:
        """Sends a message, if the peer is there and reads. Returns whether it did."""
        if isinstance(message, Error):
            self._telling.refused[message.code] += 1
        return offer(self._router, [routing_id, encode(message)])

    # Seats

    def _accept(self) -> None:
        with suppress(OSError):
            accepted, _ = self._relay.accept()
            seat = Seat(accepted)
            self._seats[seat.descriptor] = seat
            self._poller.register(seat.descriptor, zmq.POLLIN)

    def _hear(self, seat: Seat, events: int) -> None:
        try:
            if events & zmq.POLLOUT:
                seat.flush()
            if events & ~zmq.POLLOUT:
                for kind, content in seat.receive():
                    self._remote_bots.from_seat(seat, kind, content)
        except Gone:
            self._remote_bots.left(seat)

    def _sweep(self) -> None:
        """Closes seats that are over, and polls the others for what they wait for."""
        for descriptor, seat in list(self._seats.items()):
            if seat.ended:
                self._poller.unregister(descriptor)
                del self._seats[descriptor]
                seat.close()
            else:
                self._poller.modify(descriptor, zmq.POLLIN | (zmq.POLLOUT if seat.is_behind else 0))

    # Time

    def _guard(self, now: float) -> None:
        """Closes connections that would fill the door, and notices which have ended."""
        looked = self._watch.look(now, self._looking_took)
        for key in looked.endless:
            author = self._published.author_of(key) or "somebody who had said nothing before"
            self._tell(f"A connection was closed that sent frames without end, of {author}")
        for peer in looked.gone:
            self._remote_bots.gone(peer, "lost its connection")
        if looked.gone:
            self._show()
        self._looking_took = self._clock() - now

    def _tick(self, now: float) -> None:
        self._remote_bots.tick(now)
        self._usage.forget(now)
        with suppress(OSError):
            self._uploads.expire(now)
        self._show()

    def _show(self) -> None:
        self._telling.look(self._remote_bots.presence(), len(self._watch), self._watch.cuts)


def offer(router: zmq.Socket[bytes], frames: list[bytes]) -> bool:
    """Sends a message if its peer is there and has read what it was sent before. Returns whether it did."""
    for _ in range(2):
        try:
            router.send_multipart(frames, zmq.NOBLOCK)
            return True
        except zmq.Again:
            # libzmq looks only about once a millisecond what peers have read. This makes it look.
            router.getsockopt(zmq.EVENTS)
        except zmq.ZMQError:  # EHOSTUNREACH
            break
    return False


def _own_keys(path: Path) -> Pair:
    """Returns the door's keys; the first time they are made.

    Raises:
        ConfigError: They were there, and are not: authors know the league by them.
    """
    if not path.exists():
        if (address := path.with_name("address")).exists():
            raise errors.ConfigError(
                f"expected the key of this league's door, by which authors know it, got: no file - at {path}; bring it "
                f"back from a backup, or remove {address} and send all authors the new address that is printed then"
            )
        write_pair(path, make_pair(), "the door of this league")
    return read_pair(path)


def _harden(router: zmq.Socket[bytes], keys: Pair) -> None:
    """Sets all that bounds what a peer can do."""
    router.curve_server = True
    router.curve_secretkey = keys.secret.encode()
    router.zap_domain = zap.DOMAIN.encode()
    for option, value in (
        (zmq.ZAP_ENFORCE_DOMAIN, 1),
        (zmq.MAXMSGSIZE, MAX_AUTHOR_FRAME),
        (zmq.HANDSHAKE_IVL, HANDSHAKE_MS),
        (zmq.SNDHWM, QUEUE),
        (zmq.RCVHWM, UNREAD),
        (zmq.ROUTER_MANDATORY, 1),
        (zmq.LINGER, 0),
        (zmq.BACKLOG, 1_024),
        (zmq.TCP_KEEPALIVE, 1),
        (zmq.TCP_KEEPALIVE_IDLE, 30),
        (zmq.TCP_KEEPALIVE_INTVL, 10),
        (zmq.TCP_KEEPALIVE_CNT, 3),
    ):
        router.setsockopt(option, value)


def _relay_socket(path: Path) -> socket.socket:
    """Returns the listener for seats. Only this user can reach it, or, if that is root, whoever runs bots for it."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    try:
        os.fchmod(listener.fileno(), 0o600)  # before anybody can connect
        listener.bind(str(path))
        os.chmod(path, 0o666 if os.geteuid() == 0 else 0o600)
        listener.listen(64)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise errors.ConfigError(
            f"expected a league's folder whose path is short enough for a socket, got: {error} - at {str(path)!r}; "
            "move the league's folder"
        ) from None
    return listener


def confine() -> None:
    """Limits what this process may have, so that an attack on it ends it alone."""
    for what, most in ((resource.RLIMIT_NOFILE, DESCRIPTORS), (resource.RLIMIT_DATA, DATA_BYTES)):
        _, hard = resource.getrlimit(what)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(what, (limit, limit))


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
