"""Answers libzmq's question whether a peer may connect (ZAP, RFC 27). No sockets.

Only CURVE is let in, and only keys that the league knows. The user id that libzmq then puts on each message is the
public key, not the author's name: a key may be revoked while it is connected, so each message asks again whose it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from zmq.utils import z85

ENDPOINT: Final = "inproc://zeromq.zap.01"
"""Where libzmq looks for who answers."""
DOMAIN: Final = "arena-league"
"""The name of our socket in questions."""
USER: Final = 4
"""The frame of an answer with the user id; it is empty if the peer is not let in."""

_VERSION: Final = b"1.0"
_LEAST: Final = 7
"""Frames of a question before the credentials, and one of them."""


def answer(question: Sequence[bytes], knows: Callable[[str], bool], may_come: Callable[[str], bool]) -> list[bytes]:
    """Returns the answer to a question of libzmq.

    Args:
        question: Version, number, domain, address, routing id, mechanism, credentials.
        knows: Whether the league knows a public key.
        may_come: Whether that key may connect again now. It is asked of known keys only.
    """
    number = question[1] if len(question) > 1 else b""
    if len(question) != _LEAST or question[0] != _VERSION:
        return _reply(number, b"500", b"not a question of ZAP 1.0")
    domain, mechanism, credentials = question[2], question[5], question[6]
    if domain != DOMAIN.encode() or mechanism != b"CURVE" or len(credentials) != 32:
        return _reply(number, b"400", b"no CURVE key")
    key = z85.encode(credentials).decode()
    if not knows(key):
        return _reply(number, b"400", b"unknown key")
    if not may_come(key):
        return _reply(number, b"300", b"too many connections")
    return _reply(number, b"200", b"OK", key.encode())


def _reply(number: bytes, status: bytes, text: bytes, user: bytes = b"") -> list[bytes]:
    return [_VERSION, number, status, text, user, b""]
