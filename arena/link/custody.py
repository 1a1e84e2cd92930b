"""What must not outlive a worker process: its private directory and its bots' process groups."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from arena.errors import InternalError
from arena.link import warden


class Custody:
    """A private directory, and a warden process that removes it and kills all registered groups when this process ends.

    Make one in each process, never before a fork: the warden waits until nobody holds its pipe.
    """

    def __init__(self) -> None:
        """Makes both.

        Raises:
            OSError: The system has no room for them.
        """
        self.directory = Path(tempfile.mkdtemp(prefix="arena-"))
        """Open to this user only."""
        reader, self._writer = os.pipe()
        try:
            self._warden = subprocess.Popen(
                [sys.executable, "-I", "-S", warden.__file__, str(self.directory)],
                stdin=reader,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        finally:
            os.close(reader)

    def add(self, group: int) -> None:
        """Registers a process group. Do it before the group's program runs."""
        self._tell(f"+{group}\n")

    def discard(self, group: int) -> None:
        """Forgets a process group. Do it before its leader is reaped: afterwards the number may be another's."""
        self._tell(f"-{group}\n")

    def kill_in(self, group: int, ms: int) -> None:
        """Has the warden kill a registered process group in `ms` milliseconds, unless it is discarded before.

        It does so even while this process is busy, blocked or stopped.
        """
        self._tell(f"!{group} {ms}\n")

    def seat_folder(self) -> Path:
        """Makes a folder for one bot process. It is removed with the directory, if not before."""
        folder = self.directory / secrets.token_hex(4)
        folder.mkdir(mode=0o711)
        return folder

    def remove(self, folder: Path) -> None:
        """Removes a folder that `seat_folder` made, with all that is in it."""
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Kills what is still registered and removes the directory."""
        os.close(self._writer)
        self._warden.wait()

    def _tell(self, line: str) -> None:
        try:
            os.write(self._writer, line.encode())
        except BrokenPipeError:
            raise InternalError(
                f"expected the warden (process {self._warden.pid}) to live as long as the worker, got: a closed pipe; "
                "something has killed it"
            ) from None
