"""`arena league serve`: serves a league's pages and its live view."""

from __future__ import annotations

from pathlib import Path

import click

from arena.league.commands.here import folder_argument


@click.command()
@folder_argument
@click.option(
    "--bind", default="127.0.0.1:8080", show_default=True, metavar="ADDRESS",
    help="Where to listen: an address of this machine and a port.",
)  # fmt: skip
@click.option(
    "--name", "names", multiple=True, metavar="HOST",
    help="A name under which browsers reach it; repeat for more. Addresses in numbers and localhost always work.",
)  # fmt: skip
def serve(folder: Path, bind: str, names: tuple[str, ...]) -> None:
    """Serve the pages of the league in FOLDER, and what is played now, under /live/.

    Everybody who reaches the address can look, and nobody can do anything. The pages are the files of FOLDER/site,
    which any web server can serve as well. Of a game that goes on only what every seat knows is shown; hidden hands are
    in the published replays, once a match is over.

    It listens on this machine alone. For others, put a web server with TLS in front of it and give its name with
    --name, or give another address with --bind.

    \b
    Example:
      arena league serve cup
      arena league serve cup --bind 0.0.0.0:8080 --name cup.example
    """
    from arena.league.public.shown import ShownLeague
    from arena.pages.commands.watch import of_folder, serve_live

    shown = ShownLeague(folder)
    serve_live(of_folder(shown, hands=False), bind, site=shown.site, names=names)
