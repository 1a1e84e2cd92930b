"""`arena play --web`: a person in a seat, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from arena.cli.output import say
from arena.core.face import need, plain

if TYPE_CHECKING:
    from arena.core.face import GameResult
    from arena.pages.commands.play import Hands
    from arena.pages.play.seat import Front, Start


def play_in_browser(
    set_table: Callable[[Front], Start], hands: Hands, report: Callable[[Start, GameResult], None], bind: str | None,
    *, opens: bool,
) -> None:  # fmt: skip
    """Serves the page until the person leaves it, or Ctrl-C; then reports the games that were played to their ends.

    Args:
        set_table: Sets the table of each game.
        hands: Who plays it.
        report: Is called for each game that has a result.
        bind: Where to listen; None means this machine alone, on a free port.
        opens: Whether to open a browser here.

    Raises:
        ConfigError: Something cannot be used. Show the message to the operator.
        KeyboardInterrupt: It was interrupted in the middle of a game.
    """
    need("pages", "--web")
    from arena.pages.web.guard import Guard, new_key
    from arena.pages.web.seat_app import Playing
    from arena.pages.web.serving import BIND, Server, listen

    listening = listen(bind or BIND)
    key = new_key()

    def ready() -> None:
        if listening.warning:
            say(listening.warning)
        say("To play, open this address in a browser; Ctrl-C ends it:")
        say(f"  {listening.url(key)}")
        if opens:
            import webbrowser

            webbrowser.open_new_tab(listening.url(key))

    playing = None
    try:
        with hands.worker() as worker:
            playing = Playing(set_table, worker, hands.play)
            app = Guard(playing.app, key=key, port=listening.port)
            server = Server(app, listening, ready=ready, on_stop=playing.stop, on_error=_tell)
            playing.leave = server.stop
            try:
                server.run()
            except KeyboardInterrupt:
                _, game = playing.played[-1]
                if not playing.is_over or game.exception() is not None:  # the worker may have had the signal too
                    raise
    except KeyboardInterrupt:
        say("Interrupted: a game that is not over has no log.")
        raise
    finally:
        listening.socket.close()
        for table, game in playing.played if playing else ():
            if game.done() and game.exception() is None:
                report(table, game.result())
    playing.played[-1][1].result()  # raises what has ended the last game


def _tell(error: Exception) -> None:
    say(f"An answer to the browser failed, which is a defect of arena: {plain(str(error))}")
