"""The command line: parse, call, print. One module per noun, no logic.

Laws:
1. stdout is data; messages, progress and errors go to stderr.
2. A command's module is imported when the command is called: `arena --help` imports none.
3. An error of the library becomes a message and its class's exit code in `group`, and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from arena import __version__
from arena.cli import signals, streams
from arena.cli.group import INTERRUPTED, LazyGroup
from arena.core.errors import ConfigError

COMMANDS: Mapping[str, tuple[str, str]] = {
    "tournament": ("arena.core.commands.tournament:tournament", "Play a tournament and print its standings."),
    "match": ("arena.core.commands.match:match", "Play bots against each other on one deal, the seats rotated."),
    "compare": ("arena.core.commands.compare:compare", "Say which of two bots is better, and by how much."),
    "tune": ("arena.learn.commands.tune:tune", "Find better values for a bot's parameters, and prove them."),
    "play": ("arena.pages.commands.play:play", "Play against bots yourself, at the terminal or in a browser."),
    "watch": ("arena.pages.commands.watch:watch", "Show what is played now: standings, running games, results."),
    "standings": ("arena.core.commands.standings:standings", "Print the standings of a tournament that was played."),
    "tournaments": (
        "arena.core.commands.tournaments:tournaments",
        "List the tournaments that were played, or remove some.",
    ),
    "games": ("arena.core.commands.games:games", "Find games of tournaments, the latest first."),
    "replay": ("arena.core.commands.replay:replay", "Show a logged game, decision by decision."),
    "analyse": (
        "arena.learn.commands.analyse:analyse",
        "Say which decisions of a game cost most, and what was better.",
    ),
    "verify": ("arena.core.commands.verify:verify", "Check logs, and that no game was chosen, changed or left out."),
    "site": ("arena.pages.commands.site:site", "Write pages of tournaments, for any browser, without a server."),
    "export": ("arena.learn.commands.export:export", "Write the decisions of games as a table, to learn from."),
    "bot": ("arena.author.commands:bot", "Write, build, check and debug a bot."),
    "rules": ("arena.core.commands.rules:rules", "Show the games, their rulesets and options; check your own."),
    "board": ("arena.core.commands.board:board", "List, check and draw boards and decks, including your own."),
    "league": ("arena.league.commands:league", "Run a league of strangers' bots, or take part in one."),
    "cluster": ("arena.cluster.commands.cluster:cluster", "Look at the machines of a Dask cluster."),
    "doctor": ("arena.sandbox.commands.doctor:doctor", "Say which levels of protection this machine can give."),
    "config": ("arena.cli.config:config", "Print what arena.toml sets, and which options are in force."),
    "completion": ("arena.cli.completion:completion", "Print what completes commands and names in a shell."),
}
"""Each command's `module:attribute` and one line of help, in the order of `arena --help`."""
HEADINGS: Mapping[str, str] = {"tournament": "Play", "watch": "Look", "bot": "Write", "league": "Run"}
"""Headings of the parts of that list, each by the first command of its part."""
COMPLETE = "_ARENA_COMPLETE"
"""The environment variable by which a shell asks for completions; click derives it from the name `arena`."""


@click.group(cls=LazyGroup, lazy=COMMANDS, headings=HEADINGS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="arena", message="%(prog)s %(version)s")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Defaults of options, instead of arena.toml here or above.",
)
@click.option("--no-color", is_flag=True, help="Print without colour, as NO_COLOR=1 and TERM=dumb do too.")
@click.pass_context
def cli(ctx: click.Context, config: Path | None, no_color: bool) -> None:
    """Tournaments between programs that play board games with hidden information.

    \b
    Example:
      arena tournament random greedy --deals 20 --seed spring
    """
    if no_color:
        os.environ["NO_COLOR"] = "1"  # rich and worker processes read it there
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False
    set_defaults(ctx, config)


def set_defaults(ctx: click.Context, config: Path | None) -> None:
    """Makes the command that is called take its defaults from `arena.toml`, if there is one."""
    from arena.cli import defaults

    try:
        path = config or defaults.find(Path.cwd())
    except FileNotFoundError:
        raise ConfigError("expected a current folder, got: one that was removed; go to another one (cd)") from None
    if path is None:
        return
    ctx.obj = defaults.read(path, COMMANDS)
    if granted := ctx.obj.table.get(defaults.RUNTIMES):
        from arena.core.link import runtimes

        runtimes.grant(granted, os.path.relpath(path))
    if table := ctx.obj.table.get(defaults.CAPS):
        from arena.core.link import caps

        caps.set_caps(table, os.path.relpath(path))
    name = ctx.invoked_subcommand
    command = None if name is None else cli.get_command(ctx, name)
    if name is not None and command is not None:
        ctx.default_map = {name: defaults.default_map(ctx.obj, command, name)}


def main() -> None:
    """Runs the command line and exits."""
    streams.set_up()
    signals.heed()
    # Our matrices are small. And without memory for its threads, this library interrupts the process like Ctrl-C.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if COMPLETE in os.environ:
        from arena.cli import shells

        shells.register()
    try:
        cli(prog_name="arena")
    except streams.Unread:
        raise SystemExit(0) from None
    except KeyboardInterrupt:  # before a command began
        raise SystemExit(signals.exit_code() or INTERRUPTED) from None
    finally:
        signals.ignore()
        streams.drop_unprintable()
