"""A client for attackers: ZMTP and msgpack by hand, the standard library alone, so that each byte can be wrong.

What an attack found out it reports as notes of its actions, a line each: `OPEN what` if it worked, `shut what` if not.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

MORE, LONG, COMMAND = 1, 2, 4
"""The flags of a frame."""
NOTE_BYTES = 900
Message = dict[str, Any]


def target() -> dict[str, Any]:
    """What an attacker may know of the place: the stage writes it beside the bot."""
    found: dict[str, Any] = json.loads((Path(__file__).parent / "target.json").read_text())
    return found


class Seat:
    """A connection to the referee, as a bot has it."""

    def __init__(self) -> None:
        self.found: list[str] = []
        """What was reported and not yet sent."""
        self.socket = connection()
        self._read = bytearray()
        self.last_id = 0

    # ZMTP

    def shake_hands(self) -> None:
        """Greets in ZMTP 3.1."""
        self.raw(greeting())
        self._take(64)
        self.raw(ready())
        self._frame()

    def raw(self, data: bytes) -> None:
        """Sends bytes as they are."""
        self.socket.sendall(data)

    def send(self, message: Any) -> None:
        self.raw(frame(pack(message)))

    def receive(self) -> Message:
        """Returns the next message."""
        while True:
            flags, body = self._frame()
            if not flags & COMMAND:
                message: Message = unpack(body)
                return message

    def _take(self, size: int) -> bytes:
        while len(self._read) < size:
            more = self.socket.recv(65_536)
            if not more:
                raise ConnectionResetError(errno.ECONNRESET, "the referee closed the connection")
            self._read += more
        data = bytes(self._read[:size])
        del self._read[:size]
        return data

    def _frame(self) -> tuple[int, bytes]:
        flags = self._take(1)[0]
        size = int.from_bytes(self._take(8 if flags & LONG else 1), "big")
        return flags, self._take(size)

    # The session

    def hello(self) -> Message:
        return {"type": "hello", "token": os.environ["ARENA_TOKEN"], "protocol": "1.0", "want": ["legal"]}

    def greet(self) -> None:
        """Says hello, and awaits the welcome."""
        self.shake_hands()
        self.send(self.hello())

    def answer(self, request: Message, **more: Any) -> Message:
        """Returns the first legal action, with a note of what was found."""
        self.last_id = request["id"]
        plays = [{key: first(values) for key, values in request["legal"][0].items()}]
        message = {"type": "action", "id": request["id"], "action": {"plays": plays}} | more
        note = []
        while self.found and len("\n".join([*note, self.found[0]]).encode()) <= NOTE_BYTES:
            note.append(self.found.pop(0))
        return message | ({"note": "\n".join(note)} if note else {})

    def requests(self) -> Iterator[Message]:
        """Yields each request until goodbye, and does the rest of the session.

        An attacker whose connection the referee has closed lives on: it is for the referee to end it.
        """
        while True:
            try:
                message = self.receive()
            except ConnectionError:
                rest()
            kind = message["type"]
            if kind == "game_start":
                self.on_start(message)
                self.send({"type": "ready", "game": message["game"]})
            elif kind == "request":
                yield message
            elif kind == "error":
                sys.exit(7)
            elif kind == "goodbye":
                sys.exit(0)

    def on_start(self, message: Message) -> None:
        """Is called with each `game_start`."""

    def play(self, attack: Callable[[Message], bool | None], at: int = 3) -> None:
        """Plays, and attacks when it is asked for the `at`-th time. An attack that returns True has answered itself."""
        for number, request in enumerate(self.requests(), 1):
            if number != at or not self._attacked(attack, request):
                self.send(self.answer(request))

    def _attacked(self, attack: Callable[[Message], bool | None], request: Message) -> bool | None:
        """Attacks. Where a bot may start no process and see no /proc, an attack may end before it has tried all."""
        try:
            return attack(request)
        except PermissionError as error:
            self.report("go on with its attack", False, error)
            return None

    # Reports

    def report(self, what: str, is_open: bool, detail: Any = "") -> None:
        """Notes whether something worked; standard error has it too."""
        detail = str(detail).encode("ascii", "backslashreplace").decode()[:200]
        line = f"{'OPEN' if is_open else 'shut'} {what}" + (f": {detail}" if detail else "")
        with suppress(OSError):  # the attack may have filled it
            os.write(2, line.encode() + b"\n")
        self.found.append(line[:NOTE_BYTES])

    def attempt(self, what: str, call: Callable[[], Any]) -> Any:
        """Reports whether a call works: it is open unless it raises OSError or returns None."""
        try:
            result = call()
        except OSError as error:
            self.report(what, False, errno.errorcode.get(error.errno or 0, str(error)))
            return None
        except (ValueError, MemoryError, RuntimeError) as error:
            self.report(what, False, f"{type(error).__name__}: {error}")
            return None
        self.report(what, result is not None, "" if result in (None, True) else result)
        return result


def connection() -> socket.socket:
    """Connects to the referee."""
    found = socket.socket(socket.AF_UNIX)
    found.connect(os.environ["ARENA_ENDPOINT"].removeprefix("ipc://"))
    return found


def first(values: Any) -> Any:
    """The first of some values; several where the request says so."""
    return values["of"][: values["choose"]] if isinstance(values, dict) else values[0]


def greeting(version: bytes = b"\3\1", mechanism: bytes = b"NULL") -> bytes:
    return b"\xff" + bytes(8) + b"\x7f" + version + mechanism.ljust(20, b"\0") + bytes(32)


def ready(kind: bytes = b"DEALER") -> bytes:
    return frame(b"\5READY\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind, COMMAND)


def frame(body: bytes, flags: int = 0) -> bytes:
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | LONG]) + struct.pack(">Q", len(body)) + body


def pack(value: Any) -> bytes:
    """Encodes a value as msgpack, in long forms where that is simpler. Bytes are taken as encoded already."""
    if isinstance(value, bytes):
        return value
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return struct.pack(">bq", -45, value)
    if isinstance(value, float):
        return struct.pack(">bd", -53, value)
    if isinstance(value, str):
        data = value.encode()
        return struct.pack(">bI", -37, len(data)) + data
    if isinstance(value, list):
        return struct.pack(">bI", -35, len(value)) + b"".join(map(pack, value))
    return struct.pack(">bI", -33, len(value)) + b"".join(pack(key) + pack(item) for key, item in value.items())


def unpack(data: bytes) -> Any:
    """Decodes what the referee sends."""
    return _unpack(data, 0)[0]


def _unpack(data: bytes, at: int) -> tuple[Any, int]:
    kind = data[at]
    at += 1
    if kind < 0x80:
        return kind, at
    if kind >= 0xE0:
        return kind - 256, at
    if kind < 0x90:
        return _map(data, at, kind & 15)
    if kind < 0xA0:
        return _list(data, at, kind & 15)
    if kind < 0xC0:
        return data[at : at + (kind & 31)].decode(), at + (kind & 31)
    if kind in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[kind], at
    if 0xCC <= kind <= 0xD3:
        size = 1 << (kind & 3)
        return int.from_bytes(data[at : at + size], "big", signed=kind >= 0xD0), at + size
    width = {0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}[kind]
    size, at = int.from_bytes(data[at : at + width], "big"), at + width
    if kind <= 0xDB:
        return data[at : at + size].decode(), at + size
    return (_list if kind <= 0xDD else _map)(data, at, size)


def _list(data: bytes, at: int, size: int) -> tuple[list[Any], int]:
    values = []
    for _ in range(size):
        value, at = _unpack(data, at)
        values.append(value)
    return values, at


def _map(data: bytes, at: int, size: int) -> tuple[dict[str, Any], int]:
    values = {}
    for _ in range(size):
        key, at = _unpack(data, at)
        values[key], at = _unpack(data, at)
    return values, at


def rest() -> NoReturn:
    """Does nothing for ever."""
    while True:
        time.sleep(60)


def helper(work: Callable[[], object]) -> tuple[int, Callable[[], object]]:
    """Has something done again and again beside the bot: by a child, or by a thread where a bot is one process.

    Returns the clock of its CPU time, and what ends it.
    """
    parent = os.getpid()
    try:
        child = os.fork()
    except PermissionError:
        goes_on = threading.Event()
        thread = threading.Thread(target=lambda: [work() for _ in iter(goes_on.is_set, True)], daemon=True)
        thread.start()
        return time.pthread_getcpuclockid(thread.ident or 0), goes_on.set
    if child == 0:
        while os.getppid() == parent:
            work()
        os._exit(0)

    def end() -> None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    return ~child << 3 | 2, end


def burn(seconds: float) -> None:
    """Computes for so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass
