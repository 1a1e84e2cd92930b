"""What a league publishes of a season, as files: their shapes, and how they are read (`protocol/LEAGUE.md`, 7.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import msgspec

from arena.core.face import Payload, errors, files, log_records, record_files

PUBLISHED: Final = "published"
"""The folder of a league with all that it publishes."""
SEASONS: Final = "seasons"
"""The folder with a folder for each season."""
LOGS: Final = "logs"
"""The folder with the public logs of all seasons, beside it."""
SEASON_FILE: Final = "season.json"
STANDINGS_FILE: Final = "standings.json"
DEALS: Final = "deals"
RESULTS: Final = "results"
MATCHES: Final = 2_000
"""Of how many matches the deals stand in one file."""
GAMES: Final = 20_000
"""Of how many games the results stand in one file."""


class SeasonOpened(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`season.json`: what is fixed before the first game."""

    tournament: str
    """The identifier of the season, with which those of its games begin."""
    season: str
    """What people call it."""
    opened: str
    """When; UTC (ISO 8601)."""
    commitment: log_records.Hex
    """SHA-256 (hex) of the secret."""
    digest_before: str
    """The digest of the season before; empty for the first."""
    settings_sha256: log_records.Hex
    settings: Payload
    """What every rating of the season depends on; `games` has what is played by each number of players."""
    format: int = record_files.FORMAT


class SeasonEntrant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A version of the season."""

    name: str
    """`fox/3`."""
    digest: str
    """SHA-256 (hex) of its archive; for a remote bot what its author's program said."""
    level: str
    mu: float
    """The running rating that it began with."""
    sigma: float
    after: str | None = None
    """The version of the season whose rating that was; None if there is none."""


class SeasonClosed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`standings.json`: how the season ended."""

    tournament: str
    closed: str
    """When; UTC (ISO 8601)."""
    digest: log_records.Hex
    """SHA-256 (hex) over the digest of the season before, and the lines of all results."""
    entrants: list[SeasonEntrant]
    """In the order in which they came to it."""
    standings: Payload
    """The final standings."""
    format: int = record_files.FORMAT


class DealRevealed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A line of `deals-N.jsonl`: a match that is over."""

    tournament: str
    match: int
    """Its number, counted from 0."""
    deal: int
    secret: log_records.Hex
    """Of the deal."""
    commitment: log_records.Hex
    """SHA-256 (hex) of it."""
    games: list[int]
    """The numbers of its games, by rotation."""
    logs: dict[str, log_records.Hex]
    """By game that has a public log the log's SHA-256 (hex), before it was compressed."""
    format: int = 0
    """0 in lines of earlier versions of arena, which must stay as they are."""


class Result(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of `results-N.jsonl`."""

    number: int
    status: Literal["done", "void"]
    counts: bool
    entrants: list[str]
    """By seat."""
    ranks: list[int]
    play_digest: log_records.Hex | None


class FinalResult(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The last line, of a season with a final."""

    final: int
    """Its first game."""
    entrants: list[str]
    left: list[str]
    deals: int
    outcome: str


def page(kind: str, number: int) -> str:
    """Returns the name of a file of `DEALS`, with a match's number, or of `RESULTS`, with a game's."""
    return f"{kind}-{number // (MATCHES if kind == DEALS else GAMES)}.jsonl"


def pages(folder: Path, kind: str) -> list[Path]:
    """Returns the files of a kind in a folder, in order."""
    found = {path: re.fullmatch(rf"{kind}-([0-9]{{1,9}})\.jsonl", path.name) for path in folder.iterdir()}
    return sorted((path for path in found if found[path]), key=lambda path: int(path.stem.rpartition("-")[2]))


def read_lines(path: Path, what: str) -> Iterator[bytes]:
    """Yields the lines of a file of `pages`.

    Raises:
        LogError: It cannot be read, or does not end with a line's end.
    """
    data = files.read(path, what, files.MOST_DOCUMENT, errors.LogError, links=False)
    if data and not data.endswith(b"\n"):
        raise errors.LogError(f"expected {what}, got: a file that was cut off - at {path}; fetch it again")
    yield from data.splitlines(keepends=True)


def revealed(folder: Path) -> dict[int, bytes]:
    """Returns by deal the secrets that are published of a season.

    Raises:
        LogError: A file cannot be read.
    """
    try:
        found = []
        for path in pages(folder, DEALS):
            for line in read_lines(path, "deals of a season"):
                record_files.check_form(line, path)
                found.append(msgspec.json.decode(line, type=DealRevealed))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise errors.LogError(f"expected the deals of a season, got: {error} - at {folder}; fetch them again") from None
    return {one.deal: bytes.fromhex(one.secret) for one in found}


def of_folder(folder: Path, deals: bool) -> tuple[dict[int, bytes], Payload]:
    """Returns what is published of a season that verifies its logs (`arena.core.plugs.revealed`)."""
    season = record_files.published(folder, SEASON_FILE, SeasonOpened)
    return revealed(folder) if deals else {}, {} if season is None else season.settings
