"""The command line: parse, call, print. One module per noun, no logic.

Laws:
1. stdout is data; messages, progress and errors go to stderr.
2. A command's module is imported when the command is called: `arena --help` imports none.
3. An error of the library becomes a message and its class's exit code here, and nowhere else.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

import click

from arena import __version__
from arena.errors import ArenaError, InternalError

COMMANDS: Mapping[str, tuple[str, str]] = {
    "tournament": ("arena.cli.tournament:tournament", "Play a tournament and print its standings."),
    "match": ("arena.cli.match:match", "Play bots against each other on one deal, the seats rotated."),
    "replay": (
        "arena.cli.replay:replay",
        "Show a logged game decision by decision: the board, what happened, and the bots' notes.",
    ),
    "verify": ("arena.cli.verify:verify", "Re-run logged games and say where one departs from the rules."),
    "standings": ("arena.cli.standings:standings", "Print the standings of a tournament in the database."),
    "rules": ("arena.cli.rules:rules", "Show the games: who may play, rulesets, options."),
    "board": ("arena.cli.board:board", "List, check and draw boards and decks, your own too."),
}
"""Each command's `module:attribute` and its help in one line, in the order that help lists them."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class Failure(click.ClickException):
    """An error of the library on its way to stderr and the exit code."""

    def __init__(self, error: ArenaError) -> None:
        super().__init__(str(error))
        self.exit_code = error.exit_code  # type: ignore[misc]  # click has it per class; our errors differ by class


class LazyGroup(click.Group):
    """A group that imports a command when it is called."""

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the table."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now, or None if there is none of that name."""
        if cmd_name not in self.lazy:
            return None
        module, attribute = self.lazy[cmd_name][0].split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that `args` begin with.

        Raises:
            click.UsageError: There is none; the message suggests close names.
        """
        name = args[0]
        if name not in self.lazy and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.exceptions.NoSuchCommand(name, possibilities=self.lazy, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table, importing none."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in self.lazy.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whatever goes wrong in it ends as a message and an exit code."""
        try:
            return super().invoke(ctx)
        except ArenaError as error:
            raise Failure(error) from error
        except (KeyboardInterrupt, click.Abort):
            ctx.exit(INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            if os.environ.get("ARENA_DEBUG"):
                import traceback

                traceback.print_exc()
            raise Failure(
                InternalError(
                    f"internal error: {type(error).__name__}: {error}\n"
                    "This is a bug: please report it with the command, and what ARENA_DEBUG=1 adds to its output."
                )
            ) from error


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="arena", message="%(prog)s %(version)s")
@click.option("--no-color", is_flag=True, help="No colour; so do NO_COLOR=1 and TERM=dumb.")
@click.pass_context
def cli(ctx: click.Context, no_color: bool) -> None:
    """Tournaments between programs that play board games with hidden information.

    \b
    Example:
      arena tournament random greedy --deals 20 --seed spring
    """
    if no_color:
        os.environ["NO_COLOR"] = "1"  # rich and worker processes read it there
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False


def main() -> None:
    """Run the command line and exit."""
    try:
        cli(prog_name="arena")
    except KeyboardInterrupt:  # outside a command, where nothing has begun
        raise SystemExit(INTERRUPTED) from None
