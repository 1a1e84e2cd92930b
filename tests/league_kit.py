"""A league's database for tests: submissions, their way to the first game, and matches whose results are chosen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

from arena.core.referee.chance import commitment
from arena.core.store.records import Claim, Tournament, canonical, game_id
from arena.core.types import Forfeit, GameResult, SeatResult, Termination
from arena.league.store import LeagueStore, open_league
from arena.league.store.records import HOUSE, Match, Season, Version
from arena.league.store.states import Actor, State

AT = "2026-01-01T12:00:00+00:00"
GAME = {
    "rules": "samurai",
    "rules_version": 1,
    "ruleset": "standard",
    "options": {"setup": "draft"},
    "players": 2,
    "time": {"bank_ms": 10_000, "increment_ms": 100, "limit_ms": None},
    "board": {"name": "Japan", "hash": "00"},
}


def tournament(folder: Path, id: str = "cup-1") -> Tournament:
    """What a season's tournament is before its first game."""
    secret = hashlib.sha256(id.encode()).digest()
    settings = {"format": "league", "game": GAME, "games": [GAME, GAME | {"players": 3}], "level": "isolated"}
    return Tournament(
        id=id,
        created=AT,
        settings=settings,
        digest=hashlib.sha256(canonical(settings).encode()).hexdigest(),
        seed=None,
        secret=secret,
        commitment=commitment(secret),
        logs=str(folder / "logs"),
        games=0,
        open=True,
    )


@cache
def empty() -> bytes:
    """A database of a league without anything in it. To make one takes a disk longer than most tests."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "league.db"
        with open_league(path):
            pass
        return path.read_bytes()


@contextmanager
def opened(folder: Path) -> Iterator[LeagueStore]:
    """The database in a folder, which is made if it is not there. These tests pull no plug, so nothing is synced."""
    path = folder / "league.db"
    if not path.exists():
        path.write_bytes(empty())
    with open_league(path) as store:
        store._db.execute("PRAGMA synchronous = OFF")
        yield store


@contextmanager
def league(folder: Path, *authors: str) -> Iterator[LeagueStore]:
    """A league with an open season, the house's two bots, and some authors."""
    with opened(folder) as store:
        with store.transaction():
            for name in (HOUSE, *authors):
                store.authors.add(name)
            store.seasons.open("first", tournament(folder))
            for bot in ("random", "greedy"):
                play_on(store, submit(store, bot, author=HOUSE))
        yield store


def submit(store: LeagueStore, bot: str, content: str = "", *, author: str = "anna") -> Version:
    """Receives a version of a bot."""
    digest = hashlib.sha256(f"{bot}/{content}".encode()).hexdigest()
    return store.versions.receive(author, bot, digest, {"name": bot, "version": content}, 1000, AT).version


def play_on(store: LeagueStore, version: Version, until: State = State.ACTIVE) -> Version:
    """Takes a version through the steps, as far as a state."""
    steps = (State.BUILDING, State.CHECKING, State.QUALIFYING, State.ACTIVE)
    with store.transaction():
        for step in steps[: steps.index(until) + 1]:
            version = store.versions.change(version.id, step, Actor.SERVICE, "")
    return version


def active(store: LeagueStore, bot: str, content: str = "", *, author: str = "anna") -> Version:
    """A new version of a bot that plays."""
    return play_on(store, submit(store, bot, content, author=author))


def plan(store: LeagueStore, *entrants: Version, rated: bool = True) -> Match:
    """A match of these versions in all seatings."""
    numbers = [version.entrant for version in entrants if version.entrant is not None]
    seatings = list(permutations(numbers)) if len(numbers) == 2 else [tuple(numbers)]
    return store.matches.plan([seatings], "a test", rated)[0]


def season(store: LeagueStore) -> Season:
    """The open one."""
    found = store.seasons.current()
    assert found is not None
    return found


def claim(store: LeagueStore, limit: int = 1) -> list[Claim]:
    """The next games."""
    return store.games.claim(season(store).tournament, store.matches.game, limit)


def record(store: LeagueStore, claimed: Claim, forfeits: Sequence[int] = (), *, overloaded: bool = False) -> GameResult:
    """Stores a result: the lower number wins, but for those that forfeit."""
    entrants = store.matches.game(claimed.number).entrants
    points = [-1 if entrant in forfeits else 1000 - entrant for entrant in entrants]
    result = GameResult(
        game=game_id(claimed.tournament, claimed.number),
        termination=Termination.CRASHED if forfeits else Termination.FINISHED,
        seats=tuple(
            SeatResult(
                rank=1 + sum(other > mine for other in points),
                decisions=10,
                total_ms=20.0,
                max_ms=4.0,
                forfeit=Forfeit(
                    seat=seat,
                    code=Termination.CRASHED,
                    sentence=f"seat {seat} ended",
                    turn=7,
                    stderr=("oh",),
                    overloaded=overloaded,
                )
                if entrants[seat] in forfeits
                else None,
            )
            for seat, mine in enumerate(points)
        ),
        turns=20,
        actions=30,
        seconds=0.25,
        play_digest=hashlib.sha256(claimed.game.encode()).hexdigest(),
        log=f"{claimed.game}.jsonl",
        log_sha256="00",
    )
    store.games.record(claimed, result, entrants, 0.25)
    return result


def publish(store: LeagueStore) -> None:
    """Notes all that is over as published, as a season demands at its end."""
    for match in store.matches.over():
        store.matches.publish(match.number)


def play(store: LeagueStore, *entrants: Version, rated: bool = True, forfeits: Sequence[int] = ()) -> Match:
    """Plays a match to its end."""
    match = plan(store, *entrants, rated=rated)
    for _ in match.games:
        [claimed] = claim(store)
        record(store, claimed, forfeits)
    return match
