"""What a probe of level `fenced` attacks, and how that looks afterwards: sockets and a file of somebody else."""

from __future__ import annotations

import os
import secrets
import select
import socket
from pathlib import Path
from typing import Any, Final, Self

_OF_A_FILE: Final = ("st_ino", "st_mode", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_nlink")


class Strangers:
    """Sockets by path, by an abstract name, by TCP."""

    def __init__(self, folder: Path) -> None:
        """Opens them. That by path is in a folder."""
        path, abstract = str(folder / "stranger"), f"arena-{secrets.token_hex(8)}"
        self.listeners = {
            "path": socket.socket(socket.AF_UNIX),
            "abstract name": socket.socket(socket.AF_UNIX),
            "TCP": socket.socket(),
        }
        addresses: tuple[Any, ...] = (path, f"\0{abstract}", ("127.0.0.1", 0))
        for listener, address in zip(self.listeners.values(), addresses, strict=True):
            listener.bind(address)
            listener.listen(4)
        self.told = {"path": path, "abstract": abstract, "port": self.listeners["TCP"].getsockname()[1]}
        """Where they are."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        for listener in self.listeners.values():
            listener.close()

    def touched(self) -> list[str]:
        """Returns a few words for each to which somebody has connected."""
        reached = select.select(list(self.listeners.values()), [], [], 0)[0]
        return [f"a socket was reached by its {name}" for name, one in self.listeners.items() if one in reached]


def state(path: Path) -> list[object]:
    """Returns all that an attack could change of a file and of the folder that it lies in."""
    names = sorted(os.listdir(path.parent))
    try:
        found = path.lstat()
    except FileNotFoundError:
        return [names]
    return [names, path.read_bytes(), *(getattr(found, name) for name in _OF_A_FILE)]
