"""A link without processes, sockets or waiting: scripted bots and a clock that jumps.

::

    link = MemoryLink([MemoryBot(first_legal), MemoryBot(lambda request: [late(300), answer(request, {...})])])
    link.open()
    link.send(0, link.session(0).send(request))
    link.receive(until_ns)

A bot says what it does as `Reply`s: after so many milliseconds it sends a frame, or fails. The clock stands still
while the referee works, and moves only in `receive` (to the next arrival, or to its end) and by `advance`.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, TypeAlias

import msgspec

from arena.core.errors import RemoteProtocolError
from arena.core.link.base import Arrival, Cause, Fault, Frame
from arena.core.types import NS_PER_MS, Payload, Seat, Termination, Want
from arena.core.wire import messages
from arena.core.wire.codec import decode_from_referee, encode
from arena.core.wire.session import Session

CRASH: Final = Cause(Termination.CRASHED, "exited with status 3")


class Reply(msgspec.Struct, frozen=True):
    """One thing that a bot does."""

    body: messages.FromBot | bytes | Cause
    """A message, a frame as it is (garbage, for instance), or the failure of its process or connection."""
    after_ms: float = 0
    """How long after what it answers."""


class Scripted(Protocol):
    """A bot in memory."""

    def start(self, token: str) -> Iterable[Reply]:
        """Returns what it does when its process is started."""

    def hear(self, message: messages.FromReferee) -> Iterable[Reply]:
        """Returns what it does when the referee sends a message."""


Decide: TypeAlias = Callable[[messages.Request], Payload | Iterable[Reply]]
"""What a bot does when asked: an action, sent at once, or anything else as replies (none: it stays silent)."""


class MemoryBot:
    """A bot that keeps to the protocol, and decides as it is told. Override `start` or `hear` for one that does not."""

    def __init__(self, decide: Decide, *, want: Sequence[Want] = ("view", "legal")) -> None:
        self.decide = decide
        self.want = tuple(want)
        self.heard: list[messages.FromReferee] = []  # all that the referee sent to it

    def start(self, token: str) -> Iterable[Reply]:
        return [Reply(messages.Hello(token=token, protocol=messages.PROTOCOL, want=self.want))]

    def hear(self, message: messages.FromReferee) -> Iterable[Reply]:
        self.heard.append(message)
        if isinstance(message, messages.GameStart):
            return [Reply(messages.Ready(game=message.game))]
        if isinstance(message, messages.Request):
            decided = self.decide(message)
            return [answer(message, decided)] if isinstance(decided, dict) else decided
        return []


def answer(request: messages.Request, action: Payload, *, after_ms: float = 0, note: str | None = None) -> Reply:
    return Reply(messages.Action(id=request.id, action=action, note=note), after_ms)


def _nothing(seat: Seat, now_ns: int) -> int:
    return 0


class MemoryLink:
    """A `Link` to scripted bots."""

    def __init__(self, bots: Sequence[Scripted], *, start_ms: int = 10_000) -> None:
        self.lateness_ns = 0  # set it to play an overloaded machine
        self.waited_ns: dict[Seat, int] = {}
        self.denied: Callable[[Seat, int], int] | None = None
        """What `denied_ns` answers at a moment of the link's clock, to play a machine on which others run.

        None means that nothing is known.
        """
        self.cpu: Callable[[Seat, int], int] = _nothing  # what `cpu_ns` answers
        self.crowd: Callable[[Seat, int], int] = _nothing  # what `crowd_ns` answers
        self.frames: list[tuple[Seat, bytes]] = []  # every frame that was sent to a live seat, `welcome` too, in order
        self.resting: list[Seat] = []  # the seats that were said to owe nothing, each time
        self.stopped: list[Seat] = []  # the seats that were stopped while they lived, in order
        self.reading_ms: dict[Seat, int] = {}
        """How long each stopped seat was left to read its `error`, in milliseconds."""
        self.kept: frozenset[Seat] | None = None  # what `close` was called with
        self.words: dict[Seat, tuple[str, ...]] = {}  # what `last_words` and `output` answer
        self._bots = bots
        self._start_ms = start_ms
        self._now_ns = 0
        self._sessions = {seat: Session(f"token-{seat}") for seat in range(len(bots))}
        self._live: set[Seat] = set()
        self._coming: list[tuple[int, int, Seat, messages.FromBot | bytes | Cause]] = []
        """A heap: when, which in order of sending, from whom, what."""
        self._count = 0
        self._early: deque[Arrival] = deque()  # what came from bots that were ready while others were awaited

    def open(self) -> dict[Seat, messages.Hello | Fault]:
        self._live = set(self._sessions)
        for seat, bot in enumerate(self._bots):
            self._schedule(seat, bot.start(f"token-{seat}"))
        opened: dict[Seat, messages.Hello | Fault] = {}
        early: list[Arrival] = []
        deadline = self._now_ns + self._start_ms * NS_PER_MS
        while len(opened) < len(self._bots):
            arrival = self.receive(deadline)
            if arrival is None:
                break
            if arrival.seat in opened:
                early.append(arrival)
            else:
                opened[arrival.seat] = self._greeting(arrival)
                self.waited_ns[arrival.seat] = self._now_ns
        for seat in self._sessions:
            if seat not in opened:
                self.waited_ns[seat] = self._now_ns
                opened[seat] = self._not_started(seat, f"did not say hello within {self._start_ms} ms")
        self._early.extend(early)
        return opened

    def session(self, seat: Seat) -> Session:
        return self._sessions[seat]

    def now_ns(self) -> int:
        return self._now_ns

    def advance(self, ms: float) -> None:
        self._now_ns += round(ms * NS_PER_MS)

    def send(self, seat: Seat, data: bytes) -> int:
        """Hands a frame to a bot; what it does comes out of `receive`."""
        if seat in self._live:
            self.frames.append((seat, data))
            message = decode_from_referee(data)
            if message is not None:
                self._schedule(seat, self._bots[seat].hear(message))
        return self._now_ns

    def receive(self, until_ns: int) -> Arrival | None:
        """Returns the next arrival; the clock jumps to it, or to `until_ns` if there is none by then."""
        if self._early:
            return self._early.popleft()
        while self._coming and self._coming[0][0] <= max(until_ns, self._now_ns):
            at_ns, _, seat, body = heapq.heappop(self._coming)
            if seat not in self._live:
                continue
            self._now_ns = max(self._now_ns, at_ns)
            if isinstance(body, Cause):
                self._live.discard(seat)
                return Fault(body.code, body.detail, seat=seat)
            data = body if isinstance(body, bytes) else encode(body)
            return Frame(seat, data, self._now_ns)
        self._now_ns = max(self._now_ns, until_ns)
        return None

    def denied_ns(self, seat: Seat) -> int | None:
        return None if self.denied is None else self.denied(seat, self._now_ns)

    def crowd_ns(self, seat: Seat) -> int:
        return self.crowd(seat, self._now_ns)

    def cpu_ns(self, seat: Seat) -> int:
        return self.cpu(seat, self._now_ns)

    def known_cpu_ns(self, seat: Seat) -> int:
        return self.cpu(seat, self._now_ns)

    def rest(self, seat: Seat) -> None:
        self.resting.append(seat)

    def stop(self, seat: Seat, after_ms: int = 0) -> None:
        if seat in self._live:
            self._live.remove(seat)
            self.stopped.append(seat)
        if seat in self.stopped:
            self.reading_ms[seat] = min(after_ms, self.reading_ms.get(seat, after_ms))

    def last_words(self, seat: Seat) -> tuple[str, ...]:
        """Returns what the test put into `words`."""
        return self.words.get(seat, ())

    def output(self, seat: Seat) -> str:
        """Returns what the test put into `words`, as lines."""
        return "\n".join(self.last_words(seat))

    def close(self, *, keep: frozenset[Seat]) -> None:
        """Notes what is kept. `open` may be called again only on a new link."""
        self.kept = keep
        self._live.clear()

    def _schedule(self, seat: Seat, replies: Iterable[Reply]) -> None:
        for reply in replies:
            self._count += 1
            heapq.heappush(
                self._coming, (self._now_ns + round(reply.after_ms * NS_PER_MS), self._count, seat, reply.body)
            )

    def _greeting(self, arrival: Arrival) -> messages.Hello | Fault:
        seat = arrival.seat
        if isinstance(arrival, Fault):
            return self._not_started(seat, f"{arrival.detail} before it said hello")
        try:
            message = self._sessions[seat].receive(arrival.data)
        except RemoteProtocolError as error:
            return self._not_started(seat, f"was refused: {error}")
        if not isinstance(message, messages.Hello):
            return self._not_started(seat, "did not say hello first")
        self.send(
            seat,
            self._sessions[seat].send(
                messages.Welcome(protocol=messages.PROTOCOL, max_frame=messages.MAX_FRAME, max_note=messages.MAX_NOTE)
            ),
        )
        return message

    def _not_started(self, seat: Seat, detail: str) -> Fault:
        self._live.discard(seat)
        return Fault(Termination.START_FAILED, detail, seat=seat)
