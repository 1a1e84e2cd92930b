"""Reveals a tournament's secret beside its logs, and reads it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from arena.errors import LogError
from arena.record.durable import write_durably

SECRET_FILE = "secret.json"


class Secret(msgspec.Struct, frozen=True):
    """The content of the file."""

    tournament: str
    secret: str
    """32 bytes, hex."""
    commitment: str
    """The SHA-256 (hex) that was published beforehand."""


def reveal(folder: Path, tournament: str, secret: bytes, commitment: str) -> None:
    """Writes the secret into the folder of the tournament's logs. It may be called again.

    Raises:
        OSError: It could not be written.
    """
    write_durably(folder / SECRET_FILE, msgspec.json.encode(Secret(tournament, secret.hex(), commitment)) + b"\n")


def revealed(folder: Path) -> Secret | None:
    """Returns the secret that was revealed in a folder, or None if there is none.

    Raises:
        LogError: The file is there and cannot be used.
    """
    file = folder / SECRET_FILE
    try:
        secret = msgspec.json.decode(file.read_bytes(), type=Secret)
        bytes.fromhex(secret.secret)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise LogError(f"expected a revealed secret, got: {error} - at {file}") from None
    return secret
