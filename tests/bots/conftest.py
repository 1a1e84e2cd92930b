"""A toy referee for one bot: it starts the real process and sends it what a test says, over a real socket."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zmq

from arena.core.errors import BotError
from arena.core.link.bots import load_bot
from arena.core.link.runtimes import resolved

PATIENCE_MS = 20_000  # how long to wait for a bot that ought to answer at once: only a broken one takes so long
TOKEN = "token-of-this-test"

Message = dict[str, Any]


class Table:
    """The referee's side of a session with one bot process."""

    def __init__(self, command: list[str], folder: Path, socket: zmq.Socket[bytes], endpoint: str) -> None:
        self._socket = socket
        self._identity = b""
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "ARENA_ENDPOINT": endpoint, "ARENA_TOKEN": TOKEN},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._requests = 0

    def receive(self) -> Message:
        """The bot's next message."""
        if not self._socket.poll(PATIENCE_MS):
            self.process.kill()
            pytest.fail(f"the bot sends nothing; its stderr: {self.process.communicate()[1]}")
        self._identity, frame = self._socket.recv_multipart()
        message: Message = msgpack.unpackb(frame)
        return message

    def send(self, kind: str, /, **fields: Any) -> None:
        """Send a message, with a field that no version of the protocol knows."""
        self.send_frame(msgpack.packb({"type": kind, **fields, "from_the_future": {"a": [1, None]}}))

    def send_frame(self, frame: bytes) -> None:
        """Send bytes as they are."""
        self._socket.send_multipart([self._identity, frame])

    def begin(self, max_note: int = 1024) -> Message:
        """Wait for the `hello`, which is returned, and welcome the bot."""
        hello = self.receive()
        self.send("welcome", protocol="1.0", max_frame=65536, max_note=max_note)
        return hello

    def start(self, game: Message) -> None:
        """Start a game and wait until the bot is ready."""
        self.send("game_start", **game)
        assert self.receive() == {"type": "ready", "game": game["game"]}

    def ask(self, request: Message) -> Message:
        """Send a request; the bot's `action` message."""
        self._requests += 1
        clock = {"limit_ms": 1000, "bank_ms": None}
        self.send("request", **{"id": self._requests, "clock": clock} | request)
        answer = self.receive()
        assert answer.keys() <= {"type", "id", "action", "note"}
        assert (answer["type"], answer["id"]) == ("action", self._requests)
        return answer

    def end(self) -> tuple[int, str]:
        """The exit status and stderr of a bot that is about to exit."""
        out, err = self.process.communicate(timeout=PATIENCE_MS / 1000)
        assert out == ""
        return self.process.returncode, err


@pytest.fixture
def seat_command() -> Iterator[Callable[[list[str], Path], Table]]:
    """Starts a command in a folder as a bot; its process ends with the test."""
    with ExitStack() as stack:

        def launch(command: list[str], folder: Path) -> Table:
            # A socket's path has some hundred bytes at most: pytest's own folders can be longer.
            home = stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-"))
            socket = stack.enter_context(stack.enter_context(zmq.Context()).socket(zmq.ROUTER))
            socket.linger = 0
            socket.bind(f"ipc://{home}/referee")
            table = Table(command, folder, socket, f"ipc://{home}/referee")
            stack.enter_context(table.process)
            stack.callback(table.process.kill)
            return table

        yield launch


@pytest.fixture
def seat_bot(seat_command: Callable[[list[str], Path], Table]) -> Callable[[str], Table]:
    """Starts a bundled bot by name; the test is skipped where that bot cannot run."""

    def launch(name: str) -> Table:
        try:
            spec = load_bot(name)
        except BotError as error:
            pytest.skip(str(error))
        return seat_command(list(resolved(spec.command)), Path(spec.folder))

    return launch
