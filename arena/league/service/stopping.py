"""Hears that a service is asked to stop, and tells the service manager how the league does.

Laws:
1. A signal changes a number, and nothing else: no exception cuts anything short. The loop looks at the number.
2. The first signal asks to stop, and the second not to wait. More of them change nothing.
3. Signals that our parent switched off stay off (`nohup`, `&`).
4. The service manager is told by sd_notify(3), one datagram to the socket in `NOTIFY_SOCKET`. Without a manager nothing
   happens, and nothing that goes wrong here stops a league.
5. The sign of life is sent by the loop itself, so that it ends when the loop hangs. A thread would lie.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import FrameType
from typing import Final

from arena.core.face import plain

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""`kill` and systemd, Ctrl-C, the end of the terminal."""


class Stopping(AbstractContextManager["Stopping"]):
    """Counts the signals that come while the block runs. Use it in the main thread only."""

    def __init__(self) -> None:
        self._asked = 0
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> Stopping:
        for number in SIGNALS:
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, self._heed)
        return self

    def __exit__(self, *raised: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]

    def _heed(self, number: int, frame: FrameType | None) -> None:
        self._asked += 1

    @property
    def asked(self) -> bool:
        """Whether the service is to stop."""
        return self._asked > 0

    @property
    def at_once(self) -> bool:
        """Whether it is to stop without waiting for games."""
        return self._asked > 1


class Manager:
    """The service manager that started this process, if one did."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        """Begins with the variables that the service manager sets."""
        address = environ.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        usec, pid = environ.get("WATCHDOG_USEC", ""), environ.get("WATCHDOG_PID", "")
        mine = not pid or pid == str(os.getpid())
        self.alive_every_s: float | None = int(usec) / 2e6 if usec.isdecimal() and int(usec) > 0 and mine else None
        """How often `alive` has to be called, in seconds: twice as often as is demanded. None: never."""

    def ready(self, status: str = "") -> None:
        """Says that the league plays."""
        self._send("READY=1", status)

    def alive(self, status: str = "") -> None:
        """Gives a sign of life, with a line that `systemctl status` shows."""
        self._send("WATCHDOG=1", status)

    def _send(self, state: str, status: str) -> None:
        if not self._address:
            return
        lines = state if not status else f"{state}\nSTATUS={plain(status)}"
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC) as sock:
                sock.sendto(lines.encode(), self._address)
        except OSError:
            pass  # it restarts, or its queue is full: the next sign of life comes soon


class SignOfLife:
    """Tells the service manager that the league plays, and then again and again that its loop goes round."""

    def __init__(self, manager: Manager, line: Callable[[], str]) -> None:
        self._manager = manager
        self._line = line
        self._told = 0.0
        manager.ready()

    def look(self) -> None:
        """Gives a sign of life, if one is due."""
        now, every = time.monotonic(), self._manager.alive_every_s
        if every is not None and now >= self._told + every:
            self._told = now
            self._manager.alive(self._line())
