"""Makes the database of a tournament anew from its record, and compares: the record is the logs and the commitment.

The results are stored again by the very functions that stored them first. So whatever follows from them is held
against the record, column by column, and a new column is too. `GIVEN` lists those that no record has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from arena.core import plugs
from arena.core.errors import StoreError
from arena.core.link.bots import BotSpec
from arena.core.ratings.running import Rating
from arena.core.record.published import CORRECTIONS_FILE, Commitment, is_date, sha256_of
from arena.core.referee.chance import commitment, seed_secret
from arena.core.standings.closing import fit_rows
from arena.core.standings.report import report
from arena.core.store.reader import Reader
from arena.core.store.records import Entrant, Tournament
from arena.core.store.store import Store
from arena.core.tournament.extend import starts_of
from arena.core.tournament.formats.compare import Compare
from arena.core.tournament.formats.extension import Extension
from arena.core.tournament.planner import plan_further
from arena.core.tournament.runner import store_result
from arena.core.tournament.schedule import Schedule
from arena.core.tournament.settings import BotSettings, Settings
from arena.core.types import GameResult, Payload

GIVEN: Final[Mapping[str, str]] = {
    "tournaments.finished": "no log has a date. It is not before the end of any game",
    "tournaments.seconds": "no log says how long the tournament was not being played",
    "tournaments.logs": "logs may be moved",
    "games.attempt": "it counts claims; how often its game was begun is in the log",
    "games.finished": "no log has a date. It is between the beginning and the end of the tournament",
    "games.worker": "no log says on which machine of a cluster its game was played",
    "games.lease_until": "nothing writes it any more",
    "seats.stderr": "what a bot wrote is for its author, and in no log",
}
"""The columns that do not follow from a record: why, and what is compared instead."""
LATER: Final = ("seats.rule", "seats.margin", "pairs.margin")
"""The columns that are empty where an earlier version stored the results; a margin never in what is judged by them."""
LAST: Final = "fits"
"""The table that follows from all others, and from earlier tournaments where a format goes on from them."""
TABLES: Final = ("tournaments", "entrants", "rounds", "games", "seats", "tallies", "pairs", "ratings")
"""The tables that follow from the record of one tournament alone."""
MOST_FAULTS: Final = 5
MOST_SHOWN: Final = 80
CLAIMED: Final = 100
NEAR: Final[Mapping[str, float]] = {"games.seconds": 0.1, "fits.rating": 1e-6, "fits.half_width": 1e-6}
"""Tolerance by column. Before logs told how long a game took, that was measured a moment earlier."""
EXACT: Final = 1e-9  # how far all others may be: sums come in the order in which games end


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a tournament without a database."""

    commitment: Commitment
    settings: Settings
    beacon: str = ""
    entropy: tuple[str | None, ...] | None = None
    """Contribution of each entrant to chance; None if nobody put in anything."""
    struck: Mapping[int, str] = {}
    """Games whose results were taken back afterwards, by number, as `Corrections.struck` tells of them."""
    result: Callable[[int], GameResult | None]
    """Returns the result of a game by its log; None if there is no log."""


class Told:
    """What a database tells of a tournament, taken as it stands: anything may be in it."""

    def __init__(self, reader: Reader, tournament: str) -> None:
        """Reads its row.

        Raises:
            StoreError: There is none.
        """
        self.reader = reader
        self.id = tournament
        found = list(self.table("tournaments"))
        if not found:
            raise StoreError(f"expected tournament {tournament}, got none - at {reader.path}")
        self.row = found[0]
        self.is_finished = self.row["status"] == "finished"

    def table(self, table: str) -> Iterator[dict[str, Any]]:
        """Yields the rows of a table."""
        columns, key = self.reader.columns(table)
        for row in self.reader.rows(table, self.id, columns, key):
            yield dict(zip(columns, row, strict=True))

    def plans_more(self, schedule: Schedule) -> bool:
        """Says whether it tells of other rounds than these. That of one that goes on may be behind."""
        return self.is_finished or bool(self.row["open"] == 0 or self.row["games"] != schedule.total)

    @property
    def seed(self) -> str | None:
        """The text that the secret follows from."""
        return self.row["seed"] if isinstance(self.row["seed"], str) else None


# Making it anew


def rebuild(store: Store, record: Record, told: Told | None) -> Schedule:
    """Stores a tournament as its record says that it was played. Returns its schedule.

    Of one that goes on, a log may be there whose result was not stored yet, and a round may be due and not planned.

    Args:
        told: What a database tells of it, from which all comes that no record has; None if there is none.
    """
    settings = record.settings
    id, row = record.commitment.tournament, {} if told is None else told.row
    document = {**record.commitment.settings, "seed": None if told is None else told.seed}
    schedule = settings.schedule(record.commitment.commitment)
    store.create(
        Tournament(
            id=id,
            created=record.commitment.created or str(row.get("created")),  # 0.2.0 and before committed to no date
            settings=document,
            digest=sha256_of(document),
            seed=document["seed"],
            secret=_secret(row.get("secret")),
            commitment=record.commitment.commitment,
            logs=str(row.get("logs")),
            games=schedule.total,
            open=schedule.open,
        ),
        _entrants(settings, told),
    )
    if record.entropy is not None or row.get("entropy") is not None:
        store.contribute(id, record.beacon, record.entropy or (None,) * len(settings.bots))
    while True:
        claims = store.claim(id, schedule.game, CLAIMED)
        for claim in claims:
            entrants = schedule.game(claim.number).entrants
            result = record.result(claim.number)
            is_told = told is None or told.is_finished or told.reader.is_over(id, claim.number)
            if result is not None and is_told and len(result.seats) == len(entrants):
                store_result(store, claim, result, entrants, settings.on_overload, 0.0)
        is_due = schedule.open and (told is None or told.plans_more(schedule))
        if not claims and not (is_due and plan_further(store, id, schedule) is not None):
            break
    if told is not None and told.is_finished:
        with suppress(StoreError):  # then the status is found to be wrong
            store.finish(id)
    store.strike(id, record.struck)
    return schedule


def _secret(told: object) -> bytes:
    try:
        return bytes.fromhex(str(told))
    except ValueError:
        return b""


def _entrants(settings: Settings, told: Told | None) -> Iterator[Entrant]:
    rows = {} if told is None else {row["number"]: row for row in told.table("entrants")}
    format = settings.format
    starts: Sequence[Rating | None] = [None] * len(settings.bots)
    given = isinstance(format, Extension)
    if told is not None and isinstance(format, Extension) and told.reader.has(format.extends):
        before = told.reader.tournament(format.extends)
        # Where results were taken back, or count again, ratings are no more those that the extension began with.
        if not (told.reader.struck(before.id) or (Path(before.logs) / CORRECTIONS_FILE).exists()):
            starts, given = starts_of(told.reader, before.id, settings.bots), False
    for number, bot in enumerate(settings.bots):
        row = rows.get(number, {})
        yield Entrant(
            number=number,
            name=bot.name,
            version=bot.version,
            digest=bot.digest,
            spec=_spec_of(bot, row.get("spec")),
            start=starts[number] or (_start(row) if given else Rating()),
        )


def _start(row: Payload) -> Rating:
    mu, sigma = row.get("mu0"), row.get("sigma0")
    return Rating(mu, sigma) if isinstance(mu, float) and isinstance(sigma, float) else Rating()


def _spec_of(bot: BotSettings, told: object) -> Payload:
    """Returns the manifest that is told of a bot with what the record knows of it."""
    spec: Payload = {}
    with suppress(msgspec.MsgspecError):
        spec = msgspec.json.decode(str(told), type=dict[str, Any])
    with suppress(msgspec.ValidationError):
        if msgspec.convert(spec, BotSpec).identity == bot.digest:  # the digest of files alone, if values were chosen
            return spec | {"name": bot.own_name, "version": bot.version}
    return spec | {"name": bot.own_name, "version": bot.version, "digest": bot.digest}


# Comparing


def contradictions(told: Told, store: Store, record: Record) -> Iterator[str]:
    """Yields where a database tells something else than what was stored anew."""
    at = f" - at {told.reader.path}"
    names = [bot.name for bot in record.settings.bots]
    format, near = record.settings.format, NEAR
    may_be_empty: Sequence[str] = LATER[:1] if isinstance(format, Compare) and format.margin is not None else LATER
    if record.commitment.format:  # since 0.3.0
        may_be_empty, near = (), {}
    found = False
    if wrong := list(of_definitions(told.reader, store)):  # what such tables hold is said by whoever altered them
        yield from (reason + at for reason in wrong)
        return
    if (damage := told.reader.damage()) != "ok":  # by a false index is read what its table does not say
        yield f"expected a file that is whole, got: {damage:.200}{at}"
    for reason in (*_of_chance(told, record), *_of_dates(told)):
        found = True
        yield reason + at
    for table in TABLES:
        columns, key = store.columns(table)
        here, there = (reader.rows(table, told.id, columns, key) for reader in (told.reader, store))
        pairs = _beside(here, there, [columns.index(name) for name in key])
        count = 0
        for reason in _differences(table, columns, key, pairs, names, may_be_empty, near):
            count += 1
            if count <= MOST_FAULTS:
                yield reason + at
        if count > MOST_FAULTS:
            yield f"{count - MOST_FAULTS} more differences in {table}{at}"
        found = found or count > 0
    if not found:  # only then the database is good enough to compute them from it
        yield from (reason + at for reason in _of_fits(told, names))


Row: TypeAlias = tuple[Any, ...]
_OPEN: Final = ("planned", "running")
"""Statuses of a game while it has no result. The comparison of its status is `_of_status`."""


def _beside(
    told: Iterator[Row], expected: Iterator[Row], key: Sequence[int]
) -> Iterator[tuple[Row | None, Row | None]]:
    """Yields the rows of two tables beside each other, by key; None where one has no such row."""
    one, other = next(told, None), next(expected, None)
    while one is not None or other is not None:
        here = None if one is None else [_order(one[index]) for index in key]
        there = None if other is None else [_order(other[index]) for index in key]
        first = here is not None and (there is None or here <= there)
        second = there is not None and (here is None or there <= here)
        yield (one if first else None), (other if second else None)
        one = next(told, None) if first else one
        other = next(expected, None) if second else other


def _order(value: Any) -> tuple[int, Any]:
    """Returns what orders values as SQLite does, whatever their types."""
    if value is None:
        return 0, 0
    return (1, value) if isinstance(value, int | float) else (2, value) if isinstance(value, str) else (3, value)


def _differences(
    table: str,
    columns: Sequence[str],
    key: Sequence[str],
    pairs: Iterator[tuple[Row | None, Row | None]],
    names: Sequence[str],
    may_be_empty: Sequence[str] = (),
    near: Mapping[str, float] = NEAR,
) -> Iterator[str]:
    for one, other in pairs:
        told, expected = (None if row is None else _flat(dict(zip(columns, row, strict=True))) for row in (one, other))
        some = told or expected or {}
        where = f"{table}, {', '.join(_named(name, some[name], names) for name in key if name != 'tournament')}"
        if table == "games" and expected is not None and (wrong := _of_status(told, expected)) is not None:
            if wrong:
                yield f"game {some['id']} {wrong}"
        elif told is None or expected is None:
            yield f"{where}: expected {'a' if told is None else 'no'} row, got {'none' if told is None else 'one'}"
        else:
            for column in expected | told:
                name, here, there = f"{table}.{column}", told.get(column), expected.get(column)
                if here is None and name in may_be_empty:
                    continue
                if name == "seats.numbers" and isinstance(here, dict):  # those of wings that are not loaded stay
                    known = plugs.known_numbers().keys() & here.keys()
                    here, there = ({one: (of or {}).get(one) for one in known} for of in (here, there))
                elif name == "seats.numbers" and here is None:  # stored before a wing brought them
                    continue
                if name not in (*GIVEN, "games.status") and not _same(here, there, near.get(name, EXACT)):
                    yield f"{where}: expected {column} {_apart(there, here)}"


def _flat(row: Payload) -> Payload:
    """Returns a row with each number of a seat, and of its forfeit, as a column. What cannot be read is one column."""
    if "figures" not in row:
        return row
    try:
        figures: Payload = msgspec.json.decode(row["figures"], type=dict[str, Any])
        forfeit: Payload = msgspec.convert(figures.get("forfeit") or {}, dict[str, Any])
    except msgspec.MsgspecError:
        return row
    more = {f"another {key}": figures[key] for key in figures.keys() & (row.keys() | forfeit.keys())}  # else hidden
    told = more | {key: value for key, value in (row | figures).items() if key != "figures"}
    return told | {"forfeit": forfeit.get("code")} | {key: value for key, value in forfeit.items() if key != "code"}


def _apart(expected: object, told: object) -> str:
    """Returns both, long texts from shortly before the place where they differ."""
    one, other = str(expected), str(told)
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    first = max(0, same - 20) if max(len(one), len(other)) > MOST_SHOWN else 0
    more = "…" if first else ""
    return f"{more}{one[first:][:MOST_SHOWN]}, got: {more}{other[first:][:MOST_SHOWN]}"


def _named(column: str, value: object, names: Sequence[str]) -> str:
    is_entrant = column in ("entrant", "one", "other")
    if is_entrant and isinstance(value, int) and 0 <= value < len(names):
        return f"{column} {names[value]}"
    return f"{column} {value!s:.80}"


def _of_status(told: Payload | None, expected: Payload) -> str | None:
    """Returns what is wrong with the status of a game, empty if it has no row because it did not begin; else None."""
    here, there = ("open" if row is None or row["status"] in _OPEN else row["status"] for row in (told, expected))
    if here == there:
        return "" if told is None else None
    if there == "open":
        return f"is {here}, and its log is not there"
    if here == "open":
        return "has no result, and its log is there"
    return f"is {here}, and by its log it {'counts' if there == 'done' else 'is void'}"


def _same(told: Any, expected: Any, near: float) -> bool:
    if isinstance(told, float) or isinstance(expected, float):
        numbers = isinstance(told, int | float) and isinstance(expected, int | float)
        return numbers and math.isclose(told, expected, rel_tol=EXACT, abs_tol=near)
    return bool(told == expected)


def _of_chance(told: Told, record: Record) -> Iterator[str]:
    """Compares the secret and its seed, from which the commitment must follow."""
    committed, salt = record.commitment, record.settings.seed_salt
    if commitment(_secret(told.row["secret"])) != committed.commitment:
        yield "tournaments: expected the secret of the commitment, got: another"
    if (told.row["seed"] is not None) != committed.seeded:
        yield f"tournaments: expected {'a' if committed.seeded else 'no'} seed, got: {told.row['seed']!s:.80}"
    elif told.seed is not None and commitment(seed_secret(told.seed, salt)) != committed.commitment:
        yield "tournaments: expected the seed of the commitment, got: another"


def _of_dates(told: Told) -> Iterator[str]:
    """Compares the dates with each other, and with the one in the identifier."""
    created, finished = told.row["created"], told.row["finished"]
    if not is_date(created) or not (finished is None or (is_date(finished) and created <= finished)):
        yield f"tournaments: expected its beginning, and its end after that, got: {created!s:.80}, {finished!s:.80}"
        return
    yield from of_beginning(told.id, created)
    wrong = 0
    for row in told.table("games"):
        ended = row["finished"]
        is_right = is_date(ended) and created <= ended <= (finished or ended)
        if row["status"] in ("done", "void") and not is_right and (wrong := wrong + 1) <= MOST_FAULTS:
            yield f"game {row['id']}: expected an end between {created} and {finished or 'now'}, got: {ended!s:.80}"


def of_beginning(id: str, created: str) -> Iterator[str]:
    """Yields what is wrong with the date of a tournament's beginning: its day is in the identifier too."""
    with suppress(ValueError):
        begun = datetime.strptime(id[:8], "%Y%m%d").date()
        if not is_date(created) or datetime.fromisoformat(created).date() - begun not in map(timedelta, (0, 1)):
            yield f"expected a tournament created on {begun}, as its identifier says, got: {created:.80}"


def of_definitions(reader: Reader, store: Store) -> Iterator[str]:
    """Yields which tables, views, indexes and triggers of a database are not those that arena defines.

    Another database has these. A view in the place of a table may say something else whenever it is asked.
    """
    told, expected = reader.definitions(), store.definitions()
    for name in sorted(told.keys() | expected.keys()):
        here, there = told.get(name), expected.get(name)
        if there is None:
            yield f"expected nothing but what arena defines, got: the {here and here[0]} {name:.80}"
        elif here is None or (here[0], _text_of(*here)) != (there[0], _text_of(*there)):
            got = "none" if here is None else f"another {here[0]}" if here[0] == there[0] else f"a {here[0]}"
            yield f"{name}: expected the {there[0]} that arena defines, got: {got}"


def _text_of(kind: str, sql: str | None) -> str:
    """Returns a definition as it is compared: earlier versions made tables with other blanks and marks around names."""
    return sql or "" if kind == "view" else re.sub(r'[\s"\[\]`]', "", sql or "")


def _of_fits(told: Told, names: Sequence[str]) -> Iterator[str]:
    """Computes the final ratings again from a database that is right so far, which has earlier tournaments too."""
    columns, key = told.reader.columns(LAST)
    expected = fit_rows(told.reader, report(told.reader, told.id)[0]) if told.is_finished else []
    pairs = _beside(
        told.reader.rows(LAST, told.id, columns, key),
        iter([(told.id, *row) for row in sorted(expected)]),
        [columns.index(name) for name in key],
    )
    yield from _differences(LAST, columns, key, pairs, names)
