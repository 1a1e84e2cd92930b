"""Values in a temporary file: what is known of each log of a tournament takes no memory."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class DiskTable(Generic[T]):
    """Values by number, in a temporary file. Memory holds only where each begins."""

    def __init__(self, kind: type[T]) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it goes with this object
        weakref.finalize(self, self._file.close)
        self._places: dict[int, int] = {}
        self._decode = msgspec.msgpack.Decoder(kind).decode

    def __contains__(self, number: int) -> bool:
        return number in self._places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[int]:
        """Yields the numbers in ascending order."""
        return iter(sorted(self._places))

    def __getitem__(self, number: int) -> T:
        self._file.seek(self._places[number])
        size = int.from_bytes(self._file.read(4), "big")
        return self._decode(self._file.read(size))

    def put(self, number: int, value: T) -> None:
        """Keeps a value."""
        data = msgspec.msgpack.encode(value)
        self._places[number] = self._file.seek(0, 2)
        self._file.write(len(data).to_bytes(4, "big") + data)

    def remove(self, number: int) -> None:
        """Removes a value."""
        del self._places[number]
