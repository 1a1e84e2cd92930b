"""`arena site`: writes the tournaments of a database as a folder of pages, or brings it up to date."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import db_option, quiet_option
from arena.cli.output import counted, echo, say
from arena.core.face import errors, need, plain, progress_lines

if TYPE_CHECKING:
    from arena.pages.site.build import SiteBuilt

MOST_FAULTS = 5
"""Number of games without a replay that are named."""

REPLAYS = 20
"""Number of a tournament's latest games that have replays, unless more are asked for."""


def _number_or_all(ctx: click.Context, option: click.Parameter, value: str) -> int | None:
    """Returns a number of games; None for all."""
    if value == "all":
        return None
    if not (value.isascii() and value.isdigit()):
        raise click.BadParameter(f"expected a number of games, or all, got: {value!r}", ctx, option)
    return int(value)


@click.command()
@db_option
@click.option(
    "--league", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="FOLDER",
    help="A league: its database, and its own folder `site` unless -o names another.",
)  # fmt: skip
@click.option(
    "-o", "--out", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Where the pages go.  [default: site]",
)  # fmt: skip
@click.option("--title", metavar="TEXT", help="What the site is called.  [default: Tournaments, or the league's name]")
@click.option("--address", metavar="URL", default="", help="Where it will be served: pictures in previews need it.")
@click.option(
    "--replays", callback=_number_or_all, default=str(REPLAYS), show_default=True, metavar="N",
    help="Make replays of the N latest games of each tournament, or of `all`.",
)  # fmt: skip
@click.option(
    "--seconds", type=click.FloatRange(min=0), metavar="S",
    help="Begin no more replays after so long; the next call goes on, the latest games first.",
)  # fmt: skip
@click.option("--verify/--no-verify", default=True, show_default=True, help="Verify what is finished, each once.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes for replays.  [default: the cores]")
@quiet_option
def site(
    db: Path, league: Path | None, out: Path | None, title: str | None, address: str, replays: int | None,
    seconds: float | None, verify: bool, jobs: int | None, quiet: bool,
) -> None:  # fmt: skip
    """Write pages of tournaments, for any browser, without a server.

    There are the standings with their intervals, the cross-table, the course of the ratings, a page for each bot with
    its forfeits and their causes, every game, the latest ones with their replay, and what `arena verify` finds. Given
    again, the command writes what is new. It may be interrupted at any time, and may run while a tournament is played.

    Of a league only what everybody may see is in it: public logs, and no game of a match that is not over.

    \b
    Example:
      arena site
      arena site --replays all
      arena site --league cup --title "Spring cup"
    """
    need("pages", "`arena site`")
    from arena.core.face import processor_cores
    from arena.pages.site.build import Wish, build
    from arena.pages.site.tournament import INDEX

    if league is not None:
        name, url = _name_of(league)
        db, title, address = league / "league.db", title or name, address or url
    folder = out or (Path("site") if league is None else league / "site")
    wish = Wish(
        database=db, folder=folder, title=title or "Tournaments", address=address, replays=replays, seconds=seconds,
        verify=verify, processes=jobs or processor_cores.available_cores(),
    )  # fmt: skip
    with ExitStack() as stack:

        def count(unit: str, total: int) -> Callable[[], object]:
            stack.close()  # the bar of what was done before
            advance = stack.enter_context(progress_lines.progress_bar(total, 0, unit, quiet=quiet))
            return lambda: advance(lambda: "")

        try:
            built = build(wish, count)
        except OSError as error:
            raise errors.ConfigError(
                f"expected a folder for the site that can be written, got: {str(folder)!r}: {error.strerror or error}"
            ) from None
    if not quiet:
        _tell(built)
    # On a terminal it is a link that can be clicked on, else a path for a script.
    echo((folder / INDEX).resolve().as_uri() if sys.stdout.isatty() else os.path.relpath(folder / INDEX))


def _name_of(league: Path) -> tuple[str, str]:
    """Returns what a league is called, and the address at which its door serves the pages; empty if it has none."""
    from arena.pages.commands.watch import league_in

    try:
        return league_in(league).told()[:2]
    except errors.ConfigError as error:
        say(plain(f"{error}. The pages have the folder's name until then."))
        return league.absolute().name, ""


def _tell(built: SiteBuilt) -> None:
    for fault in built.faults[:MOST_FAULTS]:
        say(plain(f"No replay: {fault}"))
    if len(built.faults) > MOST_FAULTS:
        say(f"and {len(built.faults) - MOST_FAULTS} more games without a replay")
    if built.left:
        say(f"{counted(built.left, 'game')} have no replay yet: the same command makes them.")
    if built.others:
        say(f"Without a replay: {counted(built.others, 'game')}. `arena site --replays all` makes them.")
    say(f"{counted(built.pages, 'page')} and {counted(built.replays, 'replay')} are new. Open in a browser:")
