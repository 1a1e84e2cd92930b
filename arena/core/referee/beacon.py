"""Public beacons: a value that nobody knows before its time, and that a stranger can look up afterwards.

A tournament's settings, and so its commitment, name the one value that will be taken. `protocol/CHANCE.md` is the
authority. Only rounds of drand's quicknet are checked here, offline: a round's signature follows from its number and
the network's public key, so there is one for each round and nobody can choose it.
"""

from __future__ import annotations

import hashlib
import re
import sys
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from arena.core.errors import ConfigError
from arena.core.extras import need

QUICKNET: Final = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"
"""The hash of quicknet's parameters, by which drand names it (scheme bls-unchained-g1-rfc9380)."""
PUBLIC_KEY: Final = bytes.fromhex(
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)
"""Quicknet's: a compressed point of G2 of BLS12-381."""
GENESIS: Final = 1692803367  # when round 1 was out, in seconds since 1970
PERIOD: Final = 3  # seconds from one round to the next
SOON: Final = 600  # seconds from now to the round that an error suggests, and that a season names
MOST: Final = 200  # the most characters of a beacon's name or value
_DOMAIN: Final = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
_ROUND: Final = rf"drand {QUICKNET} round ([1-9][0-9]{{0,9}})"
_SHORT: Final = r"quicknet:([1-9][0-9]{0,9})"
_SIGNATURE: Final = r"[0-9a-f]{96}"


def named(text: str) -> str:
    """Returns how settings name the beacon that an operator named.

    Args:
        text: `quicknet:ROUND` for a round of drand's quicknet; else whatever says, in words for people, which value
            will be taken and in which form.

    Raises:
        ConfigError: It says nothing, or means quicknet and no round of it.
    """
    if short := re.fullmatch(_SHORT, text):
        return f"drand {QUICKNET} round {short[1]}"
    if round_of(text) is None and re.search(f"quicknet|drand|{QUICKNET[:8]}", text, re.IGNORECASE):
        later = soon()
        raise ConfigError(
            f"expected quicknet:ROUND, got: {text!r:.200} - at --beacon; round {later} is out in ten minutes: "
            f"--beacon quicknet:{later}"
        )
    _check_line(text, "the name of a public value and of the form in which it will be written", "--beacon")
    return text


def soon() -> int:
    """Returns the first round of quicknet that is out in ten minutes."""
    return round_at(datetime.now(UTC).timestamp() + SOON)


def round_of(beacon: str) -> int | None:
    """Returns the round of quicknet that settings name; None if they name something else."""
    found = re.fullmatch(_ROUND, beacon)
    return None if found is None else int(found[1])


def out_at(round: int) -> datetime:
    """Returns when a round of quicknet is out, in UTC."""
    return datetime.fromtimestamp(GENESIS + (round - 1) * PERIOD, UTC)


def round_at(seconds: float) -> int:
    """Returns the first round that is out at a time, in seconds since 1970, or after it."""
    return max(1, -int((GENESIS - seconds) // PERIOD) + 1)


def where(beacon: str) -> str:
    """Returns where a stranger finds the value of the beacon that settings name."""
    round = round_of(beacon)
    if round is None:
        return beacon
    return f"`signature` at https://api.drand.sh/{QUICKNET}/public/{round}"


def check_future(beacon: str) -> None:
    """Checks that the value which settings name is not out yet, as far as that can be told.

    Raises:
        ConfigError: It is out, or its value could not be checked later on this machine.
    """
    round = round_of(beacon)
    if round is None:
        return
    need("beacon", f"--beacon quicknet:{round}")
    if out_at(round) <= datetime.now(UTC):
        later = soon()
        raise ConfigError(
            f"expected a round that nobody knows yet, got: {round}, which was out at {moment(round)} - at --beacon; "
            f"round {later} is out in ten minutes: --beacon quicknet:{later}"
        )


def check_value(beacon: str, value: str, place: str = "--beacon-value") -> None:
    """Checks, as far as that can be done here, that a value is that of the beacon which settings name.

    Args:
        place: Where the value was given, for errors.

    Raises:
        ConfigError: It is not. Show the message to the operator.
    """
    round = round_of(beacon)
    if round is None:
        _check_line(value, f"the value of {beacon!r}", place)
        return
    if out_at(round) > datetime.now(UTC):
        raise ConfigError(
            f"expected the value of round {round}, got: one from before {moment(round)}, when it is out "
            f"- at {place}; give the same command again then"
        )
    need("beacon", place)
    if not is_signature(round, value):
        raise ConfigError(
            f"expected the signature of quicknet's round {round}, 96 hexadecimal digits in lower case, "
            f"got: {value!r:.120} - at {place}; {where(beacon)}"
        )


@lru_cache(maxsize=32)
def is_signature(round: int, value: str, public_key: bytes = PUBLIC_KEY) -> bool:
    """Says whether a value is the signature of a round: a point of G1 that signs the SHA-256 of the round's number.

    It takes about a second. The extra `beacon` must be installed.

    Args:
        value: The signature: 48 bytes as hexadecimal digits in lower case.
    """
    limit = sys.getrecursionlimit()
    from py_ecc.bls.g2_primitives import subgroup_check
    from py_ecc.bls.hash_to_curve import hash_to_G1
    from py_ecc.bls.point_compression import compress_G1, decompress_G1, decompress_G2
    from py_ecc.bls.typing import G1Compressed, G2Compressed
    from py_ecc.fields import optimized_bls12_381_FQ12
    from py_ecc.optimized_bls12_381.optimized_curve import G2, neg
    from py_ecc.optimized_bls12_381.optimized_pairing import final_exponentiate, pairing

    sys.setrecursionlimit(limit)  # py_ecc raises it: values that nest too deeply would overflow the stack then

    if not re.fullmatch(_SIGNATURE, value):
        return False
    number = int(value, 16)
    key = G2Compressed((int.from_bytes(public_key[:48]), int.from_bytes(public_key[48:])))
    try:
        signature = decompress_G1(G1Compressed(number))
    except ValueError:  # it is no point of the curve
        return False
    if compress_G1(signature) != number or not subgroup_check(signature):
        return False
    signed = hash_to_G1(hashlib.sha256(round.to_bytes(8)).digest(), _DOMAIN, hashlib.sha256)  # type: ignore[arg-type]
    product = pairing(decompress_G2(key), signed, final_exponentiate=False)
    product *= pairing(G2, neg(signature), final_exponentiate=False)
    return bool(final_exponentiate(product) == optimized_bls12_381_FQ12.one())


def moment(round: int) -> str:
    """Returns when a round of quicknet is out, for people."""
    return f"{out_at(round):%Y-%m-%d %H:%M:%S} UTC"


def _check_line(text: str, what: str, option: str) -> None:
    """Checks that a text is one line of plain characters.

    Raises:
        ConfigError: It is not.
    """
    if not (text.isprintable() and text == " ".join(text.split()) and 0 < len(text) <= MOST):
        raise ConfigError(
            f"expected {what}, as one line of up to {MOST} characters, with single blanks between words, "
            f"got: {text!r:.120} - at {option}"
        )
