"""`arena league submit` and `report`: sends a bot to a league, and shows what the steps of a version found."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from arena.cli import complete
from arena.cli.options import json_option
from arena.cli.output import counted, echo, say, show, show_json, stdout_width
from arena.core.face import errors, plain
from arena.league.commands.here import Elsewhere, at_options, to_option
from arena.league.commands.leagues import STEPS, League, opened
from arena.league.commands.tables import received, show_maps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.core.face import Payload

_GAMES: Final = ("game", "seat", "rank", "code", "turn")
"""The columns of the table of first games."""
_LAST: Final = 5
"""Number of a bot's last words that are shown."""
SETTLED = frozenset({"active", "superseded", "suspended", "rejected", "retired"})
"""States in which a submission has come to its end."""


@click.command()
@click.argument("bot", shell_complete=complete.bots)
@to_option
@click.option("--author", metavar="NAME", help="With --league: on behalf of whom.  [default: local]")
@click.option("--wait", is_flag=True, help="Follow the version until it plays, or is rejected (exit 3).")
@at_options
def submit(bot: str, folder: Path | None, author: str | None, wait: bool, elsewhere: Elsewhere | None) -> None:
    """Send a bot to a league.

    BOT is a folder, or a zip or tar of one. It is packed with what its manifest includes. Built files, hidden folders
    and what tools make are left out, and listed. The league builds it, checks it and tries it against random; then it
    plays, in place of its older version. The same files twice are one version.

    \b
    Example:
      arena league submit ./fox --league cup --wait
      arena league submit ./fox --at https://cup.example --token anna.token --wait
    """
    from arena.author.archives import packed_bot
    from arena.core.face import bot_manifests

    with opened(folder, elsewhere, author) as league:
        packed = packed_bot(bot)
        bot_manifests.check_name(packed.manifest.name)
        for path in packed.left_out:
            say(plain(f"left out: {path}"))
        answer = league.submit(packed)
        if answer is None:
            return
        version, state = str(answer.get("version", "")), str(answer.get("state", ""))
        report = shlex.join(["arena", "league", "report", version, *league.options])
        if answer.get("same"):
            echo(f"{version} has these files already, and is {state}")
        else:
            echo(received(version, answer.get("before")))
            if league.hint:
                say(plain(league.hint))
            say(plain(f"What comes of it: {report}"))
        if wait and state not in SETTLED:
            _follow(league, version, report)


def _follow(league: League, version: str, report: str) -> None:
    """Says each state of a version until the last one.

    Raises:
        CheckFailed: It does not play in the end.
    """
    told = ""
    while True:
        state = league.state(version, league.wait_s)
        if state != told:
            told = state
            echo(f"{version}: {told}")
        if told in SETTLED:
            break
        time.sleep(league.look_s)
    if told not in ("active", "superseded"):
        raise errors.CheckFailed(f"expected {version} to become active, got: {told}; read `{report}`")


@click.command()
@click.argument("version")
@click.argument("kind", required=False, type=click.Choice(STEPS))
@to_option
@click.option("-v", "--verbose", is_flag=True, help="Show all: each step, each check and game, all that it wrote.")
@json_option
@at_options
def report(
    version: str, kind: str | None, folder: Path | None, verbose: bool, as_json: bool, elsewhere: Elsewhere | None
) -> None:
    """Show what the steps of a version found: its build, its check, its first games against random.

    VERSION is a version such as fox/3, or a bot for its newest. KIND is build, check or qualify. The last step comes
    first: what failed, the bot's last words, and what to do. --verbose adds the rest, a check as `arena bot check` lays
    it out.

    \b
    Example:
      arena league report fox --league cup
      arena league report fox/3 check --at https://cup.example --token anna.token
    """
    with opened(folder, elsewhere) as league:
        found = league.reports(version, kind)
    if as_json:
        show_json(found)
        return
    if found["reports"] and found["state"] not in ("active", "rejected"):
        reason = (found.get("history") or [{}])[-1].get("reason")
        echo(f"{found['version']} is {found['state']}{': ' if reason else ''}{reason or ''}")
    show_reports(found["reports"], verbose=verbose)
    if not found["reports"]:
        step = f"the {kind} of it" if kind else "no step of it"
        has = "has not" if kind else "has"
        say(plain(f"{found['version']} is {found['state']}: {step} {has} come to its end yet."))
    for change in found.get("history", ()) if verbose else ():
        echo(f"{change['at']}  {change['state']}{': ' if change['reason'] else ''}{change['reason']}")


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


def show_reports(documents: Sequence[Payload], *, verbose: bool) -> None:
    """Prints reports: of the last one what matters, or all of it, and then a line for each before it.

    Raises:
        DoorError: They are no reports, but something else that a league elsewhere sent.
    """
    try:
        reports = msgspec.convert(documents, list[_Report])
        details = [msgspec.convert(report.detail, _Detail) for report in reports]
    except msgspec.ValidationError as error:
        raise errors.DoorError(f"expected reports of a league, got: {error}; ask its operator", "internal") from None
    for number, (report, detail) in enumerate(zip(reversed(reports), reversed(details), strict=True)):
        which = f", attempt {report.attempt}" if report.attempt > 1 else ""
        echo(f"{report.kind or 'step'} of {report.version}{which}: {report.verdict}, in {report.seconds:.1f} s")
        if number == 0:
            _show(report, detail, verbose=verbose)


def _show(report: _Report, detail: _Detail, *, verbose: bool) -> None:
    from arena.core.face import text_tables

    width = stdout_width()
    if report.finding:
        show(text_tables.wrapped(report.finding, width))
    for game in detail.games:
        if isinstance(forfeit := game.get("forfeit"), dict):
            show(text_tables.wrapped(f"The first: game {game.get('game')}, {forfeit.get('sentence')}", width))
            break
    if report.finding and not verbose:
        for line in report.output.splitlines()[-_LAST:]:
            echo(f"  | {line}")
    if report.command_to_repeat:
        echo(f"At home: {report.command_to_repeat}")
    if not verbose:
        echo("The rest: --verbose")
        return
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
    from arena.author.conform.render import report_lines
    from arena.author.conform.report import BotReport

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
    forfeits = (game.get("forfeit") for game in games)
    rows = [game | found if isinstance(found, dict) else game for game, found in zip(games, forfeits, strict=True)]
    show_maps(rows, _GAMES, "")
