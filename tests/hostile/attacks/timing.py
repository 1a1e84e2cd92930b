"""Attacks on the clock: more time than one's own, others' time, false time."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable

from processes import daemon
from resources import attacking, split
from seat import Message, Seat, burn, helper


def t1() -> None:
    """Computes in a child while others are to move, and notes how much CPU time that got off turn."""
    compute(lambda: None)


def x5() -> None:
    """The same, and the child wakes its parent again and again, should somebody have stopped it."""
    bot = os.getpid()
    compute(lambda: os.kill(bot, signal.SIGCONT))


def compute(meanwhile: Callable[[], None]) -> None:
    seat = Seat()
    seat.greet()
    clock, end = helper(lambda: (sum(range(1000)), meanwhile()))
    used = 0.0
    sent = time.clock_gettime(clock)
    for number, request in enumerate(seat.requests()):
        if number:
            used += time.clock_gettime(clock) - sent
        if number == 6:
            end()
            seat.report("compute off turn", used > 0.1, f"{used * 1000:.0f} ms in {number} turns of others")
            seat.send(seat.answer(request))
            seat.play(lambda request: None)
        answer = seat.answer(request)
        sent = time.clock_gettime(clock)
        seat.send(answer)


def t2() -> None:
    """Reads its request 300 ms late, three times."""
    seat = Seat()
    seat.greet()
    for number, request in enumerate(seat.requests()):
        seat.send(seat.answer(request))
        if 3 <= number < 6:
            time.sleep(0.3)


def t3() -> None:
    """Uses 99 % of the time that is left at every turn."""
    seat = Seat()
    seat.greet()
    for request in seat.requests():
        clock = request["clock"]
        left = min(value for value in (clock.get("bank_ms"), clock.get("limit_ms")) if value is not None)
        time.sleep(left * 0.99 / 1000)
        seat.send(seat.answer(request))


def late(ms: int) -> Callable[[], None]:
    def bot() -> None:
        """Answers so many milliseconds after its time is over."""
        seat = Seat()
        seat.greet()
        for number, request in enumerate(seat.requests()):
            time.sleep((request["clock"]["limit_ms"] + ms) / 1000 if number == 3 else 0)
            seat.send(seat.answer(request))

    return bot


def t5() -> None:
    """Never says hello."""
    time.sleep(60)


def t6(seat: Seat, _: Message) -> bool:
    """Leaves helpers that compute, and forfeits: they shall slow the others."""
    with contextlib.suppress(PermissionError):  # where it may start none
        for _number in range(4):
            daemon(30, busy=True)
    os._exit(3)


def t7() -> None:
    """Computes with eight processes all the time."""
    seat = Seat()
    seat.greet()
    for _ in range(8):
        helper(lambda: burn(0.1))
    seat.play(lambda request: None)


def t8(seat: Seat, request: Message) -> bool:
    """Sets the system's clock to what it says anyway, and lies about its time."""
    seat.attempt("set the system's clock", lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()) or True)
    libc = ctypes.CDLL(None, use_errno=True)

    def slew() -> bool | None:
        space = ctypes.create_string_buffer(b"\x08\0\0\0" + bytes(300), 304)  # ADJ_STATUS, as it is
        if libc.adjtimex(space) == -1:
            raise OSError(ctypes.get_errno(), "refused")
        return None  # without changing anything it may be allowed to all

    seat.attempt("slew the system's clock", slew)
    time.sleep(0.3)
    seat.send(seat.answer(request, used_ms=0, used_ns=0, ms=0))
    return True


def t9() -> None:
    """Thinks for a second; meanwhile the stage puts everybody to sleep for longer than the time limit."""
    seat = Seat()
    seat.greet()
    for number, request in enumerate(seat.requests()):
        if number == 3:
            os.write(2, b"ready for sleep\n")
            time.sleep(0.8)
        seat.send(seat.answer(request))


def t11(_: Seat, request: Message) -> None:
    """Has twelve children whose pages and mappings take seconds to weigh, and lets its time run out."""
    split()
    kept = b"x" * (24 << 20)
    with contextlib.suppress(PermissionError):  # it is one process
        for _number in range(12):
            if os.fork() == 0:
                time.sleep(30)
                os._exit(len(kept) and 0)
    time.sleep(request["clock"]["limit_ms"] / 1000 + 2)


ATTACKS = {
    "T1": t1,
    "T2": t2,
    "T3": t3,
    "T4-1": late(1),
    "T4-20": late(20),
    "T4-1000": late(1000),
    "T5": t5,
    "T6": attacking(t6),
    "T7": t7,
    "T8": attacking(t8),
    "T9": t9,
    "T11": attacking(t11),
    "X5": x5,
}
