"""What counts as denied, and what a process's line says. No process is looked at."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from arena.core.link import tree
from arena.core.link.tree import Denied

MS = 10**6
Threads = dict[int, tuple[float, float]]  # by number: how long a thread ran and waited so far, in milliseconds


def test_what_runs_beside_the_busiest_thread_is_a_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {(1, 1): tree._Thread(50, 0, False), (1, 2): tree._Thread(20, 0, False)}
    monkeypatch.setattr(tree, "_threads", lambda members: shown.items())
    denied = Denied()
    denied.add([1], 100)  # 30 ran in processes that are gone
    assert denied.crowd_ns == 50
    shown[1, 2] = tree._Thread(90, 0, False)
    denied.add([1], 175)
    assert denied.crowd_ns == 55, "another thread was the busiest"


@pytest.fixture
def add(monkeypatch: pytest.MonkeyPatch) -> Callable[..., float]:
    """Adds what a look at a tree shows. Returns what was denied so far; all in milliseconds."""
    moment = [0.0]
    shown: dict[int, tree._Thread] = {}
    monkeypatch.setattr(tree.time, "monotonic_ns", lambda: round(moment[0] * MS))
    monkeypatch.setattr(tree, "_threads", lambda members: (((1, number), shown[number]) for number in members))
    denied = Denied()

    def look(
        at_ms: float, threads: Threads, *, gone: float = 0, restless: float = 0, modest: tuple[int, ...] = ()
    ) -> float:
        moment[0] = at_ms
        shown.clear()
        for number, (ran, waited) in threads.items():
            shown[number] = tree._Thread(round(ran * MS), round(waited * MS), number in modest)
        cpu = gone + sum(ran for ran, _ in threads.values())
        denied.add(threads, round(cpu * MS), round(restless * MS))
        return denied.total_ns / MS

    return look


def test_a_thread_that_waits_for_strangers_is_denied(add: Callable[..., float]) -> None:
    assert add(100, {1: (60, 40)}) == 40
    assert add(200, {1: (120, 80)}) == 80
    assert add(300, {1: (120, 80)}) == 80, "it slept"


def test_a_wait_that_is_not_over_counts_and_is_not_added_again(
    add: Callable[..., float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system adds it to the figure when the thread gets its core."""
    monkeypatch.setattr(tree, "_is_ready", lambda pid, tid: True)
    add(100, {1: (60, 0)})
    assert add(140, {1: (60, 0)}) == 40
    assert add(160, {1: (62, 58)}) == 58, "two ran, and 18 more waited"


def test_what_its_own_threads_take_from_it_is_its_own_doing(add: Callable[..., float]) -> None:
    assert add(100, {1: (25, 75), 2: (25, 75), 3: (25, 75), 4: (25, 75)}) == 0


def test_what_its_own_children_took_that_are_gone_too(add: Callable[..., float]) -> None:
    assert add(100, {1: (20, 80)}, gone=75) == 5


def test_who_had_a_core_was_not_denied_however_many_threads_wait(add: Callable[..., float]) -> None:
    assert add(100, {1: (50, 50), **dict.fromkeys(range(2, 102), (0.5, 99.5))}) == 0


def test_many_that_wake_at_once_and_do_little_do_not_deny_each_other(add: Callable[..., float]) -> None:
    """Each runs for 0.1 ms; the last waits for all others."""
    assert add(100, {number: (0.1, number * 0.1) for number in range(500)}) == pytest.approx(0, abs=0.2)


def test_the_longest_waiting_thread_counts_not_all_of_them(add: Callable[..., float]) -> None:
    assert add(100, {1: (0, 30), 2: (0, 20), 3: (0, 0)}) == 30


def test_what_was_denied_before_a_look_is_not_added_again(add: Callable[..., float]) -> None:
    assert add(100, {1: (0, 100)}) == 100
    assert add(200, {1: (0, 100), 2: (10, 50)}) == 150, "a new thread began with nothing"


def test_modesty_is_not_denial(add: Callable[..., float]) -> None:
    assert add(100, {1: (10, 90), 2: (0, 5)}, modest=(1,)) == 0
    assert add(200, {1: (10, 190), 2: (0, 5)}) == 0, "nor is it in the time in which it ended"
    assert add(300, {1: (10, 290), 2: (0, 5)}) == 100


def test_while_processes_are_started_nothing_counts(add: Callable[..., float]) -> None:
    assert add(100, {1: (10, 90)}, restless=100) == 0
    assert add(200, {1: (20, 180)}, restless=140) == 50


def test_waits_never_exceed_the_time_that_passed(add: Callable[..., float]) -> None:
    assert add(100, {1: (0, 5_000)}) == 100


@pytest.mark.parametrize("name", ["bot", "a b", ") Z 1 (", "\n) R 3", "((("])
def test_a_process_may_be_named_anything(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    line = f"71 ({name}) S 70 " + " ".join(str(number) for number in range(5, 53))
    monkeypatch.setattr(tree, "_read", lambda path: line.encode())
    stat = tree.process_stat(71)
    assert stat is not None
    assert (stat.parent, stat.started, stat.is_dead) == (70, 22, False)
    assert stat.buried_ns == (16 + 17) * tree._NS_PER_TICK


@pytest.mark.parametrize("text", ["", "71 (bot", "71 (bot) S 70 3"])
def test_a_line_that_is_cut_is_no_process(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_read", lambda path: text.encode())
    assert tree.process_stat(71) is None
