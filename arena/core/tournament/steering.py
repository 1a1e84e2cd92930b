"""Takes orders from another terminal while a tournament runs: pause, resume, stop, another number of games at a time.

One process writes the database. So an order is a file in a folder beside it, written whole or not at all; the running
command finds it, obeys, and answers with another file. Orders are for the command that runs: what it finds when it
begins is of a time before it, and is dropped.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from arena.core.errors import ArenaError
from arena.core.files import MOST_TEXT, read, read_text, write
from arena.core.store.lock import is_written_to

Verb: TypeAlias = Literal["pause", "resume", "stop", "concurrency"]

POLL_S: Final = 0.2  # how often the running command looks for orders: it obeys within a second
ANSWER_S: Final = 10.0  # how long a command waits for the answer: a busy machine may take longer than a second
_TOURNAMENT: Final = "tournament"  # the file in the folder that names the tournament
MAX_CONCURRENCY: Final = 1_000  # the most games at a time that an order may ask for


class SteerOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What another terminal wants."""

    id: str
    verb: Verb
    number: int = 0


class Directions:
    """What a running tournament is to do. This one never changes."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes  # games at a time
        self.paused = False  # whether no game may begin
        self.stopping = False  # whether no game may begin any more, and the command ends after those that run

    def look(self, running: int) -> None:
        """Obeys new orders, of which there are none."""


class Steering(Directions):
    """Directions that obey the orders in a folder."""

    def __init__(self, folder: Path, lanes: int, tell: Callable[[str], None]) -> None:
        """Takes the first settings.

        Args:
            tell: Called with a sentence about each order that was obeyed.
        """
        super().__init__(lanes)
        self._folder = folder
        self._tell = tell
        self._looked = 0.0

    def look(self, running: int) -> None:
        """Obeys new orders, and answers them; does nothing if it looked a moment ago.

        Args:
            running: How many games workers have, for the answers. Each has its next one, too.
        """
        now = time.monotonic()
        if now < self._looked + POLL_S:
            return
        self._looked = now
        for file in sorted(self._folder.glob("*.order")):
            try:
                order = msgspec.json.decode(read(file, "an order", MOST_TEXT, ArenaError, links=False), type=SteerOrder)
            except ArenaError as error:  # it says where, and what to do
                answer = f"the order could not be read: {error}"
            except (ValueError, RecursionError) as error:
                answer = f"the order could not be read: {error} - at {file}; give it again by `arena tournament`"
            else:
                answer = self._obey(order, running)
                self._tell(answer)
            with suppress(OSError):  # what is no file, or in a folder that is gone, was no command's order
                file.unlink(missing_ok=True)
                write(file.with_suffix(".answer"), answer.encode(errors="backslashreplace"))

    def _obey(self, order: SteerOrder, running: int) -> str:
        games = f"games that workers have already ({running}) are played to the end"
        match order.verb:
            case "pause":
                self.paused = True
                return f"Paused: {games}, and no other begins. `arena tournament resume` goes on."
            case "resume":
                self.paused = False
                return "Resumed."
            case "stop":
                self.stopping = True
                return f"Stopping: {games}, and no other begins. The same command goes on later."
            case "concurrency":
                self.lanes = min(max(1, order.number), MAX_CONCURRENCY)
                return f"From now on {self.lanes} at a time."


@contextmanager
def steered(db: Path, tournament: str, lanes: int, tell: Callable[[str], None]) -> Iterator[Steering]:
    """Yields what steers the tournament that this process plays on a database. Orders find it until the block ends."""
    folder = folder_of(db)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write(folder / _TOURNAMENT, tournament.encode())
    try:
        yield Steering(folder, lanes, tell)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def running(db: Path) -> str:
    """Returns the tournament that a process plays on a database now; empty if there is none."""
    if not is_written_to(db):
        return ""
    try:
        return read_text(folder_of(db) / _TOURNAMENT, "a tournament's name", MOST_TEXT, ArenaError, links=False)
    except ArenaError:
        return ""


def folder_of(db: Path) -> Path:
    """Returns the folder of orders for the process that writes to a database."""
    file = db.resolve()
    return file.with_name(file.name + "-orders")


def send(db: Path, verb: Verb, number: int = 0, *, patience: float = ANSWER_S) -> str:
    """Gives an order to the tournament that runs on a database, and returns its answer.

    Args:
        number: Games at a time, for `concurrency`.
        patience: Seconds to wait for the answer.

    Raises:
        ArenaError: No tournament runs there, or it does not answer.
    """
    folder = folder_of(db)
    if not folder.is_dir() or not is_written_to(db):
        raise ArenaError(
            f"expected a running tournament on {db}, got none; --db names another database, and `arena tournaments` "
            "lists what it holds"
        )
    order = SteerOrder(id=f"{time.time_ns():020d}-{secrets.token_hex(4)}", verb=verb, number=number)
    file = folder / f"{order.id}.order"
    try:
        write(file, msgspec.json.encode(order))
    except OSError as error:
        raise ArenaError(f"expected to write an order, got: {error.strerror} - at {file}") from error
    answer = file.with_suffix(".answer")
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if answer.exists():
            text = read_text(answer, "an answer", MOST_TEXT, ArenaError, links=False)
            answer.unlink(missing_ok=True)
            return text
        if not folder.is_dir():
            raise ArenaError(f"expected an answer, got none: the tournament on {db} has just ended")
        time.sleep(POLL_S / 4)
    file.unlink(missing_ok=True)
    raise ArenaError(
        f"expected an answer within {patience:g} s of the tournament on {db}, got none: it does not look for orders "
        "while it starts or ends; try again"
    )
