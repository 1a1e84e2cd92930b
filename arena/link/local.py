"""The link to the bots of one game, over the worker's pool.

`receive` has two halves. The quick one waits in `recv` for some milliseconds: that is where the answers of quick bots
come in, at the least cost that pyzmq has. The thorough one polls in slices, and looks at everything else between them:
processes that ended, connections that were closed, memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from time import monotonic_ns
from typing import Final

import zmq

from arena.link.base import Arrival, Fault, Frame
from arena.link.bots import BotSpec
from arena.link.hub import MAX_READ, MORE_NOW, NOW, QUICK_MS, Part, Route
from arena.link.pool import Bot, Pool
from arena.types import Seat, Termination
from arena.wire.messages import MAX_FRAME, MAX_NOTE, PROTOCOL, Hello, Welcome
from arena.wire.session import Session, State

SLICE_MS: Final = 50
"""The longest that a wait goes on without a look around."""
ANXIOUS_MS: Final = 5
"""The same, while a bot's end is being looked into."""
CLOSED_MS: Final = 100
"""How long after its connection closed a process may still turn out to have crashed."""
ENDED_MS: Final = 50
"""How long after a process ended its connection may stay open, because a child holds it; what it sent comes first."""
_MS: Final = 1_000_000
_QUICK_NS: Final = QUICK_MS * _MS
_BURST: Final = 64
"""How many messages that concern no seat are read between two looks at the clock."""


class LocalLink:
    """Bots that run on this machine, as `Link` says."""

    def __init__(self, pool: Pool, specs: Sequence[BotSpec]) -> None:
        """`specs` is by seat. Nothing is started before `open`."""
        self.lateness_ns = 0
        self._pool = pool
        self._hub = pool.hub
        self._specs = specs
        self._bots: dict[Seat, Bot] = {}
        """Every seat whose process was started."""
        self._live: dict[Seat, Bot] = {}
        """Those that are ready and have not failed."""
        self._seats: dict[Route, Seat | None] = {}
        """Whose connection it is; None once that seat has failed."""
        self._found: deque[Arrival] = deque()
        """What came while nobody was receiving."""
        self._calm = True
        """Nothing is known that the quick half of `receive` would miss."""
        self._sample_at = 0
        """When memory is looked at again."""
        self._ended: dict[Seat, int] = {}
        """When a seat's process was seen to have ended, while what it sent may still be on its way."""
        self._send = pool.hub.router.send
        self._recv = pool.hub.router.recv

    def open(self) -> dict[Seat, Hello | Fault]:
        """Get every seat's bot ready, all at once, each within its start-up time."""
        self._pool.tidy()
        opened: dict[Seat, Hello | Fault] = {}
        for seat, spec in enumerate(self._specs):
            try:
                self._bots[seat] = self._pool.take(spec)
            except OSError as error:
                opened[seat] = Fault(seat, Termination.START_FAILED, f"could not be started: {error}")
        waiting = dict(self._bots)
        while True:
            arrival = self._read()
            if arrival is not None:
                self._found.append(arrival)
            for seat, bot in list(waiting.items()):
                result = self._readiness(seat, bot)
                if result is not None:
                    opened[seat] = result
                    del waiting[seat]
            if not waiting:
                return opened
            slice_ms = ANXIOUS_MS if self._ended else SLICE_MS
            deadline = min(_start_deadline(bot) for bot in waiting.values())
            self._poll(waiting.values(), min(slice_ms * _MS, deadline - monotonic_ns()))

    def session(self, seat: Seat) -> Session:
        """The protocol session of a seat that `open` got ready."""
        return self._bots[seat].session

    def now_ns(self) -> int:
        """The system's monotonic clock."""
        return monotonic_ns()

    def send(self, seat: Seat, data: bytes) -> int:
        """Hand a frame to the seat's socket; the moment it was handed over. A seat that failed swallows it.

        That moment is before the sending call, not after it: the system may well let the bot run, and answer, before
        the call returns.
        """
        bot = self._live.get(seat)
        sent_ns = monotonic_ns()
        if bot is not None:
            assert bot.route is not None
            try:
                self._send(bot.route, MORE_NOW)
                sent_ns = monotonic_ns()
                self._send(data, NOW)
            except zmq.Again:
                violation = Termination.PROTOCOL_VIOLATION
                self._found.append(self._fail(seat, violation, "did not read the messages that were sent to it"))
                self._calm = False
            except zmq.ZMQError as error:
                if error.errno != zmq.EHOSTUNREACH:
                    raise
                self._calm = False  # closed: the thorough half of `receive` finds out why
        return sent_ns

    def receive(self, until_ns: int) -> Arrival | None:
        """The next arrival from any seat, or None when `until_ns` has passed."""
        self.lateness_ns = 0
        now = monotonic_ns()
        if self._calm and now < self._sample_at and until_ns - now > _QUICK_NS:
            try:
                route = self._recv()
            except zmq.Again:
                self.lateness_ns = max(0, monotonic_ns() - now - _QUICK_NS)
            else:
                frame = self._recv(NOW, False)
                at_ns = monotonic_ns()
                seat = self._seats.get(route)
                if seat is not None and not frame.more:
                    return Frame(seat, frame.bytes, at_ns)
                arrival = self._sort(self._hub.rest(route, frame), at_ns)
                if arrival is not None:
                    return arrival
        return self._receive_thoroughly(until_ns)

    def stop(self, seat: Seat) -> None:
        """Kill the seat's process group now. No fault is reported for it."""
        self._mute(seat)
        if seat in self._bots:
            self._bots[seat].process.kill()

    def last_words(self, seat: Seat) -> tuple[str, ...]:
        """The last lines that the seat's process wrote in this game, control characters escaped."""
        return self._bots[seat].process.last_words() if seat in self._bots else ()

    def output(self, seat: Seat) -> str:
        """What the seat's process wrote in this game, as far as that is kept."""
        return self._bots[seat].process.output() if seat in self._bots else ""

    def close(self, *, keep: frozenset[Seat]) -> None:
        """End the game's use of the bots: those of `keep` that can may serve another game, the others are killed."""
        for seat, bot in self._bots.items():
            self._pool.give_back(bot, keep=seat in keep and seat in self._live)
        self._bots = {}
        self._live = {}

    def _readiness(self, seat: Seat, bot: Bot) -> Hello | Fault | None:
        """What has become of a bot's start, or None while it is awaited."""
        if bot.route is not None:
            self._live[seat] = bot
            self._seats[bot.route] = seat
            self._ended.pop(seat, None)
            if bot.session.state is State.GREETED:
                welcome = Welcome(protocol=PROTOCOL, max_frame=MAX_FRAME, max_note=MAX_NOTE)
                self.send(seat, bot.session.send(welcome))
            return bot.session.hello
        now = monotonic_ns()
        end = bot.process.end()
        detail = None
        if bot.refusal is not None:
            detail = f"was refused: {bot.refusal}"
        elif end is not None:
            # A greeting that it sent at the last moment is honoured.
            if now - self._ended.setdefault(seat, now) >= ENDED_MS * _MS:
                detail = f"{end.detail} before it said hello"
        elif now >= _start_deadline(bot):
            detail = f"did not say hello within {bot.spec.start_ms} ms"
        if detail is None:
            return self._weigh(seat, bot)
        self._ended.pop(seat, None)
        bot.process.kill()
        return Fault(seat, Termination.START_FAILED, detail)

    def _receive_thoroughly(self, until_ns: int) -> Arrival | None:
        while True:
            self._look_around()
            if self._found:
                return self._found.popleft()
            # What is read now includes all that was sent before an end seen above.
            arrival = self._read() or self._settle(final=monotonic_ns() >= until_ns)
            if arrival is not None:
                return arrival
            left = until_ns - monotonic_ns()
            if left <= 0:
                return None
            self._poll(self._live.values(), min((SLICE_MS if self._calm else ANXIOUS_MS) * _MS, left))

    def _poll(self, bots: Iterable[Bot], wait_ns: int) -> None:
        """Wait until there is something to read or the process of one of `bots` ends."""
        wait_ms = max(0, -(-wait_ns // _MS))
        before = monotonic_ns()
        self._hub.wait([bot.process for bot in bots], wait_ms)
        self.lateness_ns = max(self.lateness_ns, monotonic_ns() - before - wait_ms * _MS)

    def _read(self) -> Arrival | None:
        """The next arrival that concerns a seat, if one has come."""
        for _ in range(_BURST):
            part = self._hub.receive()
            if part is None:
                break
            arrival = self._sort(part, monotonic_ns())
            if arrival is not None:
                return arrival
        return None

    def _sort(self, part: Part, at_ns: int) -> Arrival | None:
        if part.route not in self._seats:
            self._pool.hear(part)
            return None
        seat = self._seats[part.route]
        if seat is None:
            return None
        if part.more:
            return self._fail(seat, Termination.PROTOCOL_VIOLATION, "sent a message of more than one frame")
        return Frame(seat, part.data, at_ns)

    def _look_around(self) -> None:
        """Notice what `recv` does not show."""
        self._pool.notice()
        now = monotonic_ns()
        for seat, bot in self._live.items():
            if seat not in self._ended and bot.process.end() is not None:
                self._ended[seat] = now
        if now >= self._sample_at:
            self._sample_at = now + SLICE_MS * _MS
            faults = [self._weigh(seat, bot) for seat, bot in list(self._live.items())]
            self._found.extend(fault for fault in faults if fault is not None)
        self._calm = not self._found and not self._ended and all(bot.closed_ns is None for bot in self._live.values())

    def _weigh(self, seat: Seat, bot: Bot) -> Fault | None:
        """The fault of using too much memory, if it does."""
        used = bot.process.memory_mib()
        if used <= bot.spec.memory_mib:
            return None
        bot.process.kill()
        return self._fail(
            seat, Termination.OUT_OF_MEMORY, f"used {used} MiB of memory; its limit is {bot.spec.memory_mib} MiB"
        )

    def _settle(self, *, final: bool) -> Fault | None:
        """A fault whose nature is clear by now; when `final`, one that is known at all.

        A process that ends closes its connection, and the two are seen in either order.
        """
        now = monotonic_ns()
        for seat, bot in self._live.items():
            ended_ns = self._ended.get(seat)
            if ended_ns is not None:
                end = bot.process.end()
                if end and (final or bot.closed_ns is not None or now - ended_ns >= ENDED_MS * _MS):
                    return self._fail(seat, end.code, end.detail)
            elif bot.closed_ns is not None and (final or now - bot.closed_ns >= CLOSED_MS * _MS):
                detail = f"closed its connection, or sent a message of more than {MAX_READ} bytes"
                return self._fail(seat, Termination.DISCONNECTED, detail)
        return None

    def _fail(self, seat: Seat, code: Termination, detail: str) -> Fault:
        self._mute(seat)
        return Fault(seat, code, detail)

    def _mute(self, seat: Seat) -> None:
        """Nothing more is sent to the seat or heard from it."""
        bot = self._live.pop(seat, None)
        self._ended.pop(seat, None)
        if bot is not None and bot.route is not None:
            self._seats[bot.route] = None


def _start_deadline(bot: Bot) -> int:
    return bot.started_ns + bot.spec.start_ms * _MS
