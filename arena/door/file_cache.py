"""Keeps what was read from files, as long as the files stay as they are, and not more than so many bytes of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final, TypeAlias

LEAST: Final = 256
"""Bytes that anything counts for, however small its file is."""
Print: TypeAlias = tuple[int, ...]
"""What tells one content of a file from another, without reading it."""


def print_of(path: Path) -> tuple[Print, int]:
    """Returns the print of a file or folder, and its size in bytes.

    Raises:
        OSError: It is not there.
    """
    status = path.stat(follow_symlinks=False)
    return (status.st_mtime_ns, status.st_size, status.st_ino), status.st_size


class FileCache:
    """Values that were made of files. Those that nobody has asked for longest go first.

    >>> kept = FileCache(1_000)
    >>> kept.put("a", (1,), "A", 600)
    >>> kept.put("b", (1,), "B", 300)
    >>> kept.get("a", (1,)), kept.get("b", (2,))
    ('A', None)
    >>> kept.put("c", (1,), "C", 400)
    >>> kept.get("a", (1,)), kept.get("c", (1,)), kept.bytes
    ('A', 'C', 1000)
    """

    def __init__(self, most: int) -> None:
        """Takes how many bytes of files may be kept."""
        self._most = most
        self._values: OrderedDict[Hashable, tuple[Print, Any, int]] = OrderedDict()
        self.bytes = 0
        """Bytes of the files that are kept."""

    def get(self, name: Hashable, print_: Print) -> Any:
        """Returns what is kept under a name, or None if there is nothing, or its file had another print."""
        found = self._values.get(name)
        if found is None or found[0] != print_:
            return None
        self._values.move_to_end(name)
        return found[1]

    def put(self, name: Hashable, print_: Print, value: Any, size: int) -> None:
        """Keeps a value in place of the older one. One that is larger than all that may be kept is not kept."""
        self.drop(name)
        size = max(size, LEAST)
        if size > self._most:
            return
        self._values[name] = (print_, value, size)
        self.bytes += size
        while self.bytes > self._most:
            self.drop(next(iter(self._values)))

    def drop(self, name: Hashable) -> None:
        """Forgets what is kept under a name, if there is something."""
        found = self._values.pop(name, None)
        if found is not None:
            self.bytes -= found[2]
