"""`arena watch`: shows what is played now."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from arena.cli.options import db_option
from arena.cli.output import console, say
from arena.core.face import errors

if TYPE_CHECKING:
    from arena.core.face import feeds, plugs
    from arena.pages.live.scores import LiveStandings

REDRAW_S = 0.1
"""The shortest time between two drawings."""


class Seen(NamedTuple):
    """What is watched."""

    board: LiveStandings
    feed: Path
    """The folder in which its games are heard."""
    revealed: bool
    """Whether all hands of a game may be shown once it is over: not in a league, whose games share deals."""


@click.command()
@click.option("--web", is_flag=True, help="Serve it as a page for browsers, and print the page's address.")
@click.option(
    "--bind",
    default="127.0.0.1:0",
    show_default=True,
    metavar="ADDRESS",
    help="With --web, where to listen; port 0 is any that is free.",
)
@click.option("--hands", is_flag=True, help="Show hidden hands while games go on; not where bots play from elsewhere.")
@click.option(
    "--league",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Watch this league; the same as its league.db for --db.",
)
@db_option
def watch(web: bool, bind: str, hands: bool, folder: Path | None, db: Path) -> None:
    """Show what is played now: standings, running games, results.

    Standings move, and games have their boards. The watch may begin before what it watches, and end at any time: games
    wait for nobody who watches. A tournament, a league and a match (in the folder of its arena.db) are seen, on the
    machine on which they are played.

    Only what every seat knows is shown while a game goes on. With --web the address has a key; who is given the whole
    address can look, and nobody can do anything. Games that are over are shown there with all hands, except a league's.

    Keys: n and p choose a game, s shows all standings, f the last results, ? the keys, q quits.

    \b
    Example:
      arena watch
      arena watch --web --db arena.db
    """
    from arena.core.face import feeds

    seen = of_folder(league_in(folder), hands=hands) if folder is not None else of_database(db, hands=hands)
    if web:
        serve_live(seen, bind, hands=hands)
        return
    with closing(feeds.FeedReader(seen.feed)) as feed_reader:
        show_live(feed_reader, seen.board, hands=hands)


def of_database(path: Path, *, hands: bool) -> Seen:
    """Returns what is to be seen of the latest tournament in a database; of a league's, what `of_folder` does.

    Raises:
        ConfigError: There is no such folder, or it is a league's whose hands may not be shown.
    """
    from arena.core.face import feeds, plugs
    from arena.pages.live.scores import LiveStandings

    if not path.parent.is_dir():
        raise errors.ConfigError(f"expected a folder for the database, got: none - at {path}; use --db")
    file = path.resolve()
    if (shown := plugs.shown(file.parent)) is not None and shown.database == file:
        return of_folder(shown, hands=hands)
    return Seen(LiveStandings(path), feeds.feed_folder(path), revealed=True)


def of_folder(shown: plugs.ShownFolder, *, hands: bool) -> Seen:
    """Returns what is to be seen of a league's season. Raises ConfigError: its hands may not be shown."""
    from arena.pages.live.scores import LiveStandings

    name, _, is_remote = shown.told()
    if hands and is_remote:
        raise errors.ConfigError(
            "expected a league of bots on this machine, got one with `remote = true`, where authors could see the "
            "hands of others - at --hands; leave it out"
        )
    board = LiveStandings(shown.database, shown.current, title=name, endless=True)
    return Seen(board, shown.feed, revealed=False)


def league_in(folder: Path) -> plugs.ShownFolder:
    """Returns the league in a folder. Raises ConfigError: there is none."""
    from arena.core.face import plugs

    if (shown := plugs.shown(folder)) is None:
        raise errors.ConfigError(
            f"expected the folder of a league, with a league.toml, got: {str(folder)!r}, which has none; "
            "`arena league init FOLDER` makes one"
        )
    return shown


def show_live(feed_reader: feeds.FeedReader, board: LiveStandings, *, hands: bool) -> None:
    """Shows it on the terminal until a key ends it."""
    from arena.core.face import terminals
    from arena.pages.live.games import Games
    from arena.pages.live.screen import Screen

    place = console()
    if not terminals.can_step(place):
        raise errors.ConfigError("expected a terminal with a keyboard, got none; use --web for a page in the browser")
    games = Games()
    screen = Screen(games, hands=hands)
    with terminals.Terminal(place) as terminal:
        while True:
            if board.due(time.monotonic()):
                board.read()
            terminal.show(screen.draw(board.scores, board.error, *place.size))
            drawn = time.monotonic()
            typed, ready = terminal.wait(feed_reader.fileno(), timeout_s=1.0)
            if ready and not typed:
                time.sleep(max(0.0, drawn + REDRAW_S - time.monotonic()))
            for part in feed_reader.hear(10_000):
                games.take(part)
            games.rest(time.monotonic())
            for key in typed:
                if not screen.press(key):
                    return


def serve_live(
    seen: Seen, bind: str, *, hands: bool = False, site: Path | None = None, names: Sequence[str] = ()
) -> None:
    """Serves it to browsers until a signal ends it: to those with its key; or to everybody, below the pages of a site.

    Args:
        names: Of a site, under which browsers reach it.
    """
    from arena.core.face import feeds, need

    need("pages", "--web" if site is None else "`arena league serve`")
    from arena.pages.live.app import Watching, public_app
    from arena.pages.web import Guard, Server, listen
    from arena.pages.web.guard import new_key

    listening = listen(bind)
    key = new_key() if site is None else None
    with closing(feeds.FeedReader(seen.feed)) as feed_reader:
        watching = Watching(feed_reader, seen.board, hands=hands, revealed=seen.revealed, public=site is not None)
        app = watching.app() if site is None else public_app(site, watching)
        if listening.warning:
            say(listening.warning)

        def ready() -> None:
            from arena.cli.output import show_line

            show_line(listening.url(key))
            if site is None:
                say("Open this address in a browser. Ctrl-C ends the watch; what is played goes on.")
            else:
                say("Everybody who reaches this address can look. Ctrl-C ends it; the league plays on.")

        guard = Guard(app, key=key, port=listening.port, names=names)
        Server(guard, listening, ready=ready, on_stop=watching.close, on_error=tell_error).run()


def tell_error(error: Exception) -> None:
    """Says that there is a bug of ours in what is served; the rest goes on."""
    from arena.core.face import plain

    say(plain(f"A page could not be shown, which is a bug of arena: {type(error).__name__}: {error}"))
