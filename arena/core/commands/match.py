"""`arena match`: plays a few games between given bots at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from arena.cli import complete, options, signals
from arena.cli.help import HOW, WHAT, Command, option
from arena.cli.output import command_line, counted, on_terminal, redrawn, say, show, show_json, show_line
from arena.core import plugs
from arena.core.commands.playing import ForfeitNews, describe, enter, sentence
from arena.core.text import plain
from arena.core.types import is_cooperative

if TYPE_CHECKING:
    from arena.core.referee.recorder import Watch
    from arena.core.referee.transcript import Entry
    from arena.core.store.records import Tally
    from arena.core.types import Level


@click.command(cls=Command)
@click.argument("bots", nargs=-1, metavar="BOT BOT...", required=True, shell_complete=complete.bots)
@options.game_options
@options.seed_option
@option(WHAT, "--deals", default=1, show_default=True, metavar="N", help="Deals to play.")
@option(
    WHAT, "--players", type=click.IntRange(min=1), metavar="N",
    help="Seats of a game; the last bot takes those that are left.  [default: a seat for each]",
)  # fmt: skip
@options.level_option
@option(HOW, "--pace", type=click.FloatRange(min=0), default=0, metavar="SECONDS", help="Time to show each decision.")
@option(HOW, "-v", "--verbose", is_flag=True, help="Show every message on stderr, and no board.")
@options.logs_option("Where its folder of logs is made.")
@options.each_game_option
@options.quiet_option
@options.json_option
@click.pass_context
def match(
    ctx: click.Context,
    bots: tuple[str, ...],
    make_game: options.MakeGame,
    seed: str | None,
    deals: int,
    players: int | None,
    level: Level,
    pace: float,
    verbose: bool,
    logs: Path,
    each_game: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Play bots against each other on one deal, the seats rotated.

    BOTs are folders with a bot.toml, folders of bots, or names of bundled bots; each takes a seat. So a match of two
    has two games, in which they change places. On a terminal the board is drawn while they play. Nothing is rated, and
    only the logs are kept. --quiet prints who won how many games, and --each-game adds a line for each, on stderr if
    stdout has JSON.

    \b
    Example:
      arena match greedy random --seed tea
      arena match --rules gardener greedy random --players 5
      arena match greedy banzai --pace 0.5
    """
    from arena.core.referee.feed import feed_folder
    from arena.core.show.standings import off_turn_lines
    from arena.core.store.records import Tally
    from arena.core.tournament.formats.round_robin import RoundRobin
    from arena.core.tournament.match import begin_match, play_match
    from arena.core.tournament.settings import set_up

    bots = (*bots, *bots[-1:] * ((players or 0) - len(bots)))
    entered = enter(bots, make_game.rules, quiet=quiet)
    if players not in (None, len(entered)):
        raise click.UsageError(f"expected {players} bots or fewer for --players {players}, got: {len(entered)}")
    setup = set_up(
        entered, make_game(len(entered)), RoundRobin(deals=deals), level=level, seed=seed, times=make_game.times
    )
    names = [bot.name for bot in setup.settings.bots]
    begun = begin_match(setup, logs)
    forfeits = ForfeitNews(setup, begun.logs)
    games: list[dict[str, Any]] = []
    tallies, drawn = [Tally(entrant) for entrant in range(len(names))], 0
    try:
        with board_of_match(pace, hidden=as_json or verbose or quiet) as watch:
            feed = str(feed_folder(Path(options.DEFAULT_DB)))
            for played in play_match(setup, begun, watch, show_message if verbose else None, feed):
                signals.check()
                game = describe(played, names, Path(begun.logs))
                games.append(game)
                found = list(Tally.of_game(played.game.entrants, played.result.seats))
                drawn += any(one.draws for one in found)
                for one in found:
                    tallies[one.entrant] = tallies[one.entrant].plus(one)
                if as_json and each_game:
                    say(sentence(game))
                elif not as_json and (each_game or not quiet):
                    show_line(sentence(game))
                forfeits.tell(played, quiet=quiet)
    except KeyboardInterrupt:
        kept = f"the logs of {len(games)} of {begun.games} games are kept in {os.path.relpath(begun.logs)}"
        say(plain(f"Interrupted: {kept}. A match cannot be continued; to begin another:"))
        say(f"  {command_line(ctx)}")
        raise
    if as_json:
        identity = {"id": begun.id, "seed": begun.seed, "commitment": begun.commitment}
        show_json({"match": identity, "settings": begun.settings, "games": games, "logs": begun.logs})
    else:
        if not quiet:
            draw_last_board(games[-1]["log"])
        show_line(summary(names, tallies, drawn, forfeits.total(), is_shared=is_cooperative(setup.settings.game.teams)))
    if not quiet:
        for line in off_turn_lines(
            {"bot": name, "mean_off_turn_ms": tally.mean_off_turn_ms, "off_turn_share": tally.off_turn_share}
            for name, tally in zip(names, tallies, strict=True)
        ):
            say(line)


def summary(names: Sequence[str], tallies: Sequence[Tally], drawn: int, forfeited: str = "", *, is_shared: bool) -> str:
    """Returns who won how many games, in a cooperative game what all scored; and who forfeited."""
    words = [f"{name} won {tally.wins}" for name, tally in zip(names, tallies, strict=True)]
    came = f"{', '.join(words)}, drawn {drawn}"
    if is_shared:
        came = f"{tallies[0].score / tallies[0].scored:.1f} points on average"
    return plain(f"{counted(tallies[0].games, 'game')}: {came}{forfeited and f'; forfeited: {forfeited}'}")


@contextmanager
def board_of_match(pace: float, *, hidden: bool) -> Iterator[Watch | None]:
    """Yields the live board's watch function if stdout is a terminal, else None."""
    screen = None if hidden else redrawn()
    with nullcontext() if screen is None else plugs.live(screen, pace) as watch:
        yield watch


def show_message(seat: int, entry: Entry) -> None:
    """Prints a message in one line, cut to the terminal's width if stderr is a terminal."""
    from arena.core.show.layout import clip

    way = "->" if entry.sender == "referee" else "<-"
    said = entry.message
    text = f"{entry.bytes} bytes, {entry.hex}" if said is None else msgspec.json.encode(said).decode()
    line = plain(f"{entry.ms:>6} ms {way} seat {seat} {text}")
    screen = on_terminal(stderr=True)
    say(line if screen is None else clip(line, screen.width))


def draw_last_board(log: str) -> None:
    """Draws the end of a game if stdout is a terminal."""
    screen = on_terminal()
    if screen is None:
        return
    from arena.core.record.log import read_log
    from arena.core.show.replay import Replay

    shown = Replay(read_log(Path(log)))
    for line in shown.draw(len(shown.frames) - 1, screen.width):
        show(line)
