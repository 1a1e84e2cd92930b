"""What the referee sees of its bots: frames, faults, a clock. No process or socket is named above this layer."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import msgspec

from arena.types import Seat, Termination
from arena.wire.messages import Hello
from arena.wire.session import Session


class Frame(msgspec.Struct, frozen=True):
    """A frame arrived."""

    seat: Seat
    data: bytes
    at_ns: int
    """When the referee had it."""


class Fault(msgspec.Struct, frozen=True):
    """A seat's process or connection failed. It stays failed: later frames from it are dropped."""

    seat: Seat
    code: Termination
    detail: str
    """The rest of a sentence whose subject is the seat: "exited with status 3", "was killed by SIGSEGV"."""
    rule: str = ""
    """The number of the protocol's rule that it broke."""


Arrival: TypeAlias = Frame | Fault


class Link(Protocol):
    """The bots of one game, by seat.

    A link keeps no time control: it waits until the moment it is told, and says what came.
    """

    @property
    def lateness_ns(self) -> int:
        """How late the link itself woke, at worst, in the last `receive`: a sign of an overloaded machine."""

    def open(self) -> dict[Seat, Hello | Fault]:
        """Get every seat's bot ready, each within its start-up time: reuse it or start it and wait for its `hello`."""

    def session(self, seat: Seat) -> Session:
        """The protocol session of a seat that `open` got ready."""

    def now_ns(self) -> int:
        """The clock that `Frame.at_ns` and deadlines are read from; it never goes back."""

    def send(self, seat: Seat, data: bytes) -> int:
        """Hand a frame to the seat's socket; the moment it was handed over. A seat that failed swallows it."""

    def receive(self, until_ns: int) -> Arrival | None:
        """The next arrival from any seat, or None when `until_ns` has passed.

        What has arrived by then is returned even if the call comes late. A fault is reported once.
        """

    def stop(self, seat: Seat) -> None:
        """Kill the seat's process group now. No fault is reported for it."""

    def last_words(self, seat: Seat) -> tuple[str, ...]:
        """The last lines that the seat's process wrote to its standard output and error in this game.

        Control characters are escaped.
        """

    def output(self, seat: Seat) -> str:
        """What the seat's process wrote to its standard output and error in this game, as far as that is kept.

        Control characters are escaped, but for ends of lines.
        """

    def close(self, *, keep: frozenset[Seat]) -> None:
        """End the game's use of the bots: those of `keep` may serve another game, the others are killed."""
