"""Reports a tournament as one document, made from the database; of one in rounds also how it stands."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from arena.core import plugs
from arena.core.errors import ConfigError, did_you_mean
from arena.core.progress import Progress
from arena.core.ratings.pairs import PairResult, add_up, pairs_of
from arena.core.ratings.scores import mean_scores
from arena.core.standings.notice import notify as notify
from arena.core.standings.pool import Joined
from arena.core.standings.table import MOST_CROSSED, CrossRow, Order, Standing, Standings, fit_of, numbered, tabulate
from arena.core.standings.verdicts import struck_text, void_text
from arena.core.store.reader import Reader
from arena.core.store.records import Entrant, Tally, Tournament, game_id, teams_of
from arena.core.tournament.formats import FORMATS
from arena.core.tournament.settings import Settings
from arena.core.types import Payload, SeatResult, is_cooperative

if TYPE_CHECKING:
    from rich.text import Text


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Identifies the tournament."""

    id: str
    seed: str | None
    commitment: str


class BotPace(msgspec.Struct, frozen=True, kw_only=True):
    """How fast a bot was on one worker."""

    bot: str
    games: int
    mean_ms: float


class WorkerPace(msgspec.Struct, frozen=True, kw_only=True):
    """How fast bots were on a worker of a cluster."""

    worker: str
    bots: tuple[BotPace, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The document that `--json` prints."""

    tournament: Identity
    settings: Payload
    processes: str
    """Lifetime of a bot process: `block`, `game` or `tournament`. Only with the last can it meet a deal again."""
    games: int
    """Number of games that are done, with those that are reused."""
    void: str
    """Number of void games and whose losses they were, in words; empty if none is."""
    struck: str
    """Which results were taken back, by whom, when and why; empty if none was."""
    reused: tuple[str, ...]
    """The tournaments whose games are reused, the earliest first."""
    seconds: float
    standings: tuple[Standing, ...]
    order: Order | None
    """Part of the order that is settled; None before any game."""
    crosstable: tuple[CrossRow, ...] | None
    """None if it was left out because there are many entrants."""
    progress: Progress | None
    workers: tuple[WorkerPace, ...]
    """Speed of bots by worker of a cluster; empty if all games were played here."""
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
        if costs := reader.costs(row.id):
            rows = tuple(replace(one, **told_costs(costs.get(one.bot, {}))) for one in table.standings)
            table = replace(table, standings=rows)
        done = 0 if without else reader.done(row.id)
        paces = reader.paces(row.id)
        void = reader.void_losses(row.id)
        struck = {game_id(row.id, number): told for number, told in reader.struck(row.id).items()}
    document = Report(
        tournament=Identity(id=row.id, seed=row.seed, commitment=row.commitment),
        settings=row.settings,
        processes=row.settings.get("processes", "tournament"),  # all were kept before there was a choice
        games=done + known.games,
        void=void_text(*void),
        struck=struck_text(struck),
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


def told_costs(cost: Mapping[str, int]) -> dict[str, float]:
    """Returns what a row of standings tells of costs, as `COSTS` has them."""
    tokens = cost.get("tokens_in", 0) + cost.get("tokens_out", 0)
    return {"tokens": tokens, "dollars": cost.get("microdollars", 0) / 1e6, "retries": cost.get("retries", 0)}


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


def _by_worker(paces: Iterable[tuple[str, Tally]], names: Mapping[int, str]) -> tuple[WorkerPace, ...]:
    bots: dict[str, list[BotPace]] = {}
    for worker, tally in paces:
        if (name := names.get(tally.entrant)) is not None:
            pace = BotPace(bot=name, games=tally.games, mean_ms=round(tally.mean_ms, 3))
            bots.setdefault(worker, []).append(pace)
    return tuple(WorkerPace(worker=worker, bots=tuple(found)) for worker, found in bots.items())


POINTS = 8  # the number of moments at which the course of a rating is looked at


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
    for entrant, forfeit in reader.forfeits(tournament):
        counts.setdefault(names[entrant], Counter())[forfeit.code] += 1
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


class Known:
    """What the standings of a tournament are made from."""

    def __init__(self, reader: Reader, row: Tournament, without: Collection[str] = ()) -> None:
        """Reads the sums of the tournament; without some entrants it has none. `extend` adds those of others."""
        self._reader = reader
        self._id = "" if without else row.id
        self.entered: Sequence[Entrant] = [one for one in reader.entrants(row.id) if one.name not in without]
        """Entrants that are shown, with their numbers in the tournament."""
        self.entrants = [msgspec.structs.replace(entrant, number=place) for place, entrant in enumerate(self.entered)]
        """Entrants by number here."""
        self.tallies = [Tally(entrant.number) for entrant in self.entrants] if without else reader.tallies(row.id)
        self.anchors: Mapping[int, float] = {}  # by entrant a rating that holds the scale
        self.games = 0  # games of other tournaments
        self.reused: tuple[str, ...] = ()  # these tournaments, the earliest first
        self._others: list[PairResult] = []

    def pairs(self) -> Iterator[PairResult]:
        """Yields the results of each pair by deal. Deals of different tournaments are different deals."""
        if not self._others and self._id:
            return self._reader.pairs(self._id)
        count = len(self.reused) + 1
        own = (msgspec.structs.replace(pair, deal=pair.deal * count) for pair in self._reader.pairs(self._id))
        return itertools.chain(own, self._others)

    def extend(self, before: Sequence[Tournament]) -> None:
        """Adds the games of earlier tournaments in which only entrants of this one played, with the same files."""
        numbers = {(entrant.name, entrant.digest): entrant.number for entrant in self.entrants}
        self.reused = tuple(row.id for row in before)
        for place, row in enumerate(before, start=1):
            here = {
                entrant.number: numbers[entrant.name, entrant.digest]
                for entrant in self._reader.entrants(row.id)
                if (entrant.name, entrant.digest) in numbers
            }
            for deal, entrants, seats in self._reader.results(row.id):
                if all(entrant in here for entrant in entrants):
                    self._add(deal * (len(before) + 1) + place, [here[entrant] for entrant in entrants], seats)
        self._others = add_up(self._others)

    def _add(self, deal: int, entrants: Sequence[int], seats: Sequence[SeatResult]) -> None:
        self.games += 1
        self._others += pairs_of(deal, entrants, tuple(seat.rank for seat in seats), teams=teams_of(seats))
        for tally in Tally.of_game(entrants, seats):
            self.tallies[tally.entrant] = self.tallies[tally.entrant].plus(tally)


def known_of(reader: Reader, row: Tournament, without: Collection[str] = ()) -> Known:
    """Returns what the standings of a tournament are made from: all its games, or those without some entrants.

    Raises:
        ConfigError: One is no entrant, or fewer than two are left.
    """
    names = [entrant.name for entrant in reader.entrants(row.id)]
    for name in without:
        if name not in names:
            close = did_you_mean(name, names) or f"; they are {', '.join(names[:9])}{', …' * (len(names) > 9)}"
            raise ConfigError(f"expected an entrant of tournament {row.id}, got: {name!r:.80}{close} - at --without")
    known = Known(reader, row, without)
    if len(known.entrants) < 2:
        raise ConfigError(f"expected two entrants or more, got: {len(known.entrants)} of {row.id} - at --without")
    before = list(chain(reader, row, "extends")) if row.settings["format"] == "extension" else [row]
    if without or len(before) > 1:
        known.extend(before if without else before[:-1])
    shown = {entrant.number: place for place, entrant in enumerate(known.entered)}
    anchors = _anchors(reader, row, reader.entrants(row.id))
    known.anchors = {shown[number]: rating for number, rating in anchors.items() if number in shown}
    return known


def chain(reader: Reader, row: Tournament, link: Literal["continues", "extends"]) -> Iterator[Tournament]:
    """Yields a tournament after those that it goes on from, the earliest first, back to one that was removed.

    `link` is the parameter of its format that names the one before it.
    """
    before = row.settings.get(link)
    if before and reader.has(before):
        yield from chain(reader, reader.tournament(before), link)
    yield row


def _anchors(reader: Reader, row: Tournament, entrants: Sequence[Entrant]) -> dict[int, float]:
    """Returns the ratings of a gauntlet's field, from earlier tournaments of the same pool if there are any."""
    if row.settings["format"] != "gauntlet":
        return {}
    anchored = Settings.read(row.settings).format.anchored(len(entrants))
    earlier = [found for found in reader.pool(row.id) if found.created <= row.created and found.id != row.id]
    if not earlier:
        return {}
    from arena.core.ratings.refit import refit

    joined = Joined(reader, earlier)
    fit = refit(joined.pairs(), len(joined.bots), players=max(joined.players))
    ratings = {
        bot.digest: fit.ratings[bot.number] for bot in reversed(joined.bots) if fit.half_width[bot.number] is not None
    }
    return {number: ratings[entrants[number].digest] for number in anchored if entrants[number].digest in ratings}
