"""The link in memory: a clock that jumps, and bots that do what they are told."""

from __future__ import annotations

from collections.abc import Iterable

from arena.core.link.base import Fault, Frame, Link
from arena.core.link.memory import CRASH, MemoryBot, MemoryLink, Reply, answer
from arena.core.types import Payload, Termination
from arena.core.wire.codec import decode, encode
from arena.core.wire.messages import Action, Hello, Request, RequestClock, Welcome

MS = 10**6


def ask(number: int = 1) -> bytes:
    return encode(Request(id=number, kind="turn", clock=RequestClock(limit_ms=1000, bank_ms=None)))


def opened(*bots: MemoryBot) -> MemoryLink:
    link = MemoryLink(bots)
    assert all(isinstance(hello, Hello) for hello in link.open().values())
    return link


def at_once(request: Request) -> Payload:
    return {"n": request.id}


def silent(request: Request) -> Iterable[Reply]:
    return []


def test_it_is_a_link() -> None:
    link: Link = MemoryLink([])
    assert link.open() == {}


def test_an_answer_comes_at_once() -> None:
    bot = MemoryBot(at_once)
    link = opened(bot)
    assert isinstance(bot.heard[0], Welcome)
    assert link.session(0).hello.want == ("view", "legal")
    sent_ns = link.send(0, ask())
    arrival = link.receive(sent_ns + 1000 * MS)
    assert isinstance(arrival, Frame)
    assert decode(arrival.data) == Action(id=1, action={"n": 1})
    assert arrival.at_ns == sent_ns == link.now_ns()
    assert link.frames[-1] == (0, ask())


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


def test_garbage_passes_and_a_crash_is_reported_once() -> None:
    link = opened(MemoryBot(lambda _: [Reply(b"\xc1"), Reply(CRASH, 5), Reply(b"after its death", 6)]))
    link.send(0, ask())
    assert link.receive(MS) == Frame(0, b"\xc1", 0)
    assert link.receive(10 * MS) == Fault(0, Termination.CRASHED, "exited with status 3")
    assert link.receive(20 * MS) is None
    link.send(0, ask())
    assert len(link.frames) == 2, "a dead seat swallows frames"


def test_a_stopped_bot_is_heard_no_more() -> None:
    link = opened(MemoryBot(at_once))
    link.send(0, ask())
    link.stop(0)
    assert link.receive(MS) is None
    assert link.stopped == [0]


class Starting(MemoryBot):
    """A bot with a start of its own."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__(silent)
        self.replies = replies

    def start(self, token: str) -> Iterable[Reply]:
        return self.replies


def test_starts_that_fail() -> None:
    link = MemoryLink(
        [
            Starting(),
            Starting(Reply(CRASH)),
            Starting(Reply(b"\xc1")),
            Starting(Reply(Hello(token="another", protocol="1.0"))),
            MemoryBot(at_once),
        ]
    )
    result = link.open()
    details = [fault.detail for seat in range(4) if isinstance(fault := result[seat], Fault)]
    assert details[0] == "did not say hello within 10000 ms"
    assert details[1] == "exited with status 3 before it said hello"
    assert details[2].startswith("was refused: expected one msgpack map")
    assert details[3].startswith("was refused: expected the value of ARENA_TOKEN")
    assert isinstance(result[4], Hello)


def test_what_comes_while_others_start_is_not_lost() -> None:
    hello = Hello(token="token-0", protocol="1.0")
    link = MemoryLink([Starting(Reply(hello), Reply(b"eager")), Starting(Reply(CRASH, 50))])
    link.open()
    assert link.receive(MS) == Frame(0, b"eager", 0)


def test_closing_is_noted() -> None:
    link = opened(MemoryBot(at_once))
    link.words[0] = ("ouch",)
    assert link.last_words(0) == ("ouch",)
    link.close(keep=frozenset({0}))
    assert link.kept == {0}


def test_how_long_a_stopped_bot_may_read_is_noted() -> None:
    link = opened(MemoryBot(at_once), MemoryBot(at_once))
    link.stop(1, 200)
    link.stop(0)
    link.stop(0, 200)
    assert link.stopped == [1, 0]
    assert link.reading_ms == {1: 200, 0: 0}
