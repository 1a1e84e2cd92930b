"""The command line: parse, call, print. One module per noun, no logic.

Laws:
1. stdout is data; messages, progress and errors go to stderr.
2. A command's module is imported when the command is called: `arena --help` imports none.
3. An error of the library becomes a message and its class's exit code in `group`, and nowhere else.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from arena import __version__
from arena.cli import signals, streams
from arena.cli.group import INTERRUPTED, LazyGroup
from arena.core import plugs
from arena.core.errors import ConfigError
from arena.core.plugs import Command

OWN: Final = {
    "tournament": Command("Play", 1, "Play a tournament and print its standings."),
    "match": Command("Play", 2, "Play bots against each other on one deal, the seats rotated."),
    "compare": Command("Play", 3, "Say which of two bots is better, and by how much."),
    "standings": Command("Look", 2, "Print the standings of a tournament that was played."),
    "tournaments": Command("Look", 3, "List the tournaments that were played, or remove some."),
    "games": Command("Look", 4, "Find games of tournaments, the latest first."),
    "replay": Command("Look", 5, "Show a logged game, decision by decision."),
    "verify": Command("Look", 7, "Check logs, and that no game was chosen, changed or left out."),
    "rules": Command("Write", 2, "Show the games, their rulesets and options; check your own."),
    "board": Command("Write", 3, "List, check and draw boards and decks, including your own."),
    "config": Command(
        "Run", 4, "Print what arena.toml sets, and which options are in force.", "arena.cli.config:config"
    ),
    "completion": Command(
        "Run", 5, "Print what completes commands and names in a shell.", "arena.cli.shells:completion"
    ),
}
"""The commands of the core and of the command line. Wings bring the others."""
HEADINGS: Final = ("Play", "Look", "Write", "Run")  # the parts of `arena --help`, in order


def every_command(*, off: bool = False) -> dict[str, Command]:
    """Returns all commands in the order of `arena --help`. `off` adds those of wings that are not loaded."""
    brought = [rows for _, rows in plugs.brought("commands", off=off)]
    found: dict[str, Command] = {}
    for rows in (*reversed(brought), OWN):  # the first has the last word
        found |= rows
    order = dict(zip(HEADINGS, range(4), strict=True))
    return dict(sorted(found.items(), key=lambda each: (order.get(each[1].heading, 4), each[1].place)))


class _Commands(Mapping[str, tuple[str, str]]):
    """All commands of loaded wings, each with `module:attribute` and its line of help. Looked for when needed."""

    def __getitem__(self, name: str) -> tuple[str, str]:
        row = OWN.get(name) or next((rows[name] for _, rows in plugs.brought("commands") if name in rows), None)
        if row is None:
            raise KeyError(name)
        return row.loads or f"arena.core.commands.{name}:{name}", row.help

    def __iter__(self) -> Iterator[str]:
        return iter(every_command())

    def __len__(self) -> int:
        return len(every_command())


COMMANDS: Final = _Commands()


class _Arena(LazyGroup):
    """The program: its commands are those of wings, too."""

    def headings(self) -> Mapping[str, str]:
        """Returns the heading of every command."""
        return {name: row.heading for name, row in every_command().items()}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns a command; one of a wing that does not load is refused in a sentence."""
        if cmd_name in OWN or cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        command = plugs.find("commands", cmd_name, what=f"the command {cmd_name!r}")
        assert isinstance(command, click.Command)
        return command

    def refusal(self, name: str) -> Exception | None:
        """Returns why there is no such command now: it is that of a wing which is not loaded."""
        return plugs.refusal("commands", name, f"the command {name!r}")


COMPLETE = "_ARENA_COMPLETE"  # the variable by which a shell asks for completions; click derives it from `arena`


@click.group(cls=_Arena, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="arena", message="%(prog)s %(version)s")
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
    ctx.obj = defaults.read(path, every_command(off=True))
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
    gc.set_threshold(20_000)  # a tenth of a short command went into looking for garbage among what it imports
    streams.set_up()
    signals.heed()
    # Our matrices are small. And without memory for its threads, this library interrupts the process like Ctrl-C.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if COMPLETE in os.environ:
        from arena.cli import shells

        shells.register()
    try:
        cli(prog_name="arena")
    except streams.ReaderGone:
        raise SystemExit(0) from None
    except KeyboardInterrupt:  # before a command began
        raise SystemExit(signals.exit_code() or INTERRUPTED) from None
    finally:
        signals.ignore()
        streams.drop_unprintable()
