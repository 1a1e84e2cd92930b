"""Prints what the steps of a version found: the same for a league here and for one elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from arena.cli.output import console, counted, echo, show
from arena.errors import DoorError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.types import Payload

_GAMES: Final = ("game", "seat", "rank", "code", "turn")
"""The columns of the table of first games."""


class _Detail(msgspec.Struct):
    """Details of a build and of first games, as far as they are shown."""

    bytes: int | None = None
    removed: int = 0
    games: list[dict[str, Any]] = []


class _Report(msgspec.Struct):
    """A report of `arena.league.public.documents`, as far as it is shown."""

    version: str = ""
    kind: str = ""
    attempt: int = 1
    verdict: str = ""
    seconds: float = 0
    finding: str = ""
    command_to_repeat: str = ""
    detail: dict[str, Any] = {}
    output: str = ""


def show_reports(documents: Sequence[Payload]) -> None:
    """Prints reports: the last one in full, and a line for each before it.

    Raises:
        DoorError: They are no reports, but something else that a league elsewhere sent.
    """
    try:
        reports = msgspec.convert(documents, list[_Report])
        details = [msgspec.convert(report.detail, _Detail) for report in reports]
    except msgspec.ValidationError as error:
        raise DoorError(f"expected reports of a league, got: {error}; ask its operator", "internal") from None
    for number, (report, detail) in enumerate(zip(reports, details, strict=True), 1):
        which = f", attempt {report.attempt}" if report.attempt > 1 else ""
        echo(f"{report.kind or 'step'} of {report.version}{which}: {report.verdict}, in {report.seconds:.1f} s")
        if number == len(reports):
            _show(report, detail)


def _show(report: _Report, detail: _Detail) -> None:
    from arena.show.tables import wrapped

    width = console().width
    if report.finding:
        show(wrapped(report.finding, width))
    if report.command_to_repeat:
        echo(f"At home: {report.command_to_repeat}")
    if report.kind == "check" and _show_check(report.detail, width):
        return  # it has the bot's last words
    if detail.bytes is not None:
        echo(f"What was built takes {detail.bytes:,} bytes; {counted(detail.removed, 'file')} removed.")
    if detail.games:
        _show_games(detail.games)
    if report.output:
        echo("It wrote:")
        for line in report.output.splitlines():
            echo(f"  {line}")


def _show_check(detail: Payload, width: int) -> bool:
    """Prints what a check found as `arena bot check` does; returns whether there is any such thing."""
    from arena.conform.render import report_lines
    from arena.conform.report import BotReport

    try:
        found = msgspec.convert(detail, BotReport)
    except msgspec.ValidationError:
        return False  # the check did not begin, or another version of arena wrote this
    echo()
    for line in report_lines(found, width):
        show(line)
    return True


def _show_games(games: Sequence[Payload]) -> None:
    """Prints the first games of a version as a table."""
    from arena.cli.league.away import show_maps

    forfeits = (game.get("forfeit") for game in games)
    rows = [game | found if isinstance(found, dict) else game for game, found in zip(games, forfeits, strict=True)]
    show_maps(rows, _GAMES, "")
