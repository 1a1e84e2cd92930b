"""`arena tournament`: plays a tournament, or continues it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli import complete, options
from arena.cli.help import FORMAT, HOW, WHAT, Command, option
from arena.cli.options import db_option
from arena.cli.output import echo, say, show_json
from arena.core.commands.formats import Explained, MakeFormat, format_options
from arena.core.commands.playing import Manner, enter, lanes_on, nothing, play_tournament, when_done_option
from arena.core.errors import ConfigError
from arena.core.text import plain

if TYPE_CHECKING:
    from arena.core.ratings.running import Rating
    from arena.core.standings.report import Report
    from arena.core.store.reader import Reader
    from arena.core.tournament.blocks import Processes
    from arena.core.tournament.settings import OnOverload, Settings
    from arena.core.tournament.steering import Verb
    from arena.core.types import Level


@click.command(cls=Command)
@db_option
def pause(db: Path) -> None:
    """Let the running games end, and begin no other until `arena tournament resume`.

    The tournament is the one that another terminal plays on the database. Pausing costs nothing: bots wait, and no
    clock runs.
    """
    _order(db, "pause")


@click.command(cls=Command)
@db_option
def resume(db: Path) -> None:
    """Go on after `arena tournament pause`."""
    _order(db, "resume")


@click.command(cls=Command)
@db_option
def stop(db: Path) -> None:
    """Let the running games end, and then end the command that plays them. The same command goes on later."""
    _order(db, "stop")


@click.command(cls=Command)
@click.argument("concurrency", type=click.IntRange(1, 1000), metavar="N")
@options.force_option
@db_option
def concurrency(concurrency: int, db: Path) -> None:
    """Play N games at a time from now on, no more than there are cores without --force-concurrency."""
    _order(db, "concurrency", concurrency)


class Steered(Command):
    """A command to which other terminals may give orders: `COMMAND ORDER` is another command."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Makes the context of an order, if the arguments begin with one."""
        if args and args[0] in ORDERS:
            order = args.pop(0)
            if parent is not None and parent.default_map is not None:
                extra.setdefault("default_map", parent.default_map.get(info_name or ""))
            return ORDERS[order].make_context(f"{info_name} {order}", args, parent=parent, **extra)
        return super().make_context(info_name, args, parent=parent, **extra)


ORDERS = {command.name or "": command for command in (pause, resume, stop, concurrency)}


def _order(db: Path, verb: Verb, number: int = 0) -> None:
    from arena.core.tournament.steering import send

    echo(send(db, verb, number))


class TournamentCommand(Explained, Steered):
    """Explains formats, and takes orders."""


@click.command(cls=TournamentCommand)
@click.argument("bots", nargs=-1, metavar="[BOTS]...", shell_complete=complete.first_word(ORDERS, complete.bots))
@option(WHAT, "--all", "all_", is_flag=True, help="All bundled bots that can play here, the slow ones too.")
@options.game_options
@option(WHAT, "--players", default=2, show_default=True, metavar="N", help="Seats of a game.")
@options.seed_option
@format_options
@option(FORMAT, "--seeding", "seeds", metavar="ID", rare=True, help="Seed by the standings of this tournament.")
@options.level_option
@options.concurrency_options
@option(HOW, "--resource", "most", multiple=True, metavar="NAME=N", rare=True, help="Bots that use it at once.")
@option(HOW, "--cluster", metavar="ADDRESS", help="On a Dask cluster, or local:N (--insecure: no TLS).")
@option(HOW, "--same-worker", is_flag=True, rare=True, help="Play all seatings of a deal on one worker of the cluster.")
@option(HOW, "--insecure", is_flag=True, hidden=True, help="Allow a cluster without TLS beyond this machine.")
@option(
    HOW, "--on-overload", type=click.Choice(["rate", "void"]), default="rate", show_default=True, metavar="HOW",
    rare=True, help="rate or void games lost by it.",
)  # fmt: skip
@option(
    HOW, "--keep-bots", "processes", flag_value="tournament", rare=True,
    help="Keep bots running: they may recognise deals.",
)  # fmt: skip
@option(HOW, "--fresh", "processes", flag_value="game", rare=True, help="Start the bots anew for every game.")
@option(HOW, "--commit", is_flag=True, rare=True, help="Publish the commitment to the deals, and play later.")
@option(HOW, "--beacon", metavar="NAME", rare=True, help="A public value to come; later give it: --beacon-value V.")
@option(HOW, "--beacon-value", metavar="V", hidden=True, help="The value of the beacon, once it is out.")
@option(
    HOW, "--extend", "extends", rare=True, metavar="ID",
    help="Play what this finished round-robin lacks (or `latest`).", shell_complete=complete.tournaments,
)  # fmt: skip
@option(HOW, "--new", is_flag=True, help="Begin anew; else the same command goes on where it was.")
@options.db_option
@options.logs_option("Where its folder of logs is made.")
@options.each_game_option
@options.quiet_option
@options.verbose_option
@options.json_option
@when_done_option
@click.pass_context
def tournament(
    ctx: click.Context,
    bots: tuple[str, ...],
    all_: bool,
    make_game: options.MakeGame,
    players: int,
    make_format: MakeFormat,
    seeds: str | None,
    level: Level,
    processes: Processes | None,
    most: tuple[str, ...],
    concurrency: int | None,
    cluster: str | None,
    insecure: bool,
    same_worker: bool,
    on_overload: OnOverload,
    seed: str | None,
    db: Path,
    logs: Path,
    beacon: str | None,
    beacon_value: str | None,
    commit: bool,
    extends: str | None,
    new: bool,
    each_game: bool,
    quiet: bool,
    verbose: bool,
    as_json: bool,
    when_done: str,
) -> None:
    """Play a tournament and print its standings.

    BOTS: bundled bots or folders of bots; without any, quick Python ones.
    See also --format NAME --help, tournament pause|resume|stop|concurrency.

    Example: arena tournament random greedy mybots --deals 20 --time 1m+1
    """
    from msgspec.structs import replace

    from arena.core.standings.report import notify, report
    from arena.core.store.finding import LATEST, identified
    from arena.core.store.store import open_store
    from arena.core.tournament.extend import extend
    from arena.core.tournament.plan import as_begun
    from arena.core.tournament.scarce import read_most
    from arena.core.tournament.settings import seeded, set_up

    show = partial(show_report, as_json=as_json, quiet=quiet, verbose=verbose)
    game = make_game(players)
    entered = enter(bots, game.rules, bundled=all_, quiet=quiet)
    setup = set_up(
        entered, game, make_format(), processes=processes, level=level, on_overload=on_overload, seed=seed,
        beacon=beacon, times=make_game.times,
    )  # fmt: skip
    setup = replace(setup, most=read_most(most))
    tell = nothing if quiet else say
    lanes = ctx.with_resource(
        lanes_on(cluster, concurrency, each=setup.cores, insecure=insecure, same_worker=same_worker, tell=tell)
    )
    manner = Manner(
        workers=lanes.number, worker=lanes.worker, same_worker=same_worker, logs=logs, beacon_value=beacon_value,
        commit=commit, new=new, each_game=each_game, verbose=verbose, quiet=quiet,
    )  # fmt: skip
    with open_store(db, say) as store:
        if seeds is not None:
            if seeds == LATEST:
                raise ConfigError(
                    "expected the id of a tournament, got: latest, which is this one when the same command goes on "
                    "- at --seeding; `arena tournaments` lists ids"
                )
            seeds = identified(store, seeds)
            ranks = report(store, seeds)[0].standings
            digests = {entrant.name: entrant.digest for entrant in store.entrants(store.tournament(seeds).id)}
            setup = seeded(setup, [(row.bot, digests[row.bot]) for row in ranks])
        starts: tuple[Rating, ...] = ()
        if extends is not None:
            extended = extend(store, setup.settings, extends)
            for sentence in extended.told:
                tell(plain(sentence))
            if not extended.settings.games:
                tell("Nothing is missing.\n")
                show(report(store, extended.of, without=extended.gone)[0])
                return
            setup, starts = replace(setup, settings=extended.settings), extended.starts
        if not new:
            setup = replace(setup, settings=as_begun(store, setup.settings))
            if (before := played_before(store, setup.settings, tell)) is not None:
                show(report(store, before)[0])
                return
        document = play_tournament(ctx, store, setup, manner, starts=starts)
    if document is not None:
        show(document)
        notify(when_done, "tournament", document.tournament.id, db, document, say)


def played_before(store: Reader, settings: Settings, tell: Callable[[str], None]) -> str | None:
    """Returns the finished tournament with these settings, and says so. Says too what is almost this one."""
    from arena.core.tournament.extend import almost

    if store.unfinished(settings.digest) is not None:
        return None
    if (before := store.finished(settings.digest)) is not None:
        tell(f"Tournament {before.id} was this one, and finished at {before.finished}. --new plays it again.\n")
        return before.id
    if (near := almost(store, settings)) is not None:
        id, differences = near.tournament.id, "; ".join(near.differences)
        tell(plain(f"This is not the unfinished tournament {id}: {differences}."))
        tell(f"`arena tournaments show {id}` prints the command that goes on with it.\n")
    return None


def show_report(document: Report, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Prints the standings of a tournament, and where its logs are."""
    from arena.core.commands.standings import print_tables

    if as_json:
        show_json(document)
        return
    print_tables(document, verbose=verbose)
    if not quiet:
        say(f"\n{document.games} games in {document.seconds:.1f} s; logs in {os.path.relpath(document.logs)}")
