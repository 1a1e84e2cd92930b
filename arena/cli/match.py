"""`arena match`: plays a few games between given bots at once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from arena.cli import signals
from arena.cli.forfeits import Forfeits
from arena.cli.options import MakeGame, game_options, json_option, logs_option, seed_option
from arena.cli.output import command_line, console, counted, say, show, show_json, show_line
from arena.show.text import clip
from arena.text import plain

if TYPE_CHECKING:
    from arena.referee.scribe import Watch
    from arena.referee.transcript import Entry
    from arena.tournament.runner import Played


@click.command()
@click.argument("bots", nargs=-1, metavar="BOT BOT...", required=True)
@game_options
@seed_option
@click.option("--deals", default=1, show_default=True, metavar="N", help="Deals to play.")
@click.option(
    "--pace",
    type=click.FloatRange(min=0),
    default=0,
    metavar="SECONDS",
    help="How long to show each decision on a terminal.  [default: as fast as the bots are]",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every message on stderr, instead of the board.")
@logs_option("Where the match gets its folder of logs.")
@json_option
@click.pass_context
def match(
    ctx: click.Context,
    bots: tuple[str, ...],
    make_game: MakeGame,
    seed: str | None,
    deals: int,
    pace: float,
    verbose: bool,
    logs: Path,
    as_json: bool,
) -> None:
    """Play bots against each other on one deal, the seats rotated.

    Each BOT is a folder with a bot.toml, or the name of a bundled bot, and takes one seat: two of them, or as many as
    the game allows. So a match of two has two games, in which they change places. On a terminal the board is drawn
    while they play (--pace 0.5 makes it easy to follow), and at the end as the last game left it. Nothing is rated.
    Only the log of each game is kept, and for each seat what its bot printed.

    \b
    Example:
      arena match greedy random --seed tea
      arena match --rules gardener greedy greedy random random random
      arena match greedy banzai --pace 0.5
    """
    from arena.tournament.formats.round_robin import RoundRobin
    from arena.tournament.match import begin_match, play_match
    from arena.tournament.settings import set_up

    setup = set_up(bots, make_game(len(bots)), RoundRobin(deals=deals), seed=seed)
    names = [bot.name for bot in setup.settings.bots]
    begun = begin_match(setup, logs)
    forfeits = Forfeits(setup, begun.logs)
    games: list[dict[str, Any]] = []
    try:
        with board_of_match(pace, hidden=as_json or verbose) as watch:
            for played in play_match(setup, begun, watch, show_message if verbose else None):
                signals.check()
                game = describe(played, names, Path(begun.logs))
                games.append(game)
                if not as_json:
                    show_line(sentence(game))
                forfeits.tell(played)
    except KeyboardInterrupt:
        kept = f"the logs of {len(games)} of {begun.games} games are kept in {os.path.relpath(begun.logs)}"
        say(plain(f"Interrupted: {kept}. A match cannot be continued; to begin another:"))
        say(f"  {command_line(ctx)}")
        raise
    if as_json:
        identity = {"id": begun.id, "seed": begun.seed, "commitment": begun.commitment}
        show_json({"match": identity, "settings": begun.settings, "games": games, "logs": begun.logs})
    else:
        draw_last_board(games[-1]["log"])
        show_line(summary(names, games))


def describe(played: Played, names: list[str], logs: Path) -> dict[str, Any]:
    """Returns a game as `--json` prints it; lists are by seat."""
    result = played.result
    return {
        "game": result.game,
        "deal": played.game.deal,
        "rotation": played.game.rotation,
        "bots": [names[entrant] for entrant in played.game.entrants],
        "ranks": list(result.ranks),
        "scores": [seat.score for seat in result.seats],
        "termination": result.termination,
        "turns": result.turns,
        "seconds": round(result.seconds, 3),
        "play_digest": result.play_digest,
        "log": os.path.relpath(logs / result.log),
    }


def sentence(game: dict[str, Any]) -> str:
    """Returns how a game ended, in one line."""
    order = sorted(range(len(game["bots"])), key=lambda seat: (game["ranks"][seat], seat))
    places = ", ".join(
        f"{game['ranks'][seat]}. {game['bots'][seat]} (seat {seat}){points(game, seat)}" for seat in order
    )
    return plain(f"{places}: {counted(game['turns'], 'turn')}, {game['seconds']:.2f} s, {game['log']}")


def points(game: dict[str, Any], seat: int) -> str:
    """Returns what a seat scored, if the game has scores."""
    from arena.show.seats import number_of_points

    score = game["scores"][seat]
    return "" if score is None else f" {number_of_points(score)}"


def summary(names: list[str], games: list[dict[str, Any]]) -> str:
    """Returns who won how many games."""
    won: Counter[str] = Counter()
    for game in games:
        if game["ranks"].count(1) == 1:
            won[game["bots"][game["ranks"].index(1)]] += 1
    drawn = len(games) - won.total()
    words = [f"{name} won {won[name]}" for name in names]
    return plain(f"{counted(len(games), 'game')}: {', '.join(words)}, drawn {drawn}")


@contextmanager
def board_of_match(pace: float, *, hidden: bool) -> Iterator[Watch | None]:
    """Yields the live board's watch function if stdout is a terminal, else None."""
    screen = console()
    if hidden or not screen.is_terminal or screen.is_dumb_terminal:
        yield None
        return
    from arena.cli.live import live_board

    with live_board(screen, pace) as watch:
        yield watch


def show_message(seat: int, entry: Entry) -> None:
    """Prints a message in one line, cut to the terminal's width if stderr is a terminal."""
    screen = console(stderr=True)
    way = "->" if entry.sender == "referee" else "<-"
    said = entry.message
    text = f"{entry.bytes} bytes, {entry.hex}" if said is None else msgspec.json.encode(said).decode()
    line = plain(f"{entry.ms:>6} ms {way} seat {seat} {text}")
    say(clip(line, screen.width) if screen.is_terminal else line)


def draw_last_board(log: str) -> None:
    """Draws the end of a game if stdout is a terminal."""
    screen = console()
    if not screen.is_terminal:
        return
    from arena.record.log import read_log
    from arena.show.replay import Replay

    shown = Replay(read_log(Path(log)))
    for line in shown.draw(len(shown.frames) - 1, screen.width):
        show(line)
