"""Remembers the head of each league's ledger that an author has seen, and demands that the next one goes on from it.

So a league that changes or leaves out what it has once shown is found by whoever looks again. Two authors who compare
their files find a league that shows each of them another history.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.core.face import errors, files
from arena.league.door.client import Client
from arena.league.door.keys import Address
from arena.league.record import merkle
from arena.league.record.ledger import Head

SUFFIX: Final = ".heads.json"
"""What the name of the file ends with, in place of the key file's ending."""


def heads_of(key: Path) -> Path:
    """Returns the file beside a key file with the heads that its author has seen."""
    return key.with_suffix(SUFFIX)


def read_heads(path: Path) -> dict[str, Head]:
    """Returns the heads in a file, by the public key (hex) of the league's door; of a `head.json` by nothing.

    Raises:
        ConfigError: The file cannot be read.
    """
    data = files.read(path, "the heads of ledgers that were seen", files.MIB, errors.ConfigError)
    try:
        found = msgspec.json.decode(data, type=dict[str, Any])
        return msgspec.convert({"": found} if "root" in found else found, dict[str, Head])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise errors.ConfigError(
            f"expected the heads of ledgers that were seen, got: {error} - at {path}; give the file that arena wrote"
        ) from None


def look_again(client: Client, league: Address, key: Path, tell: Callable[[str], object]) -> Head:
    """Asks for the head of a league's ledger, and remembers it if it goes on from the one that was seen last.

    Args:
        tell: Called with a sentence if the head cannot be remembered.

    Returns:
        The head.

    Raises:
        DoorError: The league cannot be reached, or its ledger does not go on from the one that was seen last.
        ConfigError: What was seen last cannot be read.
    """
    path = heads_of(key)
    heads = read_heads(path) if path.exists() else {}
    name = str(league).rpartition("/")[2]
    before = heads.get(name)
    answer = client.ledger(before.size if before else 0)
    now = Head(answer.size, answer.root)
    if before is not None and not goes_on(before, now, answer.proof):
        raise errors.DoorError(
            f"expected a ledger that goes on from the one that was seen before, of {before.size} games with the root "
            f"{before.root}, got: one of {now.size} games that does not - seen in {path}; something that was published "
            "was changed or left out: keep that file, and ask the operator what happened. To go on all the same, move "
            "it away",
            "changed",
        )
    if now != before:
        try:
            files.write(path, msgspec.json.format(msgspec.json.encode(heads | {name: now}), indent=1) + b"\n")
        except OSError as error:
            tell(f"The head of the league's ledger cannot be kept in {path}: {error.strerror}")
    return now


def goes_on(before: Head, now: Head, proof: tuple[str, ...]) -> bool:
    """Says whether a proof of consistency shows that a ledger goes on from an earlier head."""
    hashes = [bytes.fromhex(each) for each in proof]
    return merkle.is_consistent(before.size, bytes.fromhex(before.root), now.size, bytes.fromhex(now.root), hashes)
