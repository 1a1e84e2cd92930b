"""What the referee sees of its bots: frames, faults, a clock. No process or socket is named above this layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol, TypeAlias

import msgspec

from arena.core.types import Seat, Termination
from arena.core.wire.messages import Hello
from arena.core.wire.session import Session

LAST_MESSAGE_MS: Final = 200  # Time to read an `error`, while the game and others go on. Then the process is killed.
START_LIMIT: Final = "limits.start_ms in bot.toml"  # where a bot asks for more time to start


class Frame(msgspec.Struct, frozen=True):
    """A frame arrived."""

    seat: Seat
    data: bytes
    at_ns: int
    """When the referee had it."""


class Cause(msgspec.Struct, frozen=True):
    """Why a process or its connection failed, and a seat forfeits."""

    code: Termination
    detail: str
    """The rest of a sentence whose subject is the seat: "exited with status 3", "was killed by SIGSEGV"."""
    rule: str = ""
    """The number of the protocol's rule that was broken, if there is one."""
    error_code: str = ""
    """The code of the `error` that the bot is sent, where it differs from `code`."""
    excuse: str = ""
    """Cause in the machine that a time loss may be due to: "the machine did not let it run for 180 ms"."""
    denied_ms: int = 0
    """Time for which the bot could have run in this decision, and was not given a core."""

    @property
    def overloaded(self) -> bool:
        """Returns whether the machine was overloaded at that moment."""
        return bool(self.excuse)

    @property
    def cited(self) -> str:
        """Returns the detail, with the rule that was broken behind it."""
        return f"{self.detail} ({self.rule})" if self.rule else self.detail


class Fault(Cause, frozen=True, kw_only=True):
    """A seat's process or connection failed. It stays failed: later frames from it are dropped."""

    seat: Seat


Arrival: TypeAlias = Frame | Fault


class Link(Protocol):
    """The bots of one game, by seat.

    A link keeps no time control: it waits until the moment it is told, and says what came.
    """

    @property
    def lateness_ns(self) -> int:
        """Tells how long the link was kept from running by others since it last knew that nothing had come.

        So much earlier an answer may have come than it was read. A `receive` until a moment that is past leaves it as
        it was, so that all seats whose time ended at that moment are judged alike.
        """

    @property
    def waited_ns(self) -> Mapping[Seat, int]:
        """Tells by seat how long `open` waited for its bot."""

    def open(self) -> dict[Seat, Hello | Fault]:
        """Gets every seat's bot ready, within its start-up time: reuses it, or starts it and waits for its `hello`.

        The bot of a seat with a fault is stopped already, with time to read why if it was sent an `error`.
        """

    def session(self, seat: Seat) -> Session:
        """Returns the protocol session of a seat that `open` got ready."""

    def now_ns(self) -> int:
        """Reads the clock of `Frame.at_ns` and deadlines; it never goes back."""

    def send(self, seat: Seat, data: bytes) -> int:
        """Hands a frame to the seat's socket, and returns the moment at which it did.

        A seat that was stopped swallows it, and one that failed, unless it can still read an `error`.
        """

    def receive(self, until_ns: int) -> Arrival | None:
        """Returns the next arrival from any seat, or None when `until_ns` has passed.

        What has arrived by then is returned even if the call comes late. A fault is reported once.

        While a seat's connection is closed and it is not settled whether its process ends too, this may wait up to two
        seconds beyond `until_ns` for the seat's fault. What others send meanwhile is returned as always: its `at_ns`
        tells that it came too late.
        """

    def denied_ns(self, seat: Seat) -> int | None:
        """Returns how long the machine kept the seat's bot from running in its life, because others ran.

        None where nothing is known. Nothing that a bot does by itself makes it grow. It may take a tenth of a
        millisecond.
        """

    def crowd_ns(self, seat: Seat) -> int:
        """Returns the CPU time until the last `denied_ns` that the seat's bot used beside its busiest thread.

        So long it may have kept others from a core itself, the link too.
        """

    def cpu_ns(self, seat: Seat) -> int:
        """Returns the CPU time that all processes of the seat's bot have used in its life; 0 where it is not known."""

    def known_cpu_ns(self, seat: Seat) -> int:
        """Returns the same at little cost: some processes that were started a moment ago may be missing."""

    def rest(self, seat: Seat) -> None:
        """Says that the seat owes nothing. Where its level has it, it is frozen until it is sent something."""

    def stop(self, seat: Seat, after_ms: int = 0) -> None:
        """Kills the seat's process group now, or in `after_ms` milliseconds so that it can read an `error` before.

        The process is killed then whatever the caller does meanwhile. From now on nothing that the seat sends is heard,
        nothing is sent to it, and no fault is reported for it. A later call can bring the end forward, never put it
        off.
        """

    def last_words(self, seat: Seat) -> tuple[str, ...]:
        """Returns the last lines that the seat's process wrote to its standard output and error in this game.

        Control characters are escaped.
        """

    def output(self, seat: Seat) -> str:
        """Returns what the seat's process wrote to its standard output and error in this game, as far as that is kept.

        Control characters are escaped, but for ends of lines.
        """

    def close(self, *, keep: frozenset[Seat]) -> None:
        """Ends the game's use of the bots: those of `keep` may serve another game, the others are killed."""
