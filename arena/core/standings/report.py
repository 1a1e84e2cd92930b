"""Reports a tournament as one document, made from the database; of one in rounds also how it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from arena.core import plugs
from arena.core.errors import ConfigError
from arena.core.progress import Progress
from arena.core.ratings.scores import mean_scores
from arena.core.standings.notice import notify as notify
from arena.core.standings.sources import known_of
from arena.core.standings.table import MOST_CROSSED, Order, Row, Standing, Standings, fit_of, numbered, tabulate
from arena.core.standings.verdicts import void_text
from arena.core.store.reader import Reader
from arena.core.store.records import Pace, Tournament
from arena.core.tournament.formats import FORMATS
from arena.core.tournament.settings import Settings
from arena.core.types import Payload, is_cooperative

if TYPE_CHECKING:
    from rich.text import Text


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Identifies the tournament."""

    id: str
    seed: str | None
    commitment: str
    """SHA-256 (hex) of the tournament's secret."""


class BotPace(msgspec.Struct, frozen=True, kw_only=True):
    """How fast a bot was on one worker."""

    bot: str
    games: int
    mean_ms: float
    """Of a decision."""


class WorkerPace(msgspec.Struct, frozen=True, kw_only=True):
    """How fast bots were on a worker of a cluster."""

    worker: str
    bots: tuple[BotPace, ...]
    """In the order in which they entered."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The document that `--json` prints."""

    tournament: Identity
    settings: Payload
    processes: str
    """How long a bot process is kept: `block`, `game` or `tournament`. Only with the last can it meet a deal again."""
    games: int
    """Number of games that are done, with those that are reused."""
    void: str
    """How many games are void, and whose losses they were; empty if none is."""
    reused: tuple[str, ...]
    """The tournaments whose games are reused, the earliest first."""
    seconds: float
    """Time spent playing, over all runs."""
    standings: tuple[Standing, ...]
    order: Order | None
    """How much of it is settled; None before any game."""
    crosstable: tuple[Row, ...] | None
    """None if it was left out because there are many entrants."""
    progress: Progress | None
    """How its rounds stand, if its format has rounds that people follow."""
    workers: tuple[WorkerPace, ...]
    """By worker of a cluster how fast bots were; empty if all games were played here."""
    logs: str


def report(
    reader: Reader,
    tournament: str | None = None,
    *,
    rules: str | None = None,
    ruleset: str | None = None,
    anchors: Mapping[str, float] | None = None,
    crosstable: bool = False,
    without: Collection[str] = (),
) -> tuple[Report, Tournament]:
    """Returns the document and the row of the latest tournament that matches.

    Args:
        reader: The database.
        tournament: Its identifier; None means any.
        rules: The name of its rules; None means any.
        ruleset: The name of its ruleset; None means any.
        anchors: By bot a rating that is given, not estimated; others follow from it.
        crosstable: Whether there is a cross-table of more than `MOST_CROSSED` entrants.
        without: Entrants whose games are left out. `mu` and `sigma` stay those of all games.

    Raises:
        StoreError: There is no such tournament.
        ConfigError: An anchor is not an entrant, or the games of one cannot be left out.
    """
    with reader.snapshot():
        row = reader.tournament(tournament, rules=rules, ruleset=ruleset)
        known = known_of(reader, row, without)
        entrants = known.entrants
        fixed = {**known.anchors, **numbered([entrant.name for entrant in entrants], anchors or {})}
        players = row.settings["game"]["players"]
        scores = fit = None
        if is_cooperative(row.settings["game"].get("teams")):
            if without:
                raise ConfigError("expected a game of rivals, got one that is played together - at --without")
            scores = mean_scores(reader.scores(row.id), len(entrants))
        else:
            fit = fit_of(known.tallies, known.pairs(), players, fixed, reader.predecessors(row.id))
        order = fit.order() if fit is not None else range(len(entrants))
        names = [entrant.name for entrant in entrants]
        progress = None if without else progress_of(reader, row, names, order)
        places = progress.places if progress is not None else None
        ratings = reader.ratings(row.id)
        table = tabulate(
            entrants,
            [ratings[entrant.number] for entrant in known.entered],
            known.tallies,
            known.pairs(),
            fit,
            scores=scores,
            crosstable=scores is None and (crosstable or len(entrants) <= MOST_CROSSED),
            places=None if places is None else {entrant.number: places[entrant.name] for entrant in entrants},
        )
        frozen = None if anchors or without else reader.frozen(row.id)
        if frozen is not None:
            table = _as_frozen(table, frozen)
        done = 0 if without else reader.done(row.id)
        paces = reader.paces(row.id)
        void = reader.void_losses(row.id)
    document = Report(
        tournament=Identity(id=row.id, seed=row.seed, commitment=row.commitment),
        settings=row.settings,
        processes=row.settings.get("processes", "tournament"),  # all were kept before there was a choice
        games=done + known.games,
        void=void_text(*void),
        reused=tuple(id for id in known.reused if id != row.id),
        seconds=round(row.seconds, 3),
        standings=table.standings,
        order=table.order,
        crosstable=table.crosstable,
        progress=progress,
        workers=_by_worker(paces, {entrant.number: entrant.name for entrant in known.entered}),
        logs=row.logs,
    )
    return document, row


def _as_frozen(table: Standings, frozen: Payload) -> Standings:
    """Returns the table of a closed season as it was closed; who played no more then shares the rank after all others.

    There is no second order: what was computed here differs, since it knows nothing of a final.
    """
    rows = {row.bot: row for row in table.standings}
    told = [(rows.pop(item["name"]), item) for item in frozen["items"] if item["name"] in rows]
    known = [
        replace(row, **{name: item[name] for name in row.__struct_fields__ if name in item and name != "bot"})
        for row, item in told
    ]
    last = [replace(row, rank=len(known) + 1) for row in rows.values()]
    place = {row.bot: place for place, row in enumerate([*known, *last])}
    crossed = None if table.crosstable is None else tuple(sorted(table.crosstable, key=lambda row: place[row.bot]))
    order = msgspec.convert(frozen.get("order"), Order | None)
    return Standings(standings=(*known, *last), order=order, crosstable=crossed)


def _by_worker(paces: Iterable[Pace], names: Mapping[int, str]) -> tuple[WorkerPace, ...]:
    bots: dict[str, list[BotPace]] = {}
    for pace in (pace for pace in paces if pace.entrant in names):
        mean_ms = round(pace.total_ms / pace.decisions, 3) if pace.decisions else 0.0
        bots.setdefault(pace.worker, []).append(BotPace(bot=names[pace.entrant], games=pace.games, mean_ms=mean_ms))
    return tuple(WorkerPace(worker=worker, bots=tuple(found)) for worker, found in bots.items())


POINTS = 8
"""The number of moments at which the course of a rating is looked at."""


def courses(reader: Reader, tournament: str) -> dict[str, tuple[float, ...]]:
    """Returns by bot its running rating as it moved: the mean after each eighth of the games that are rated."""
    rated = reader.rated(tournament)
    moments = [rated * point // POINTS for point in range(1, POINTS + 1)]
    return {
        entrant.name: tuple(reader.rating_after(tournament, entrant.number, games).mu for games in moments)
        for entrant in reader.entrants(tournament)
        if rated
    }


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
    return reader.name(tournament, max(range(len(ratings)), key=lambda number: ratings[number].conservative))


def progress_of(reader: Reader, row: Tournament, names: Sequence[str], order: Sequence[int]) -> Progress | None:
    """Returns how a tournament stands, or None if its rounds tell nobody anything. Arguments: `Format.progress`."""
    name = row.settings["format"]
    if (kind := FORMATS.get(name)) is None and (error := plugs.switched_off("formats", name, f"the format {name!r}")):
        raise error
    return Settings.read(row.settings).format.progress(reader, row, names, order) if kind and kind.text else None


def progress_text(progress: Progress, width: int) -> Text:
    """Returns how a tournament stands as text, for a terminal of that width, as its format shows it."""
    show = plugs.load(FORMATS[progress.format].text, f"the format {progress.format!r}")
    text: Text = plugs.call(show, progress=progress, width=width)
    return text
