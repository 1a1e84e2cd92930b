"""The keys of authors and of a league's door, and the address of a league.

A key file is TOML with two CURVE keys of ZeroMQ, in its own form (Z85, 40 characters):

    public = "…"
    secret = "…"

It can be read by its owner only. The file for the league's operator has the public key alone. The address of a league
names its key too, in hexadecimal digits, so that nobody else can answer in its place: `tcp://HOST:PORT/KEY`.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec
import zmq
from msgspec import Meta
from zmq.utils import z85

from arena.core.face import errors, files, toml

_Z85: Final = r"^[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}\Z"
_MOST: Final = 4_096
"""Bytes of a key file."""
_ADDRESS: Final = re.compile(r"(tcp://[^/\s]{1,255}:[0-9]{1,5})/([0-9a-f]{64})\Z")

_PAIR_TEXT: Final = """\
# The key of {whom}. Whoever has this file is {whom}: keep it to yourself.
public = "{public}"
secret = "{secret}"
"""
_PUBLIC_TEXT: Final = """\
# The public key of {whom}.
public = "{public}"
"""


class Pair(msgspec.Struct, frozen=True):
    """A public key with its secret one."""

    public: Annotated[str, Meta(pattern=_Z85)]
    """The public key, Z85."""
    secret: Annotated[str, Meta(pattern=_Z85)]
    """The secret key, Z85."""


class _Public(msgspec.Struct, frozen=True):
    public: Annotated[str, Meta(pattern=_Z85)]


class Address(msgspec.Struct, frozen=True):
    """Where a league's door is, and which key it has."""

    endpoint: str
    """As ZeroMQ has it: `tcp://HOST:PORT`."""
    key: str
    """The door's public key, Z85."""

    def __str__(self) -> str:
        return f"{self.endpoint}/{z85.decode(self.key).hex()}"


_Kind = TypeVar("_Kind", Pair, _Public)


def make_pair() -> Pair:
    """Returns a new pair of keys."""
    public, secret = zmq.curve_keypair()
    return Pair(public.decode(), secret.decode())


def write_pair(path: Path, pair: Pair, whom: str) -> None:
    """Writes a key file that only this user can read. A file of that name is not replaced.

    Args:
        pair: The keys.
        whom: Whose they are, for people: an author's name.

    Raises:
        ConfigError: There is a file of that name already.
        OSError: It cannot be written.
    """
    if os.path.lexists(path):
        raise errors.ConfigError(
            f"expected a new name for a key file, got: one that is there - at {str(path)!r}; "
            "give another name, or remove the old key if nobody needs it"
        )
    text = _PAIR_TEXT.format(whom=whom, public=pair.public, secret=pair.secret)
    files.write(path, text.encode(), durably=True, mode=0o600)


def write_public(path: Path, public: str, whom: str) -> None:
    """Writes the file with the public key, which is no secret."""
    files.write(path, _PUBLIC_TEXT.format(whom=whom, public=public).encode())


def read_pair(path: Path) -> Pair:
    """Reads a key file.

    Raises:
        ConfigError: It is not there, is no key file, or others can read it. Show the message to the user.
    """
    pair = _read(path, "a key file, as `arena league key new` makes it", Pair)
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise errors.ConfigError(
            f"expected a key file that only its owner can read, got: the mode {mode:o} - at {str(path)!r}; "
            f"chmod 600 it, and make a new key if somebody may have read this one"
        )
    return pair


def read_public(path: Path) -> str:
    """Returns the public key of a file that has one, with or without its secret key.

    Raises:
        ConfigError: It is not there, or has none.
    """
    return _read(path, "the file of a public key, as `arena league key new` makes it", _Public).public


def is_key(text: str) -> bool:
    """Tells whether a text has the form of a key."""
    return re.search(_Z85, text) is not None


def address(text: str) -> Address:
    """Reads the address of a league.

    Raises:
        ConfigError: It is none. Show the message to the user.
    """
    found = _ADDRESS.match(text)
    if found is None:
        raise errors.ConfigError(
            f"expected the address of a league, tcp://HOST:PORT/KEY with 64 hexadecimal digits, got: {text[:200]!r}; "
            "its operator has it from `arena league open`"
        )
    return Address(found[1], z85.encode(bytes.fromhex(found[2])).decode())


def _read(path: Path, what: str, kind: type[_Kind]) -> _Kind:
    text = files.read_text(path, what, _MOST, errors.ConfigError)
    try:
        return msgspec.convert(toml.table_of(text), kind)
    except (ValueError, msgspec.ValidationError) as error:
        raise errors.ConfigError(f"expected {what}, got: {error} - at {str(path)!r}; give the right file") from None
