"""A person's seat: a bot process like any other, and the front's end of its socket.

The referee starts the process, the bridge speaks the protocol, and `relay` passes its lines to this end. So clocks,
log and replay are those of any game, and a front sees what a bot would see.
"""

from __future__ import annotations

import hashlib
import socket
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from arena.core.face import (
    GameResult,
    GameSettings,
    Job,
    Payload,
    Seat,
    TimeControl,
    bot_manifests,
    chance,
    errors,
    log_records,
    make_log_folder,
    presenters,
    scratch,
    tournament_settings,
)
from arena.pages.play import relay

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

PERSON: Final = "person"
AGENT: Final = "agent"
"""Version of such a seat in a log, where bots have theirs."""
_START_MS: Final = 60_000
"""The person does not wait for the start: two small programs that a busy machine may delay."""
_READ: Final = 65_536


class Front:
    """The person's end of the seat. No call waits. Use it in a `with` statement."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._folder = self._held.enter_context(scratch.folder("arena-play-"))
        self.path = str(self._folder / "seat")
        """Path of the socket to which the seat's process connects."""
        self._listener: socket.socket | None = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(1)
        self._connection: socket.socket | None = None
        self._begun = b""
        self._loop: AbstractEventLoop | None = None
        self._heard: Callable[[], object]
        self.closed = False
        """Whether the seat's process has ended, or was left."""

    def __enter__(self) -> Front:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
        self._held.close()

    def spec(self, name: str, time: TimeControl | None = None, version: str = PERSON) -> bot_manifests.BotSpec:
        """Returns the bot that connects here.

        Args:
            name: What logs and boards call the person.
            time: A clock of their own; None means that of all.
            version: Who it is: `PERSON` or `AGENT`.
        """
        bridge = ("-m", "arena", "bot", "bridge", "--name", name, "--want", "view,events,legal", "--")
        return bot_manifests.BotSpec(
            name=name,
            version=version,
            command=(sys.executable, *bridge, sys.executable, str(Path(relay.__file__)), self.path),
            folder=str(self._folder),
            digest=hashlib.sha256(version.encode()).hexdigest(),
            start_ms=_START_MS,
            time=time,
        )

    def fileno(self) -> int | None:
        """Returns the descriptor that can be read when there is something to hear; None once it is closed."""
        source = self._connection or self._listener
        return None if source is None else source.fileno()

    def attend(self, loop: AbstractEventLoop, heard: Callable[[], object]) -> None:
        """Has the loop call `heard` whenever there is something to hear."""
        self._loop, self._heard = loop, heard
        if (fd := self.fileno()) is not None:
            loop.add_reader(fd, heard)

    def hear(self) -> list[Payload]:
        """Returns the messages that have come. Call it when the descriptor can be read."""
        if self._listener is not None:
            self._connection, _ = self._listener.accept()
            self._close(self._listener)
            self._listener = None
            if self._loop is not None:
                self.attend(self._loop, self._heard)
            return []
        if self._connection is None:
            return []
        try:
            data = self._connection.recv(_READ)
        except ConnectionError:
            data = b""
        if not data:
            self.leave()
            return []
        *lines, self._begun = (self._begun + data).split(b"\n")
        return [msgspec.json.decode(line) for line in lines]

    def answer(self, line: Payload) -> None:
        """Sends a line: an `action`, perhaps with a `note`. If the seat is gone, nobody hears it."""
        if self._connection is not None:
            try:
                self._connection.sendall(msgspec.json.encode(line) + b"\n")
            except OSError:
                self.leave()

    def leave(self) -> None:
        """Closes the socket. During a game that means to resign."""
        for end in (self._listener, self._connection):
            if end is not None:
                self._close(end)
        self._listener = self._connection = None
        self.closed = True

    def _close(self, end: socket.socket) -> None:
        if self._loop is not None:
            self._loop.remove_reader(end)
        end.close()


def when_done(future: Future[GameResult], loop: AbstractEventLoop, call: Callable[[], object]) -> None:
    """Has the loop call `call` once the game has ended, if somebody is served then."""

    def done(_: Future[GameResult]) -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(call)

    future.add_done_callback(done)


class Start(msgspec.Struct, frozen=True):
    """A game that can begin."""

    job: Job
    header: log_records.Header
    """Facts that a presenter needs: the settings, and who sits where. The secrets of the deal are not in it."""
    seat: Seat

    @property
    def log(self) -> Path:
        """Where the log will be."""
        return Path(self.job.logs) / f"{self.job.game}.jsonl"


def set_table(
    bots: Sequence[str],
    make_game: Callable[[int], GameSettings],
    person: bot_manifests.BotSpec,
    logs: Path,
    *,
    players: int | None = None,
    seat: Seat = 0,
    seed: str | None = None,
) -> Start:
    """Returns a table with a person and bots.

    Args:
        bots: The opponents in the order of their seats; if they are too few, they are taken again from the first on.
        make_game: Makes the settings for a number of players.
        logs: Where the game's own folder is made.
        players: How many sit at the table; None means the bots and the person.
        seed: Source of the deal; None means the system's random generator.

    Raises:
        ConfigError: Something cannot be used. Show the message to the operator.
    """
    count = len(bots) + 1 if players is None else players
    settings = make_game(count)
    if not 0 <= seat < count:
        raise errors.ConfigError(f"expected a seat in 0..{count - 1}, got: {seat}; use --seat")
    if len(bots) >= count:
        raise errors.ConfigError(
            f"expected at most {count - 1} bots at a table of {count}, got: {len(bots)}; "
            "leave some out, or use --players"
        )
    others = [bot_manifests.load_bot(bots[number % len(bots)]) for number in range(count - 1)]
    for bot in others:
        if bot.rules and settings.rules not in bot.rules:
            raise errors.ConfigError(
                f"expected bots that play {settings.rules}, got: {bot.name}, which plays {', '.join(bot.rules)}"
            )
    specs = (*others[:seat], person, *others[seat:])
    names = tournament_settings.enter(specs)
    id = make_log_folder(logs, "play-", 3)
    job = Job(
        game=id,
        tournament=None,
        settings=settings,
        bots=tuple(msgspec.structs.replace(spec, name=bot.name) for spec, bot in zip(specs, names, strict=True)),
        deal=0,
        rotation=0,
        secret=chance.new_secret() if seed is None else chance.seed_secret(seed),
        logs=str(logs.resolve() / id),
    )
    return Start(job, presenters.header_of(id, settings, job.bots), seat)
