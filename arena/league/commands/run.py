"""`arena league run`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.help import Command
from arena.cli.options import force_option
from arena.cli.output import counted, say, show_line
from arena.core.face import errors, lanes_on, plain, playing_commands

if TYPE_CHECKING:
    from arena.core.face import lane_kit


@click.command(cls=Command)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--games", type=click.IntRange(min=1), metavar="N",
    help="End after N more rated games, once what was submitted before is tried.",
)  # fmt: skip
@click.option(
    "--concurrency", type=click.IntRange(1, 1024), metavar="N",
    help="Games at a time, instead of what league.toml says (--force-concurrency: beyond the cores).",
)  # fmt: skip
@force_option
@click.option(
    "--open", "door", default="", metavar="ADDRESS",
    help="Open it to authors elsewhere, too: listen there, such as 127.0.0.1:8780; url and tls are in [door].",
)  # fmt: skip
@click.option("--cluster", metavar="ADDRESS", help="Play games on this Dask cluster, or local:N (--insecure: no TLS).")
@click.option("--same-worker", is_flag=True, help="Play all games of a match on one worker of the cluster.")
@click.option("--insecure", is_flag=True, hidden=True, help="Allow a cluster without TLS beyond this machine.")
@click.option("-q", "--quiet", is_flag=True, help="Print no events; league.log has them.")
@click.pass_context
def run(
    ctx: click.Context,
    folder: Path,
    games: int | None,
    concurrency: int | None,
    door: str,
    cluster: str | None,
    same_worker: bool,
    insecure: bool,
    quiet: bool,
) -> None:
    """Run the league in FOLDER: build, check and try what is submitted, play matches, rate, publish.

    It runs until it is stopped, by Ctrl-C or `kill`. Games that run then have a minute to end (`stop_s` in
    league.toml); a second signal does not wait for them. Nothing is lost by that, nor by a crash or a power failure:
    give the same command again. Games that were dropped are played again.

    On a cluster (docs/cluster.md) games are played on its workers, all of them unless --concurrency says less. What is
    submitted is built and tried on this machine in any case, and built again on each worker's.

    Other commands work from other terminals meanwhile: `arena league status`, `submit`, `pause`, `concurrency`.

    With --open, or `bind` in [door] of league.toml, it starts the door as `arena league open` does, and starts it again
    when it falls over. Standard output has the address to give to authors.

    \b
    Example:
      arena league run cup
      arena league run cup --games 100
      arena league run cup --open 127.0.0.1:8780
    """
    from arena.core.face import processor_cores, progress_lines
    from arena.league.folder import Folder
    from arena.league.service.running import Hands, run_league
    from arena.league.show import service_line
    from arena.league.submissions.tools import archive_of

    place = Folder(folder.absolute())
    tell = playing_commands.nothing if quiet else say
    number, elsewhere = concurrency, False
    worker: lane_kit.Worker = processor_cores.local_worker
    if cluster is not None or insecure or same_worker:
        sent = partial(archive_of, place)
        lanes = ctx.with_resource(
            lanes_on(cluster, concurrency, insecure=insecure, same_worker=same_worker, tell=tell, archive_of=sent)
        )
        number, worker, elsewhere = lanes.number, lanes.worker or processor_cores.local_worker, lanes.elsewhere
    with progress_lines.moving_line(quiet=quiet) as line:
        watch = None if line is None else lambda state: line(service_line(state, games))
        ended = run_league(
            place,
            Hands(number, worker, elsewhere, same_worker, watch),
            games=games,
            tell=tell,
            door=door,
            # Where a line moves on the same terminal, the address comes above it.
            announce=show_line if line is None or not sys.stdout.isatty() else say,
        )
    if ended.idle:
        raise errors.ArenaError(
            f"expected {counted(games or 0, 'more rated game')}, got: {ended.games}; {ended.idle}; submit a bot with "
            f"`arena league submit BOT --league {folder}`"
        )
    if not quiet:
        say(f"Who leads: arena league standings {plain(str(folder))}")
