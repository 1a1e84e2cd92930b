"""`arena bot new`: makes a folder with a bot that plays."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from arena.cli.output import say
from arena.core.face import plain


@click.command()
@click.argument("name")
@click.option(
    "--language",
    default="python",
    show_default=True,
    metavar="LANGUAGE",
    help="c, go, java, javascript, perl, python or rust; any other with --bridge.",
)
@click.option("--bridge", is_flag=True, help="Make a bot without sockets: it reads and writes lines of JSON.")
@click.option("--policy", type=click.Path(path_type=Path), metavar="FILE", help="Play by a network that was learnt.")
@click.option("--author", default="", metavar="TEXT", help="Who writes it.")
@click.option(
    "--folder",
    default=".",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where to make the new folder.  [default: here]",
)
def new(name: str, language: str, bridge: bool, policy: Path | None, author: str, folder: Path) -> None:
    """Make a folder with a bot that plays, as a starting point.

    The folder is called NAME and holds the bot, the client that speaks the protocol, what builds it, its manifest
    (bot.toml), a README, and for programs that write programs BOT.md and AGENTS.md. The bot plays every game by taking
    a legal play of each request. No existing file is overwritten.

    With --bridge it is one of 30 lines in Perl, to be written anew in LANGUAGE: no ZeroMQ, no msgpack, no socket.

    With --policy it is one program in Python that plays by FILE, which arena.learn.adapters.policies.save writes.

    \b
    Example:
      arena bot new ronin --language go
      arena bot new moon --language lua --bridge
    """
    from arena.author.new import new_bot

    if policy is not None and (bridge or language != "python"):
        raise click.UsageError(
            "expected --policy alone: its bot is in Python, and needs no bridge; leave out the other"
        )
    made = new_bot(name, language=language, author=author, parent=folder, bridge=bridge, policy=policy)
    ref = shlex.quote(str(made.folder))
    anew = bridge and language != "perl"
    kind = f"to be written in {language}, and in perl so far," if anew else f"in {language}"
    plays = "takes a legal play of each request" if policy is None else f"plays by {policy}"
    say(plain(f"{made.folder} is a bot {kind} that {plays}. Next:"))
    if anew:
        say(plain(f"  write it in {language}, as bot.pl does it, and put its command for `perl bot.pl` into bot.toml"))
    if made.missing is not None:
        say(f"  install {made.missing}, which is not on the path")
    if made.build:
        say(plain(f"  arena bot build {ref}"))
    say(plain(f"  arena bot check {ref}"))
    say(plain(f"  arena match {ref} greedy" + "".join(f" --rules {rules}" for rules in made.rules[:1])))
