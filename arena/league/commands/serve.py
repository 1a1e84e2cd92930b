"""`arena league serve`: serves a league's pages and its live view."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from arena.league.commands.here import folder_argument, folder_of


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
    from arena.core.face import need

    need("pages", "`arena league serve`")
    from arena.cli.output import say, show_line
    from arena.core.face import feeds
    from arena.pages.commands.watch import of_league, tell_error
    from arena.pages.live.app import Watching
    from arena.pages.live.public import public_app
    from arena.pages.web import Guard, Server, listen

    seen = of_league(folder, hands=False)
    listening = listen(bind)
    with closing(feeds.FeedReader(seen.feed)) as feed_reader:
        watching = Watching(feed_reader, seen.board, revealed=seen.revealed, public=True)
        app = Guard(public_app(folder_of(folder).site, watching), key=None, port=listening.port, names=names)
        if listening.warning:
            say(listening.warning)

        def ready() -> None:
            show_line(listening.url())
            say("Everybody who reaches this address can look. Ctrl-C ends it; the league plays on.")

        Server(app, listening, ready=ready, on_stop=watching.close, on_error=tell_error).run()
