"""Reads and writes what is published beside a tournament's logs: commitment, contributions, secret, corrections.

`protocol/LOG.md` says what the files hold, and `protocol/CHANCE.md` when each is written. A match has them too.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from arena.core import files
from arena.core.errors import LaterVersion, LogError
from arena.core.record.log import Hex
from arena.core.types import BotIdentity, Payload

COMMITMENT_FILE: Final = "commitment.json"
CONTRIBUTIONS_FILE: Final = "contributions.json"
SECRET_FILE: Final = "secret.json"
CORRECTIONS_FILE: Final = "corrections.json"
FORMAT: Final = 1
"""The version of the form of all documents that are published, of tournaments and of leagues, of lines in them, and of
receipts that are kept. Lines from before have none, and the same form."""
CHANCE: Final = 3  # the version of `protocol/CHANCE.md` by which new tournaments are played: their settings name it

T = TypeVar("T")


class CommittedBot(BotIdentity, frozen=True, forbid_unknown_fields=True):
    """An entrant."""


class Commitment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is fixed before the first game."""

    tournament: str
    created: str
    commitment: str
    settings_sha256: str
    schedule_sha256: str
    deals: int | None
    games: int | None
    bots: list[CommittedBot]
    seeded: bool
    settings: Payload
    schedule: Payload
    format: int = FORMAT


class Contributions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What others than the organiser put into chance, before the first game."""

    tournament: str
    beacon: str
    entropy: list[Hex | None]
    mix: Hex
    format: int = FORMAT


class Secret(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is revealed after the last game."""

    tournament: str
    secret: Hex
    commitment: str
    format: int = FORMAT


class Correction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A decision of the organiser about the result of one game, after the tournament."""

    game: int
    """Its number in the schedule."""
    counts: bool
    """Whether the result counts from then on."""
    reason: str
    by: str
    at: str
    """When, in UTC (ISO 8601)."""


class Corrections(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that the organiser decided about results after the tournament, in order. The last word on a game holds."""

    tournament: str
    corrections: list[Correction]
    format: int = FORMAT

    def struck(self) -> dict[int, str]:
        """Returns by number the games that do not count: by whom, when and why, as JSON."""
        last = {one.game: one for one in self.corrections}
        return {
            number: msgspec.json.encode({"at": one.at, "by": one.by, "reason": one.reason}).decode()
            for number, one in sorted(last.items())
            if not one.counts
        }


class _Form(msgspec.Struct):
    format: int = 0


def check_form(line: bytes, place: object) -> None:
    """Checks that a line, or a document, is of no later form than this version knows.

    Raises:
        LaterVersion: It is.
        msgspec.DecodeError: It is no JSON object, or its `format` no number.
    """
    if (form := msgspec.json.decode(line, type=_Form).format) > FORMAT:
        raise LaterVersion(f"with format {form}, where this one knows up to {FORMAT}", place)


def sha256_of(document: object) -> str:
    """Returns the SHA-256 (hex) of a document as canonical JSON: keys sorted, no blanks, UTF-8."""
    return hashlib.sha256(msgspec.json.encode(document, order="sorted")).hexdigest()


def publish(folder: Path, file: str, document: msgspec.Struct) -> None:
    """Writes a document durably into a folder. It may be called again.

    Raises:
        OSError: It could not be written.
    """
    data = msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
    files.write(folder / file, data, durably=True)


def published(folder: Path, file: str, kind: type[T]) -> T | None:
    """Returns what was published in a folder, or None if it was not.

    Raises:
        LogError: The file is there and cannot be used: it is a link, say, or has a key twice, or an unknown one.
    """
    path = folder / file
    if not os.path.lexists(path):
        return None
    try:
        return msgspec.json.decode(_present(*_read(path), path), type=kind)
    except (ValueError, RecursionError) as error:
        raise LogError(f"expected a {file}, got: {error} - at {path}; publish it again") from None


def _read(path: Path) -> tuple[Any, bytes]:
    data = files.read(path, f"a {path.name}", files.MOST_DOCUMENT, LogError, links=False)
    return json.loads(data, object_pairs_hook=_once), data


def _present(document: Any, data: bytes, path: Path) -> bytes:
    """Returns a document in the form of this version.

    Raises:
        LaterVersion: It is of a later one.
    """
    if not isinstance(document, dict):
        return data
    settings = document.get("settings")
    for what, got, known in (
        ("format", document.get("format", 0), FORMAT),
        ("chance", settings.get("chance") if isinstance(settings, dict) else None, CHANCE),
    ):
        if type(got) is int and got > known:
            raise LaterVersion(f"with {what} {got}, where this one knows up to {known}", path)
    form = document.get("format", 0)
    if type(form) is int and form < FORMAT:
        from arena.core.record import old

        for make in (make for format, make in old.FORMS.items() if format >= form):
            document = make(document)
        data = msgspec.json.encode(document)
    return data


def changed_since(noted: Path, path: Path) -> Iterator[str]:
    """Yields what a document says otherwise than a copy of it that was kept from before, whatever version wrote them.

    Raises:
        LogError: One of them cannot be read.
    """
    was, now = (_keys(file) if os.path.lexists(file) else {} for file in (noted, path))
    for name in was | now:
        expected, got = was.get(name), now.get(name)
        if sha256_of(expected) != sha256_of(got):
            yield f"expected the {name} of {noted}, {expected!s:.80}, got: {got!s:.80}"


def _keys(path: Path) -> dict[str, Any]:
    try:
        return {**_read(path)[0]}
    except TypeError as error:
        raise LogError(f"expected a {path.name} with keys, got: {error} - at {path}") from None
    except (ValueError, RecursionError) as error:  # it says itself why this is no JSON
        raise LogError(f"expected a {path.name}, got: {error} - at {path}") from None


def is_date(told: object) -> bool:
    """Says whether it is a time in UTC (ISO 8601)."""
    try:
        return datetime.fromisoformat(str(told)).utcoffset() == timedelta(0)
    except ValueError:
        return False


def strange_in(told: Any, known: Any, place: str) -> Iterator[str]:
    """Yields where a document has something that the known one has not."""
    if isinstance(told, dict) and isinstance(known, dict):
        for key, value in told.items():
            if key in known:
                yield from strange_in(value, known[key], f"{place}.{key:.80}")
            else:
                yield f"{place}.{key:.80}"
    elif isinstance(told, list) and isinstance(known, list) and len(told) == len(known):
        for number, (value, other) in enumerate(zip(told, known, strict=True)):
            yield from strange_in(value, other, f"{place}[{number}]")
    elif told != known or isinstance(told, bool) != isinstance(known, bool):  # True is 1
        yield place


def _once(pairs: list[tuple[str, Any]]) -> Payload:
    """Returns the map of these keys and values.

    Raises:
        ValueError: A key comes twice, so that two readers may read different values.
    """
    found: Payload = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r:.80} twice")
        found[key] = value
    return found
