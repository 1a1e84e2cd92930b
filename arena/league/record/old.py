"""Reads seasons of arena 0.2 (`season.json`, `deals-N.jsonl`, `results-N.jsonl`, `standings.json`) as lines of today.

Never change what is made of them: `docs/durability.md` promises that they can be checked for ever.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeVar

import msgspec

from arena.core.face import Payload, errors, log_records, record_files
from arena.league.record import rounds

SEASON_FILE: Final = "season.json"
STANDINGS_FILE: Final = "standings.json"
DEALS: Final = "deals"
RESULTS: Final = "results"

T = TypeVar("T", bound=msgspec.Struct)


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
    format: int = record_files.FORMAT


class DealRevealed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


class OldResult(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    outcome: Literal["settled", "not settled", "not played"]


def opened_in(folder: Path) -> SeasonOpened | None:
    """Returns what was fixed before a season's first game; None for one of today. Raises LogError: it is unreadable."""
    return record_files.published(folder, SEASON_FILE, SeasonOpened)


def commitment_of(opened: SeasonOpened) -> record_files.Commitment:
    """Returns the commitment of a season."""
    return rounds.commitment_of(
        opened.tournament, opened.opened, opened.commitment, opened.settings, opened.settings_sha256
    )


def in_turn(
    entrants: Sequence[rounds.Entered], told: Sequence[rounds.Line], left: Collection[str], states: Mapping[str, str]
) -> Iterator[rounds.Line]:
    """Yields lines about matches and a final, and between them when versions must have come, gone and come back.

    Nobody noted when that was: each comes as late, and leaves as late, as the matches allow.

    Args:
        entrants: The versions, in the order in which they came.
        told: The lines about matches and the final.
        left: Finalists who are out of it.
        states: By name the state at the end of each version that does not play then.
    """
    waiting, playing = list(entrants), dict[str, str]()
    seats: dict[int, Sequence[str]] = {}
    last: dict[str, int] = {}
    """By finalist who is out of it the place of the last line about them."""
    for place, line in enumerate(told):
        if isinstance(line, rounds.Planned):
            seats[line.match] = line.seats[0]
        if isinstance(line, rounds.FinalBegun | rounds.Planned | rounds.Over):
            names = line.entrants if isinstance(line, rounds.FinalBegun) else seats[line.match]
            last |= {name: place for name in names if name in left}

    def needs(names: Iterable[str]) -> Iterator[rounds.Line]:
        for name in names:
            while any(one.name == name for one in waiting):
                yield from _plays(waiting[0].name, playing)
                yield waiting.pop(0)
            if playing[name.partition("/")[0]] != name:
                yield from _plays(name, playing)
                yield rounds.Changed(name=name, state="active", by="service")

    for place, line in enumerate(told):
        if isinstance(line, rounds.Planned):
            yield from needs(line.seats[0])
        elif isinstance(line, rounds.FinalBegun):
            yield from needs(line.entrants)
        yield line
        if gone := [name for name, at in last.items() if at == place]:
            yield rounds.Left(entrants=gone)
    yield from needs([one.name for one in waiting])
    yield from needs([one.name for one in entrants if one.name not in states])
    for name, state in states.items():
        if name in playing.values():
            yield rounds.Changed(name=name, state=state, by="service")


def _plays(name: str, playing: dict[str, str]) -> Iterator[rounds.Line]:
    """Yields that the version of a bot that played so far plays no more, and notes in `playing` that another does."""
    if (before := playing.get(bot := name.partition("/")[0])) is not None:
        yield rounds.Changed(name=before, state="superseded", by="service")
    playing[bot] = name


def of_folder(folder: Path, deals: bool) -> tuple[dict[int, bytes], Payload]:
    """Returns by deal the secrets that are published of a season, and its settings (`arena.core.plugs.revealed`)."""
    opened = opened_in(folder)
    revealed, _ = rounds.of_folder(folder, deals)
    if deals:
        revealed |= {one.deal: bytes.fromhex(one.secret) for one in deals_in(folder)}
    return revealed, {} if opened is None else opened.settings


def deals_in(folder: Path) -> Iterator[DealRevealed]:
    """Yields the lines of `deals-N.jsonl`. Raises LogError: they cannot be read."""
    for at, line in lines_of(folder, DEALS):
        yield decoded(line, at, DealRevealed)


def lines_of(folder: Path, kind: str) -> Iterator[tuple[str, bytes]]:
    """Yields the lines of the files of a kind, without line feeds, each with its place.

    Raises:
        LogError: They cannot be read.
    """
    names = (re.fullmatch(rf"{kind}-([0-9]{{1,9}})\.jsonl", path.name) for path in folder.iterdir())
    for name in sorted((name for name in names if name), key=lambda name: int(name[1])):
        for number, line in enumerate(rounds.read(folder / name[0]), start=1):
            yield f"{folder / name[0]}:{number}", line


def decoded(line: bytes, at: str, kind: type[T]) -> T:
    """Returns what a line says. Raises LogError: it is none, not canonical, or of a later version."""
    try:
        record_files.check_form(line, at)
        found = msgspec.json.decode(line, type=kind)
        if msgspec.json.encode(found, order=None if kind is DealRevealed else "sorted") != line:
            raise ValueError("it has a key twice, a blank, or another order of its keys")
    except (ValueError, RecursionError) as error:
        raise errors.LogError(f"expected a line of a season of arena 0.2, got: {error} - at {at}") from None
    return found
