"""What all tests share: the Hypothesis profile, missing tools, samples, and a mode in which nothing may be skipped."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings

from arena.cli.output import console
from arena.core.plugs import is_on
from arena.core.store.store import Store, open_store
from tests import command_kit
from tests.command_kit import Run
from tests.log_kit import play_log  # noqa: F401 - a fixture of all
from tests.thorough import THOROUGH

ROOT = Path(__file__).parent.parent

# The same examples each time, and no test that fails because the machine is slow.
# To explore further: pytest --hypothesis-profile=default; `short` is for one interpreter among many.
settings.register_profile("arena", derandomize=True, deadline=None, database=None, max_examples=100 if THOROUGH else 40)
settings.register_profile("short", settings.get_profile("arena"), max_examples=10)
settings.load_profile("arena")


sys.dont_write_bytecode = False  # see tests/forking.py

# A shell starts what it runs in the background with Ctrl-C ignored, and `nohup` ignores the end of the terminal. Every
# process below inherits that: the tests that send these signals would wait for their effect in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _new_consoles() -> None:
    """No test prints by the width that another one gave the console."""
    console.cache_clear()


@pytest.fixture
def arena(tmp_path: Path) -> Run:
    """Runs a command in an empty folder: see `command_kit.arena`."""
    return partial(command_kit.arena, tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty database in the test's folder."""
    with open_store(tmp_path / "arena.db") as store:
        yield store


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def needs() -> Callable[..., None]:
    """Call it with the names of programs: the test is skipped, with the reason, where one is missing."""

    def check(*programs: str) -> None:
        for program in programs:
            if shutil.which(program) is None:
                pytest.skip(f"needs {program}, which is not on this machine's path")

    return check


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives the cases of a test to the three suites, as its mark says: `quick(N, M)`, `long(M)` or `thorough`."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        for mark in item.iter_markers("wing"):
            if not is_on(mark.args[0]):
                item.add_marker(pytest.mark.skip(f"needs the wing {mark.args[0]}, which ARENA_WINGS leaves out"))
        if item.get_closest_marker("thorough"):
            item.add_marker("long")
        elif item.get_closest_marker("quick") or item.get_closest_marker("long"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tests.values():
        cases.sort(key=lambda item: item.nodeid)  # the order is random
        mark = cases[0].get_closest_marker("long")
        if mark is None:
            mark = cases[0].get_closest_marker("quick")
            assert mark is not None
            cases = _beyond(mark.args[0], cases, "long")
        if mark.args[mark.name == "quick" :]:
            _beyond(mark.args[-1], cases, "thorough")


def _beyond(count: int, cases: list[pytest.Item], mark: str) -> list[pytest.Item]:
    """Marks the cases beyond `count` that are spread evenly, the first among them. Returns those that it marked."""
    if count >= len(cases):  # somebody has named these cases
        return []
    chosen = {number * len(cases) // count for number in range(count)}
    beyond = [case for number, case in enumerate(cases) if number not in chosen]
    for case in beyond:
        case.add_marker(mark)
    return beyond


OF_THE_MACHINE = (
    "this machine does not give",
    "this user may not",
    "needs root",
    "needs user namespaces",
    "only the seats of root",
)
"""How the reasons begin for what no package can give: rights, namespaces, control groups. `arena doctor` names them."""


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if os.environ.get("ARENA_TEST_STRICT") and report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        if str(reason).removeprefix("Skipped: ").startswith(OF_THE_MACHINE):
            return
        report.outcome = "failed"
        report.longrepr = f"nothing may be skipped with ARENA_TEST_STRICT=1, got: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With ARENA_TEST_STRICT=1 a skipped test has failed, unless the machine itself is the reason."""
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """With ARENA_TEST_STRICT=1 a skipped module has failed."""
    report = yield
    _forbid_skip(report)
    return report


def pytest_sessionstart() -> None:
    """Collects no garbage while tests are collected: there is none, and each look at all tests takes longer."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leaves the tests out of every later look for garbage."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def one_core() -> Iterator[None]:
    """This process, and all that it starts, has one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


@pytest.fixture
def work() -> Iterator[Path]:
    """An empty folder that everybody may use."""
    with tempfile.TemporaryDirectory(prefix="arena-test-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)
