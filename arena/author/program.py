"""The program below the bridge: its process and its pipes.

This module imports only the standard library: a program is started before the rest of the bridge is imported, so that
both start up at the same time. Whatever a program still has to do when its first request arrives counts as thinking.
"""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from arena.core.face import errors

GRACE_S: Final = 0.7
"""Seconds in which a program is to end after its input ends: a bot has a second, and the bridge must end too."""
_READ: Final = 65_536
_ONE_PROCESS: Final = "; at level fenced a bot is one process: play this one at --level isolated"


class Program:
    """A running program. It is in the bridge's process group, so that both are killed together."""

    def __init__(self, command: Sequence[str]) -> None:
        """Starts it in this process's folder. Raises ConfigError: it cannot be started."""
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        except OSError as error:
            remedy = "" if error.errno != errno.EPERM else _ONE_PROCESS
            raise errors.ConfigError(
                f"expected a program to run, got: {command[0]!r}: {error.strerror}{remedy}"
            ) from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.input = self._process.stdin.fileno()
        self.output = self._process.stdout.fileno()
        self.closed = False
        """Whether its output has ended."""
        self._begun = b""
        self._unsent = b""
        for descriptor in (self.input, self.output):
            os.set_blocking(descriptor, False)

    @property
    def owes_input(self) -> bool:
        """Whether lines wait for the program to read on."""
        return bool(self._unsent)

    def write(self, line: bytes = b"") -> None:
        """Writes a line, or what is left of earlier ones, as far as the pipe has room."""
        self._unsent += line
        try:
            self._unsent = self._unsent[os.write(self.input, self._unsent) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._unsent = b""  # it reads no more, but may still answer

    def lines(self, limit: int) -> list[bytes]:
        """Returns the complete lines that have arrived, and a partial one if it already exceeds `limit` bytes."""
        data = os.read(self.output, _READ)
        self.closed = not data
        *lines, self._begun = (self._begun + data).split(b"\n")
        if len(self._begun) > limit:
            lines.append(self._begun)
        return lines

    def wait(self) -> tuple[int, str]:
        """Ends its input and waits for it. Returns its exit status as a shell has it, and in words how it ended."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            status = self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return 1, f"ran on for {GRACE_S:g} s, and was killed"
        if status < 0:
            return 128 - status, f"was killed by signal {-status}"
        return status, f"exited with status {status}"

    def kill(self) -> None:
        """Kills it if it still runs."""
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
