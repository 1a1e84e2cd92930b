"""The link to the bots of one game, over the worker's pool.

One loop waits for everything at once, in one call of `poll`: messages, closed connections, ends of processes. What a
bot sent before its end is read before the end is seen, because both come over the same connection. Memory is looked at
from time to time, between two waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from time import monotonic_ns
from typing import Final

from arena.core.errors import RemoteProtocolError
from arena.core.link.base import LAST_MESSAGE_MS, START_LIMIT, Arrival, Fault, Frame
from arena.core.link.bots import BotSpec
from arena.core.link.connection import Closed, Unread
from arena.core.link.pool import Pool
from arena.core.link.running import Bot, Deal
from arena.core.link.tree import own_wait_ns
from arena.core.link.watch import FAILING_LOOK_MS, LOOK_MS
from arena.core.types import NS_PER_MS, Seat, Termination
from arena.core.wire.messages import MAX_FRAME, MAX_NOTE, PROTOCOL, Hello, Welcome
from arena.core.wire.session import Session, State

STOOD_NS: Final = 2_000 * NS_PER_MS
"""If this process wakes so much later than it asked for, it was stopped, and most likely its bots too: somebody stopped
them all, or a virtual machine. Load delays it by milliseconds, so that no bot of level `isolated` or above can bring
this about. (While a machine sleeps, the monotonic clock stands anyway.)"""
_OWN_LOOK_NS: Final = NS_PER_MS  # the least time between two looks at how long this process waited for a core
_LOOK_NS: Final = LOOK_MS * NS_PER_MS
_FAILING_LOOK_NS: Final = FAILING_LOOK_MS * NS_PER_MS


class LocalLink:
    """Bots that run on this machine, as `Link` says."""

    def __init__(
        self,
        pool: Pool,
        specs: Sequence[BotSpec],
        deal: Deal | None = None,
        ahead: Sequence[BotSpec] = (),
        ahead_deal: Deal | None = None,
    ) -> None:
        """Takes the bots by seat, the deal, and the bots to start ahead (`Pool`). Nothing starts before `open`."""
        self.lateness_ns = 0
        self.waited_ns: dict[Seat, int] = {}
        self._own_wait_ns, self._own_look_ns = own_wait_ns(), 0
        """Nanoseconds that this thread had been ready and without a core at the last look; the time of that look."""
        self._pool = pool
        self._specs = specs
        self._deal = deal
        self._ahead = ahead, ahead_deal
        self._bots: dict[Seat, Bot] = {}  # every seat whose process was started
        self._live: dict[Seat, Bot] = {}  # those that are ready and have not failed
        self._reachable: dict[Seat, Bot] = {}
        """Seats that can be sent something: the live ones, and those that failed and can still read an `error`."""
        self._seats: dict[Bot, Seat] = {}  # the seats of the live ones
        self._found: deque[Arrival] = deque()  # what came and was not returned yet: not more than one thing a seat
        self._more: list[Bot] = []  # those of which more was received than one message
        self._calm = True  # no live seat is known to fail
        self._look_ns = 0  # when to look around again
        self._stood_ns = 0
        """Time for which this process was stopped. The time of the game, which is what `now_ns`, `send` and `receive`
        mean, is later by that on the system's clock, which is what everything else means."""

    def open(self) -> dict[Seat, Hello | Fault]:
        """Gets every seat's bot ready, all at once, each within its start-up time. Then it starts those ahead.

        What a bot sends that is ready stays in its socket meanwhile.

        Raises:
            MachineFault: The machine could not start them.
        """
        pool = self._pool
        pool.tidy()
        begun_ns = monotonic_ns()
        opened: dict[Seat, Hello | Fault] = {}
        for seat, spec in enumerate(self._specs):
            try:
                self._bots[seat] = pool.take(spec, self._deal)
            except OSError as error:
                opened[seat] = Fault(Termination.START_FAILED, f"could not be started: {error}", seat=seat)
        waiting = dict(self._bots)
        while True:
            for seat, bot in list(waiting.items()):
                result = self._readiness(seat, bot)
                if result is not None:
                    opened[seat] = result
                    self.waited_ns[seat] = monotonic_ns() - begun_ns
                    del waiting[seat]
                    pool.ignore(bot)
            if not waiting:
                break
            now = monotonic_ns()
            pool.look(now)
            step_ns = _FAILING_LOOK_NS if any(bot.watch.is_failing for bot in waiting.values()) else _LOOK_NS
            self._wait(_wait_ms(min(step_ns, *(self._start_deadline(bot) - now for bot in waiting.values()))))
        for bot in self._live.values():
            pool.listen(bot)
            assert bot.connection is not None
            if bot.connection.has_more:
                self._more.append(bot)
        pool.start_ahead(*self._ahead)
        return opened

    def session(self, seat: Seat) -> Session:
        """Returns the protocol session of a seat that `open` got ready."""
        return self._bots[seat].session

    def now_ns(self) -> int:
        """Reads the system's monotonic clock, without the time in which this process was stopped."""
        return monotonic_ns() - self._stood_ns

    def send(self, seat: Seat, data: bytes) -> int:
        """Hands a frame to the seat's socket, and returns the moment at which it did.

        That moment is before the sending call, not after it: the system may well let the bot run, and answer, before
        the call returns.
        """
        bot = self._reachable.get(seat)
        sent_ns = monotonic_ns()
        if bot is not None:
            connection = bot.connection
            assert connection is not None
            bot.process.fence.thaw()
            try:
                connection.send(data)
                if connection.is_behind:
                    self._pool.push(bot)
            except Unread:
                if seat in self._live:
                    detail = "did not read the messages that were sent to it"
                    self._found.append(Fault(Termination.PROTOCOL_VIOLATION, detail, "§4.1-3", seat=seat))
                self._mute(seat)
            except Closed:
                pass  # reading finds that out, after all that was sent before
        return sent_ns - self._stood_ns

    def receive(self, until_ns: int) -> Arrival | None:
        """Returns the next arrival from any seat, or None when `until_ns` has passed and no seat is failing."""
        now = monotonic_ns()
        while not self._found:
            if now >= self._look_ns:
                self._look_around(now)
            left = until_ns + self._stood_ns - now
            wait_ns = self._look_ns - now
            if self._calm or left > 0:
                wait_ns = min(wait_ns, left)
            wait_ms = 0 if self._more else _wait_ms(wait_ns)
            happened = self._wait(wait_ms, is_past=left <= 0)
            at_ns = monotonic_ns()
            if self._more:
                happened += self._more
                self._more = []
            for bot in happened:
                self._hear(bot, at_ns)
            if self._found:
                break
            now = at_ns
            if not self._calm:
                self._settle(now)
            elif left <= 0 and not happened:
                return None
        return self._found.popleft()

    def denied_ns(self, seat: Seat) -> int | None:
        """Returns how long the machine kept the seat's bot from running in its life."""
        return self._bots[seat].process.fence.denied_ns() if seat in self._bots else None

    def crowd_ns(self, seat: Seat) -> int:
        """Returns the CPU time that the seat's bot used beside its busiest thread."""
        return self._bots[seat].process.fence.crowd_ns if seat in self._bots else 0

    def cpu_ns(self, seat: Seat) -> int:
        """Returns the CPU time that all processes of the seat's bot have used in its life."""
        return self._bots[seat].process.fence.cpu_ns() if seat in self._bots else 0

    def known_cpu_ns(self, seat: Seat) -> int:
        """Returns the same without looking for new processes."""
        return self._bots[seat].process.fence.known_cpu_ns() if seat in self._bots else 0

    def rest(self, seat: Seat) -> None:
        """Freezes the seat's processes until they are sent something, at level `strict`."""
        if seat in self._live:
            self._live[seat].process.fence.freeze()

    def stop(self, seat: Seat, after_ms: int = 0) -> None:
        """Kills the seat's process group now, or has the warden kill it in `after_ms` milliseconds."""
        self._mute(seat)
        self._found = deque(arrival for arrival in self._found if arrival.seat != seat)
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
        self._seats = {}

    def _readiness(self, seat: Seat, bot: Bot) -> Hello | Fault | None:
        """Returns what has become of a bot's start, or None while it is awaited."""
        if bot.connection is not None:
            self._live[seat] = self._reachable[seat] = bot
            self._seats[bot] = seat
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
        elif now >= self._start_deadline(bot) and not bot.watch.is_failing:
            detail, rule = f"did not say hello within {bot.spec.start_ms} ms ({START_LIMIT})", "§4.3-1"
        else:
            return None
        bot.stop(stop_ms)
        return Fault(code, detail, rule, seat=seat)

    def _hear(self, bot: Bot, at_ns: int) -> None:
        """Reads what a bot sent, or notes that its connection is closed or its process has ended."""
        seat = self._seats.get(bot)
        if seat is None:
            return
        assert bot.connection is not None
        try:
            data = bot.connection.receive()
        except Closed:
            self._pool.ignore(bot)
            bot.watch.disconnect(at_ns)
            self._look_ns = 0
        except RemoteProtocolError as error:
            detail = f"sent a message that the protocol does not allow: {error}"
            self._found.append(Fault(Termination.PROTOCOL_VIOLATION, detail, error.rule, error.error_code, seat=seat))
            self._ignore(seat)
        else:
            if data is not None:
                self._found.append(Frame(seat, data, at_ns - self._stood_ns))
                if bot.connection.has_more:
                    self._more.append(bot)
            elif bot.connection.is_behind:
                self._pool.push(bot)  # answers to heartbeats
            elif bot.watch.is_failing:
                self._look_ns = 0

    def _look_around(self, now: int) -> None:
        self._calm = True
        self._pool.look(now)
        for bot in self._live.values():
            bot.watch.look(now)
            if bot.watch.is_failing:
                self._calm = False
        self._look_ns = now + (_LOOK_NS if self._calm else _FAILING_LOOK_NS)

    def _settle(self, now: int) -> None:
        """Finds the faults whose nature is settled by now."""
        for seat, bot in list(self._live.items()):
            failure = bot.watch.failure(now)
            if failure is not None:
                bot.process.kill()  # there is nobody left to read an `error`
                self._mute(seat)
                self._found.append(Fault(failure.code, failure.detail, failure.rule, seat=seat))

    def _wait(self, wait_ms: int, *, is_past: bool = False) -> list[Bot]:
        """Waits as the pool does, and notices if this process ran late, or was stopped meanwhile.

        It ran late when others ran in its place, not when it worked: what it looks at, and how long, a bot decides.
        """
        begun_ns = monotonic_ns()
        happened = self._pool.wait(wait_ms)
        now = monotonic_ns()
        late_ns = now - begun_ns - wait_ms * NS_PER_MS
        if late_ns >= STOOD_NS:
            self._stood_ns += late_ns
        if now - self._own_look_ns >= _OWN_LOOK_NS:
            waited_ns = own_wait_ns()
            late_ns = max(late_ns, waited_ns - self._own_wait_ns)
            self._own_wait_ns, self._own_look_ns = waited_ns, now
        self.lateness_ns = max(0, late_ns, self.lateness_ns if is_past else 0)
        return happened

    def _start_deadline(self, bot: Bot) -> int:
        return bot.started_ns + bot.spec.start_ms * NS_PER_MS + self._stood_ns

    def _mute(self, seat: Seat) -> None:
        self._reachable.pop(seat, None)
        self._ignore(seat)

    def _ignore(self, seat: Seat) -> None:
        bot = self._live.pop(seat, None)
        if bot is not None:
            del self._seats[bot]
            self._pool.ignore(bot)


def _wait_ms(wait_ns: int) -> int:
    """Returns the milliseconds for `poll`, rounded up, so that a wait does not end before its moment."""
    return max(0, -(-wait_ns // NS_PER_MS))
