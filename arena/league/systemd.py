"""Tells the service manager how a league does: sd_notify(3), by one datagram to the socket in `NOTIFY_SOCKET`.

Laws:
1. Without a service manager nothing happens, and nothing that goes wrong here stops a league.
2. The sign of life is sent by the loop itself, so that it ends when the loop hangs. A thread would lie.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

from arena.text import plain


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

    def stopping(self, status: str = "") -> None:
        """Says that the league ends."""
        self._send("STOPPING=1", status)

    def _send(self, state: str, status: str) -> None:
        if not self._address:
            return
        lines = state if not status else f"{state}\nSTATUS={plain(status)}"
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC) as sock:
                sock.sendto(lines.encode(), self._address)
        except OSError:
            pass  # it restarts, or its queue is full: the next sign of life comes soon
