"""Limits what an author's built bots take of the disk, together.

Law: what a build left is measured once, by the step, and is in its report. A folder is walked through only if it was
built before reports said so.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from arena.files import MIB
from arena.league.settings import Limits
from arena.league.steps import BYTES, StepReport, Verdict, footprint
from arena.store.league import LeagueStore
from arena.store.league.records import Version
from arena.types import Level


class Allowance:
    """How much of the disk the built bots of each author take, and may take.

    Args:
        store: The league.
        bots: The folder of all built bots.
        limits: What authors may have, but for those who have limits of their own.
    """

    def __init__(self, store: LeagueStore, bots: Path, limits: Limits) -> None:
        self._store = store
        self._bots = bots
        self._limits = limits
        self._known: dict[str, int] = {}
        """By digest how many bytes it takes."""

    def limit(self, author: str) -> int:
        """Returns how many MiB an author's built bots may take."""
        return self._limits.of_author(self._store.authors.known(author).quotas)["built_mib"]

    def taken(self, author: str, but: int | None = None) -> dict[str, int]:
        """Returns by name how many bytes each version of an author takes whose built files stay.

        Args:
            author: Whose.
            but: A version that is left out.
        """
        versions = (
            version
            for version in self._store.versions.in_use()
            if version.author == author and version.level != Level.REMOTE and not version.is_of_house
        )
        return {version.name: self._bytes(version) for version in versions if version.id != but}

    def judge(self, version: Version, report: StepReport) -> StepReport:
        """Returns the report of a build; failed, if the author's bots would take too much with what it left."""
        if report.kind != "build" or report.verdict is not Verdict.PASSED or version.level == Level.REMOTE:
            return report
        own = int(report.detail.get(BYTES, 0))
        others = self.taken(version.author, version.id)
        limit = self.limit(version.author)
        total = own + sum(others.values())
        if total <= limit * MIB:
            return report
        finding = (
            f"expected what is built of one author's bots to take at most {limit:,} MiB, got: {_mib(total)} with "
            f"{_mib(own)} of {version.name}; let its build leave less{_or_retire(others)}"
        )
        detail = {**report.detail, "limit_mib": limit, "others": others}
        return replace(report, verdict=Verdict.FAILED, finding=finding, detail=detail)

    def remedy(self, author: str) -> str:
        """Returns what an author can do who may not have more."""
        return f"submit bots whose build leaves less{_or_retire(self.taken(author))}"

    def _bytes(self, version: Version) -> int:
        if version.digest not in self._known:
            reports = (each.report for each in self._store.reports.of(version.id) if each.kind == "build")
            detail = next((found["detail"] for found in reports if BYTES in found.get("detail", {})), None)
            place = self._bots / version.digest
            if detail is None and not place.is_dir():
                return 0  # it is not built yet
            self._known[version.digest] = footprint(place) if detail is None else int(detail[BYTES])
        return self._known[version.digest]


def _or_retire(versions: dict[str, int]) -> str:
    """Returns the end of a sentence: which version to retire, the largest."""
    if not versions:
        return ""
    name, size = max(versions.items(), key=lambda item: item[1])
    return f", or retire a version: {name} has {_mib(size)} (`arena league retire {name}`)"


def _mib(size: int) -> str:
    return f"{-(-size // MIB):,} MiB"
