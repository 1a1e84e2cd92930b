"""The one place where a worker waits: for messages, for room to send, for connections, for ends of processes."""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_READ: Final = select.POLLIN
_WRITE: Final = select.POLLOUT


class Poller(Generic[T]):
    """Descriptors, and what is done when something happens at one. Whoever closes a descriptor takes it out before."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._readers: dict[int, Callable[[], T]] = {}
        self._writers: dict[int, Callable[[], bool]] = {}

    def add(self, descriptor: int, read: Callable[[], T]) -> None:
        """Has `read` called when the descriptor can be read, or is at its end. Replaces what was called before."""
        self._readers[descriptor] = read
        self._poll.register(descriptor, _READ)

    def remove(self, descriptor: int) -> None:
        """Has nothing called for the descriptor any more. It need not be there."""
        self._writers.pop(descriptor, None)
        if self._readers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def push(self, descriptor: int, write: Callable[[], bool]) -> None:
        """Has `write` called when there is room, until it returns that nothing is left to be sent."""
        if descriptor in self._readers:
            self._writers[descriptor] = write
            self._poll.register(descriptor, _READ | _WRITE)

    def wait(self, wait_ms: int) -> list[T]:
        """Waits until something happens, and does what is to be done.

        Returns:
            What the `read`s returned that were called.
        """
        happened = []
        for descriptor, event in self._poll.poll(wait_ms):
            if event & _WRITE and descriptor in self._writers and not self._writers[descriptor]():
                del self._writers[descriptor]
                self._poll.register(descriptor, _READ)
            # Another's `read` may have taken it out.
            if event != _WRITE and descriptor in self._readers:
                happened.append(self._readers[descriptor]())
        return happened
