"""A person's seat: a bot process like any other, and the front's end of its socket.

The referee starts the process, the bridge speaks the protocol, and `relay` passes its lines to this end. So clocks,
log and replay are those of any game, and a front sees what a bot would see.
"""

from __future__ import annotations

import hashlib
import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.core.face import Payload, bot_manifests, scratch
from arena.pages.play import relay

PERSON: Final = "person"
"""What a log has as the version of a person's seat, where bots have theirs."""
_START_MS: Final = 60_000
"""The person does not wait for the start: two small programs that a busy machine may delay."""
_READ: Final = 65_536


class Front:
    """The person's end of the seat. No call waits. Use it in a `with` statement."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._folder = self._held.enter_context(scratch.folder("arena-play-"))
        self.path = str(self._folder / "seat")
        """Where the seat's process connects."""
        self._listener: socket.socket | None = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(1)
        self._connection: socket.socket | None = None
        self._begun = b""
        self.closed = False
        """Whether the seat's process has ended, or was left."""

    def __enter__(self) -> Front:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
        self._held.close()

    def spec(self, name: str) -> bot_manifests.BotSpec:
        """Returns the bot that connects here.

        Args:
            name: What logs and boards call the person.
        """
        bridge = ("-m", "arena", "bot", "bridge", "--name", name, "--want", "view,events,legal", "--")
        return bot_manifests.BotSpec(
            name=name,
            version=PERSON,
            command=(sys.executable, *bridge, sys.executable, str(Path(relay.__file__)), self.path),
            folder=str(self._folder),
            digest=hashlib.sha256(PERSON.encode()).hexdigest(),
            start_ms=_START_MS,
        )

    def fileno(self) -> int | None:
        """Returns the descriptor that can be read when there is something to hear; None once it is closed."""
        source = self._connection or self._listener
        return None if source is None else source.fileno()

    def hear(self) -> list[Payload]:
        """Returns the messages that have come. Call it when the descriptor can be read."""
        if self._listener is not None:
            self._connection, _ = self._listener.accept()
            self._listener.close()
            self._listener = None
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

    def answer(self, action: dict[str, Any]) -> None:
        """Sends an action. If the seat is gone, nobody hears it: the referee has ended it."""
        if self._connection is not None:
            try:
                self._connection.sendall(msgspec.json.encode({"action": action}) + b"\n")
            except OSError:
                self.leave()

    def leave(self) -> None:
        """Closes the socket. During a game that means to resign."""
        for end in (self._listener, self._connection):
            if end is not None:
                end.close()
        self._listener = self._connection = None
        self.closed = True
