"""Addresses of clusters: which may be connected to, and with what keys."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from arena.errors import ConfigError

LOCAL: Final = "local:"
"""The prefix of an address that stands for so many workers on this machine."""
MOST_LOCAL: Final = 256
KEYS: Final = tuple(f"DASK_DISTRIBUTED__COMM__TLS__{key}" for key in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY"))
"""The variables that name the files with the certificate of the authority, our certificate, and our key."""
_ADDRESS: Final = re.compile(
    r"\A(?P<scheme>tcp|tls)://(?P<host>[^\s/:@\[\]]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})\Z", re.ASCII
)
_LOOPBACK: Final = re.compile(r"127\.[0-9.]+|localhost|\[::1\]")
_LAST_PORT: Final = 65535


def local_workers(address: str) -> int:
    """Returns how many workers `local:N` stands for.

    Raises:
        ConfigError: It is no such number.
    """
    number = address.removeprefix(LOCAL)
    if not number.isascii() or not number.isdecimal() or len(number) > 3 or not 1 <= int(number) <= MOST_LOCAL:
        raise ConfigError(f"expected {LOCAL}N with N in 1..{MOST_LOCAL}, got: {address!r:.80} - at --cluster")
    return int(number)


def check_address(address: str, *, insecure: bool = False) -> None:
    """Checks that an address may be connected to.

    Raises:
        ConfigError: It may not.
    """
    if address.startswith(LOCAL):
        local_workers(address)
        return
    parts = _ADDRESS.search(address)
    if parts is None or not 1 <= int(parts["port"]) <= _LAST_PORT:
        raise ConfigError(
            f"expected tls://HOST:PORT, tcp://HOST:PORT or {LOCAL}N, got: {address!r:.80}; a port is 1..{_LAST_PORT}, "
            "and IPv6 is [in brackets] - at --cluster"
        )
    if parts["scheme"] == "tcp" and not insecure and _LOOPBACK.fullmatch(parts["host"]) is None:
        raise ConfigError(
            f"expected a tls:// address, got: {address!r:.80}: whoever reaches a scheduler without TLS runs code "
            "on all its machines; give it keys, or say --insecure if nobody else is on the network - at --cluster"
        )


def check_keys() -> None:
    """Checks that Dask knows the keys for TLS. It reads them from its own configuration, as its commands do.

    Raises:
        ConfigError: It does not.
    """
    import dask.config

    given = [dask.config.get(f"distributed.comm.tls.{key}", None) for key in ("ca-file", "client.cert", "client.key")]
    for value, name in zip(given, KEYS, strict=True):
        if value is None:
            raise ConfigError(f"expected the keys for tls:// in Dask's configuration, got none; set {', '.join(KEYS)}")
        if "\n" not in value and not Path(value).is_file():
            raise ConfigError(f"expected a file of keys, got: {value!r:.200}, which is none - at {name}")
