"""Ports for servers that tests start."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress
from pathlib import Path


def free_port() -> int:
    """Returns a port of this machine on which nobody listens, and which the system gives nobody by itself.

    A server takes seconds to start. Meanwhile a port of the system's own range may become that of a connection, or of
    another test's server, with which the clients of both would then speak.
    """
    lowest, highest = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    first, end = (
        (10_000, lowest) if lowest > 12_000 else (highest + 1, 65_536) if highest < 63_000 else (10_000, 65_536)
    )
    while True:
        port = first + secrets.randbelow(end - first)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
