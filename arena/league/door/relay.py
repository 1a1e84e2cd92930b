"""Makes the bot that a worker runs in the seat of a remote version: the relay program `relay_seat.py`."""

from __future__ import annotations

import hashlib
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import TimeControl, bot_manifests, errors, files, runtimes
from arena.league.door import relay_seat, seats

START_MS: Final = 30_000
"""Time for the `hello` of a remote bot: its start and two journeys."""

SEAT: Final = "door/seat"
"""The folder of a league that a seat sees, boxed or not: the relay program, and the door's socket for it."""
SOCKET: Final = "relay.sock"
PRESENCE: Final = "door/remote.json"
"""Which remote versions are served now. An open door writes it again every few seconds while there are any."""
STALE_S: Final = 30.0
"""Seconds after which it is stale: a door that hangs leaves it behind."""
_PROGRAM: Final = "relay_seat.py"
OF_AUTHOR: Final = "@"
"""What a seat's name begins with if an author sits there; no version's does."""
GUEST: Final = "guest"
"""The name of an author's seat in a log."""


def remote_bot(
    folder: Path, name: str, digest: str, *, language: str = "", rules: tuple[str, ...] = ()
) -> bot_manifests.BotSpec:
    """Returns what plays in the seat of a remote version.

    Args:
        name: The version, `NAME/3`.
        digest: The version's digest.
        language: What the author says.
        rules: What the author says.

    Raises:
        OSError: The relay program cannot be put into the league's folder.
    """
    seat = folder.resolve() / SEAT
    _install(seat)
    return bot_manifests.BotSpec(
        name=name, version="", language=language, command=(runtimes.PYTHON, _PROGRAM, SOCKET, name), folder=str(seat),
        rules=rules, digest=digest, start_ms=START_MS, sockets=(str(seat / SOCKET),),
    )  # fmt: skip


def seat_of(folder: Path, author: str, game: str, time: str) -> bot_manifests.BotSpec:
    """Returns what plays in an author's seat in a game, with a clock of its own. Errors are those of `remote_bot`."""
    spec = remote_bot(folder, f"{OF_AUTHOR}{author} {game}", hashlib.sha256(GUEST.encode()).hexdigest())
    return msgspec.structs.replace(spec, name=GUEST, version="agent", time=TimeControl.parse(time))


def tell_end(folder: Path, author: str, game: str, code: str) -> None:
    """Tells the door, if it is open, the code of the forfeit that ended an author's game; an empty one for none.

    An older door closes this connection, and does nothing else.
    """
    said = f"{OF_AUTHOR}{author} {game} {code}".encode()
    with suppress(OSError), socket.socket(socket.AF_UNIX) as sock:
        sock.setblocking(False)
        sock.connect(str(folder.resolve() / SEAT / SOCKET))
        sock.sendall(seats.HEAD.pack(len(said), seats.ENDED) + said)


def served(folder: Path) -> frozenset[str]:
    """Returns the names of the remote versions that the open door of a league has a connection for now."""
    path = folder / PRESENCE
    try:
        if not is_open(folder):
            return frozenset()
        if time.time() - path.stat().st_mtime > STALE_S:
            return frozenset()
        known: dict[str, object] = msgspec.json.decode(
            files.read(path, "the list of remote bots", files.MIB, errors.InternalError), type=dict[str, object]
        )
    except (OSError, errors.InternalError, msgspec.DecodeError):
        return frozenset()
    return frozenset(known)


def is_open(folder: Path) -> bool:
    """Tells whether a door listens for the seats of remote bots. It costs the door a connection that ends at once."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.setblocking(False)  # a door that hangs takes no connection, and the league's loop does not wait for it
        try:
            sock.connect(str(folder.resolve() / SEAT / SOCKET))
        except OSError:
            return False
        return True


def _install(seat: Path) -> None:
    """Puts the relay program into a seat's folder, unless it is there."""
    seat.mkdir(parents=True, exist_ok=True)
    text = files.read(Path(relay_seat.__file__), "the relay program", files.MOST_TEXT, errors.InternalError)
    there = seat / _PROGRAM
    if not there.is_file() or files.read(there, "the relay program", files.MOST_TEXT, errors.InternalError) != text:
        files.write(there, text)
