"""Sends the records of running games to whoever watches on this machine.

A watcher binds a datagram socket in the feed's folder, which lies beside the database; a league has its own in its
folder. Workers look there now and then.

Laws:
1. A game waits for nobody. A record is sent without blocking; while a watcher takes nothing, what it lacks is kept and
   sent together later, also during the next game. So nobody there costs a look at a folder each second, and a watcher
   a `send` for a record.
2. A watcher that comes in the middle of a game is sent the game from its beginning.
3. A game that is broken off is told as interrupted. If the process was killed, the watcher sees that it has gone: the
   system says with each datagram which process sent it, and a process plays one game at a time.
4. The folder belongs to this user, and nobody else may write to it: records hold everybody's hands. What a watcher
   shows to others is its own responsibility.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import socket
import stat
import struct
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.core.errors import ConfigError
from arena.core.record.log import ActionRecord, Header, LateRecord, OutcomeRecord, Record
from arena.core.types import Termination

LOOK_S: Final = 1.0
"""Seconds between two looks of a worker for watchers during a game. It looks at the beginning of each game as well."""
MOST_WATCHERS: Final = 4  # Watchers that a worker sends to. Each of them can show a game to hundreds of people.
MOST_BYTES: Final = 65_536  # Bytes of a datagram. A record that does not fit is left out.
MOST_NOTE: Final = 2_000  # characters of a note that are sent
MOST_WAITING: Final = 2**20  # bytes that wait for a watcher that takes nothing
REST_S: Final = 0.005  # how long nothing is tried after a watcher took nothing

_SUFFIX: Final = ".sock"
_NAME: Final = r"[0-9a-f]{16}\.sock"
_MOST_LINE: Final = MOST_BYTES - 1_000
_LONGEST_PATH: Final = 100  # bytes of a path that a socket's address can hold, with a margin
_SENDER: Final = struct.Struct("3i")  # what the system says of who sent a datagram: process, user, group
_encode = msgspec.json.Encoder().encode


def feed_folder(database: Path) -> Path:
    """Returns the folder of the feed of the tournaments in a database. It is never that of a league's games."""
    return Path(f"{os.path.abspath(database)}.feed")


class Part(msgspec.Struct, frozen=True):
    """Some records of a game that follow each other."""

    game: str
    first: int
    """The number of the first one; 0 is the header."""
    records: list[Header | Record]
    sender: int = 0
    """The process that plays; 0 where the system does not say, or it is none that can be seen from here."""


class _Head(msgspec.Struct, frozen=True):
    """The first line of a datagram."""

    game: str
    first: int


_heads = msgspec.json.Decoder(_Head)


class Feed:
    """What a process that plays games tells whoever watches. It is what the games' `Watch` calls, game after game.

    Args:
        folder: The feed's folder; it need not be there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._game = ""
        self._records: list[Header | Record] = []  # those of the game that is played
        self._watchers: dict[str, _Watcher] = {}
        self._look_at = 0.0

    def __call__(self, record: Header | Record) -> None:
        """Takes the next record of a game, the header first."""
        now = time.monotonic()
        if isinstance(record, Header):
            self._game = record.game
            self._records.clear()
            self._look_at = now
        if self._watchers:
            line = _line(record)
            for watcher in self._watchers.values():
                watcher.add(self._game, len(self._records), line)
        self._records.append(record)
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            self._look()
        if self._watchers:
            self._send(now)

    def flush(self) -> None:
        """Tries to send all that waits, at the end of a game. The rest goes with the next game."""
        for watcher in self._watchers.values():
            watcher.rests_until = 0.0
        self._send(time.monotonic())

    def abandon(self) -> None:
        """Says that the game was interrupted, if it has begun and is not over. There will be no result of it."""
        if not self._records or isinstance(self._records[-1], OutcomeRecord):
            return
        actions = [record for record in self._records if isinstance(record, ActionRecord)]
        last = self._records[-1]
        self(
            OutcomeRecord(
                termination=Termination.INTERRUPTED,
                ranks=[],
                turns=actions[-1].turn if actions else 0,
                actions=len(actions),
                play_digest="0" * 64,  # nothing asks for it: no log is written
                ms=0 if isinstance(last, Header) else last.ms,
            )
        )

    def close(self) -> None:
        """Ends the feed."""
        for watcher in self._watchers.values():
            watcher.socket.close()
        self._watchers.clear()

    def _look(self) -> None:
        try:
            names = os.listdir(self._folder)
        except OSError:
            return
        new = [name for name in names if name not in self._watchers and re.fullmatch(_NAME, name)]
        if not new or not is_private(self._folder):
            return
        for name in sorted(new):
            if len(self._watchers) < MOST_WATCHERS and (connected := _connect(self._folder, name)) is not None:
                self._watchers[name] = watcher = _Watcher(connected)
                for number, record in enumerate(self._records):
                    watcher.add(self._game, number, _line(record))

    def _send(self, now: float) -> None:
        for name, watcher in list(self._watchers.items()):
            try:
                if now >= watcher.rests_until:
                    watcher.send()
            except BlockingIOError:
                watcher.rests_until = now + REST_S
            except OSError:  # it has gone
                watcher.socket.close()
                del self._watchers[name]


class _Watcher:
    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.rests_until = 0.0
        self._waiting: deque[tuple[str, int, bytes]] = deque()  # game, number and line of records
        self._bytes = 0

    def add(self, game: str, number: int, line: bytes) -> None:
        """Adds a record. If too much waits, none of it is sent: then the watcher sees that something is missing."""
        if len(line) > _MOST_LINE:
            return
        if self._bytes + len(line) > MOST_WAITING:
            self._waiting.clear()
            self._bytes = 0
        self._waiting.append((game, number, line))
        self._bytes += len(line)

    def send(self) -> None:
        """Sends what waits, as much in a datagram as fits.

        Raises:
            BlockingIOError: It takes nothing now.
            OSError: It has gone.
        """
        while self._waiting:
            game, first, _ = self._waiting[0]
            parts = [_encode(_Head(game, first))]
            size = len(parts[0])
            for number, (other, at, line) in enumerate(self._waiting, start=first):
                if other != game or at != number or size + len(line) >= MOST_BYTES:
                    break
                parts.append(line)
                size += len(line) + 1
            self.socket.send(b"\n".join(parts))
            for line in parts[1:]:
                self._waiting.popleft()
                self._bytes -= len(line)


def _line(record: Header | Record) -> bytes:
    if isinstance(record, ActionRecord | LateRecord) and len(record.note or "") > MOST_NOTE:
        record = replace(record, note=f"{record.note:.{MOST_NOTE}}")
    return _encode(record)


def is_private(folder: Path) -> bool:
    """Returns whether a folder is this user's, and nobody else can put anything into it."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _not_private(folder: Path) -> str:
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        return "something else of this name, which has to be removed"
    if status.st_uid != os.geteuid():
        return f"one of the user with the number {status.st_uid}"
    return "one that others can write to: call `chmod 700` on it, or remove it"


def _connect(folder: Path, name: str) -> socket.socket | None:
    with ExitStack() as stack, suppress(OSError):  # a watcher that was killed left it, or there are no descriptors
        connected = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        connected.setblocking(False)
        connected.connect(stack.enter_context(_address(folder, name)))
        return socket.socket(fileno=connected.detach())  # the same, and not what the stack closes
    return None


@contextmanager
def _address(folder: Path, name: str) -> Iterator[str]:
    """Yields the address of a socket in a folder, however long the folder's path is."""
    path = str(folder / name)
    if len(os.fsencode(path)) <= _LONGEST_PATH:
        yield path
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)


class FeedReader:
    """A watcher's end: a socket in the feed's folder, which is made if it is missing. Close it in the end.

    Args:
        folder: The feed's folder.

    Raises:
        ConfigError: It cannot be used. Show the message to the operator.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = f"{secrets.token_hex(8)}{_SUFFIX}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if not is_private(folder):
                raise PermissionError(0, _not_private(folder))
            _remove_dead(folder)
            self.socket.setblocking(False)
            if hasattr(socket, "SO_PASSCRED"):
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            with _address(folder, self._name) as address:
                self.socket.bind(address)
        except OSError as error:
            self.socket.close()
            read_only = "no game runs where nothing can be written; `arena standings` shows those that are over"
            raise ConfigError(
                f"expected a folder of this user for what running games send, got: {error.strerror} - at {folder}; "
                f"{read_only if error.errno == errno.EROFS else 'watch as the user who plays'}"
            ) from None

    def fileno(self) -> int:
        """Returns the descriptor, which can be read when something came."""
        return self.socket.fileno()

    def hear(self, most: int = 100) -> Iterator[Part]:
        """Yields the parts that have come, up to a number, without waiting. Unreadable ones are passed over."""
        records = msgspec.json.Decoder(Header | Record)
        for _ in range(most):
            try:
                data, told, _, _ = self.socket.recvmsg(MOST_BYTES, socket.CMSG_SPACE(_SENDER.size))
            except BlockingIOError:
                return
            with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                first, *lines = data.split(b"\n")
                head = _heads.decode(first)
                yield Part(head.game, head.first, [records.decode(line) for line in lines], _sender(told))

    def close(self) -> None:
        """Goes away."""
        self.socket.close()
        with suppress(OSError):
            (self._folder / self._name).unlink()
        with suppress(OSError):  # others are there
            self._folder.rmdir()


def _sender(told: list[tuple[int, int, bytes]]) -> int:
    """Returns the process that sent a datagram; 0 if the system does not say."""
    for level, kind, data in told:
        if (level, kind) == (socket.SOL_SOCKET, getattr(socket, "SCM_CREDENTIALS", None)) and len(data) == _SENDER.size:
            return int(_SENDER.unpack(data)[0])
    return 0


def _remove_dead(folder: Path) -> None:
    """Removes the sockets of watchers that were killed."""
    for name in os.listdir(folder):
        if re.fullmatch(_NAME, name):
            connected = _connect(folder, name)
            if connected is None:
                with suppress(OSError):
                    (folder / name).unlink()
            else:
                connected.close()
