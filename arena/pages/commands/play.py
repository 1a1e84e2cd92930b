"""`arena play`: a person in a seat, at the terminal or in a browser; or an agent, over the Model Context Protocol."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from arena.cli import complete, signals
from arena.cli.help import HOW, WHO, Command, option
from arena.cli.options import MakeGame, json_option, logs_option, seed_option, untimed_game_options
from arena.cli.output import console, counted, say, show_json, show_line
from arena.core.face import enter, errors, need, plain

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from arena.core.face import GameResult, Job, Seat, terminals
    from arena.pages.play.seat import Front, Start
    from arena.pages.play.sitting import Sitting


@click.command(cls=Command)
@click.argument("bots", nargs=-1, metavar="[BOT...]", shell_complete=complete.bots)
@option(WHO, "--players", type=click.IntRange(min=2), metavar="N", help="How many play; bots are taken again.")
@option(WHO, "--seat", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Your seat.")
@option(WHO, "--own-time", metavar="CONTROL", help="Your seat's clock.  [default: --time; with --mcp 10m/move]")
@option(WHO, "--name", default="guest", show_default=True, metavar="TEXT", help="What the log calls you.")
@untimed_game_options
@seed_option
@option(HOW, "--web", is_flag=True, help="Play in a browser instead of the terminal.")
@option(HOW, "--mcp", is_flag=True, help="Let an agent play, over MCP on stdin and stdout.")
@option(HOW, "--bind", default=None, metavar="HOST:PORT", help="Where the page is served.  [default: 127.0.0.1:0]")
@option(HOW, "--open/--no-open", "opens", default=False, help="Open the browser here.  [default: print the address]")
@logs_option("Where the folder of its log is made.")
@json_option
def play(
    bots: tuple[str, ...],
    make_game: MakeGame,
    players: int | None,
    seat: int,
    own_time: str | None,
    name: str,
    seed: str | None,
    web: bool,
    mcp: bool,
    bind: str | None,
    opens: bool,
    logs: Path,
    as_json: bool,
) -> None:
    """Play against bots yourself, at the terminal or in a browser.

    You sit in a seat like any bot's. BOTs are as for `arena match`; without any you meet random. What you may choose is
    marked on the board and listed. Arrow keys, a number or a name choose; Backspace takes a choice back, Enter sends
    the turn, ? explains all keys. The clock is off unless --time says otherwise; then bots take 2 seconds at most
    (--time off,5/move: 5). In a race, as in Gardener's ruleset race, bots are faster than people. Afterwards you get
    the log, and the command that shows the game again.

    With --mcp an agent plays: give its client this command as a server (docs/agents.md).

    With --web an address is printed; open it in a browser on this machine. What you may choose is marked on the board:
    click it, or type its number. The page has its own help, and at the end it shows the game with all hands open, and
    plays another one. Ctrl-C here ends it.

    \b
    Example:
      arena play greedy
      arena play greedy --web
      arena play --mcp greedy --own-time 5m/move
      arena play --rules gardener random --players 3
      arena play shogun --ruleset classic --seat 1
    """
    from arena.core.face import bot_manifests, game_worker, processor_cores, value_types
    from arena.pages.play.seat import AGENT, PERSON, set_table

    bot_manifests.check_name(name)
    own_time = own_time or ("10m/move" if mcp else None)
    clock = None if own_time is None else value_types.TimeControl.parse(own_time)
    entered = enter(bots or ("random",), make_game.rules)

    def table_for(front: Front) -> Start:
        person = front.spec(name, clock, AGENT if mcp else PERSON)
        return set_table(entered, make_game, person, logs, players=players, seat=seat, seed=seed)

    hands = Hands(processor_cores.local_worker, game_worker.play)
    take_seat(table_for, hands, make_game.rules, web=web, mcp=mcp, bind=bind, opens=opens, as_json=as_json)


class Hands(NamedTuple):
    """Who plays the games: the executor of workers, and what one does with a job."""

    worker: Callable[[], AbstractContextManager[Executor]]
    play: Callable[[Job], GameResult]


def take_seat(
    table_for: Callable[[Front], Start], hands: Hands, rules: str, *,
    web: bool, mcp: bool, bind: str | None, opens: bool, as_json: bool,
) -> None:  # fmt: skip
    """Lets a person or an agent play: `arena play` from its options on, with what sets a table and plays its games."""
    from arena.core.face import terminals
    from arena.pages.play.seat import Front
    from arena.pages.play.sitting import Sitting

    if not web and (bind is not None or opens):
        raise click.UsageError("--bind and --open are for --web")
    if mcp and web:
        raise click.UsageError("--mcp and --web are two ways to play: choose one")
    if mcp:
        _play_over_mcp(rules, table_for, hands)
        return
    if web:
        _play_in_browser(table_for, hands, partial(report, as_json=as_json), bind, opens=opens)
        return
    screen = console()
    if not terminals.can_step(screen):
        raise errors.ConfigError(
            "expected a terminal to play at, got: a file or a pipe; use --web, or `arena match` for bots alone"
        )
    with hands.worker() as worker, Front() as front:
        table = table_for(front)
        sitting = Sitting(table.header, table.seat)
        try:
            with terminals.Terminal(screen) as terminal:
                result = sit(sitting, front, terminal, worker.submit(hands.play, table.job))
        except KeyboardInterrupt:
            say("Interrupted: a game that is not over has no log.")
            raise
    report(table, result, as_json=as_json)


def play_elsewhere(
    find: Callable[[], tuple[Job, Seat]], play: Callable[[Job, str], GameResult], rules: str, **options: Any
) -> None:
    """Lets a person or an agent play games that are played elsewhere.

    Args:
        find: Finds a game, and the seat.
        play: Plays it, with the path of the socket at which whoever plays listens, as the program of `relay` does.
        options: As for `take_seat`.
    """
    from concurrent.futures import ThreadPoolExecutor

    from arena.core.face import presenters
    from arena.pages.play.seat import Start

    paths: dict[str, str] = {}

    def table_for(front: Front) -> Start:
        job, seat = find()
        paths[job.game] = front.path
        return Start(job, presenters.header_of(job.game, job.settings, job.bots), seat)

    hands = Hands(lambda: ThreadPoolExecutor(1), lambda job: play(job, paths[job.game]))
    take_seat(table_for, hands, rules, **options)


def sit(sitting: Sitting, front: Front, terminal: terminals.Terminal, game: Future[GameResult]) -> GameResult:
    """Lets a person play, until the game is over and they have seen its end. Returns its result."""

    from arena.core.face import terminals

    over, wake = os.pipe()
    game.add_done_callback(lambda _: _wake(wake))
    is_done = False
    try:
        while True:
            signals.check()
            small = terminals.too_small(terminal.screen)
            terminal.show(small or sitting.draw(*terminal.screen.size))
            fd = front.fileno()
            keys, ready = terminal.wait(*([] if is_done else [over]), *([] if fd is None else [fd]))
            is_done = is_done or over in ready
            for message in front.hear() if fd in ready else ():
                sitting.hear(message)
            for key in keys:
                if key == terminals.END or sitting.leaves(key):
                    front.leave()
                    return game.result()
                if not small and (action := sitting.press(key)) is not None:
                    front.answer({"action": action})
            if sitting.resigned:
                front.leave()
            # Of its own forfeit a seat is not told more than that its connection ends.
            if is_done and (game.exception() is not None or (front.closed and sitting.ranks is None)):
                return game.result()
    finally:
        os.close(over)
        os.close(wake)


def _wake(wake: int) -> None:
    with suppress(OSError):  # nobody waits any more
        os.write(wake, b".")


def report(table: Start, result: GameResult, *, as_json: bool) -> None:
    """Prints how the game ended, and how to see it again."""
    log = os.path.relpath(table.log)
    bots = [bot.name for bot in table.job.bots]
    if as_json:
        show_json({"game": result.game, "settings": table.job.settings, "seat": table.seat, "bots": bots,
                   "ranks": list(result.ranks), "termination": result.termination, "turns": result.turns,
                   "play_digest": result.play_digest, "log": log})  # fmt: skip
        return
    order = sorted(range(len(bots)), key=lambda seat: (result.ranks[seat], seat))
    places = ", ".join(f"{result.ranks[seat]}. {bots[seat]} (seat {seat})" for seat in order)
    show_line(plain(f"{places}: {counted(result.turns, 'turn')}, {log}"))
    say("To see it again:")
    say(plain(f"  arena replay {log}"))


def _play_over_mcp(rules: str, table_for: Callable[[Front], Start], hands: Hands) -> None:
    """Serves stdin and stdout until the client closes them. Says on stderr where the logs lie.

    A signal ends the process at once, as a kill does: then a game that is not over has no log.

    Raises:
        ConfigError: Something cannot be used.
    """
    need("mcp", "--mcp")
    import asyncio

    from arena.pages.agents.mcp import Seating

    with hands.worker() as worker:
        for number in signals.STOPPING:  # a thread of the SDK waits for stdin, which no exception ends
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda number, _: os._exit(128 + number))
        seating = Seating(rules, table_for, lambda job: worker.submit(hands.play, job))
        asyncio.run(seating.serve())
    for table, game in seating.played:
        if game.exception() is None:
            say(plain(f"The log: {table.log}"))


def _play_in_browser(
    table_for: Callable[[Front], Start],
    hands: Hands,
    report: Callable[[Start, GameResult], None],
    bind: str | None,
    *,
    opens: bool,
) -> None:
    """Serves the page until the person leaves it, or Ctrl-C; then reports the games that were played to their ends.

    Raises:
        ConfigError: Something cannot be used. Show the message to the operator.
        KeyboardInterrupt: It was interrupted in the middle of a game.
    """
    need("pages", "--web")
    from arena.pages.commands.watch import tell_error
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
            playing = Playing(table_for, worker, hands.play)
            app = Guard(playing.app, key=key, port=listening.port)
            server = Server(app, listening, ready=ready, on_stop=playing.stop, on_error=tell_error)
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
