"""`arena bot serve`: plays in a league elsewhere, with a bot of this machine."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli import complete
from arena.core.face import errors, need
from arena.league.commands.here import Elsewhere, at_options, tell


@click.command()
@click.argument("bot", shell_complete=complete.bots)
@click.option(
    "--receipts", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Add a receipt of each game to this file, for `arena verify --receipts`.",
)  # fmt: skip
@at_options
def serve(bot: str, receipts: Path | None, elsewhere: Elsewhere | None) -> None:
    """Play in a league elsewhere, with a bot that runs on this machine.

    BOT is a folder or the name of a bundled bot. It is started for each game; its frames go to the league and back, and
    the bot itself needs no change. The time for a decision includes the journey; once a minute it is said how long that
    takes, and how many games were played. If the connection is lost, the games that are being played are lost; then a
    new connection is made.

    The league must take remote bots. What they compute with cannot be checked, so that their ratings are shown as
    uncontrolled. A bot with other files is another version. Ctrl-C ends it as soon as no game runs, within a minute;
    a second one ends it at once, and games that run are lost.

    \b
    Example:
      arena bot serve ./ronin --at https://cup.example --token anna.token
    """
    from arena.core.face import bot_manifests

    if elsewhere is None:
        raise errors.ConfigError("expected --at ADDRESS, got: no league; its operator has it from `arena league open`")
    need("remote", "`arena bot serve`")
    from arena.league.door.serve import RemoteService, ServeLog
    from arena.league.service.stopping import Stopping

    spec = bot_manifests.load_bot(bot)
    bot_manifests.check_name(spec.name)
    log = ServeLog(tell)
    service = RemoteService(elsewhere.league, elsewhere.token, spec, log, elsewhere.look, receipts)
    with Stopping() as stopping:
        service.run(lambda: stopping.asked, lambda: stopping.at_once)
