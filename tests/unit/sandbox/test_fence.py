"""Which fence a level has, and what it says of figures. No process is looked at."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from operator import methodcaller

import pytest

from arena.errors import MachineFault
from arena.link.bots import BotSpec
from arena.link.sandbox import fence, tree
from arena.link.sandbox.fence import MAX_FILES, data_limit_mib, process_limit
from arena.link.sandbox.tree import Files, Scales
from arena.types import Level

SPEC = BotSpec(name="it", version="", command=("it",), folder="/", digest="0" * 64, memory_mib=100)


class Figures:
    """What is seen of a bot."""

    resident = 10
    files = Files(0, 0)
    weighed: int | None = None

    def weigh(self, members: object) -> int | None:
        return self.weighed


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> Figures:
    shown = Figures()
    monkeypatch.setattr(fence, "resident_mib", lambda members: shown.resident)
    monkeypatch.setattr(fence, "files", lambda members: shown.files)
    monkeypatch.setattr(fence, "Scales", lambda: shown)
    return shown


def watched(level: Level) -> fence.Fence:
    held = fence.fence(level, SPEC)
    assert held.excess() is None, "nothing is adopted"
    held.adopt(os.getpid())
    return held


def test_what_seems_too_much_is_weighed(figures: Figures) -> None:
    held = watched(Level.TRUSTED)
    assert held.excess() is None
    figures.resident = 101
    assert held.excess() is None, "it is being weighed"
    figures.weighed = 60
    assert held.excess() is None
    assert held.most_mib == 60
    figures.weighed = 105
    assert held.excess() == "used 105 MiB of memory; its limit is 100 MiB"
    assert held.most_mib == 105


def test_in_a_box_its_files_are_memory(figures: Figures) -> None:
    held = watched(Level.ISOLATED)
    figures.resident, figures.files, figures.weighed = 80, Files(30, 5), 80
    assert held.excess() == "used 110 MiB of memory; its limit is 100 MiB"
    assert watched(Level.TRUSTED).excess() is None, "outside they lie on a disk"


def test_files_are_counted_in_a_box(figures: Figures) -> None:
    held = watched(Level.ISOLATED)
    figures.files = Files(0, MAX_FILES)
    assert held.excess() is None
    figures.files = Files(0, MAX_FILES + 1)
    assert held.excess() == "made 2,001 files in /tmp and /dev/shm; its limit is 2,000"


@pytest.fixture
def looks(figures: Figures, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Asks a fence every 50 ms for a minute, and returns how often its processes were looked at."""

    def ask(ask: Callable[[fence.Fence], object], *, look_ms: float) -> int:
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

    def ask(held: fence.Fence) -> None:
        asked[0] += 1
        held.denied_ns()
        held.cpu_ns()

    assert looks(ask, look_ms=100) == asked[0] > 100


def test_where_nothing_can_be_seen_nothing_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    exists = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: path != "/proc/self/stat" and exists(path))
    held = fence.fence(Level.TRUSTED, SPEC)
    held.adopt(1)
    held.freeze()
    held.thaw()
    held.kill()
    held.close()
    assert (held.excess(), held.denied_ns(), held.cpu_ns(), held.most_mib, held.is_frozen()) == (
        None,
        None,
        0,
        0,
        False,
    )


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


def test_the_hard_stop_is_above_the_limit() -> None:
    assert data_limit_mib(64) > 64 + 300


# The scales


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Weighing gives 7 MiB, when this is set."""
    done = threading.Event()
    monkeypatch.setattr(tree, "proportional_mib", lambda members: done.wait() and 7)
    yield done
    done.set()


def test_nobody_waits_for_the_scales(slow: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = [0]
    monkeypatch.setattr(tree.time, "monotonic_ns", lambda: moment[0])
    scales = Scales()
    assert scales.weigh([1]) is None
    assert scales.weigh([1]) is None
    moment[0] = 100
    slow.set()
    assert scales._thread is not None
    scales._thread.join()
    assert scales.weigh([1]) == 7
    assert scales.weigh([1]) is None
    assert scales._thread is None, "they rest"
    moment[0] = 100 + 10 * 100
    assert scales.weigh([1]) is None
    assert scales._thread is not None
    scales._thread.join()
    assert scales.weigh([1]) == 7
