"""What must be the same on all machines of a cluster, and what only makes times less fair."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from arena.cluster.check import Machine, Mismatch, compare
from arena.cluster.survey import MachineFacts, facts, versions
from arena.core.types import Level

HERE = {"arena": "1.0", "python": "3.12.1", "pyzmq": "26.0", "msgpack": "1.1.0", "distributed": "2026.1"}
FACTS = MachineFacts(
    machine="m", versions=HERE, levels={Level.TRUSTED: (), Level.ISOLATED: (), Level.STRICT: ("control-groups",)},
    tools={"cc": "cc 12", "make": "GNU Make 4"}, cores=4, memory_mib=8000, load=0.1, clock_ns=1,
)  # fmt: skip


def machines(*changes: dict[str, Any]) -> list[Machine]:
    return [
        Machine(worker=f"w{at}", facts=replace(FACTS, machine=f"m{at}", **change), offset_ms=0.0, uncertain_ms=1.0)
        for at, change in enumerate(changes)
    ]


def only(*changes: dict[str, Any]) -> Mismatch:
    report = compare(HERE, machines(*changes))
    (problem,) = report.problems
    assert report.ok is not problem.must
    assert problem.remedy
    return problem


def test_equal_machines_are_fit() -> None:
    report = compare(HERE, machines({}, {}))
    assert report.ok
    assert report.problems == ()
    assert [worker.cores_per_game for worker in report.workers] == [4.0, 4.0]


@pytest.mark.parametrize(
    ("change", "must", "what"),
    [
        ({"versions": HERE | {"arena": "1.1"}}, True, "expected arena 1.0, as it is here, got: 1.1"),
        ({"versions": HERE | {"distributed": "2026.2"}}, True, "expected distributed 2026.1"),
        ({"versions": HERE | {"python": "3.13.1"}}, True, "expected python 3.12.1, as it is here, got: 3.13.1"),
        ({"versions": HERE | {"python": "3.12.4"}}, False, "expected python 3.12.1, as it is here, got: 3.12.4"),
        ({"versions": {name: HERE[name] for name in HERE if name != "pyzmq"}}, True, "expected pyzmq 26.0"),
        ({"levels": FACTS.levels | {Level.ISOLATED: ("bwrap",)}}, True, "expected level isolated"),
        ({"tools": {"cc": "cc 12"}}, True, "expected 'make', which others have"),
        ({"tools": {"cc": "cc 12", "make": "GNU Make 4", "go": "go 1"}}, True, "expected 'go', which others have"),
        ({"tools": {"cc": "cc 13", "make": "GNU Make 4"}}, False, "expected cc as on others, 'cc 12', got: 'cc 13'"),
        ({"clock_ns": 15_000_000}, True, "got: 15 ms"),
        ({"cores": 2}, False, "expected as many cores for a game as others have, 4, got: 2"),
    ],
)  # fmt: skip
def test_what_differs_is_named(change: dict[str, Any], must: bool, what: str) -> None:
    problem = only({}, {}, change)
    assert problem.must is must
    assert what in problem.what
    assert problem.workers == (("w0", "w1") if "'go'" in what else ("w2",))


def test_a_level_that_no_machine_gives_is_no_difference() -> None:
    change = {"levels": {Level.TRUSTED: (), Level.STRICT: ("control-groups",)}}
    assert compare(HERE, machines(change, change)).ok


def test_workers_of_one_machine_share_its_cores() -> None:
    found = [replace(machine, facts=FACTS) for machine in machines(*({},) * 8)]
    report = compare(HERE, found)
    assert {worker.cores_per_game for worker in report.workers} == {0.5}
    (problem,) = report.problems
    assert not problem.must
    assert problem.what == "expected a core for each game, got: 0.5"


def test_a_silent_worker_is_not_fit() -> None:
    report = compare(HERE, [*machines({}), Machine(worker="w1", problem="no answer")])
    assert not report.ok
    assert [(problem.workers, problem.must) for problem in report.problems] == [(("w1",), True)]


@pytest.mark.parametrize(
    ("offset", "uncertain", "told"), [(2_000.0, 5.0, True), (-2_000.0, 5.0, True), (2_000.0, 1_500.0, False)]
)
def test_a_clock_that_is_surely_wrong_is_noted(offset: float, uncertain: float, told: bool) -> None:
    (machine,) = machines({})
    report = compare(HERE, [replace(machine, offset_ms=offset, uncertain_ms=uncertain)])
    assert report.ok
    assert bool(report.problems) is told


def test_this_machine_knows_itself() -> None:
    found = facts()
    assert found.versions == versions()
    assert {"arena", "python", "msgspec", "pyzmq", "libzmq"} <= found.versions.keys()
    assert found.levels[Level.TRUSTED] == ()
    assert found.cores >= 1
    assert 0 < found.clock_ns < 1_000_000
    assert all(found.tools.values())
