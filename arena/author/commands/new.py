"""`arena bot new`: makes a folder with a bot that plays."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from arena.cli.output import say
from arena.core.text import plain


@click.command()
@click.argument("name")
@click.option(
    "--language",
    default="python",
    show_default=True,
    metavar="LANGUAGE",
    help="c, go, java, javascript, python or rust; for any other language begin with perl.",
)
@click.option("--author", default="", metavar="TEXT", help="Who writes it.")
@click.option(
    "--folder",
    default=".",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where to make the new folder.  [default: here]",
)
def new(name: str, language: str, author: str, folder: Path) -> None:
    """Make a folder with a bot that plays, as a starting point.

    The folder is called NAME and holds the bot, the client that speaks the protocol, what builds it, its manifest
    (bot.toml) and a README. The bot plays every game by taking a legal play of each request. No existing file is
    overwritten.

    \b
    Example:
      arena bot new ronin --language go
    """
    from arena.author.new import new_bot

    made = new_bot(name, language=language, author=author, parent=folder)
    ref = shlex.quote(str(made.folder))
    say(plain(f"{made.folder} is a bot in {made.language} that takes a legal play of each request. Next:"))
    if made.missing is not None:
        say(f"  install {made.missing}, which is not on the path")
    if made.build:
        say(plain(f"  arena bot build {ref}"))
    say(plain(f"  arena bot check {ref}"))
    say(plain(f"  arena match {ref} greedy"))
