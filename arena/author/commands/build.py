"""`arena bot build`: builds bots as their manifests say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.cli import complete
from arena.cli.output import say
from arena.core.face import errors, plain

if TYPE_CHECKING:
    from arena.author.build import Built


@click.command()
@click.argument("bots", metavar="[BOT]...", nargs=-1, shell_complete=complete.bots)
@click.option("--fetch", is_flag=True, help="Fetch packages again, after a change of what the bot needs.")
@click.option("-v", "--verbose", is_flag=True, help="Show what the tools print, as it comes.")
@click.pass_context
def build(ctx: click.Context, bots: tuple[str, ...], fetch: bool, verbose: bool) -> None:
    """Build bots whose language needs it.

    BOTS are folders, or names of bundled bots; without any, all bots in this folder are built. Each one's `fetch`, if
    what that gets is not there, and `build` are run in its folder, and what they print is shown if they fail. Nothing
    confines them: build only what you trust. The exit code is 1 if a bot could not be built.

    \b
    Example:
      arena bot build ronin
    """
    from arena.author.build import build_bots

    failed = False

    def done(built: Built) -> None:
        nonlocal failed
        failed = failed or built.problem is not None
        for line in built.output.splitlines():
            say(line)
        say(plain(_sentence(built)))

    def begin(bot: str, command: str) -> None:
        say(plain(f"building {bot}: {command} ..."))

    build_bots(bots, done, say if verbose else None, anew=fetch, begin=begin)
    if failed:
        ctx.exit(errors.ArenaError.exit_code)


def _sentence(built: Built) -> str:
    """Returns the outcome of a build as a sentence."""
    if built.problem is not None:
        return f"FAILED  {built.bot}: {built.problem}"
    if not built.command:
        return f"ok  {built.bot}: nothing to build"
    return f"ok  {built.bot}: {built.command}, {built.seconds:.1f} s"
