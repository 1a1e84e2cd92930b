"""Draws chance that anyone can check: every draw is derived from a secret that was committed to before the game.

`protocol/CHANCE.md` is the authority; `protocol/vectors/chance.json` are its test vectors. In short::

    tournament secret T   32 bytes, from the system or from a seed
    deal secret D_k       HMAC-SHA-256(T, "arena/1/deal/k")
    draw                  HMAC-SHA-256(D_k, "arena/1/draw/STREAM/i/attempt"), first 8 bytes, by rejection
    bot seed              under another key, so that it tells nothing about the draws
    tie of a race         one of all orders of the tied seats, from the stream `race`
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from arena.types import Seat

SECRET_BYTES = 32


def new_secret() -> bytes:
    """Returns a new secret of a tournament, from the system's randomness."""
    return secrets.token_bytes(SECRET_BYTES)


def seed_secret(seed: str) -> bytes:
    """Returns the tournament's secret for a seed. Anyone who knows the seed knows every draw."""
    return hashlib.sha256(f"arena/1/seed/{seed}".encode()).digest()


def commitment(secret: bytes) -> str:
    """Returns what is published before the game: the secret's SHA-256 (hex)."""
    return hashlib.sha256(secret).hexdigest()


def deal_secret(tournament_secret: bytes, deal: int) -> bytes:
    """Returns the secret of a deal, counted from 0."""
    return _hmac(tournament_secret, f"arena/1/deal/{deal}")


def bot_seed(tournament_secret: bytes, deal: int, seat: Seat) -> int:
    """Returns a 53-bit number for a bot's own randomness."""
    key = _hmac(tournament_secret, f"arena/1/bot-seeds/{deal}")
    return int.from_bytes(_hmac(key, f"arena/1/seat/{seat}")[:8]) >> 11


class Deal:
    """The draws of one game on one deal, stream by stream."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._drawn: dict[str, int] = {}

    def draw(self, stream: str, n: int) -> int:
        """Makes the stream's next draw. Returns one of 0 to n - 1, each equally likely."""
        number = self._drawn.get(stream, 0)
        self._drawn[stream] = number + 1
        if n == 1:
            return 0
        fair = 2**64 - 2**64 % n
        attempt = 0
        while True:
            digest = _hmac(self._secret, f"arena/1/draw/{stream}/{number}/{attempt}")
            value = int.from_bytes(digest[:8])
            if value < fair:
                return value % n
            attempt += 1


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
