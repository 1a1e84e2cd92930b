"""Holds the database of a league against what is published of a closed season, for its operator.

The database of a season is not made anew, as that of a tournament is: who met, and when a version came, no file shows.
What standings and pages show of a season is compared: results, seats, sums, ratings, and the frozen standings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from arena.core.face import GameResult, chance, game_rows, rebuilding, temporary_store, value_types
from arena.league.checking.computed import Computed
from arena.league.record.season import SeasonClosed, SeasonOpened
from arena.league.store import LeagueReader

NEAR: Final = 1e-6
"""How far ratings and sums may be apart."""
FROM_RANKS: Final = ("games", "wins", "draws")
"""What of the sums of a version follows where logs are missing."""
FIRST: Final = 5
"""So many differences of a kind are named."""


def contradictions(
    reader: LeagueReader,
    opened: SeasonOpened,
    closed: SeasonClosed,
    computed: Computed,
    logged: Callable[[int], GameResult | None],
) -> Iterator[str]:
    """Yields where a database tells something else than what is published of a closed season.

    Args:
        reader: The database.
        opened: What was published before the first game.
        closed: What was published at the end.
        computed: What follows from the results.
        logged: Returns the result of a game by its public log; None if there is no log.
    """
    with reader.snapshot(), temporary_store(reader.finder) as store:
        season = next((one for one in reader.seasons.all() if one.tournament == opened.tournament), None)
        if season is None:
            yield f"expected season {opened.season}, got none"
            return
        row = reader.finder.tournament(season.tournament)
        yield from _apart(
            "season",
            ("name", season.name, opened.season),
            ("opened", season.opened, opened.opened),
            ("closed", season.closed, closed.closed),
            ("digest_before", season.digest_before, opened.digest_before),
            ("digest", season.digest, closed.digest),
            ("digest of its rows", reader.seasons.digest(season), closed.digest),
            ("standings", season.standings, closed.standings),
            ("settings", row.settings, opened.settings),
            ("commitment", row.commitment, opened.commitment),
            ("commitment to its secret", chance.commitment(row.secret), opened.commitment),
            ("status", row.status, "finished"),
        )
        yield from rebuilding.of_definitions(reader.finder, store)
        for part in (
            _of_entrants(reader, closed),
            _of_sums(reader, season.tournament, computed),
            _of_fits(reader, closed),
            _of_games(reader, season.tournament, logged),
        ):
            yield from _first(part)


def _of_entrants(reader: LeagueReader, closed: SeasonClosed) -> Iterator[str]:
    entrants = reader.finder.entrants(closed.tournament)
    stored = [(one.name, one.digest, one.start.mu, one.start.sigma) for one in entrants]
    told = [(one.name, one.digest, one.mu, one.sigma) for one in closed.entrants]
    if any(one.after is not None for one in closed.entrants):  # earlier versions of arena did not tell
        found = reader.finder.predecessors(closed.tournament)
        before = [entrants[found[one.number]].name if one.number in found else None for one in entrants]
        yield from _apart("entrants", ("predecessors", before, [one.after for one in closed.entrants]))
    yield from _apart("entrants", ("number", len(stored), len(told)))
    for one, other in zip(stored, told, strict=False):
        yield from _apart(f"entrants, {other[0]}", ("name, digest and start", one, other))


def _of_sums(reader: LeagueReader, tournament: str, computed: Computed) -> Iterator[str]:
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


def _of_fits(reader: LeagueReader, closed: SeasonClosed) -> Iterator[str]:
    columns = ("entrant", "rating", "half_width", "rank")
    rows = reader.finder.rows("fits", closed.tournament, columns, ("entrant",))
    stored = {entrant: values for entrant, *values in rows}
    items = {item["name"]: item for item in closed.standings["items"] if item["rating"] is not None}
    for number, entrant in enumerate(closed.entrants):
        item = items.get(entrant.name)
        told = item and [item[column] for column in columns[1:]]
        found = stored.get(number)
        if told is None or found is None or not all(_near(*both, 1.5e-3) for both in zip(found, told, strict=True)):
            yield from _apart(f"fits, {entrant.name}", ("rating, interval and rank", found, told))


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
    """Yields what is compared of a seat. Earlier versions did not store margins, nor which rule a forfeit broke."""
    for name in told.__struct_fields__:
        if name != "forfeit" and (name != "margin" or told.margin is not None):
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
