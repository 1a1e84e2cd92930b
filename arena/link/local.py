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

from arena.link.base import LAST_MESSAGE_MS, Arrival, Fault, Frame
from arena.link.bots import BotSpec
from arena.link.hub import MORE_NOW, NOW, QUICK_MS, Part, Route
from arena.link.pool import Bot, Pool
from arena.link.watch import FAILING_LOOK_MS, LOOK_MS
from arena.types import NS_PER_MS, Seat, Termination
from arena.wire.messages import MAX_FRAME, MAX_NOTE, PROTOCOL, Hello, Welcome
from arena.wire.session import Session, State

_QUICK_NS: Final = QUICK_MS * NS_PER_MS
_BURST: Final = 64
"""How many messages that concern no seat are read between two looks at the clock."""


class LocalLink:
    """Bots that run on this machine, as `Link` says."""

    def __init__(self, pool: Pool, specs: Sequence[BotSpec], ahead: Sequence[BotSpec] = ()) -> None:
        """Takes the bots by seat, and those to start ahead. Nothing is started before `open`."""
        self.lateness_ns = 0
        self._pool = pool
        self._hub = pool.hub
        self._specs = specs
        self._ahead = ahead
        self._bots: dict[Seat, Bot] = {}
        """Every seat whose process was started."""
        self._live: dict[Seat, Bot] = {}
        """Those that are ready and have not failed."""
        self._reachable: dict[Seat, Bot] = {}
        """Those that can be sent something: the live ones, and those that failed and can still read an `error`."""
        self._seats: dict[Route, Seat | None] = {}
        """Whose connection it is; None once that seat has failed."""
        self._found: deque[Arrival] = deque()
        """What came while nobody received."""
        self._calm = True
        """Nothing is known that the quick half of `receive` would miss."""
        self._look_ns = 0
        """When the quick half of `receive` must leave room for a look around again."""
        self._send = pool.hub.router.send
        self._recv = pool.hub.router.recv

    def open(self) -> dict[Seat, Hello | Fault]:
        """Gets every seat's bot ready, all at once, each within its start-up time. Then it starts those ahead."""
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
                self._pool.start_ahead(self._ahead)
                return opened
            if any(bot.watch.is_failing for bot in waiting.values()):
                self._poll(waiting.values(), FAILING_LOOK_MS * NS_PER_MS)
            else:
                deadline = min(_start_deadline(bot) for bot in waiting.values())
                self._poll(waiting.values(), min(LOOK_MS * NS_PER_MS, deadline - monotonic_ns()))

    def session(self, seat: Seat) -> Session:
        """Returns the protocol session of a seat that `open` got ready."""
        return self._bots[seat].session

    def now_ns(self) -> int:
        """Reads the system's monotonic clock."""
        return monotonic_ns()

    def send(self, seat: Seat, data: bytes) -> int:
        """Hands a frame to the seat's socket, and returns the moment at which it did.

        That moment is before the sending call, not after it: the system may well let the bot run, and answer, before
        the call returns.
        """
        bot = self._reachable.get(seat)
        sent_ns = monotonic_ns()
        if bot is not None:
            assert bot.route is not None
            try:
                self._send(bot.route, MORE_NOW)
                sent_ns = monotonic_ns()
                self._send(data, NOW)
            except zmq.Again:
                if seat in self._live:
                    detail = "did not read the messages that were sent to it"
                    self._found.append(Fault(seat, Termination.PROTOCOL_VIOLATION, detail, "§4.1-3"))
                    self._calm = False
                self._mute(seat)
            except zmq.ZMQError as error:
                if error.errno != zmq.EHOSTUNREACH:
                    raise
                bot.watch.disconnect(monotonic_ns())
                self._calm = False
        return sent_ns

    def receive(self, until_ns: int) -> Arrival | None:
        """Returns the next arrival from any seat, or None when `until_ns` has passed and no seat is failing."""
        now = monotonic_ns()
        if until_ns > now:
            self.lateness_ns = 0
        if self._calm and now < self._look_ns and until_ns - now > _QUICK_NS:
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
                arrival = self._sort(self._hub.complete(route, frame), at_ns)
                if arrival is not None:
                    return arrival
        return self._receive_thoroughly(until_ns)

    def denied_ns(self, seat: Seat) -> int | None:
        """Returns how long the machine kept the seat's bot from running in its life."""
        return self._bots[seat].process.fence.denied_ns() if seat in self._bots else None

    def cpu_ns(self, seat: Seat) -> int:
        """Returns the CPU time that all processes of the seat's bot have used in its life."""
        return self._bots[seat].process.fence.cpu_ns() if seat in self._bots else 0

    def stop(self, seat: Seat, after_ms: int = 0) -> None:
        """Kills the seat's process group now, or has the warden kill it in `after_ms` milliseconds."""
        self._mute(seat)
        if seat in self._bots:
            self._bots[seat].stop(after_ms)

    def last_words(self, seat: Seat) -> tuple[str, ...]:
        """Returns the last lines that the seat's process wrote in this game, control characters escaped."""
        return self._bots[seat].process.last_words() if seat in self._bots else ()

    def output(self, seat: Seat) -> str:
        """Returns what the seat's process wrote in this game, as far as that is kept."""
        return self._bots[seat].process.output() if seat in self._bots else ""

    def close(self, *, keep: frozenset[Seat]) -> None:
        """Ends the game's use of the bots: those of `keep` that can may serve another game, the others are killed."""
        for seat, bot in self._bots.items():
            self._pool.give_back(bot, keep=seat in keep and seat in self._live)
        self._bots = {}
        self._live = {}
        self._reachable = {}

    def _readiness(self, seat: Seat, bot: Bot) -> Hello | Fault | None:
        """Returns what has become of a bot's start, or None while it is awaited."""
        if bot.route is not None:
            self._live[seat] = self._reachable[seat] = bot
            self._seats[bot.route] = seat
            if bot.session.state is State.GREETED:
                welcome = Welcome(protocol=PROTOCOL, max_frame=MAX_FRAME, max_note=MAX_NOTE)
                self.send(seat, bot.session.send(welcome))
            return bot.session.hello
        now = monotonic_ns()
        bot.watch.look(now)
        failure = bot.watch.failure(now)
        code, stop_ms, rule = Termination.START_FAILED, 0, ""
        if bot.refusal is not None:
            detail, stop_ms, rule = f"was refused: {bot.refusal}", LAST_MESSAGE_MS, bot.refusal.rule
        elif failure is not None and bot.watch.is_too_big:
            code, detail = failure.code, failure.detail
        elif failure is not None:
            detail = f"{failure.detail} before it said hello"
        elif now >= _start_deadline(bot) and not bot.watch.is_failing:
            detail, rule = f"did not say hello within {bot.spec.start_ms} ms", "§4.3-1"
        else:
            return None
        bot.stop(stop_ms)
        return Fault(seat, code, detail, rule)

    def _receive_thoroughly(self, until_ns: int) -> Arrival | None:
        while True:
            self._look_around()
            if self._found:
                return self._found.popleft()
            # What is read now includes all that was sent before an end seen above.
            arrival = self._read() or self._settled()
            if arrival is not None:
                return arrival
            left = until_ns - monotonic_ns()
            if left > 0:
                late_ns = self._poll(
                    self._live.values(), min((LOOK_MS if self._calm else FAILING_LOOK_MS) * NS_PER_MS, left)
                )
                self.lateness_ns = max(self.lateness_ns, late_ns)
            elif self._calm:
                return None
            else:
                self._poll(self._live.values(), FAILING_LOOK_MS * NS_PER_MS)

    def _poll(self, bots: Iterable[Bot], wait_ns: int) -> int:
        """Waits until there is something to read or the process of one of `bots` ends.

        Returns how late this woke, in nanoseconds.
        """
        wait_ms = max(0, -(-wait_ns // NS_PER_MS))
        before = monotonic_ns()
        self._hub.wait([bot.process for bot in bots], wait_ms)
        return max(0, monotonic_ns() - before - wait_ms * NS_PER_MS)

    def _read(self) -> Arrival | None:
        """Returns the next arrival that concerns a seat, if one has come."""
        for _ in range(_BURST):
            part = self._hub.receive()
            if part is None:
                break
            arrival = self._sort(part, monotonic_ns())
            if arrival is not None:
                return arrival
        return None

    def _sort(self, part: Part, at_ns: int) -> Arrival | None:
        """Finds out whom a message comes from; None if it concerns no seat."""
        if part.route not in self._seats:
            self._pool.hear(part)
            return None
        seat = self._seats[part.route]
        if seat is None:
            return None
        if part.more:
            self._ignore(seat)
            return Fault(seat, Termination.PROTOCOL_VIOLATION, "sent a message of more than one frame", "§5.1-1")
        return Frame(seat, part.data, at_ns)

    def _look_around(self) -> None:
        """Notices what `recv` does not show."""
        self._pool.notice()
        now = monotonic_ns()
        calm = not self._found
        for bot in self._live.values():
            bot.watch.look(now)
            calm = calm and not bot.watch.is_failing
        self._calm = calm
        self._look_ns = now + LOOK_MS * NS_PER_MS

    def _settled(self) -> Fault | None:
        """Returns a fault whose nature is settled by now, if there is one."""
        now = monotonic_ns()
        for seat, bot in self._live.items():
            failure = bot.watch.failure(now)
            if failure is not None:
                bot.process.kill()  # there is nobody left to read an `error`
                self._mute(seat)
                return Fault(seat, failure.code, failure.detail, failure.rule)
        return None

    def _mute(self, seat: Seat) -> None:
        """Stops sending to the seat and hearing from it."""
        self._reachable.pop(seat, None)
        self._ignore(seat)

    def _ignore(self, seat: Seat) -> None:
        """Stops hearing from the seat."""
        bot = self._live.pop(seat, None)
        if bot is not None and bot.route is not None:
            self._seats[bot.route] = None


def _start_deadline(bot: Bot) -> int:
    """Returns the moment by which the bot must have said `hello`."""
    return bot.started_ns + bot.spec.start_ms * NS_PER_MS
