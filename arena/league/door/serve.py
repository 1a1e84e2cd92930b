"""Plays games of a league with a bot of this machine: what `arena bot serve` does.

For each game the league offers a sitting; the bot is started for it, as a referee would, and its frames are passed on
as they are. When the connection is lost, the games that are being played are lost with it, and a new connection is
made; nothing else is.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import msgspec
import zmq

from arena.core.face import Custody, bot_manifests, bot_processes, connections, errors, wire_messages, wire_variables
from arena.league.door import messages
from arena.league.door.addresses import Address
from arena.league.door.client import Client, sentence
from arena.league.door.receipts import ReceiptRecorder
from arena.league.door.remote_client import RemoteClient

MOST_SITTINGS: Final = 8
"""Games at a time."""
FAREWELL_S: Final = 1.0
"""Time for a bot to end after its game."""
SETTLE_S: Final = 1.0
"""How long it is waited for the end of a bot that has closed its connection."""
PAUSES_S: Final = (1, 2, 5, 10, 30)
"""Pauses before a new connection; the last one is repeated."""
PATIENCE_S: Final = 60.0
"""Seconds that running games may take after a request to stop."""
QUIET_S: Final = 2.0
"""Seconds without a game after which none begins any more, since the league has seen that it is to begin none."""
_LOOK_S: Final = 0.2
EACH_S: Final = 60.0
"""Seconds between two sums of the games that were played, if there were any."""
WAITS: Final = {
    **dict.fromkeys(("received", "building", "checking"), "waiting until the league tries it"),
    "qualifying": "the league tries it in a few games",
    "active": "waiting for games",
    "superseded": "another version of the bot plays instead",
    "suspended": "it plays no more until the operator lifts that; with other files it is a new version",
    **dict.fromkeys(("rejected", "retired"), "it plays no more; with other files it is a new version"),
}
"""By state of the version what its author is waiting for."""
_PASSING: Final = frozenset({"nobody", "no_answer", "silence", "too_many"})
"""Refusals that may pass, so the request is sent again."""


class _Sitting:
    """One game: the bot's process and its connection."""

    def __init__(
        self, name: str, spec: bot_manifests.BotSpec, custody: Custody, recorder: ReceiptRecorder | None
    ) -> None:
        self.name = name
        self.recorder = recorder
        """The recorder of its receipt; None if none is kept."""
        self.sent = 0
        self.received = 0
        self.connection: connections.Connection | None = None
        self.is_over = False
        """Whether the referee has said its last word, so that the bot may end."""
        self.plays = False  # whether a game runs: a bot may wait long before its first, and between two
        self.closed_at: float | None = None
        """When the bot closed its connection. Its process mostly ends a moment later, and says more."""
        with ExitStack() as held:
            folder = custody.seat_folder()
            held.callback(custody.remove, folder)
            self.listener = connections.Listener(folder, tcp=spec.tcp)
            held.callback(self.listener.close)
            environment = {
                wire_variables.ENDPOINT: self.listener.endpoint,
                wire_variables.TOKEN: secrets.token_hex(32),
                "TMPDIR": str(folder / "tmp"),
            }
            self.process = bot_processes.BotProcess(spec, custody, environment, socket_folder=folder)
            held.callback(self.process.reap, wait=True)
            held.callback(self.process.kill)
            self._held = held.pop_all()

    def descriptors(self) -> list[int]:
        """What to poll: its connection, or where it comes from."""
        if self.closed_at is not None:
            return []
        if self.connection is not None:
            return [self.connection.descriptor]
        return [self.listener.descriptor] if self.listener.is_open else []

    def frames(self) -> list[bytes]:
        """Returns what the bot has said.

        Raises:
            ConnectionClosed: Its connection is closed.
            RemoteProtocolError: It does not speak ZMTP as it should.
        """
        if self.closed_at is not None:
            raise connections.Closed
        if self.connection is None:
            self.connection = self.listener.accept()
        found = []
        while self.connection is not None and (frame := self.connection.receive()) is not None:
            found.append(frame)
            if not self.connection.has_more:
                break
        return found

    def hear(self, frame: bytes) -> None:
        """Hands a frame of the referee to the bot. Without a connection it is lost, as the game is."""
        if self.connection is not None:
            self.connection.send(frame)

    def flush(self) -> None:
        """Sends what the bot had no room for."""
        if self.connection is not None and self.connection.is_behind:
            self.connection.flush()

    def close(self) -> None:
        """Kills the bot, if it has not ended, and removes what was its own."""
        if self.connection is not None:
            self.connection.close()
        self._held.close()


class _Word(msgspec.Struct):
    """As much of a message of the referee as is looked at."""

    type: str = ""


_WORDS: Final = msgspec.msgpack.Decoder(_Word)


def _type_of(frame: bytes) -> str:
    """Returns the type of a message of the referee; empty if it has none."""
    try:
        return _WORDS.decode(frame).type
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


class ServeLog(msgspec.Struct, eq=False):
    """What happens to a bot that is served, told for weeks and in few words: changes at once, sums now and then."""

    tell: Callable[[str], None]
    """Called with what happens."""
    games: int = 0
    """Games that are over, the lost ones included."""
    lost: int = 0
    """Games that were lost on the way: by the connection, or by the bot's end."""
    _said_at: float = msgspec.field(default_factory=time.monotonic)
    _said: int = 0
    _state: str = ""
    _journeys: list[int] = []
    """Journeys of the network since the last sum, in microseconds, one for each game."""

    def stands(self, version: str, state: str) -> None:
        """Notes the state of the version; one that is new is told."""
        if state != self._state:
            self._state = state
            self.tell(f"{version} is served, and {state}: {WAITS.get(state, 'see `arena league status`')}")

    def over(self, network_us: int | None) -> None:
        """Notes a game that was played to its end."""
        self.games += 1
        if network_us is not None:
            self._journeys.append(network_us)

    def loses(self, reason: str) -> None:
        """Notes a game that was lost, which is told at once."""
        self.games += 1
        self.lost += 1
        self.tell(f"{reason}; a game is lost")

    def sum_up(self, now: float, *, at_once: bool = False) -> None:
        """Says how many games were played since it was served, if it is time for that and if there were more."""
        if self.games == self._said or not (at_once or now >= self._said_at + EACH_S):
            return
        self._said, self._said_at = self.games, now
        lost = f", {self.lost} of them lost on the way" if self.lost else ""
        journey = ""
        if self._journeys:
            mean = sum(self._journeys) / len(self._journeys) / 1_000
            journey = f"; the network takes {mean:.1f} ms of each decision"
            self._journeys.clear()
        self.tell(f"{self.games} game{'s' if self.games != 1 else ''} so far{lost}{journey}")


class RemoteService(msgspec.Struct, eq=False):
    """A bot that is served to a league."""

    address: Address
    token: str
    spec: bot_manifests.BotSpec
    log: ServeLog
    look: Callable[[Client], object] = lambda client: None
    """Called with each new connection, before the bot is offered."""
    receipts: Path | None = None
    """File to which a receipt of each game is added."""
    _version: str = ""
    """The version that it is; empty until the league has said it."""
    _tries: int = 0
    """Connections in a row over which it was not served."""
    _sittings: dict[str, _Sitting] = {}
    _leaving: list[tuple[float, _Sitting]] = []
    """Sittings that are over, whose bots have until then to end by themselves."""

    def run(self, stop: Callable[[], bool] = lambda: False, at_once: Callable[[], bool] = lambda: True) -> None:
        """Serves until `stop` returns True, which is asked several times a second, and no game runs.

        Args:
            stop: Whether to end.
            at_once: Whether to end without waiting for games that run. They are lost then.

        Raises:
            DoorError: The league refuses the bot, or was never there.
            ArenaError: This machine cannot run the bot.
        """
        custody = Custody()
        try:
            while not stop():
                try:
                    with Client(self.address, self.token, tell=self.log.tell) as client:
                        self.look(client)
                    with RemoteClient(self.address, self.token) as remote:
                        self._register(remote)
                        self._serve(remote, custody, stop, at_once)
                except errors.DoorError as error:
                    if not self._version or error.refusal not in _PASSING:
                        raise
                    pause = PAUSES_S[min(self._tries, len(PAUSES_S) - 1)]
                    self._tries += 1
                    lost = f" Games that ran are lost: {len(self._sittings)}." if self._sittings else ""
                    self.log.tell(f"{error}. Trying again in {pause} s.{lost}")
                    self._end_all()
                    until = time.monotonic() + pause
                    while time.monotonic() < until and not stop():
                        time.sleep(_LOOK_S)
        finally:
            self._end_all()
            custody.close()
            self.log.sum_up(time.monotonic(), at_once=True)

    def _register(self, client: RemoteClient) -> None:
        spec = self.spec
        client.send(messages.Serve(1, spec.name, spec.digest, spec.version[:64], spec.language[:64], spec.rules[:16]))

    def _serve(
        self, client: RemoteClient, custody: Custody, stop: Callable[[], bool], at_once: Callable[[], bool]
    ) -> None:
        heard_at = time.monotonic()
        stops_at, played_at = None, 0.0
        while True:
            if stop():
                now = time.monotonic()
                if stops_at is None:
                    stops_at = played_at = now
                    client.send(messages.Withdraw())
                    if self._sittings and not at_once():
                        self.log.tell(
                            "Ending when no game of it runs, within a minute; Ctrl-C again loses those that run"
                        )
                if any(sitting.plays for sitting in self._sittings.values()):
                    played_at = now
                if at_once() or now > min(played_at + QUIET_S, stops_at + PATIENCE_S):
                    return
            self._wait(client)
            heard = client.heard()
            now = time.monotonic()
            if heard:
                heard_at = now
            for message in heard:
                self._take(client, custody, message)
            if not client.connected:
                raise errors.DoorError("expected the connection to the league to last, got: it was lost", "nobody")
            if now - heard_at > 2 * messages.SILENCE_S:
                raise errors.DoorError(
                    f"expected a sign of life of the league, got: none for {2 * messages.SILENCE_S} s", "silence"
                )
            for sitting in list(self._sittings.values()):
                self._pass_on(client, sitting)
            self._bury(now)
            self.log.sum_up(now)

    def _wait(self, client: RemoteClient) -> None:
        poller = zmq.Poller()
        poller.register(client.socket, zmq.POLLIN)
        for sitting in self._sittings.values():
            behind = sitting.connection is not None and sitting.connection.is_behind
            for descriptor in sitting.descriptors():
                poller.register(descriptor, zmq.POLLIN | (zmq.POLLOUT if behind else 0))
            if sitting.process.pidfd is not None:
                poller.register(sitting.process.pidfd, zmq.POLLIN)
        poller.poll(round(_LOOK_S * 1_000))

    def _take(self, client: RemoteClient, custody: Custody, message: messages.FromDoor) -> None:
        match message:
            case messages.Ping():
                client.send(messages.Pong(message.number))
            case messages.Offer():
                self._begin(client, custody, message)
            case messages.Frame():
                self._hear(client, message)
            case messages.Closed():
                self._over(message)
            case messages.Serving():  # once it is served, and again when its state has changed
                self._version, self._tries = message.version, 0
                self.log.stands(message.version, message.state)
            case messages.Error():
                raise errors.DoorError(sentence(message.message, message.rule, "", message.remedy), message.code)

    def _begin(self, client: RemoteClient, custody: Custody, offer: messages.Offer) -> None:
        if len(self._sittings) >= MOST_SITTINGS:
            client.send(messages.Leave(offer.sitting, f"plays {MOST_SITTINGS} games already"))
            return
        try:
            self._sittings[offer.sitting] = _Sitting(
                offer.sitting, self.spec, custody, ReceiptRecorder(self.receipts) if self.receipts else None
            )
        except (errors.ArenaError, OSError) as error:
            self.log.tell(f"expected to start {self.spec.name}, got: {error}")
            client.send(messages.Leave(offer.sitting, "could not be started on its author's machine"))

    def _hear(self, client: RemoteClient, message: messages.Frame) -> None:
        sitting = self._sittings.get(message.sitting)
        if sitting is None:
            return
        sitting.received += 1
        if message.seq != sitting.received:
            self._leave(client, sitting, "lost a frame of the referee")
            return
        word = _type_of(message.data)
        sitting.is_over = word in ("goodbye", "error")
        sitting.plays = word == "game_start" or (sitting.plays and word != "game_over")
        with suppress(connections.Closed, connections.Unread):  # reading from it says why
            sitting.hear(message.data)
        if sitting.recorder is not None:  # after it was passed on: that takes none of the bot's time
            self._keep(sitting.recorder, message.data)

    def _keep(self, recorder: ReceiptRecorder, frame: bytes) -> None:
        try:
            recorder.hear(frame)
        except OSError as error:
            self.log.tell(f"A receipt cannot be kept in {self.receipts}: {error.strerror}")

    def _pass_on(self, client: RemoteClient, sitting: _Sitting) -> None:
        """Passes on what the bot has said, and notices its end."""
        ended = sitting.process.end()
        try:
            sitting.flush()
            for frame in sitting.frames():
                if len(frame) > wire_messages.MAX_FRAME:
                    self._leave(
                        client, sitting, f"sent a message of {len(frame)} bytes, and may send {wire_messages.MAX_FRAME}"
                    )
                    return
                sitting.sent += 1
                client.send(messages.Frame(sitting.name, sitting.sent, frame))
                if sitting.recorder is not None:
                    sitting.recorder.say(frame)
            if ended is None:
                return
            reason = ended.detail
        except connections.Closed:
            now = time.monotonic()
            sitting.closed_at = sitting.closed_at or now
            if ended is None and now - sitting.closed_at < SETTLE_S:
                return
            reason = "closed its connection" if ended is None else ended.detail
        except errors.RemoteProtocolError as error:
            reason = f"broke the protocol: {error}"
        if not sitting.is_over:
            self._leave(client, sitting, reason)

    def _leave(self, client: RemoteClient, sitting: _Sitting, reason: str) -> None:
        """Ends a sitting for a fault of this side."""
        client.send(messages.Leave(sitting.name, reason[:400]))
        words = sitting.process.last_words()
        self.log.loses(f"{self.spec.name} {reason}")
        for line in words:
            self.log.tell(f"  {line}")
        self._end(sitting)

    def _over(self, closed: messages.Closed) -> None:
        sitting = self._sittings.get(closed.sitting)
        if sitting is None:
            return
        if closed.lost:
            self.log.loses(f"the league says that {self.spec.name} {closed.reason}")
            self._end(sitting)
        else:
            self.log.over(closed.network_us)
            del self._sittings[sitting.name]
            self._leaving.append((time.monotonic() + FAREWELL_S, sitting))

    def _bury(self, now: float) -> None:
        """Ends the bots whose time to end by themselves is over."""
        for until, sitting in list(self._leaving):
            if now >= until or sitting.process.end() is not None:
                self._leaving.remove((until, sitting))
                sitting.close()

    def _end(self, sitting: _Sitting) -> None:
        del self._sittings[sitting.name]
        sitting.close()

    def _end_all(self) -> None:
        for sitting in list(self._sittings.values()):
            self._end(sitting)
        self._bury(float("inf"))
