"""`arena tournament`: plays a tournament, or continues it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli import complete, signals
from arena.cli.entrants import enter
from arena.cli.formats import MakeFormat, format_options
from arena.cli.group import INTERRUPTED
from arena.cli.help import HOW, WHAT, WHO, option
from arena.cli.options import (
    MakeGame,
    db_option,
    each_game_option,
    game_options,
    json_option,
    logs_option,
    quiet_option,
    seed_option,
)
from arena.cli.output import command_line, counted, say, show_json
from arena.cli.played import line as game_line
from arena.cli.progress import progress_bar
from arena.cli.steer import ORDERS, Steered
from arena.errors import ConfigError
from arena.text import plain

if TYPE_CHECKING:
    from arena.ratings.running import Rating
    from arena.store.reader import Reader
    from arena.store.store import Store
    from arena.tournament.blocks import Processes
    from arena.tournament.plan import Begun
    from arena.tournament.report import Report
    from arena.tournament.settings import Settings, Setup

MOST_NAMES = 20
"""How many bots are named when a tournament begins; if there are more, only their number is printed."""


def default_concurrency() -> int:
    """Returns half of the cores: a game's bots and referee share one core; the other half keeps clocks honest."""
    from arena.tournament.workers import available_cores

    return max(1, available_cores() // 2)


@click.command(cls=Steered)
@click.argument("bots", nargs=-1, metavar="[BOTS]...", shell_complete=complete.first_word(ORDERS, complete.bots))
@option(WHO, "--all", "all_", is_flag=True, help="All bundled bots that can play here, the slow ones too.")
@game_options
@option(WHAT, "--players", default=2, show_default=True, metavar="N", help="Seats of a game.")
@seed_option
@format_options
@option(HOW, "--concurrency", type=int, metavar="N", help="Games at a time.  [default: half of the cores]")
@option(HOW, "--keep-bots", "processes", flag_value="tournament", help="Keep bots running: they may recognise deals.")
@option(HOW, "--fresh", "processes", flag_value="game", help="Start the bots anew for every game.")
@option(HOW, "--commit", is_flag=True, help="Publish the commitment to the deals, and play later.")
@option(HOW, "--beacon", metavar="TEXT", help="A public beacon's value that goes into the deals.")
@option(HOW, "--extend", "extends", metavar="ID", help="Play what this finished round-robin lacks (or `latest`).")
@option(HOW, "--new", is_flag=True, help="Begin anew even if there is such a tournament.")
@db_option
@logs_option("Where its folder of logs is made.")
@each_game_option
@quiet_option
@json_option
@click.pass_context
def tournament(
    ctx: click.Context,
    bots: tuple[str, ...],
    all_: bool,
    make_game: MakeGame,
    players: int,
    make_format: MakeFormat,
    processes: Processes | None,
    concurrency: int | None,
    seed: str | None,
    db: Path,
    logs: Path,
    beacon: str | None,
    commit: bool,
    extends: str | None,
    new: bool,
    each_game: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Play a tournament and print its standings.

    BOTS are names of bundled bots, folders with a bot.toml, or folders of bots; without any, the quick bundled ones in
    Python. The same command goes on where it was. To steer it: arena tournament pause|resume|stop|concurrency.

    \b
    Example:
      arena tournament random greedy mybots --deals 20 --time 1m+1
    """
    from msgspec.structs import replace

    from arena.store.store import open_store
    from arena.tournament.extend import extend
    from arena.tournament.plan import begin, close, fix_chance
    from arena.tournament.report import report
    from arena.tournament.settings import set_up

    workers = default_concurrency() if concurrency is None else concurrency
    if workers < 1:
        raise ConfigError(f"expected at least 1 game at a time, got: {workers}; use --concurrency")
    game = make_game(players)
    entered = enter(bots, game.rules, bundled=all_, quiet=quiet)
    setup = set_up(entered, game, make_format(), processes=processes or "block", seed=seed)
    tell = nothing if quiet else say
    with open_store(db) as store:
        starts: tuple[Rating, ...] = ()
        if extends is not None:
            extended = extend(store, setup.settings, extends)
            for sentence in extended.told:
                tell(plain(sentence))
            if not extended.settings.games:
                tell("Nothing is missing.\n")
                show_report(report(store, extended.of)[0], as_json=as_json, quiet=quiet)
                return
            setup, starts = replace(setup, settings=extended.settings), extended.starts
        digest = setup.settings.digest
        if not new and store.unfinished(digest) is None:
            if (before := store.finished(digest)) is not None:
                tell(f"Tournament {before.id} was this one, and finished at {before.finished}. --new plays it again.\n")
                show_report(report(store, before.id)[0], as_json=as_json, quiet=quiet)
                return
            if not quiet:
                tell_likeness(store, setup.settings)
        begun = begin(store, setup.settings, setup.specs, logs, new=new, starts=starts)
        id = begun.tournament.id
        try:
            if not quiet:
                announce(begun, setup, workers)
            if commit:
                again = command_line(ctx, without=("commit", "new"))
                say("Nothing is played yet. Publish the commitment; then, with --beacon and its value if you like:")
                say(f"  {again}")
                return
            begun = replace(begun, tournament=fix_chance(store, begun.tournament, setup.specs, beacon))
            if not play_out(store, begun, setup, workers, each_game=each_game, quiet=quiet):
                kept = f"{store.done(id)} of {store.tournament(id).games} games are kept"
                say(f"Stopped: {kept}. To go on:\n  {command_line(ctx, without=('new',))}")
                ctx.exit(INTERRUPTED)
            close(store, begun.tournament)
        except KeyboardInterrupt:
            kept = f"{store.done(id)} of {begun.tournament.games} games are kept"
            say(f"Interrupted: {kept}. To go on:\n  {command_line(ctx, without=('new',))}")
            raise
        document, _ = report(store, id)
        if not quiet:
            summarise_forfeits(store, id)
    show_report(document, as_json=as_json, quiet=quiet)


def show_report(document: Report, *, as_json: bool, quiet: bool) -> None:
    """Prints the standings of a tournament, and where its logs are."""
    from arena.cli.standings import print_tables

    if as_json:
        show_json(document)
        return
    print_tables(document)
    if not quiet:
        say(f"\n{document.games} games in {document.seconds:.1f} s; logs in {os.path.relpath(document.logs)}")


def tell_likeness(store: Reader, settings: Settings) -> None:
    """Says that an unfinished tournament is almost the one that begins, if there is one."""
    from arena.tournament.likeness import almost

    if (near := almost(store, settings)) is not None:
        say(plain(f"Unfinished tournament {near.tournament.id} is another one: {'; '.join(near.differences)}."))


def announce(begun: Begun, setup: Setup, workers: int) -> None:
    """Announces what will be played."""
    from arena.record.published import COMMITMENT_FILE
    from arena.show.standings import subject_text

    tournament, settings = begun.tournament, setup.settings
    names = ", ".join(plain(bot.name) for bot in settings.bots)
    if len(settings.bots) > MOST_NAMES:
        names = f"{len(settings.bots)} bots"
    left = tournament.games - begun.done
    if begun.resumed:
        say(f"Continuing tournament {tournament.id}: {left} of {tournament.games} games left (--new begins another)")
    else:
        say(f"Tournament {tournament.id}: {counted(tournament.games, 'game')} of {names}")
    say(f"{subject_text(tournament.settings)}, time {settings.game.time}, {counted(workers, 'game')} at a time")
    committed, file = begun.committed, os.path.relpath(Path(tournament.logs) / COMMITMENT_FILE)
    deals = "the deals" if committed.deals is None else counted(committed.deals, "deal")
    say(plain(f"Committed to {deals} in {file}:"))
    say(f"  secret   {committed.commitment}")
    say(f"  settings {committed.settings_sha256}")
    say(f"  schedule {committed.schedule_sha256}")
    if settings.seed is not None:
        say("The deals follow from the seed: whoever knows or guesses it, a bot too, knows every card.")
    say("Bots run trusted: as programs of yours, with time limits but no sandbox.")


def play_out(store: Store, begun: Begun, setup: Setup, workers: int, *, each_game: bool, quiet: bool) -> bool:
    """Plays the games that are left, and shows progress as results are stored. Returns whether no order stopped it.

    Args:
        store: The database.
        begun: The tournament.
        setup: Its settings and bots.
        workers: How many games are played at a time.
        each_game: Print a line for each game.
        quiet: Print nothing else.
    """
    from functools import partial

    from arena.cli.forfeits import Forfeits
    from arena.referee.worker import play
    from arena.tournament.planner import schedule_of
    from arena.tournament.report import leader
    from arena.tournament.runner import Runner
    from arena.tournament.steering import steered
    from arena.tournament.workers import available_cores, local_worker

    tournament = begun.tournament
    forfeits = Forfeits(setup, tournament.logs)
    names = [bot.name for bot in setup.settings.bots]
    game = f"{setup.settings.game.rules} {setup.settings.game.ruleset}"
    schedule = schedule_of(store, tournament, setup.settings)
    answer = nothing if quiet else say
    with (
        steered(store.path, workers, answer) as helm,
        progress_bar(schedule.total, begun.done, quiet=quiet) as advance,
    ):
        runner = Runner(
            store,
            tournament,
            schedule,
            partial(setup.job, tournament),
            play,
            local_worker,
            helm,
            processes=setup.settings.processes,
            ahead=workers < available_cores(),
        )
        for played in runner.run():
            signals.check()
            if each_game:
                say(game_line(played, names, Path(tournament.logs)))
            if not quiet:
                forfeits.tell(played)
            advance(lambda: f"{game}: {leader(store, tournament.id)} leads", schedule.total)
    return not helm.stopping


def nothing(text: str) -> None:
    """Prints nothing."""


def summarise_forfeits(store: Reader, tournament: str) -> None:
    """Prints which bot forfeited for which reason, and how often."""
    from arena.tournament.report import forfeit_counts

    for name, counts in forfeit_counts(store, tournament).items():
        codes = ", ".join(f"{code} {count}" for code, count in counts.most_common())
        say(f"{plain(name)} forfeited {counted(counts.total(), 'time')}: {codes}")
