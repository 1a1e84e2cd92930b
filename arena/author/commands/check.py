"""`arena bot check`: whether bots keep to the protocol, and what to fix where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from arena.cli import complete
from arena.cli.options import LEVELS, json_option
from arena.cli.output import echo, redrawn, say, show, show_json, stdout_width, write_file
from arena.core.face import Level, errors, plain

if TYPE_CHECKING:
    from arena.author.conform.report import BotReport, Grade
    from arena.author.conform.runner import Progress
    from arena.core.face import bot_manifests

REACHED = ("core", "full")
"""Grades that a bot may be asked to reach."""


@click.command()
@click.argument("bots", nargs=-1, metavar="BOT [BOT...]", required=True, shell_complete=complete.bots)
@click.option(
    "--rules",
    multiple=True,
    metavar="NAME",
    shell_complete=complete.rules,
    help="Check only this game; may be repeated.  [default: those of the manifest]",
)
@click.option(
    "--level",
    "levels",
    type=click.Choice([*REACHED, *LEVELS]),
    multiple=True,
    metavar="LEVEL",
    help="core or full: what a bot must reach to pass. trusted, fenced, isolated or strict: how it is confined. "
    "Both may be given.  [default: core, trusted]",
)
@click.option(
    "--junit", type=click.Path(dir_okay=False, allow_dash=True), metavar="FILE", help="Write JUnit XML too, for CI."
)
@click.option("--in-place", is_flag=True, help="Check a bot in its folder, with files that would not be sent.")
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    bots: tuple[str, ...],
    rules: tuple[str, ...],
    levels: tuple[str, ...],
    junit: str | None,
    in_place: bool,
    as_json: bool,
) -> None:
    """Check that a bot keeps to the protocol, and say where it does not.

    Each BOT is a folder with a bot.toml, a zip or tar of one, which is built first, the name of a bundled bot, or
    cmd:COMMAND. It is started about ten times. The check tries the handshake, every message and what later versions may
    add, every kind of decision and every ruleset of the games that its manifest names (all games, if it names none),
    all numbers of seats, several games in a session, a tight time limit, messages that cross, errors, and its end. That
    takes a few seconds, and at most a little more than a minute for a bot that hangs.

    Each check has a verdict: ok, non_strict (it breaks a SHOULD, or what only the level full asks), unimplemented (it
    does not play this), failed (it breaks a MUST), or not attempted, because something else failed. The numbers are
    those of protocol/SPEC.md. What is not ok is explained below the list: what was sent, what came back, what the bot
    wrote, and how to fix it.

    A bot reaches the level core if it keeps every MUST and plays everything that it claims to play. It reaches full if
    it keeps every SHOULD too. The exit code is 3 if a bot does not reach the level that is demanded.

    A folder is checked as it is sent to a league: packed and unpacked elsewhere, with what its build made, and what is
    left out is listed. Links to folders, empty folders and names that begin with a dot are not there then.

    With --level fenced, isolated or strict it is checked as it runs in a tournament of that level: whether its program
    and libraries start there, and whether it plays by what it may read and use.

    \b
    Example:
      arena bot check greedy
      arena bot check ./ronin --level full --junit report.xml
    """
    from arena.author.conform.render import junit as junit_document
    from arena.author.conform.render import report_lines, verdict_lines
    from arena.author.conform.report import Grade
    from arena.author.conform.runner import check_bot, rules_to_check
    from arena.core.face import bot_manifests

    demanded = Grade(last(levels, REACHED, "core"))
    confined = Level(last(levels, LEVELS, "trusted"))
    reports = []
    with ExitStack() as held:
        specs = [bot_manifests.load_bot(bot) if in_place else _sent(bot, held) for bot in bots]
        for spec in specs:
            rules_to_check(spec, rules)
        for spec in specs:
            with progress_line(spec.name) as progress:
                reports.append(check_bot(spec, rules, progress=progress, level=confined))
            if not as_json:
                if len(reports) > 1:
                    echo()
                for line in report_lines(reports[-1], stdout_width()):
                    show(line)
    if as_json:
        show_json(document(reports, demanded, confined))
    elif len(reports) > 1:
        echo()
        for line in verdict_lines(reports, demanded):
            show(line)
    if junit is not None:
        write_file(junit, junit_document(reports, demanded))
    if not all(report.reaches(demanded) for report in reports):
        ctx.exit(errors.CheckFailed.exit_code)


def _sent(bot: str, held: ExitStack) -> bot_manifests.BotSpec:
    """Returns a bot as it would be sent, and says what of it would not be."""
    from arena.author.sent import as_sent

    sent = held.enter_context(as_sent(bot))
    if sent.unpacked:
        say(plain(f"{bot} is checked in its folder, since it cannot be sent: {sent.unpacked}"))
    if sent.left_out:
        say(plain(f"left out: {', '.join(sent.left_out)}"))
    return sent.spec


def last(given: tuple[str, ...], known: tuple[str, ...], default: str) -> str:
    """Returns the last of the given words that is known."""
    return next((word for word in reversed(given) if word in known), default)


def document(reports: list[BotReport], demanded: Grade, confined: Level) -> dict[str, object]:
    """Returns what `--json` prints."""
    return {
        "level": demanded,
        "confined": confined,
        "passed": all(report.reaches(demanded) for report in reports),
        "bots": reports,
    }


@contextmanager
def progress_line(bot: str) -> Iterator[Progress | None]:
    """Shows on stderr which check runs, if that is a terminal on which a line can be redrawn.

    Yields:
        What to call before each check; None if nothing is shown.
    """
    from rich.text import Text

    screen = redrawn(stderr=True)
    if screen is None:
        yield None
        return
    with screen.status(Text(bot)) as status:
        yield lambda done, due, id: status.update(Text(f"{bot}: {done}/{due} {id}"))
