"""Collects what a league has left behind: rows, logs, files. It judges nothing.

It reads the database by itself, as a witness from outside: nothing of the code that writes or sums up is used.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.core import files
from arena.core.errors import LogError, ReplayMismatch
from arena.core.record import compressed
from arena.core.record.log import SUFFIX, ActionRecord, existing_log
from arena.core.record.published import Secret
from arena.core.referee.verify import Publication, verify

_CHUNK: Final = 16


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """A seat of a game that is done."""

    entrant: int
    rank: int
    forfeit: str | None
    overloaded: bool
    sentence: str | None


class Game(msgspec.Struct, frozen=True, kw_only=True):
    """A game of the season."""

    game: str
    number: int
    status: str
    counts: bool
    match: int
    is_published: bool
    """Whether its match is noted as published."""
    deal: int
    seating: tuple[int, ...]
    play_digest: str | None
    log_sha256: str | None
    seats: tuple[Seat, ...]
    """Empty if it is not done."""

    @property
    def is_done(self) -> bool:
        """Whether it has a result."""
        return self.status == "done"

    @property
    def counted(self) -> bool:
        """Whether it moves ratings."""
        return self.is_done and self.counts

    @property
    def ranks(self) -> tuple[int, ...]:
        """By seat."""
        return tuple(seat.rank for seat in self.seats)


class Entrant(msgspec.Struct, frozen=True, kw_only=True):
    """A version in the season."""

    name: str
    mu0: float
    sigma0: float
    mu: float
    """By its last row; `mu0` if it has none."""
    sigma: float
    games: int
    """As its sums say."""
    wins: int
    draws: int
    forfeits: int


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a bot."""

    name: str
    bot: str
    author: str
    state: str
    digest: str
    entrant: int | None
    reason: str
    """Of its last change."""


class FoundLog(msgspec.Struct, frozen=True, kw_only=True):
    """A log of a game."""

    game: str
    fault: str = ""
    """What is wrong with it; then nothing else is known."""
    sha256: str = ""
    play_digest: str = ""
    ranks: tuple[int, ...] = ()
    seats: tuple[str, ...] = ()
    """Who sat where, by name."""
    open: tuple[str, ...] = ()
    """What an attack reported to have worked."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a league has left."""

    tournament: str
    planned: int
    """How many games the season has, by its own row."""
    rated: int
    games: tuple[Game, ...]
    """By number."""
    entrants: tuple[Entrant, ...]
    """By number."""
    pairs: tuple[tuple[int, ...], ...]
    """Deal, one, other, better, equal, worse, as they are stored; in order."""
    versions: tuple[Version, ...]
    logs: tuple[FoundLog, ...]
    public: tuple[str, ...]
    """Of which games the public log is there."""
    unpublished: int
    """How many matches are over and not published."""
    broken: tuple[str, ...]
    """What the database says of itself, if it is not whole."""
    left: tuple[str, ...]
    """Files that only a work in progress has."""


def collect(folder: Path, processes: int = 1) -> Evidence:
    """Collects it from a league that nobody runs.

    Args:
        folder: The league.
        processes: How many read logs.
    """
    database = sqlite3.connect(f"file:{folder / 'league.db'}?mode=ro", uri=True)
    try:
        tournament, planned, rated, secret = database.execute(
            "SELECT id, games, rated, secret FROM tournaments ORDER BY rowid DESC LIMIT 1"
        ).fetchone()
        commitment = hashlib.sha256(bytes.fromhex(secret)).hexdigest()
        published = Publication(None, None, Secret(tournament, secret, commitment))
        return Evidence(
            tournament=tournament,
            planned=planned,
            rated=rated,
            games=tuple(_games(database, tournament)),
            entrants=tuple(_entrants(database, tournament)),
            pairs=tuple(
                database.execute(
                    "SELECT deal, one, other, better, equal, worse FROM pairs WHERE tournament = ?"
                    " ORDER BY deal, one, other",
                    (tournament,),
                ).fetchall()
            ),
            versions=tuple(_versions(database)),
            logs=tuple(_logs(folder / "logs" / tournament, published, processes)),
            public=tuple(sorted(_game_of(path) for path in (folder / "published" / "logs").glob(f"*{SUFFIX}*"))),
            unpublished=_one(database, "SELECT count(*) FROM matches WHERE state <> 'playing' AND published IS NULL"),
            broken=tuple(_broken(database)),
            left=tuple(sorted(_left(folder))),
        )
    finally:
        database.close()


def done_games(database: sqlite3.Connection, first: int = -1) -> list[tuple[str, str, str, str]]:
    """Returns the identifier, play digest, log's SHA-256 and ranks of the games that are done, by number."""
    return database.execute(
        "SELECT id, play_digest, log_sha256, (SELECT json_group_array(rank) FROM"
        " (SELECT rank FROM seats WHERE game = games.id ORDER BY seat)) FROM games"
        " WHERE status = 'done' AND number > ? ORDER BY number",
        (first,),
    ).fetchall()


def _games(database: sqlite3.Connection, tournament: str) -> list[Game]:
    seats: dict[str, list[Seat]] = {}
    for game, entrant, rank, forfeit, overloaded, sentence in database.execute(
        "SELECT game, entrant, rank, forfeit, overloaded, sentence FROM seats ORDER BY game, seat"
    ):
        seat = Seat(entrant=entrant, rank=rank, forfeit=forfeit, overloaded=bool(overloaded), sentence=sentence)
        seats.setdefault(game, []).append(seat)
    return [
        Game(
            game=id,
            number=number,
            status=status,
            counts=bool(counts),
            match=match,
            is_published=bool(published),
            deal=deal,
            seating=msgspec.json.decode(seating, type=tuple[int, ...]),
            play_digest=play_digest,
            log_sha256=log_sha256,
            seats=tuple(seats.get(id, ())),
        )
        for id, number, status, counts, match, published, deal, seating, play_digest, log_sha256 in database.execute(
            "SELECT id, games.number, status, counts, match, published, games.deal, seating, play_digest, log_sha256"
            " FROM games JOIN matches ON matches.tournament = games.tournament AND matches.number = games.match"
            " WHERE games.tournament = ? ORDER BY games.number",
            (tournament,),
        )
    ]


def _entrants(database: sqlite3.Connection, tournament: str) -> list[Entrant]:
    rows = database.execute(
        "SELECT name, mu0, sigma0, coalesce(mu, mu0), coalesce(sigma, sigma0),"
        " coalesce(games, 0), coalesce(wins, 0), coalesce(draws, 0), coalesce(forfeits, 0)"
        " FROM entrants LEFT JOIN ratings AS last ON last.tournament = entrants.tournament"
        " AND last.entrant = entrants.number AND last.number = (SELECT max(number) FROM ratings"
        " WHERE tournament = entrants.tournament AND entrant = entrants.number)"
        " LEFT JOIN tallies ON tallies.tournament = entrants.tournament AND tallies.entrant = entrants.number"
        " WHERE entrants.tournament = ? ORDER BY entrants.number",
        (tournament,),
    )
    names = Entrant.__struct_fields__
    return [Entrant(**dict(zip(names, row, strict=True))) for row in rows]


def _versions(database: sqlite3.Connection) -> list[Version]:
    rows = database.execute(
        "SELECT bots.name || '/' || versions.number, bots.name, authors.name, state, digest, entrant,"
        " coalesce((SELECT reason FROM changes WHERE version = versions.id ORDER BY id DESC LIMIT 1), '')"
        " FROM versions JOIN bots ON bots.id = versions.bot JOIN authors ON authors.id = bots.author"
        " ORDER BY versions.id"
    )
    names = Version.__struct_fields__
    return [Version(**dict(zip(names, row, strict=True))) for row in rows]


def _logs(folder: Path, published: Publication, processes: int) -> list[FoundLog]:
    """Verifies every log in a folder: there is one for each game, compressed or not."""
    games = sorted({_game_of(path) for path in folder.glob(f"*{SUFFIX}*") if path.name != "deals.jsonl"})
    paths = [existing_log(folder / f"{game}{SUFFIX}") for game in games]
    if processes == 1:
        return [examine(path, published=published) for path in paths]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context) as pool:
        return list(pool.map(partial(examine, published=published), paths, chunksize=_CHUNK))


def examine(path: Path, *, published: Publication) -> FoundLog:
    """Plays a log again, deals again from the secret, and returns what it says."""
    game = _game_of(path)
    try:
        data = files.read(path, "a log", files.MOST_LOG, LogError)
        if compressed.is_compressed(data):
            data = compressed.expand(data, str(path))
        log = verify(path, published).log
    except (LogError, ReplayMismatch) as error:
        return FoundLog(game=game, fault=str(error))
    if log.header.game != game:
        return FoundLog(game=game, fault=f"it is that of game {log.header.game}")
    notes = [record.note or "" for record in log.records if isinstance(record, ActionRecord)]
    words = [word for note in notes for word in note.splitlines()]
    return FoundLog(
        game=game,
        sha256=hashlib.sha256(data).hexdigest(),
        play_digest=log.outcome.play_digest,
        ranks=tuple(log.outcome.ranks),
        seats=tuple(bot.name for bot in log.header.bots),
        open=tuple(word for word in words if word.startswith("OPEN ") and "off turn" not in word),
    )


def _game_of(path: Path) -> str:
    return path.name.partition(".")[0]


def _broken(database: sqlite3.Connection) -> list[str]:
    whole = [row[0] for row in database.execute("PRAGMA integrity_check").fetchall()]
    foreign = [f"a row of {row[0]} refers to none of {row[2]}" for row in database.execute("PRAGMA foreign_key_check")]
    return ([] if whole == ["ok"] else whole) + foreign


def _left(folder: Path) -> list[str]:
    """Returns the files of orders and uploads that were not seen to, of writes that never ended, and sockets."""
    orders = [path for name in ("inbox", "incoming") for path in (folder / name).rglob("*") if path.is_file()]
    others = [path for path in folder.rglob("*") if path.suffix == ".part" or path.is_socket()]
    return [str(path.relative_to(folder)) for path in {*orders, *others}]


def _one(database: sqlite3.Connection, query: str) -> Any:
    return database.execute(query).fetchone()[0]
