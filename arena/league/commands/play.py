"""`arena league play` and `arena bot serve`: a person, an agent or a bot of this machine in a league elsewhere."""

from __future__ import annotations

import select
import socket
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from arena.cli import complete
from arena.cli.help import HOW, Command, option
from arena.cli.options import json_option, logs_option
from arena.core.face import (
    Job,
    Payload,
    Seat,
    bot_manifests,
    catalogue,
    compression,
    errors,
    files,
    log_records,
    make_log_folder,
    need,
    result_of,
)
from arena.league.commands.here import Elsewhere, at_options, tell

if TYPE_CHECKING:
    from arena.core.face import GameResult
    from arena.league.door.client import Client
    from arena.league.door.messages import SeatSaid, SeatState

_WAIT_S: Final = 10
"""Seconds that an answer may take; half of it between two looks whether the time for a decision is over."""


@click.command(cls=Command)
@click.argument("against")
@option(HOW, "--seat", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Your seat.")
@option(HOW, "--web", is_flag=True, help="Play in a browser instead of the terminal.")
@option(HOW, "--mcp", is_flag=True, help="Let an agent play, over MCP on stdin and stdout.")
@logs_option("Where the folder of its log is made.")
@json_option
@at_options
def play(against: str, seat: int, web: bool, mcp: bool, logs: Path, as_json: bool, elsewhere: Elsewhere | None) -> None:
    """Play yourself against AGAINST, a bot of a league elsewhere, or a version of it.

    It is as `arena play`, but for the clock, which the league sets and which bounds the whole game. The game counts in
    nothing; its log is yours. How many an author may play in 24 hours is the limit `seats`.

    \b
    Example:
      arena league play owl --at https://cup.example --token anna.token
      arena league play owl --web --at https://cup.example --token anna.token
    """
    from arena.pages.commands.play import play_elsewhere

    if elsewhere is None:
        raise errors.ConfigError("expected --at ADDRESS, got: no league; here `arena play BOT` does")
    with elsewhere.client() as client:
        rules = str(client.hello().league.get("rules"))
        play_elsewhere(
            partial(_find, client, against, seat, logs), partial(_play, client), rules,
            web=web, mcp=mcp, bind=None, opens=False, as_json=as_json,
        )  # fmt: skip


def _find(client: Client, against: str, seat: int, logs: Path) -> tuple[Job, Seat]:
    """Returns a game of the league that has begun, and the seat in it. Raises DoorError: the league gives none."""
    given = client.ordered("seat", against=against, seat=str(seat))
    if given is None:
        raise errors.DoorError("expected the league to give a seat, got: no answer; try again when it runs", "nobody")
    if given.before:
        tell(f"all places are taken; it begins when so many games of others have ended: {given.before}")
    start = (state := _next(client)).start
    if not start:
        raise errors.DoorError("expected the game to begin, got: it ended before; ask again", "unanswered")
    board, options = start["board"], [f"{name}={value}" for name, value in start["options"].items()]
    settings = catalogue.make_settings(
        start["rules"], start["seats"], ruleset=start["ruleset"], overrides=options,
        board=None if board is None else str(client.hello().league.get("board")),
    )  # fmt: skip
    mine = catalogue.rules_of(settings).board_payload
    if mine != board:
        raise errors.ConfigError("expected a board that comes with arena, got: another; play over HTTP instead")
    names = ["guest" if one == seat else given.against for one in range(settings.players)]
    bots = tuple(bot_manifests.BotSpec(name=one, version="", command=(), folder="", digest="") for one in names)
    folder = str(logs.resolve() / make_log_folder(logs, "play-", 3))
    job = Job(
        game=state.game, tournament=None, settings=settings, bots=bots, deal=0, rotation=seat, secret=b"", logs=folder
    )  # fmt: skip
    return job, seat


def _play(client: Client, job: Job, path: str) -> GameResult:
    """Takes what the league tells to whoever plays, and back what they decide, to the end. Returns the result."""
    with socket.socket(socket.AF_UNIX) as front:
        front.connect(path)
        state = _next(client)
        _tell(front, {"type": "game_start", "game": 1, **state.start})
        while state.phase == "asked":
            state = _decided(client, front, state)
        if state.phase == "over":
            _tell(front, {"type": "game_over", "game": 1, "events": state.events, **state.result})
    place = Path(job.logs) / f"{job.game}{log_records.SUFFIX}"
    until = time.monotonic() + 60
    while True:
        try:
            files.write(place, compression.expand(client.log(job.game), str(place)))
            break
        except errors.DoorError as error:
            if error.refusal != "unknown" or time.monotonic() > until:
                raise
            time.sleep(1)
    log = log_records.read_log(place)
    return result_of(log.header, log.records, log.sha256)


def _decided(client: Client, front: socket.socket, state: SeatState) -> SeatState:
    """Asks whoever plays for a decision, and sends it, play by play. Returns how the seat stands then."""
    from arena.league.door.messages import SeatSaid

    clock = {"limit_ms": state.clock or 0, "bank_ms": None}
    told = {"type": "request", "id": state.request, "kind": state.kind, "clock": clock}
    _tell(front, {**told, "view": state.view, "events": state.events, "legal": state.legal})
    line = b""
    while not line.endswith(b"\n"):
        if not select.select([front], [], [], _WAIT_S / 2)[0]:
            if (now := client.seat()).phase != "asked":
                return now
        elif more := front.recv(65_536):
            line += more
        else:
            return client.seat(SeatSaid(do="resign"))
    answer = msgspec.json.decode(line)
    note, events = answer.get("note", ""), list[Payload]()
    for play in answer["action"]["plays"]:
        state = _next(client, SeatSaid(request=state.request, plays=[play], note=note[:1_000]))
        events, note = [*events, *(state.events or ())], ""
        if state.phase != "asked":
            break
    return msgspec.structs.replace(state, events=events)


def _next(client: Client, said: SeatSaid | None = None) -> SeatState:
    """Says something in the seat, and waits until its author is asked or the game is over."""
    state = client.seat(said, _WAIT_S)
    while state.phase == "waiting":
        state = client.seat(wait_s=_WAIT_S)
    return state


def _tell(front: socket.socket, message: Payload) -> None:
    front.sendall(msgspec.json.encode(message) + b"\n")


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
