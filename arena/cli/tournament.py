"""`arena tournament`: plays a tournament, or continues it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli import signals
from arena.cli.forfeits import Forfeits
from arena.cli.formats import MakeFormat, format_options
from arena.cli.group import INTERRUPTED
from arena.cli.options import MakeGame, db_option, game_options, json_option, logs_option, seed_option
from arena.cli.output import command_line, counted, progress_bar, say, show_json
from arena.cli.steer import Steered
from arena.errors import ConfigError
from arena.show.standings import subject_text
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
@click.argument("bots", nargs=-1, metavar="[BOTS]...")
@game_options
@seed_option
@click.option("--players", default=2, show_default=True, metavar="N", help="Seats of a game.")
@format_options
@click.option("--keep-bots", "processes", flag_value="tournament", help="Keep bot processes for all games.")
@click.option("--fresh", "processes", flag_value="game", help="Start new bot processes for every game.")
@click.option("--concurrency", type=int, metavar="N", help="Games at a time.  [default: half of the cores]")
@db_option
@logs_option("Where the tournament gets its folder of logs.")
@click.option("--beacon", metavar="TEXT", help="A public beacon's value that goes into the deals.")
@click.option("--commit", is_flag=True, help="Publish the commitment, and play nothing yet.")
@click.option(
    "--extend",
    "extends",
    metavar="ID",
    help="Play only what a finished round-robin lacks: more deals, another bot, a changed one. `latest` is an ID too.",
)
@click.option("--new", is_flag=True, help="Begin anew even if such a tournament is unfinished.")
@json_option
@click.pass_context
def tournament(
    ctx: click.Context,
    bots: tuple[str, ...],
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
    as_json: bool,
) -> None:
    """Play a tournament and print its standings.

    BOTS are folders with a bot.toml, or names of bundled bots; without any, the bundled bots in Python that play these
    rules and answer at once. The same bot may enter more than once. Every pairing plays the same deals, each once per
    rotation of the seats. A seed gives the same deals again, and with deterministic bots the same games, except where
    bots race (gardener race), because there time decides.

    A bot's process plays games of one pairing and seating, each with another deal, and then ends. So it never meets a
    deal again, whose hidden cards it would know. --fresh starts processes for every game. --keep-bots keeps them: then
    bots may recognise deals, and the standings say so.

    The same command on a database that holds an unfinished tournament with the same settings continues it; if it is
    finished, its standings are shown, and --new plays it again. Standings are explained by `arena standings --help`.

    Before the first game the commitment to all deals is published, in commitment.json beside the logs; afterwards
    `arena verify` shows with it that nobody chose a card. To let others choose with you: --commit publishes the
    commitment and stops; when a public beacon has spoken, the same command with --beacon and its value plays.

    While it runs, another terminal may steer it: arena tournament pause, resume, stop, or concurrency N.

    \b
    Example:
      arena tournament random greedy --deals 20 --seed spring
      arena tournament --rules gardener --ruleset race
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
    setup = set_up(bots, make_game(players), make_format(), processes=processes or "block", seed=seed)
    with open_store(db) as store:
        starts: tuple[Rating, ...] = ()
        if extends is not None:
            extended = extend(store, setup.settings, extends)
            for sentence in extended.told:
                say(plain(sentence))
            if not extended.settings.games:
                say("Nothing is missing.\n")
                show_report(report(store, extended.of)[0], as_json=as_json)
                return
            setup, starts = replace(setup, settings=extended.settings), extended.starts
        digest = setup.settings.digest
        if not new and store.unfinished(digest) is None:
            if (before := store.finished(digest)) is not None:
                say(f"Tournament {before.id} was this one, and finished at {before.finished}. --new plays it again.\n")
                show_report(report(store, before.id)[0], as_json=as_json)
                return
            tell_likeness(store, setup.settings)
        begun = begin(store, setup.settings, setup.specs, logs, new=new, starts=starts)
        id = begun.tournament.id
        try:
            announce(begun, setup, workers)
            if commit:
                again = command_line(ctx, without=("commit", "new"))
                say("Nothing is played yet. Publish the commitment; then, with --beacon and its value if you like:")
                say(f"  {again}")
                return
            begun = replace(begun, tournament=fix_chance(store, begun.tournament, setup.specs, beacon))
            if not play_out(store, begun, setup, workers):
                kept = f"{store.done(id)} of {store.tournament(id).games} games are kept"
                say(f"Stopped: {kept}. To go on:\n  {command_line(ctx, without=('new',))}")
                ctx.exit(INTERRUPTED)
            close(store, begun.tournament)
        except KeyboardInterrupt:
            kept = f"{store.done(id)} of {begun.tournament.games} games are kept"
            say(f"Interrupted: {kept}. To go on:\n  {command_line(ctx, without=('new',))}")
            raise
        document, _ = report(store, id)
        summarise_forfeits(store, id)
    show_report(document, as_json=as_json)


def show_report(document: Report, *, as_json: bool) -> None:
    """Prints the standings of a tournament, and where its logs are."""
    from arena.cli.standings import print_tables

    if as_json:
        show_json(document)
        return
    print_tables(document)
    say(f"\n{document.games} games in {document.seconds:.1f} s; logs in {os.path.relpath(document.logs)}")


def tell_likeness(store: Reader, settings: Settings) -> None:
    """Says that an unfinished tournament is almost the one that begins, if there is one."""
    from arena.tournament.likeness import almost

    if (near := almost(store, settings)) is not None:
        say(plain(f"Unfinished tournament {near.tournament.id} is another one: {'; '.join(near.differences)}."))


def announce(begun: Begun, setup: Setup, workers: int) -> None:
    """Announces what will be played."""
    from arena.record.published import COMMITMENT_FILE

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


def play_out(store: Store, begun: Begun, setup: Setup, workers: int) -> bool:
    """Plays the games that are left, and shows progress as results are stored. Returns whether no order stopped it."""
    from functools import partial

    from arena.referee.worker import play
    from arena.tournament.planner import schedule_of
    from arena.tournament.report import leader
    from arena.tournament.runner import Runner
    from arena.tournament.steering import steered
    from arena.tournament.workers import available_cores, local_worker

    tournament = begun.tournament
    forfeits = Forfeits(setup, tournament.logs)
    game = f"{setup.settings.game.rules} {setup.settings.game.ruleset}"
    with steered(store.path, workers, say) as helm, progress_bar(tournament.games, begun.done) as advance:
        runner = Runner(
            store,
            tournament,
            schedule_of(store, tournament, setup.settings),
            partial(setup.job, tournament),
            play,
            local_worker,
            helm,
            processes=setup.settings.processes,
            ahead=workers < available_cores(),
        )
        for played in runner.run():
            signals.check()
            forfeits.tell(played)
            advance(lambda: f"{game}: {leader(store, tournament.id)} leads")
    return not helm.stopping


def summarise_forfeits(store: Reader, tournament: str) -> None:
    """Prints which bot forfeited for which reason, and how often."""
    from arena.tournament.report import forfeit_counts

    for name, counts in forfeit_counts(store, tournament).items():
        codes = ", ".join(f"{code} {count}" for code, count in counts.most_common())
        say(f"{plain(name)} forfeited {counted(counts.total(), 'time')}: {codes}")
