"""Remembers the heads of a league's seasons that an author has seen: the number of lines, and the hash of the last.

`arena verify --noted` and `arena league audit` hold what the league publishes against each of them. So a league that
changes or leaves out what it has once shown is found, and one that shows two authors different histories too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from arena.core.face import errors, files
from arena.league.door.addresses import Address
from arena.league.door.client import Client
from arena.league.record import rounds
from arena.league.record.rounds import Noted


def heads_of(token: Path, league: Address) -> Path:
    """Returns the file beside a token's with the heads that its author has seen at the address of a league."""
    return token.with_suffix(f".{re.sub(r'[^A-Za-z0-9.-]+', '_', league.place).strip('_')}.heads.jsonl")


def read_heads(path: Path) -> list[Noted]:
    """Returns the heads in a file, which has one on each line, in the order in which they were seen.

    Raises:
        ConfigError: It cannot be read.
    """
    data = files.read(path, "the heads of seasons that were seen", files.MOST_DOCUMENT, errors.ConfigError)
    try:
        return rounds.heads(data)
    except (ValueError, RecursionError) as error:
        raise errors.ConfigError(
            f"expected the heads of seasons that were seen, got: {error} - at {path}; give the file that arena wrote"
        ) from None


def look_again(client: Client, path: Path, tell: Callable[[str], object]) -> None:
    """Asks for the heads of a league's seasons, and remembers those that are new.

    Args:
        client: A connection to the league.
        path: The file with those that were seen (`heads_of`).
        tell: Called with a sentence if they cannot be remembered.

    Raises:
        DoorError: The league cannot be reached, or a season has fewer lines than before, or another last one.
        ConfigError: What was seen before cannot be read.
    """
    seen = {head.tournament: head for head in (read_heads(path) if path.exists() else ())}
    fresh = b""
    for season in client.seasons():
        if not season.head or not season.head.get("lines"):
            continue
        try:
            now = msgspec.convert({"tournament": season.tournament, **season.head}, Noted)
        except msgspec.ValidationError as error:
            raise errors.DoorError(f"expected heads of seasons, got: {error}; tell the operator", "no_answer") from None
        before = seen.get(now.tournament)
        if before is not None and (now.lines < before.lines or (now.lines == before.lines and now != before)):
            raise errors.DoorError(
                f"expected season {now.tournament} as it was seen before, with {before.lines} lines and the last "
                f"{before.sha256}, got: {now.lines} lines and {now.sha256} - seen in {path}; something that was "
                "published was changed or left out: keep that file, and ask the operator what happened. To go on all "
                "the same, move it away",
                "changed",
            )
        if now != before:
            fresh += msgspec.json.encode(now) + b"\n"
    if fresh:
        try:
            files.append_lines(path, fresh)
        except OSError as error:
            tell(f"The heads of the league's seasons cannot be kept in {path}: {error.strerror}")
