"""The link in memory: a clock that jumps, and bots that do what they are told."""

from __future__ import annotations

from arena.core.link.base import Frame, Link
from arena.core.types import Payload
from arena.core.wire.codec import encode
from arena.core.wire.messages import Hello, Request, RequestClock
from tests.memory_link import MemoryBot, MemoryLink, answer

MS = 10**6


def ask(number: int = 1) -> bytes:
    return encode(Request(id=number, kind="turn", clock=RequestClock(limit_ms=1000, bank_ms=None)))


def opened(*bots: MemoryBot) -> MemoryLink:
    link = MemoryLink(bots)
    assert all(isinstance(hello, Hello) for hello in link.open().values())
    return link


def at_once(request: Request) -> Payload:
    return {"n": request.id}


def test_it_is_a_link() -> None:
    link: Link = MemoryLink([])
    assert link.open() == {}


def test_the_clock_jumps_to_the_next_arrival_or_the_end() -> None:
    link = opened(MemoryBot(lambda request: [answer(request, {}, after_ms=300)]))
    link.send(0, ask())
    assert link.receive(299 * MS) is None
    assert link.now_ns() == 299 * MS
    assert isinstance(link.receive(1000 * MS), Frame)
    assert link.now_ns() == 300 * MS
    assert link.receive(500 * MS) is None
    assert link.now_ns() == 500 * MS


def test_what_has_arrived_is_returned_however_late_the_call() -> None:
    link = opened(MemoryBot(lambda request: [answer(request, {}, after_ms=300)]))
    link.send(0, ask())
    link.advance(400)
    assert isinstance(link.receive(0), Frame)


def test_answers_come_in_order_of_time_and_then_of_sending() -> None:
    slow = MemoryBot(lambda request: [answer(request, {}, after_ms=20)])
    link = opened(slow, MemoryBot(lambda request: [answer(request, {}, after_ms=10)]), MemoryBot(at_once))
    for seat in (0, 1, 2, 2):
        link.send(seat, ask())
    arrivals = [link.receive(1000 * MS) for _ in range(4)]
    assert [arrival.seat for arrival in arrivals if arrival] == [2, 2, 1, 0]
