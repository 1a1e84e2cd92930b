"""Reports a tournament as one document, made from the database."""

from __future__ import annotations

from collections import Counter

import msgspec

from arena.store.reader import Reader
from arena.store.records import Tournament
from arena.tournament.standings import Row, Standing, tabulate
from arena.types import Payload


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Identifies the tournament."""

    id: str
    seed: str | None
    commitment: str
    """SHA-256 (hex) of the tournament's secret."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The document that `--json` prints."""

    tournament: Identity
    settings: Payload
    processes: str
    """How long a bot process is kept: `block`, `game` or `tournament`. Only with the last can it meet a deal again."""
    games: int
    """Number of games that are done."""
    seconds: float
    """Time spent playing, over all runs."""
    standings: tuple[Standing, ...]
    crosstable: tuple[Row, ...]
    logs: str
    """The folder of its logs."""


def report(
    reader: Reader, tournament: str | None = None, *, rules: str | None = None, ruleset: str | None = None
) -> tuple[Report, Tournament]:
    """Returns the document and the row of the latest tournament that matches.

    Args:
        reader: The database.
        tournament: Its identifier; None means any.
        rules: The name of its rules; None means any.
        ruleset: The name of its ruleset; None means any.

    Raises:
        StoreError: There is no such tournament.
    """
    with reader.snapshot():
        row = reader.tournament(tournament, rules=rules, ruleset=ruleset)
        table = tabulate(reader.entrants(row.id), reader.ratings(row.id), reader.results(row.id))
        done = reader.done(row.id)
    document = Report(
        tournament=Identity(id=row.id, seed=row.seed, commitment=row.commitment),
        settings=row.settings,
        processes=row.settings.get("processes", "tournament"),  # all were kept before there was a choice
        games=done,
        seconds=round(row.seconds, 3),
        standings=table.standings,
        crosstable=table.crosstable,
        logs=row.logs,
    )
    return document, row


def forfeit_counts(reader: Reader, tournament: str) -> dict[str, Counter[str]]:
    """Returns how often each bot forfeited, by code. Bots that never did are left out."""
    names = {entrant.number: entrant.name for entrant in reader.entrants(tournament)}
    counts: dict[str, Counter[str]] = {}
    for forfeit in reader.forfeits(tournament):
        counts.setdefault(names[forfeit.entrant], Counter())[forfeit.code] += 1
    return counts


def leader(reader: Reader, tournament: str) -> str:
    """Returns the name of the bot with the best conservative rating so far."""
    ratings = reader.ratings(tournament)
    entrants = reader.entrants(tournament)
    return max(entrants, key=lambda entrant: ratings[entrant.number].conservative).name
