"""Compares the machines of a cluster: what must be the same for games to be the same, and their times to be fair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from arena.cluster.survey import MachineFacts
from arena.core.face import NS_PER_MS

_SAME: Final = ("arena", "dask", "distributed", "msgspec", "zstandard")
"""Packages that both ends of a lane work with."""
_OF_BOTS: Final = ("python", "pyzmq", "libzmq", "msgpack")
"""Packages that bots in Python work with."""
_WORST_CLOCK_NS: Final = NS_PER_MS
_WORST_OFFSET_MS: Final = 1_000.0
_EVEN: Final = 1.5
"""Workers are called equal if the largest number of cores for a game is at most so many times the smallest."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """A worker, and what it said of its machine."""

    worker: str
    facts: MachineFacts | None = None
    """None if it said nothing."""
    problem: str = ""
    """Why it said nothing."""
    offset_ms: float | None = None
    """Lead of its clock over the one here; None if it said nothing."""
    uncertain_ms: float | None = None
    """Error that the offset may have: half of the way there and back."""
    cores_per_game: float | None = None
    """Cores of its machine for each worker there."""


class Mismatch(msgspec.Struct, frozen=True):
    """Something that differs."""

    workers: tuple[str, ...]
    what: str
    """Complaint: what was expected, and what was got."""
    remedy: str
    must: bool = True
    """Whether it must be the same: else games are the same, and only their times may be less fair."""


class ClusterReport(msgspec.Struct, frozen=True, kw_only=True):
    """The document that `--json` prints."""

    ok: bool
    """Whether all is the same that must be."""
    here: dict[str, str]
    workers: tuple[Machine, ...]
    problems: tuple[Mismatch, ...]


def compare(here: Mapping[str, str], machines: list[Machine]) -> ClusterReport:
    """Compares workers with each other and with the versions on this machine."""
    counts = Counter(machine.facts.machine for machine in machines if machine.facts is not None)
    told = tuple(
        machine
        if machine.facts is None
        else msgspec.structs.replace(
            machine, cores_per_game=round(machine.facts.cores / counts[machine.facts.machine], 2)
        )
        for machine in machines
    )
    known = {machine.worker: machine.facts for machine in told if machine.facts is not None}
    problems = (*_silent(told), *_versions(here, known), *_levels(known), *_tools(known), *_clocks(told), *_cores(told))
    return ClusterReport(
        ok=not any(problem.must for problem in problems), here=dict(here), workers=told, problems=tuple(problems)
    )


def _silent(machines: tuple[Machine, ...]) -> Iterator[Mismatch]:
    for machine in machines:
        if machine.facts is None:
            yield Mismatch(
                (machine.worker,),
                f"expected it to say what it is, got: {machine.problem}",
                "install the same version of arena there, and start the worker anew",
            )


def _versions(here: Mapping[str, str], known: Mapping[str, MachineFacts]) -> Iterator[Mismatch]:
    for name in (*_SAME, *_OF_BOTS):
        expected = here.get(name, "none")
        others = _grouped(known, lambda facts, name=name: facts.versions.get(name, "none"))  # type: ignore[misc]
        for version, workers in others.items():
            if version != expected:
                yield Mismatch(
                    workers,
                    f"expected {name} {expected}, as it is here, got: {version}",
                    f"install {name} {expected} there, or {version} here",
                    must=name in _SAME or _release(version) != _release(expected),
                )


def _release(version: str) -> str:
    """Returns the part of a version that says what it can do.

    >>> _release("3.12.4")
    '3.12'
    """
    return ".".join(version.split(".")[:2])


def _levels(known: Mapping[str, MachineFacts]) -> Iterator[Mismatch]:
    for level in dict.fromkeys(level for facts in known.values() for level in facts.levels):
        missing = {worker: facts.levels.get(level, ("all",)) for worker, facts in known.items()}
        if all(missing.values()):
            continue  # none gives it: a tournament that asks for it is refused everywhere
        for worker, probes in missing.items():
            if probes:
                yield Mismatch(
                    (worker,),
                    f"expected level {level}, which others give, got a machine on which fail: {', '.join(probes)}",
                    f"run `arena doctor --level {level}` there",
                )


def _tools(known: Mapping[str, MachineFacts]) -> Iterator[Mismatch]:
    for tool in sorted({tool for facts in known.values() for tool in facts.tools}):
        said = _grouped(known, lambda facts, tool=tool: facts.tools.get(tool, ""))  # type: ignore[misc]
        if "" in said:
            yield Mismatch(
                said.pop(""),
                f"expected {tool!r}, which others have, got: no such program; bots that need it cannot play there",
                f"install {tool}",
            )
        if len(said) > 1:
            common = max(said, key=lambda line: len(said[line]))
            for line, workers in said.items():
                if line != common:
                    yield Mismatch(
                        workers,
                        f"expected {tool} as on others, {common!r}, got: {line!r}",
                        "install the same version: else a bot may be faster on one than on another",
                        must=False,
                    )


def _clocks(machines: tuple[Machine, ...]) -> Iterator[Mismatch]:
    for machine in machines:
        if machine.facts is not None and machine.facts.clock_ns > _WORST_CLOCK_NS:
            yield Mismatch(
                (machine.worker,),
                f"expected a clock with steps of 1 ms or less, got: {machine.facts.clock_ns / NS_PER_MS:g} ms",
                "thinking cannot be measured there; leave it out",
            )
        if abs(machine.offset_ms or 0.0) - (machine.uncertain_ms or 0.0) > _WORST_OFFSET_MS:
            yield Mismatch(
                (machine.worker,),
                f"expected the time of day as it is here, got: {machine.offset_ms:+.0f} ms",
                "set its clock (chrony, systemd-timesyncd): no game depends on it, but keys may not be valid",
                must=False,
            )


def _cores(machines: tuple[Machine, ...]) -> Iterator[Mismatch]:
    shares = {machine.worker: machine.cores_per_game for machine in machines if machine.cores_per_game is not None}
    few = tuple(worker for worker, share in shares.items() if share < 1)
    if few:
        yield Mismatch(
            few,
            f"expected a core for each game, got: {min(shares.values()):g}",
            "start fewer workers there: half as many as it has cores",
            must=False,
        )
    if shares and max(shares.values()) > _EVEN * min(shares.values()):
        least = min(shares.values())
        yield Mismatch(
            tuple(worker for worker, share in shares.items() if share == least),
            f"expected as many cores for a game as others have, {max(shares.values()):g}, got: {least:g}",
            "start as many workers for each core everywhere: else bots have unequal time",
            must=False,
        )


def _grouped(known: Mapping[str, MachineFacts], of: Callable[[MachineFacts], str]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for worker, facts in known.items():
        groups[of(facts)] = (*groups.get(of(facts), ()), worker)
    return groups
