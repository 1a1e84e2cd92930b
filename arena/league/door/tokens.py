"""Tokens: the secrets by which a league knows its authors, of which it keeps only the hash.

A token is `arena_` and 43 characters of base64url, 256 random bits; the prefix lets scanners find one that leaked. Its
file has the token alone, and only its owner can read it. The file for the league's operator has its SHA-256 in 64
hexadecimal digits, as `sha256sum` prints it. The league keeps that hash in the form of ZeroMQ's keys (Z85, 40
characters), which its tables have had since authors were known by such a key.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from pathlib import Path
from typing import Final

from zmq.utils import z85

from arena.core.face import errors, files

_TOKEN: Final = re.compile(r"arena_[A-Za-z0-9_-]{43}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_HASH: Final = re.compile(r"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")
_MOST: Final = 4_096
"""Bytes of a file."""


def new_token() -> str:
    """Returns a new token."""
    return f"arena_{secrets.token_urlsafe(32)}"


def is_token(text: str) -> bool:
    """Tells whether a text has the form of a token."""
    return _TOKEN.fullmatch(text) is not None


def hash_of(token: str) -> str:
    """Returns what a league keeps of a token."""
    return z85.encode(hashlib.sha256(token.encode()).digest()).decode()


def is_hash(text: str) -> bool:
    """Tells whether a text has the form of what a league keeps of a token."""
    return _HASH.fullmatch(text) is not None


def write_token(path: Path, token: str) -> None:
    """Writes a token's file, which only this user can read. A file of that name is not replaced.

    Raises:
        ConfigError: There is a file of that name already.
        OSError: It cannot be written.
    """
    if os.path.lexists(path):
        raise errors.ConfigError(
            f"expected a new name for the file of a token, got: one that is there - at {str(path)!r}; "
            "give another name, or remove the old token if nobody needs it"
        )
    files.write(path, f"{token}\n".encode(), durably=True, mode=0o600)


def write_hash(path: Path, token: str, whom: str) -> None:
    """Writes the file for the league's operator, which is no secret."""
    digest = hashlib.sha256(token.encode()).hexdigest()
    files.write(path, f"# The hash of {whom}'s token, for the operator of a league.\n{digest}\n".encode())


def read_token(path: Path) -> str:
    """Reads a token's file.

    Raises:
        ConfigError: It is not there, has no token, or others can read it. Show the message to the user.
    """
    token = _lines(path, "the file of a token")
    if not is_token(token):
        raise _other(path, "the file of a token")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise errors.ConfigError(
            f"expected the file of a token that only its owner can read, got: the mode {mode:o} - at {str(path)!r}; "
            "chmod 600 it, and make a new token if somebody may have read this one"
        )
    return token


def read_hash(path: Path) -> str:
    """Returns the hash of a token, from the file with the hash or from that with the token.

    Raises:
        ConfigError: It is not there, or has neither.
    """
    what = "the file with the hash of a token"
    text = _lines(path, what)
    if is_token(text):
        return hash_of(text)
    digest = text.split(" ")[0]
    if _DIGEST.fullmatch(digest) is None:
        raise _other(path, what)
    return z85.encode(bytes.fromhex(digest)).decode()


def _lines(path: Path, what: str) -> str:
    """Returns the text of a file without comments and the white space around it."""
    text = files.read_text(path, f"{what}, as `arena league token new` makes it", _MOST, errors.ConfigError)
    return "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip()


def _other(path: Path, what: str) -> errors.ConfigError:
    old = " (keys of ZeroMQ have gone with arena 0.3)" if path.suffix in (".key", ".pub") else ""
    return errors.ConfigError(
        f"expected {what}, got: something else{old} - at {str(path)!r}; make one: arena league token new NAME"
    )
