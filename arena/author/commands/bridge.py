"""`arena bot bridge`: speaks the protocol for a program that reads and writes JSON lines."""

from __future__ import annotations

import click

from arena.core.face import plain


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--name", default="", metavar="TEXT", help="The bot's name for itself.")
@click.option("--version", default="", metavar="TEXT", help="Its version.")
@click.option(
    "--want",
    default="view,legal",
    show_default=True,
    metavar="NAMES",
    help="What each request carries: any of view, events, legal, separated by commas. Less is faster.",
)
@click.pass_context
def bridge(ctx: click.Context, command: tuple[str, ...], name: str, version: str, want: str) -> None:
    """Speak the protocol for a program that reads and writes JSON lines.

    COMMAND is started in this folder. On its standard input it gets the referee's messages game_start, request and
    game_over, each a JSON object in one line, with "type" and all other fields. For each request, and for nothing
    else, it writes one line to its standard output:

    \b
      {"action": {...}}  or  {"action": {...}, "note": "what it was thinking"}

    The bridge does the rest: hello, welcome, ready, goodbye, "type" and "id". When its input ends, so must the program.
    Standard error passes through; print remarks there.

    Flush every line. Most languages hold back what goes into a pipe, and then both sides wait until time is up: $| = 1
    in Perl, fflush() in awk, flush=True in Python, fflush(stdout) in C; stdbuf -oL helps with other programs. mawk
    holds back its input too: mawk -W interactive.

    The bot ends with status 1 if a line is not such an object, holds a float, an integer beyond ±(2^53 - 1) or a key
    twice, is longer than 65,536 bytes, or was not asked for; standard error says which line it was. A program that ends
    early ends the bot too, with its status.

    Use it as a bot's command, in its bot.toml or after cmd: as in the example.

    \b
    Example:
      arena match "cmd:arena bot bridge -- perl bot.pl" greedy
    """
    from arena.author.program import Program

    program = Program(command)  # it starts up while the rest is imported

    from arena.author.bridge import bridge

    names = tuple(word.strip() for word in want.split(",") if word.strip())
    ctx.exit(bridge(program, name=name, version=version, want=names, report=_report))


def _report(sentence: str) -> None:
    click.echo(plain(sentence), err=True)
