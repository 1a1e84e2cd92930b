"""Which fence a level has, and what it says of figures. No process is looked at."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from operator import methodcaller

import pytest

from arena.core.errors import MachineFault
from arena.core.link import fence as core_fence
from arena.core.link import tree
from arena.core.link.bots import BotSpec
from arena.core.link.confinement import confinement
from arena.core.link.tree import Memory, Scales
from arena.core.types import Level
from arena.sandbox import fence
from arena.sandbox.fence import MAX_FILES, data_limit_mib, process_limit
from arena.sandbox.kept import Files

SPEC = BotSpec(name="it", version="", command=("it",), folder="/", digest="0" * 64, memory_mib=100)


class Figures:
    """What is seen of a bot."""

    memory = Memory(10, 5)
    files = Files(0, 0)
    weighed: int | None = None
    slow = False
    spent_ns = 0

    def weigh(self, members: object, most_mib: int, limit_mib: int) -> int | None:
        return self.weighed

    def are_slow(self) -> bool:
        return self.slow


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> Figures:
    shown = Figures()
    monkeypatch.setattr(core_fence, "memory", lambda members: shown.memory)
    monkeypatch.setattr(fence, "files", lambda members: shown.files)
    monkeypatch.setattr(core_fence, "Scales", lambda: shown)
    return shown


def watched(level: Level) -> core_fence.Fence:
    held = confinement(level).fence(SPEC)
    assert held.excess() is None, "nothing is adopted"
    held.adopt(os.getpid())
    return held


def test_what_seems_too_much_is_weighed(figures: Figures) -> None:
    held = watched(Level.TRUSTED)
    assert held.excess() is None
    figures.memory = Memory(101, 50)
    assert held.excess() is None, "it is being weighed"
    figures.weighed = 60
    assert held.excess() is None
    assert held.most_mib == 60
    figures.weighed = 105
    assert held.excess() == "used 105 MiB of memory; its limit is 100 MiB"
    assert held.most_mib == 105


def test_what_is_certain_need_not_be_weighed(figures: Figures) -> None:
    held = watched(Level.TRUSTED)
    figures.memory = Memory(300, 101)
    assert held.excess() == "used 101 MiB of memory; its limit is 100 MiB"


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> list[signal.Signals]:
    """Those that a tree is sent."""
    sent: list[signal.Signals] = []
    monkeypatch.setattr(tree.Tree, "signal", lambda self, members, number: sent.append(number))
    return sent


def test_while_the_scales_are_slow_a_bot_in_a_box_stands(
    figures: Figures, signals: list[signal.Signals], monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = [10**9]
    monkeypatch.setattr(fence.time, "monotonic_ns", lambda: moment[0])
    held, trusted = watched(Level.ISOLATED), watched(Level.TRUSTED)
    figures.memory = Memory(101, 50)
    assert held.excess() is None
    figures.slow = True
    assert trusted.excess() is None
    assert signals == [], "it is only just being weighed, or may do what it likes"
    for _ in range(2):  # it may have started others
        moment[0] += 5 * 10**7
        assert held.excess() is None
    assert signals == [signal.SIGSTOP, signal.SIGSTOP]
    figures.weighed, figures.slow = 60, False
    moment[0] += 5 * 10**7
    assert held.excess() is None
    assert signals[2:] == [signal.SIGCONT]
    assert held._denied.total_ns == 0, "how long it is weighed it decides itself"
    assert held.excess() is None
    assert len(signals) == 3


def test_a_bot_that_stands_runs_on_if_it_seems_to_have_less_by_now(
    figures: Figures, signals: list[signal.Signals]
) -> None:
    held = watched(Level.ISOLATED)
    figures.memory, figures.slow = Memory(101, 50), True
    assert held.excess() is None
    figures.memory = Memory(90, 50)
    assert held.excess() is None
    assert signals == [signal.SIGSTOP, signal.SIGCONT]


def test_a_bot_that_has_too_much_stands_until_it_is_killed(figures: Figures, signals: list[signal.Signals]) -> None:
    held = watched(Level.ISOLATED)
    figures.memory, figures.slow = Memory(101, 50), True
    assert held.excess() is None
    figures.weighed = 105
    assert held.excess() is not None
    assert signals == [signal.SIGSTOP]


def test_in_a_box_its_files_are_memory(figures: Figures) -> None:
    held = watched(Level.ISOLATED)
    figures.memory, figures.files, figures.weighed = Memory(80, 10), Files(30, 5), 80
    assert held.excess() == "used 110 MiB of memory; its limit is 100 MiB"
    assert watched(Level.TRUSTED).excess() is None, "outside they lie on a disk"


def test_files_are_counted_in_a_box(figures: Figures) -> None:
    held = watched(Level.ISOLATED)
    figures.files = Files(0, MAX_FILES)
    assert held.excess() is None
    figures.files = Files(0, MAX_FILES + 1)
    assert held.excess() == "made 2,001 files in /tmp and /dev/shm; its limit is 2,000"


def test_threads_are_counted_where_nothing_else_limits_them(figures: Figures, monkeypatch: pytest.MonkeyPatch) -> None:
    held, most = watched(Level.FENCED), process_limit()
    monkeypatch.setattr(fence.process_trees, "thread_count", lambda members: most)
    assert held.excess() is None
    monkeypatch.setattr(fence.process_trees, "thread_count", lambda members: most + 1)
    assert held.excess() == f"had {most + 1} threads; its limit is {most}"
    assert watched(Level.ISOLATED).excess() is None, "the box limits them"


@pytest.fixture
def looks(figures: Figures, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Asks a fence every 50 ms for a minute, and returns how often its processes were looked at."""

    def ask(ask: Callable[[core_fence.Fence], object], *, look_ms: float) -> int:
        now, worked, looks = [0.0], [0.0], [0]

        def members(self: tree.Tree) -> list[int]:
            looks[0] += 1
            worked[0] += look_ms
            return []

        monkeypatch.setattr(tree.Tree, "members", members)
        held = watched(Level.TRUSTED)
        monkeypatch.setattr(fence.time, "monotonic_ns", lambda: round((now[0] + worked[0]) * 1e6))
        monkeypatch.setattr(fence.time, "thread_time_ns", lambda: round(worked[0] * 1e6))
        while now[0] + worked[0] < 60_000:
            ask(held)
            now[0] += 50
        return looks[0]

    return ask


@pytest.mark.parametrize("figure", ["excess", "cpu_ns"])
def test_thousands_of_processes_are_looked_at_so_seldom_that_games_go_on(
    looks: Callable[..., int], figure: str
) -> None:
    ask = methodcaller(figure)
    assert looks(ask, look_ms=0.5) > 1_000, "a usual bot is looked at each time"
    assert 40 < looks(ask, look_ms=100) < 60, "a tenth of the time"


def test_what_was_denied_is_of_this_moment_and_brings_the_cpu_time_of_this_moment(looks: Callable[..., int]) -> None:
    """Else a loss could be excused by what was denied before the decision."""
    asked = [0]

    def ask(held: core_fence.Fence) -> None:
        asked[0] += 1
        held.denied_ns()
        held.cpu_ns()

    assert looks(ask, look_ms=100) == asked[0] > 100


def test_where_nothing_can_be_seen_nothing_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    exists = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: path != "/proc/self/stat" and exists(path))
    held = confinement(Level.TRUSTED).fence(SPEC)
    held.adopt(1)
    held.freeze()
    held.thaw()
    held.kill()
    held.close()
    assert (held.excess(), held.denied_ns(), held.is_frozen()) == (None, None, False)
    assert (held.cpu_ns(), held.most_mib) == (0, 0)


def test_a_strict_fence_needs_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    def ground() -> None:
        raise MachineFault("expected the unified hierarchy")

    monkeypatch.setattr(fence, "ground", ground)
    with pytest.raises(MachineFault, match="unified"):
        fence.fence(Level.STRICT, SPEC)


@pytest.mark.parametrize(("cores", "processes"), [(None, 64), (1, 64), (2, 64), (4, 80), (64, 560)])
def test_runtimes_start_threads_by_cores(cores: int | None, processes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert process_limit() == processes


@pytest.mark.parametrize(("cores", "reserved"), [(None, 300), (2, 300), (64, 2672)])
def test_the_hard_stop_is_above_the_limit(cores: int | None, reserved: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numpy with OpenBLAS was seen to reserve 2,672 MiB where it found 64 cores."""
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert data_limit_mib(64) > 64 + reserved


# The scales


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Weighing gives 7 MiB, when this is set."""
    done = threading.Event()
    monkeypatch.setattr(tree, "proportional_mib", lambda members: done.wait() and 7)
    yield done
    done.set()


@pytest.fixture
def scales(slow: threading.Event, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int | None]:
    """Weighs one process at a moment; a weighing takes 100 ms of CPU time. The limit is 50 MiB."""
    moment, faults = [0.0], {1: 0}
    monkeypatch.setattr(tree.time, "monotonic_ns", lambda: round(moment[0] * 1e6))
    monkeypatch.setattr(tree.time, "thread_time_ns", partial(next, itertools.count(step=10**8)))
    monkeypatch.setattr(tree, "_faults", lambda members: dict(faults))
    made = Scales()

    def weigh(at_ms: float, *, most_mib: int = 60, got_mib: int = 0) -> int | None:
        moment[0], faults[1] = at_ms, got_mib << 20 >> 12
        found = made.weigh([1], most_mib, 50)
        if slow.is_set() and made._thread is not None:
            made._thread.join()
        return found

    weigh.scales = made  # type: ignore[attr-defined]
    return weigh


def test_nobody_waits_for_the_scales(scales: Callable[..., int | None], slow: threading.Event) -> None:
    assert scales(0) is None
    assert scales(150) is None
    assert not scales.scales.are_slow()  # type: ignore[attr-defined]
    assert scales(201) is None
    assert scales.scales.are_slow()  # type: ignore[attr-defined]
    slow.set()
    assert scales(5_000) is None
    assert scales(5_001) == 7


def weighed_at(scales: Callable[..., int | None], after_ms: float, **seen: int) -> int:
    """When, after something was weighed, it is weighed again; it is asked for every 10 ms."""
    assert scales(0) is None
    assert scales(10) == 7
    return next(ms for ms in range(10, 10_000, 10) if scales(10 + ms, **(seen if ms >= after_ms else {})) == 7)


@pytest.mark.parametrize(
    ("seen", "at_ms"),
    [({}, 410), ({"most_mib": 90}, 410), ({"most_mib": 110}, 160), ({"got_mib": 40}, 410), ({"got_mib": 50}, 160)],
    ids=["nothing new", "a little more", "much more", "some pages in place of others", "many of them"],
)
def test_scales_rest_by_the_cpu_time_that_they_took_and_less_if_there_may_be_too_much(
    seen: dict[str, int], at_ms: int, scales: Callable[..., int | None], slow: threading.Event
) -> None:
    slow.set()
    assert weighed_at(scales, 150, **seen) == at_ms


def test_scales_always_rest_as_long_as_they_work(scales: Callable[..., int | None], slow: threading.Event) -> None:
    slow.set()
    assert weighed_at(scales, 0, most_mib=1000) == 110
