"""Writes what is published of a season, in `published/seasons/TOURNAMENT/`; `protocol/LEAGUE.md` describes the files.

    season.json          before the first game: the settings, and the commitment to the season's secret
    deals-N.jsonl        a line for each match that is over: its deal's secret, its games, and their public logs
    results-N.jsonl      once the season is closed: a line for each game, what the season's digest is over
    standings.json       once it is closed: the digest, the versions, and the final standings
    secret.json          last: the secret, from which every deal's secret follows

Laws:
1. All of it follows from the database, and from `deals.jsonl` beside the original logs. So it can be written again.
2. The secret is written last. A season with it has everything else.
3. No file has more bytes than the door reads: long lists are split by the numbers of matches and games.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import errors, files, game_rows, record_files
from arena.league.folder import Folder
from arena.league.record.season import (
    DEALS,
    GAMES,
    RESULTS,
    SEASON_FILE,
    SEASONS,
    STANDINGS_FILE,
    DealRevealed,
    SeasonClosed,
    SeasonEntrant,
    SeasonOpened,
    page,
    pages,
)
from arena.league.store import LeagueReader
from arena.league.store.records import Match, Season

MOST_DEALS: Final = 2**42
"""Bytes of all lines about deals; more than any season has."""
ORIGINAL: Final = "deals.jsonl"
"""All lines about deals, beside the original logs."""


class _Numbered(msgspec.Struct):
    """What has to be known of a line about a match."""

    match: int


def folder_of(folder: Folder, tournament: str) -> Path:
    """Returns where the files of a season are published."""
    return folder.published / SEASONS / tournament


def write_opened(folder: Folder, name: str, opened: str, tournament: game_rows.Tournament, digest_before: str) -> None:
    """Writes what is fixed before the first game of a season.

    Raises:
        OSError: It cannot be written.
    """
    document = SeasonOpened(
        tournament=tournament.id,
        season=name,
        opened=opened,
        commitment=tournament.commitment,
        digest_before=digest_before,
        settings_sha256=record_files.sha256_of(tournament.settings),
        settings=msgspec.json.decode(game_rows.canonical(tournament.settings)),  # as the database has them
    )
    place = folder_of(folder, tournament.id)
    place.mkdir(parents=True, exist_ok=True)
    record_files.publish(place, SEASON_FILE, document)


def add_deals(folder: Folder, original: Path, lines: Iterable[DealRevealed]) -> None:
    """Adds lines about matches that are over. After a kill a line may come twice.

    Args:
        folder: The league's.
        original: The folder of the season's original logs.
        lines: Of one season.

    Raises:
        OSError: Something cannot be written.
    """
    by_file: defaultdict[Path, bytes] = defaultdict(bytes)
    for line in lines:
        data = msgspec.json.encode(line) + b"\n"
        by_file[original / ORIGINAL] += data  # the first: what is published is written again from it
        by_file[folder_of(folder, line.tournament) / page(DEALS, line.match)] += data
    for path, data in by_file.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        files.append_lines(path, data)


def catch_up(store: LeagueReader, folder: Folder, alive: Callable[[], object] = lambda: None) -> None:
    """Writes what is missing of all seasons: a kill may have come before it, or the league is restored from a backup.

    Args:
        alive: Called again and again meanwhile.

    Raises:
        OSError: Something cannot be written.
        LogError: The deals beside the original logs cannot be read.
    """
    for season in store.seasons.all():
        place = folder_of(folder, season.tournament)
        if not (place / SEASON_FILE).exists():
            tournament = store.finder.tournament(season.tournament)
            write_opened(folder, season.name, season.opened, tournament, season.digest_before)
        if not pages(place, DEALS):
            _write_deals_again(folder.logs / season.tournament / ORIGINAL, place)
        if season.closed is not None and not (place / record_files.SECRET_FILE).exists():
            write_closed(store, folder, season, alive)


def write_closed(
    store: LeagueReader, folder: Folder, season: Season, alive: Callable[[], object] = lambda: None
) -> None:
    """Writes the results of a season that is closed, its standings, and at last its secret.

    Args:
        alive: Called again and again meanwhile.

    Raises:
        OSError: Something cannot be written.
    """
    assert season.closed is not None
    assert season.digest is not None
    place, tournament = folder_of(folder, season.tournament), store.finder.tournament(season.tournament)
    lines = store.seasons.results(season, alive)
    first = 0
    while data := b"".join(islice(lines, GAMES)):
        files.write(place / page(RESULTS, first), data, durably=True)
        first += GAMES
    levels = {version.name: version.level for version in store.versions.all()}
    predecessors = store.finder.predecessors(season.tournament)
    there = store.finder.entrants(season.tournament)
    entrants = [
        SeasonEntrant(
            name=one.name,
            digest=one.digest,
            level=levels[one.name],
            mu=one.start.mu,
            sigma=one.start.sigma,
            after=there[predecessors[one.number]].name if one.number in predecessors else None,
        )
        for one in there
    ]
    ended = SeasonClosed(
        tournament=season.tournament,
        closed=season.closed,
        digest=season.digest,
        entrants=entrants,
        standings=season.standings or {},
    )
    record_files.publish(place, STANDINGS_FILE, ended)
    secret = record_files.Secret(season.tournament, tournament.secret.hex(), tournament.commitment)
    record_files.publish(place, record_files.SECRET_FILE, secret)


def deal_of(match: Match, secret: bytes, commitment: str, logs: dict[str, str]) -> DealRevealed:
    """Returns the line about a match that is over."""
    return DealRevealed(
        tournament=match.tournament,
        match=match.number,
        deal=match.deal,
        secret=secret.hex(),
        commitment=commitment,
        games=[game.number for game in match.games],
        logs=logs,
    )


def original_deals(store: LeagueReader, folder: Folder) -> Iterator[DealRevealed]:
    """Yields what is published of the matches of all seasons, in the order in which they were; some come twice.

    Raises:
        LogError: The deals beside the original logs cannot be read.
    """
    for season in store.seasons.all():
        path = folder.logs / season.tournament / ORIGINAL
        if path.is_file():
            for line in files.lines(path, "the deals of a season", MOST_DEALS, errors.LogError):
                yield msgspec.json.decode(line, type=DealRevealed)


def _write_deals_again(original: Path, place: Path) -> None:
    """Writes the files about deals again from the lines beside the original logs, if there are any."""
    if not original.is_file():
        return
    lines = files.lines(original, "the deals of a season", MOST_DEALS, errors.LogError)
    for name, some in groupby(lines, lambda line: page(DEALS, msgspec.json.decode(line, type=_Numbered).match)):
        files.append_lines(place / name, b"".join(some))
