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
    others = [*range(10_000, lowest), *range(highest + 1, 65_536)] or range(10_000, 65_536)
    while True:
        port = secrets.choice(others)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
