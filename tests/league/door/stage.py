"""A door in a process of its own, as attacks meet it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from arena.league.door.addresses import Address, address
from arena.league.door.client import Client
from tests.door_kit import League


class Stage:
    """A door in a process of its own, and its league's folder."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._options = options
        self.league = League(folder)
        (folder / "league.toml").touch()
        self._names = 0
        self.start()

    def start(self) -> None:
        """Starts the door."""
        words = ["-m", "arena", "league", "open", str(self.league.folder), "--bind", "127.0.0.1:0", "--once"]
        self.process = subprocess.Popen([sys.executable, *words, *self._options], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        with self.process.stdout as output:
            self.address: Address = address(output.readline().strip())

    def kill(self) -> None:
        """Ends the door, as a crash does."""
        self.process.kill()
        self.process.wait()

    def author(self) -> str:
        """A new author's token."""
        self._names += 1
        return self.league.author(f"author{self._names}")

    def check(self) -> None:
        """The door is alive, and answers somebody who did nothing."""
        with Client(self.address, self.author()) as client:
            client.hello()
        assert self.process.poll() is None
        assert self.resident_mib() < 200

    def resident_mib(self) -> int:
        """Memory of the door now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) // 1024
