"""Reports a tournament as one document, made from the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from arena.errors import ConfigError, did_you_mean
from arena.store.reader import Reader
from arena.store.records import Tournament
from arena.tournament.standings import Order, Row, Standing, tabulate
from arena.types import Payload

MOST_CROSSED = 100
"""A cross-table of more entrants is made only if it is asked for."""


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
    order: Order | None
    """How much of it is settled; None before any game."""
    crosstable: tuple[Row, ...] | None
    """None if it was left out because there are many entrants."""
    logs: str
    """The folder of its logs."""


def report(
    reader: Reader,
    tournament: str | None = None,
    *,
    rules: str | None = None,
    ruleset: str | None = None,
    anchors: Mapping[str, float] | None = None,
    crosstable: bool = False,
) -> tuple[Report, Tournament]:
    """Returns the document and the row of the latest tournament that matches.

    Args:
        reader: The database.
        tournament: Its identifier; None means any.
        rules: The name of its rules; None means any.
        ruleset: The name of its ruleset; None means any.
        anchors: By bot a rating that is given, not estimated; others follow from it.
        crosstable: Whether there is a cross-table of more than `MOST_CROSSED` entrants.

    Raises:
        StoreError: There is no such tournament.
        ConfigError: An anchor is not an entrant.
    """
    with reader.snapshot():
        row = reader.tournament(tournament, rules=rules, ruleset=ruleset)
        entrants, tallies = reader.entrants(row.id), reader.tallies(row.id)
        fixed = numbered([entrant.name for entrant in entrants], anchors or {})
        fit = None
        if any(tally.games for tally in tallies):
            from arena.ratings.refit import refit

            fit = refit(reader.pairs(row.id), len(entrants), players=row.settings["game"]["players"], anchors=fixed)
        table = tabulate(
            entrants,
            reader.ratings(row.id),
            tallies,
            reader.pairs(row.id),
            fit,
            crosstable=crosstable or len(entrants) <= MOST_CROSSED,
        )
        done = reader.done(row.id)
    document = Report(
        tournament=Identity(id=row.id, seed=row.seed, commitment=row.commitment),
        settings=row.settings,
        processes=row.settings.get("processes", "tournament"),  # all were kept before there was a choice
        games=done,
        seconds=round(row.seconds, 3),
        standings=table.standings,
        order=table.order,
        crosstable=table.crosstable,
        logs=row.logs,
    )
    return document, row


def numbered(names: Sequence[str], anchors: Mapping[str, float]) -> dict[int, float]:
    """Returns the anchors by the entrants' numbers.

    Raises:
        ConfigError: One is not an entrant.
    """
    for name in anchors:
        if name not in names:
            raise ConfigError(
                f"expected a bot of these standings, got: {name!r} - at --anchor{did_you_mean(name, names)}"
            )
    return {names.index(name): rating for name, rating in anchors.items()}


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
