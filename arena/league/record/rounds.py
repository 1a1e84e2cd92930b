"""The record of a season: what was decided, line by line, when it was decided (`protocol/LEAGUE.md`, section 7.1).

Laws:
1. A line says by `before` what the line before it was, that of the season before too. So a hash of one line, wherever
   somebody kept it, holds all lines up to it.
2. All that the standings of a season depend on is a line, or stands in the logs or in the commitment.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from arena.core.face import Payload, errors, files, log_records, record_files

PUBLISHED: Final = "published"
"""The folder of a league with all that it publishes."""
SEASONS: Final = "seasons"
"""The folder with a folder for each season."""
LOGS: Final = "logs"
"""The folder with the public logs of all seasons, beside it."""
ROUNDS: Final = "rounds"
PAGE: Final = 10_000
"""Lines in one file."""
FIRST: Final = "0" * 64
"""What the first line of a league has as `before`."""


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag=str.lower):
    number: int = 0
    """Counted from 0 in its season."""
    before: log_records.Hex = FIRST
    """SHA-256 (hex) of the line before it, without its line feed."""
    at: str = ""
    """When it was decided; UTC (ISO 8601)."""


class Opened(_Line, frozen=True):
    """The season begins: the first line."""

    tournament: str
    """The identifier of the season, with which those of its games begin."""
    season: str
    """What people call it."""
    commitment_sha256: log_records.Hex
    """SHA-256 (hex) of the commitment as canonical JSON."""
    format: int = record_files.FORMAT


class Entered(_Line, frozen=True):
    """A version comes to the season, and plays from now on."""

    name: str
    """`fox/3`."""
    digest: str
    """SHA-256 (hex) of its files, as logs have it; for a remote bot what its author's program said."""
    archive: str
    """SHA-256 (hex) of the archive in which it was submitted, likewise."""
    level: str
    """How it is confined."""
    mu: float
    """The running rating that it begins with."""
    sigma: float
    after: str | None = None
    """The version of the season whose rating that was; None if there is none."""


class Changed(_Line, frozen=True):
    """A version of the season plays no more, or plays again."""

    name: str
    state: str
    """`active`, or why not: `superseded`, `suspended` or `retired`."""
    by: str
    """Who decided it: the `author`, the `operator` or the `service`."""


class Planned(_Line, frozen=True):
    """A match is planned. Its deal has its number."""

    match: int
    """Counted from 0."""
    games: list[int]
    """The numbers of its games, by rotation."""
    seats: list[list[str]]
    """By rotation and seat the versions."""
    rated: bool
    """Whether its results count."""


class GameOver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A game of a match that is over."""

    status: Literal["done", "void"]
    ranks: list[int]
    """By seat; empty without a result."""
    play_digest: log_records.Hex | None
    log: log_records.Hex | None
    """SHA-256 (hex) of the public log, before it was compressed; None without one."""


class Over(_Line, frozen=True):
    """A match is over, and everything about it is published."""

    match: int
    secret: log_records.Hex
    """Of its deal."""
    games: list[GameOver]
    """By rotation."""
    reason: str
    """Why games of it are void, if some are."""


class Struck(_Line, frozen=True):
    """The operator took a match back: its results count no more."""

    match: int
    reason: str


class FinalBegun(_Line, frozen=True, tag="final"):
    """The final begins: every match that is planned from now on belongs to it."""

    entrants: list[str]
    """Who plays it, the best of the season first; nobody if it is not played."""
    deals: int
    """The most deals that it may take."""
    reason: str
    """Why it is not played."""


class Left(_Line, frozen=True):
    """Finalists are out of the final. Who is once out does not come back."""

    entrants: list[str]


class Decided(_Line, frozen=True):
    """The final is over."""

    outcome: Literal["settled", "not settled"]
    reason: str


class Closed(_Line, frozen=True):
    """The season is closed: the last line."""

    standings: Payload


Line: TypeAlias = Opened | Entered | Changed | Planned | Over | Struck | FinalBegun | Left | Decided | Closed
_DECODER: Final = msgspec.json.Decoder(Line)


class Noted(msgspec.Struct, frozen=True):
    """A head of a season that somebody has kept."""

    tournament: str
    lines: int
    sha256: log_records.Hex


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a season is known by at some moment."""

    lines: int
    """How many there are."""
    sha256: log_records.Hex
    """Of the last one (hex)."""


def commitment_of(
    tournament: str, opened: str, commitment: str, settings: Payload, settings_sha256: str
) -> record_files.Commitment:
    """Returns the commitment of a season: that of a tournament which has no bots and no games yet."""
    return record_files.Commitment(
        tournament=tournament, created=opened, commitment=commitment, settings_sha256=settings_sha256,
        schedule_sha256=record_files.sha256_of({}), deals=None, games=None, bots=[], seeded=False, settings=settings,
        schedule={},
    )  # fmt: skip


def renamed(standings: Payload, names: Mapping[str, str]) -> Payload:
    """Returns standings with other names of authors. The bots of these have no display name any more."""
    items = [
        {**row, "author": names[row["author"]], "display_name": ""} if row.get("author") in names else row
        for row in standings.get("items", ())
    ]
    return {**standings, "items": items}


def heads(data: bytes) -> list[Noted]:
    """Returns the heads in a file, one on each line, in the order they were seen. Raises ValueError: a line is none."""
    return [msgspec.json.decode(line, type=Noted) for line in data.splitlines()]


def encoded(line: Line) -> bytes:
    """Returns a line as canonical JSON, without a line feed."""
    return msgspec.json.encode(line, order="sorted")


def decoded(data: bytes) -> Line:
    """Returns what a line says. Raises ValueError: it is none, or not canonical."""
    line: Line = _DECODER.decode(data)
    if encoded(line) != data:
        raise ValueError("it has a key twice, a blank, or another order of its keys")
    return line


def sha256(data: bytes) -> str:
    """Returns the SHA-256 (hex) of a line, by which the next one names it."""
    return hashlib.sha256(data).hexdigest()


def page(number: int) -> str:
    """Returns the name of the file in which a line stands."""
    return f"{ROUNDS}-{number // PAGE}.jsonl"


def pages(folder: Path) -> list[Path]:
    """Returns the files with the lines of a season, in order."""
    found = {path: re.fullmatch(rf"{ROUNDS}-([0-9]{{1,9}})\.jsonl", path.name) for path in folder.iterdir()}
    return sorted((path for path in found if found[path]), key=lambda path: int(path.stem.rpartition("-")[2]))


def read(path: Path) -> list[bytes]:
    """Returns a file's lines, without line feeds. Raises LogError: it is unreadable, or its last line has no end."""
    data = files.read(path, "lines of a season", files.MOST_DOCUMENT, errors.LogError, links=False)
    if data and not data.endswith(b"\n"):
        raise errors.LogError(f"expected lines of a season, got: a file that was cut off - at {path}; fetch it again")
    return data.splitlines()


def lines(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yields the lines of a season, each with its place.

    Raises:
        LogError: A file cannot be read, is missing, or is not full though another follows.
    """
    found = pages(folder) if folder.is_dir() else []
    for number, path in enumerate(found):
        there = read(path)
        if path.name != page(number * PAGE) or (len(there) != PAGE and number + 1 < len(found)):
            raise errors.LogError(
                f"expected all lines of {page(number * PAGE)} before the next file, got: {path.name} with "
                f"{len(there)} of {PAGE} lines - at {folder}; fetch them again"
            )
        yield from ((f"{path}:{at}", line) for at, line in enumerate(there, start=1))


def of_folder(folder: Path, deals: bool) -> tuple[dict[int, bytes], Payload]:
    """Returns by deal the secrets that are published of a season (`arena.core.plugs.revealed`)."""
    found: dict[int, bytes] = {}
    for at, data in lines(folder) if deals else ():
        try:
            record_files.check_form(data, at)
            line = decoded(data)
        except (ValueError, RecursionError) as error:
            raise errors.LogError(f"expected a line of a season, got: {error} - at {at}; fetch it again") from None
        if isinstance(line, Over):
            found[line.match] = bytes.fromhex(line.secret)
    return found, {}
