"""Draws every chance outcome of a game from one secret per deal, so that anyone can check the draws afterwards.

`protocol/CHANCE.md` is the authority; `protocol/vectors/chance.json` are its test vectors. In short::

    T                      the tournament's secret: 32 random bytes, or scrypt of a seed, salted in a sandbox
    mix                    SHA-256 over a public beacon's value and what the bots contributed
    deal secret            D = HMAC-SHA-256(T, "arena/2/deal/{number}/" + mix)
    commitments            SHA-256(T) before the tournament; SHA-256(D) in the log; SHA-256(salt + D) to bots
    draw from a stream     an unbiased integer from HMAC-SHA-256(D, "arena/2/draw/{stream}/{i}/{attempt}")
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from arena.core.errors import ConfigError, MachineFault
from arena.core.record.published import CHANCE, Contributions
from arena.core.types import Seat

VERSION: Final = CHANCE  # of `protocol/CHANCE.md`: a tournament's settings name it
SECRET_BYTES: Final = 32
_SCRYPT_N: Final = 2**16
_SCRYPT_MEMORY: Final = 2**27  # what OpenSSL may use: a little more than the 64 MiB that these parameters need


def new_secret() -> bytes:
    """Returns a new secret of a tournament, from the system's randomness."""
    return secrets.token_bytes(SECRET_BYTES)


@lru_cache(maxsize=8)
def seed_bytes(seed: str) -> bytes:
    """Returns a seed in UTF-8.

    Raises:
        ConfigError: It is no text.
    """
    try:
        return seed.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"expected a seed in UTF-8, got: {seed!a:.80}; give another") from None


@lru_cache(maxsize=8)  # many tournaments of a seed are verified one after another
def seed_secret(seed: str, settings: str = "") -> bytes:
    """Returns the tournament's secret for a seed. It takes a fraction of a second, to make guessing seeds slow.

    Anyone who knows the seed knows every draw.

    Args:
        settings: If bots run in sandboxes, the SHA-256 (hex) of the tournament's settings. They have the digest of
            every bot, so that no bot can bring a table of the secrets of likely seeds: the table would be in its own
            digest. Trusted bots can read the secret itself; there the same seed gives the same deals to any bots.

    Raises:
        ConfigError: It is no text.
        MachineFault: There is too little memory for it.
    """
    salt = f"arena/3/seed/{settings}" if settings else "arena/2/seed"
    text = seed_bytes(seed)
    try:
        return hashlib.scrypt(
            text, salt=salt.encode(), n=_SCRYPT_N, r=8, p=1, maxmem=_SCRYPT_MEMORY, dklen=SECRET_BYTES
        )
    except ValueError as error:  # all other values are ours
        raise MachineFault(
            f"expected {_SCRYPT_MEMORY >> 20} MiB of memory for the seed, got: {error}; close other programs"
        ) from error


def commitment(secret: bytes) -> str:
    """Returns what is published before: the SHA-256 (hex) of a tournament's or deal's secret."""
    return hashlib.sha256(secret).hexdigest()


def mix(beacon: str = "", contributions: Iterable[bytes] = ()) -> bytes:
    """Returns what others than the organiser put into chance, as 32 bytes.

    Args:
        beacon: The value of a public beacon; empty if none is used.
        contributions: 32 bytes from each entrant that contributed, in the order of entrants.
    """
    parts = [b"arena/2/mix/", hashlib.sha256(beacon.encode()).digest(), *contributions]
    return hashlib.sha256(b"".join(parts)).digest()


def contributions_of(tournament: str, beacon: str, entropy: Sequence[str | None]) -> Contributions:
    """Returns what is published of them; `entropy` is what each entrant contributed (hex)."""
    mixed = mix(beacon, [bytes.fromhex(given) for given in entropy if given])
    return Contributions(tournament=tournament, beacon=beacon, entropy=list(entropy), mix=mixed.hex())


NO_MIX: Final = mix()  # nobody but the organiser put anything into chance


def deal_secret(tournament_secret: bytes, deal: int, mixed: bytes = NO_MIX) -> bytes:
    """Returns the secret of a deal, counted from 0."""
    return hmac.digest(tournament_secret, f"arena/2/deal/{deal}/".encode() + mixed, "sha256")


def game_salt(tournament_secret: bytes, game: str) -> bytes:
    """Returns 32 bytes that hide from the bots of a game whether they have met its deal before."""
    return _hmac(tournament_secret, f"arena/2/salt/{game}")


def told_commitment(salt: bytes, deal: bytes) -> str:
    """Returns the commitment to a deal's secret that the bots of one game are told: no two games have the same."""
    return hashlib.sha256(salt + deal).hexdigest()


def bot_seed(tournament_secret: bytes, game: str, tournament: str | None, mixed: bytes, seat: Seat) -> int:
    """Returns a 53-bit number for a bot's own randomness. No game of a tournament has that of another.

    Args:
        tournament: The tournament's, with which it begins; None for a game of no tournament.
        mixed: What others than the organiser put into chance.
    """
    number = "" if tournament is None else game.removeprefix(f"{tournament}-")
    key = hmac.digest(tournament_secret, f"arena/3/bot-seeds/{number}/".encode() + mixed, "sha256")
    return int.from_bytes(_hmac(key, f"arena/3/seat/{seat}")[:8]) >> 11


class Deal:
    """The draws of one game on one deal, stream by stream."""

    def __init__(self, secret: bytes) -> None:
        # HMAC by its definition (RFC 2104), from copies of two hashes that have the key: a third of the time of `hmac`.
        key = (secret if len(secret) <= 64 else hashlib.sha256(secret).digest()).ljust(64, b"\0")
        self._inner, self._outer = (hashlib.sha256(bytes(byte ^ pad for byte in key)) for pad in (0x36, 0x5C))
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
            inner, outer = self._inner.copy(), self._outer.copy()
            inner.update(f"arena/2/draw/{stream}/{number}/{attempt}".encode())
            outer.update(inner.digest())
            value = int.from_bytes(outer.digest()[:8])
            if value < fair:
                return value % n
            attempt += 1


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
