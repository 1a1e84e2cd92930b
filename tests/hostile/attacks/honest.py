"""Bots that do nothing wrong: opponents, and what others are compared with."""

from __future__ import annotations

import time

from seat import Seat, burn, target


def honest() -> None:
    """Takes the first legal action."""
    seat = Seat()
    seat.greet()
    seat.play(lambda request: None)


def slow() -> None:
    """Takes 200 ms for each of its first actions, asleep: time for others to do something off turn."""
    seat = Seat()
    seat.greet()
    for number, request in enumerate(seat.requests()):
        if number < target().get("slow", 8):
            time.sleep(0.2)
        seat.send(seat.answer(request))


def late() -> None:
    """Starts slowly."""
    time.sleep(1.5)
    honest()


def worker() -> None:
    """Has work to do for each of its first actions, and notes how much longer it took by the clock on the wall than on
    its core: the machine's own speed changes, and does not count.
    """
    seat = Seat()
    seat.greet()
    for number, request in enumerate(seat.requests()):
        if number < 12:
            began, begun = time.monotonic(), time.thread_time()
            sum(index * index for index in range(300_000))
            seat.found.append(f"took {(time.monotonic() - began) / (time.thread_time() - begun):.4f}")
        seat.send(seat.answer(request))


def thinker() -> None:
    """Computes for half a second, once."""
    seat = Seat()
    seat.greet()
    for number, request in enumerate(seat.requests()):
        if number == 3:
            burn(0.5)
        seat.send(seat.answer(request))


ATTACKS = {"honest": honest, "slow": slow, "late": late, "worker": worker, "thinker": thinker}
