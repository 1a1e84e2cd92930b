"""Holds the database of a league against what is published of a season, for its operator.

The database of a season is not made anew, as that of a tournament is: who met, and when a version came, no file shows.
What standings and pages show of a season is compared: results, seats, sums, ratings, and the frozen standings.
"""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from arena.core.face import (
    GameResult,
    Payload,
    chance,
    game_rows,
    rebuilding,
    record_files,
    temporary_store,
    value_types,
)
from arena.league.checking.computed import ComputedStandings
from arena.league.checking.history import History
from arena.league.record import rounds
from arena.league.store import LeagueReader
from arena.league.store.records import Season

NEAR: Final = 1e-6
"""How far ratings and sums may be apart."""
FROM_RANKS: Final = ("games", "wins", "draws")
"""What of the sums of a version follows where logs are missing."""
FIRST: Final = 5
"""So many differences of a kind are named."""


def contradictions(
    reader: LeagueReader,
    before: record_files.Commitment,
    history: History,
    computed: ComputedStandings | None,
    logged: Callable[[int], GameResult | None],
) -> Iterator[str]:
    """Yields where a database tells something else than what is published of a season.

    Args:
        before: What was published before the first game.
        computed: What follows from the results; None if the season goes on.
        logged: Returns the result of a game by its public log; None if there is no log.
    """
    opened, closed = history.opened, history.closed
    assert opened is not None
    with reader.snapshot(), temporary_store(reader.finder) as store:
        season = next((one for one in reader.seasons.all() if one.tournament == opened.tournament), None)
        if season is None:
            yield f"expected season {opened.season}, got none"
            return
        row = reader.finder.tournament(season.tournament)
        yield from _apart(
            "season", ("name", season.name, opened.season), ("opened", season.opened, opened.at),
            ("closed", season.closed, closed and closed.at),
            ("standings", _unnamed(season.standings), closed and _unnamed(closed.standings)),
            ("settings", row.settings, before.settings), ("commitment", row.commitment, before.commitment),
            ("commitment to its secret", chance.commitment(row.secret), before.commitment),
            ("status", row.status, "running" if closed is None else "finished"),
        )  # fmt: skip
        head = reader.seasons.head(season)
        if computed is None:
            history = copy.deepcopy(history)
            yield from _further(reader, season, history)
            computed = ComputedStandings(before.settings, history, logged)
        elif head.lines:  # a season that arena 0.2 closed has none
            yield from _apart(
                "season", ("last line", head.sha256, history.head), ("digest", season.digest, head.sha256)
            )
        yield from rebuilding.of_definitions(reader.finder, store)
        for part in (
            _of_entrants(reader, season.tournament, history),
            _of_sums(reader, season.tournament, computed),
            _of_fits(reader, season.tournament, [*history.entrants], closed.standings) if closed else (),
            _of_results(reader, season.tournament, history),
            _of_games(reader, season.tournament, logged),
        ):
            yield from _first(part)


def _further(reader: LeagueReader, season: Season, history: History) -> Iterator[str]:
    """Adds what is not published yet: the newest lines, and results of matches that are played, as the database has
    them. Yields where it contradicts what is published.
    """
    told = [*reader.seasons.lines(season)]
    shown = [rounds.sha256(line) for line in told]
    if history.head not in shown:
        yield f"expected the lines that are published, the last {history.head}, got: others"
        return
    for line in told[shown.index(history.head) + 1 :]:
        yield from (f"a line not published yet: {reason}" for _, reason in history.take(rounds.decoded(line)))
    ranks = _ranks(reader, season.tournament)
    rows = reader.finder.rows("games", season.tournament, ("number", "id", "status"), ("number",))
    games = {
        number: rounds.GameOver(status=status, ranks=[*ranks[id].values()], play_digest=None, log=None)
        for number, id, status in rows
    }
    for match in history.matches:
        played = [games[number] for number in match.planned.games if number in games]
        if match.over is None and len(played) == len(match.planned.games):
            match.over = rounds.Over(match=match.planned.match, secret=rounds.FIRST, games=played, reason="")
    names = [*history.entrants]
    for version in reader.versions.all():
        if version.entrant is not None and [version.name] != names[version.entrant : version.entrant + 1]:
            yield f"versions: expected the name that entrant {version.entrant} entered with, got: {version.name:.80}"


def _ranks(reader: LeagueReader, tournament: str) -> defaultdict[str, dict[int, int]]:
    """Returns by game and seat's entrant the ranks, in the order of the seats."""
    ranks: defaultdict[str, dict[int, int]] = defaultdict(dict)
    columns = ("game", "seat", "entrant", "rank")
    for game, _, entrant, rank in reader.finder.rows("seats", tournament, columns, ("game", "seat")):
        ranks[game][entrant] = rank
    return ranks


def _of_entrants(reader: LeagueReader, tournament: str, history: History) -> Iterator[str]:
    entrants = reader.finder.entrants(tournament)
    told = [*history.entrants.values()]
    stored = [(one.name, one.digest, one.start.mu, one.start.sigma) for one in entrants]
    if any(one.after is not None for one in told):  # earlier versions of arena did not tell
        found = reader.finder.predecessors(tournament)
        before = [entrants[found[one.number]].name if one.number in found else None for one in entrants]
        yield from _apart("entrants", ("predecessors", before, [one.after for one in told]))
    yield from _apart("entrants", ("number", len(stored), len(told)))
    for one, other in zip(stored, told, strict=False):
        expected = (other.name, other.archive, other.mu, other.sigma)
        yield from _apart(f"entrants, {other.name}", ("name, archive and start", one, expected))


def _of_results(reader: LeagueReader, tournament: str, history: History) -> Iterator[str]:
    """Yields where games are others than the lines say, whether their logs are there or not."""
    ranks = _ranks(reader, tournament)
    names = [*history.entrants]
    columns = ("id", "number", "seating", "match", "deal", "rotation", "status", "counts")
    for game, number, seating, *told in reader.finder.rows("games", tournament, columns, ("number",)):
        match, rotation = history.games.get(number, (None, 0))
        over = history.result(number)
        result = ranks[game] if told[3] == "done" else {}
        planned = msgspec.json.decode(seating, type=list[int])
        sat = [names[entrant] for entrant in result or planned]
        found = [*told, sat, [*result.values()], [names[entrant] for entrant in planned]]
        expected = match and over and [
            *(match.planned.match, match.planned.match, rotation, over.status, int(match.counts)),
            *(match.planned.seats[rotation], over.ranks, match.planned.seats[rotation]),
        ]  # fmt: skip
        yield from _apart(f"game {number}", ("match, deal, rotation, status, count, seats and ranks", found, expected))


def _of_sums(reader: LeagueReader, tournament: str, computed: ComputedStandings) -> Iterator[str]:
    names = game_rows.Tally.__struct_fields__
    for stored, tally, rating, mine in zip(
        reader.finder.tallies(tournament),
        computed.tallies,
        computed.ratings,
        reader.finder.ratings(tournament),
        strict=False,
    ):
        name = computed.names[tally.entrant]
        known = FROM_RANKS if tally.entrant in computed.incomplete else names
        for field in known:
            yield from _apart(f"tallies, {name}", (field, getattr(stored, field), getattr(tally, field)))
        yield from _apart(f"ratings, {name}", ("mu", mine.mu, rating.mu), ("sigma", mine.sigma, rating.sigma))
    pairs = {astuple(pair)[:3]: astuple(pair)[3:] for pair in reader.finder.pairs(tournament)}
    expected = {astuple(pair)[:3]: astuple(pair)[3:] for pair in computed.pairs}
    for key in sorted({*pairs, *expected}):
        one, other = pairs.get(key), expected.get(key)
        if one and other and None in (one[-1], other[-1]):  # of an earlier version, or a log is missing
            one, other = one[:-1], other[:-1]
        yield from _apart(f"pairs, deal and versions {key}", ("results", one, other))


def _unnamed(standings: Payload | None) -> Payload | None:
    """Returns standings without names of authors: those of the database change when somebody leaves."""
    return standings and rounds.renamed(standings, dict.fromkeys((row.get("author") for row in standings["items"]), ""))


def _of_fits(reader: LeagueReader, tournament: str, names: Sequence[str], standings: Payload) -> Iterator[str]:
    columns = ("entrant", "rating", "half_width", "rank")
    rows = reader.finder.rows("fits", tournament, columns, ("entrant",))
    stored = {entrant: values for entrant, *values in rows}
    items = {item["name"]: item for item in standings["items"] if item["rating"] is not None}
    for number, name in enumerate(names):
        item = items.get(name)
        told = item and [item[column] for column in columns[1:]]
        found = stored.get(number)
        if told is None or found is None or not all(_near(*both, 1.5e-3) for both in zip(found, told, strict=True)):
            yield from _apart(f"fits, {name}", ("rating, interval and rank", found, told))


def _of_games(reader: LeagueReader, tournament: str, logged: Callable[[int], GameResult | None]) -> Iterator[str]:
    columns = ("id", "number", "termination", "turns", "actions", "seconds", "play_digest", "level", "log")
    numbers = {}
    for id, number, *told in reader.finder.rows("games", tournament, columns, ("number",)):
        if (result := logged(number)) is None:
            continue
        numbers[id] = result
        expected = [getattr(result, name) for name in columns[2:]]
        yield from _apart(f"game {id}", *zip(columns[2:], told, expected, strict=True))
    for id, seat, figures in reader.finder.rows("seats", tournament, ("game", "seat", "figures"), ("game", "seat")):
        if id in numbers:
            did = game_rows.figures_of(figures)
            yield from _apart(f"game {id}, seat {seat}", *_of_seat(did, numbers[id].seats[seat]))


def _of_seat(told: value_types.SeatResult, expected: value_types.SeatResult) -> Iterator[tuple[str, Any, Any]]:
    """Yields what is compared of a seat. Earlier versions did not store margins, nor which rule a forfeit broke.

    What its decisions have cost stands in its notes, which not every log has.
    """
    absent = {name for name, one in (("margin", told.margin), ("cost", expected.cost)) if one is None}
    for name in told.__struct_fields__:
        if name != "forfeit" and name not in absent:
            yield name, getattr(told, name), getattr(expected, name)
    yield "forfeit", told.forfeit and told.forfeit.code, expected.forfeit and expected.forfeit.code
    for name in ("turn", "overloaded", "denied_ms"):
        yield name, told.forfeit and getattr(told.forfeit, name), expected.forfeit and getattr(expected.forfeit, name)


def _apart(where: str, *values: tuple[str, Any, Any]) -> Iterator[str]:
    """Yields which of these values are others: each is a name, what the database has, and what it should be."""
    for name, told, expected in values:
        if not _near(told, expected, 0.1 if name == "seconds" else NEAR):
            yield f"{where}: expected {name} {expected!s:.80}, got: {told!s:.80}"


def _near(told: Any, expected: Any, near: float) -> bool:
    if isinstance(told, float) or isinstance(expected, float):
        numbers = isinstance(told, int | float) and isinstance(expected, int | float)
        return numbers and math.isclose(told, expected, rel_tol=1e-9, abs_tol=near)
    if isinstance(told, list | tuple) and isinstance(expected, list | tuple):
        return len(told) == len(expected) and all(_near(*both, near) for both in zip(told, expected, strict=True))
    if isinstance(told, dict | msgspec.Struct):
        return bool(msgspec.to_builtins(told) == msgspec.to_builtins(expected))
    return bool(told == expected)


def _first(reasons: Iterable[str]) -> Iterator[str]:
    count = 0
    for reason in reasons:
        count += 1
        if count <= FIRST:
            yield reason
    if count > FIRST:
        yield f"{count - FIRST} more differences like the last"
