"""Who was first: by the time that each seat took itself, whatever the order of sending."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from arena.core.rules.course import Race


def run(window_ns: int, times: Sequence[Sequence[int]], delays: Sequence[int]) -> list[list[int]]:
    """The groups in which seats are served.

    Args:
        window_ns: The window of the race.
        times: By seat: how long it takes for each of its answers. All but the last are too late.
        delays: After so long the referee gets round to sending, each time one after another.
    """
    race, now, sendings = Race(window_ns), 0, 0
    answers = [list(reversed(own)) for own in times]
    coming: list[tuple[int, int]] = []

    def ask(seats: Sequence[int]) -> None:
        nonlocal now, sendings
        for seat in seats:
            now += delays[sendings % len(delays)]
            sendings += 1
            race.ask(seat, now)
            heapq.heappush(coming, (now + answers[seat].pop(), seat))

    served: list[list[int]] = []
    ask(range(len(times)))
    while coming or race.settled_ns() is not None:
        until = race.settled_ns()
        if coming and (until is None or coming[0][0] <= until):
            at_ns, seat = heapq.heappop(coming)
            now = max(now, at_ns)
            race.answer(seat, at_ns)
        else:
            now = max(now, until or 0)
            served.append(race.serve())
            ask([seat for seat in served[-1] if answers[seat]])
    return served


def test_the_faster_is_first_whoever_was_asked_first() -> None:
    assert run(0, [[500], [400]], delays=[0, 300]) == [[1], [0]]
    assert run(0, [[400], [500]], delays=[0, 300]) == [[0], [1]]


def test_within_the_window_is_a_tie_at_its_edge_too() -> None:
    assert run(100, [[500], [400]], delays=[0, 300]) == [[0, 1]]
    assert run(99, [[500], [400]], delays=[0, 300]) == [[1], [0]]


def test_ties_do_not_chain() -> None:
    assert run(100, [[400], [480], [560]], delays=[0]) == [[0, 1], [2]]


def test_who_was_late_goes_on_from_the_time_it_has_used() -> None:
    assert run(0, [[10], [20, 20], [30]], delays=[0]) == [[0], [1], [2], [1]]
    assert run(0, [[10], [20, 5], [30]], delays=[0]) == [[0], [1], [1], [2]]


def test_a_claim_waits_while_an_asked_seat_can_be_as_fast() -> None:
    race = Race(100)
    assert race.settled_ns() is None
    race.ask(0, 1_000)
    race.ask(1, 1_050)
    race.answer(0, 1_400)
    assert race.settled_ns() == 1_050 + 400 + 100
    race.leave(1)
    assert race.settled_ns() == 0
    assert race.serve() == [0]
    assert race.settled_ns() is None


TIMES = st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=3), min_size=1, max_size=5)


@given(window=st.integers(0, 10), times=TIMES, delays=st.lists(st.integers(0, 40), min_size=1, max_size=7))
def test_the_order_depends_on_nobody_but_the_seats(window: int, times: list[list[int]], delays: list[int]) -> None:
    """Whenever the referee sends, the same seats are served in the same groups, by ascending race time."""
    served = run(window, times, delays)
    assert served == run(window, times, [0])
    used = [0] * len(times)
    answers = [list(reversed(own)) for own in times]
    firsts = []
    for group in served:
        race_times = [used[seat] + answers[seat][-1] for seat in group]
        assert max(race_times) - min(race_times) <= window
        firsts.append(min(race_times))
        for seat in group:
            used[seat] += answers[seat].pop()
    assert firsts == sorted(firsts)
    assert not any(answers)
