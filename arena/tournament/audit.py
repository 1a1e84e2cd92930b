"""Checks a folder of logs as a whole: that it is the tournament that was committed to, and all of it.

Each check supports a promise of the organiser. A fault is named with the log and the line, or with the file.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from arena.errors import ArenaError, LogError, ReplayMismatch
from arena.ratings.pairs import PairResult, add_up, pairs_of
from arena.ratings.running import Rating, rate
from arena.record.log import ForfeitRecord, Log
from arena.record.published import COMMITMENT_FILE, SECRET_FILE, Commitment, published, sha256_of
from arena.referee.verify import Publication, published_in, verify
from arena.store.reader import Reader
from arena.store.records import GameRow, game_id
from arena.tournament.planner import collect, round_result
from arena.tournament.schedule import Schedule
from arena.tournament.settings import Settings
from arena.types import GameSettings, Level, Ranks

PROMISES: Final[Mapping[str, str]] = {
    "log": "every log is whole, and was played by the rules",
    "commitment": "everything was fixed before the first game, and nothing of it was changed",
    "deals": "every draw follows from the secret that was committed to",
    "schedule": "every game of the schedule is there once, on its deal and in its seats",
    "bots": "the bots that played are those that were entered",
    "time": "no time is one that the clocks do not allow, and races went by time",
    "secret": "the secret is out, so that anyone can deal again",
    "database": "the database holds these games, their results and the ratings that follow",
}
"""What each check is for."""
MOST_GAPS: Final = 5
"""How many missing games are named."""
FEW: Final = 40
"""So few logs are examined sooner than a process is started."""
CHUNK: Final = 16
"""How many logs a process gets at a time."""


class Fault(msgspec.Struct, frozen=True):
    """Something that a check found."""

    check: str
    """Its key in `PROMISES`."""
    reason: str
    """What is wrong, and where."""


class Examined(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one log after it was checked by itself."""

    path: str
    fault: Fault | None = None
    """What is wrong with it. Without a fault all that follows is known."""
    game: str = ""
    tournament: str | None = None
    deal: int = 0
    rotation: int = 0
    bots: tuple[tuple[str, str, str], ...] = ()
    """By seat: name, version and digest."""
    settings_sha256: str = ""
    """Of what was played, the board's text left out."""
    commitment: str = ""
    ranks: Ranks = ()
    termination: str = ""
    play_digest: str = ""
    sha256: str = ""
    turns: int = 0
    level: Level = Level.TRUSTED
    overloaded: bool = False
    """Whether a seat lost on time because the machine was overloaded, as the log says."""
    draws_checked: bool = False


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one folder."""

    folder: str
    tournament: str | None
    """Its identifier, or None if no commitment says what the folder should hold."""
    logs: int
    games: int | None
    """How many games the schedule has."""
    complete: bool
    """Whether every game is there and the secret is out."""
    checked: tuple[str, ...]
    """The checks that were made."""
    faults: tuple[Fault, ...]


def examine(path: str) -> Examined:
    """Checks one log by itself. Workers call it, each for many logs."""
    try:
        verdict = verify(Path(path), _published_in(str(Path(path).parent)))
    except ReplayMismatch as error:
        return Examined(path=path, fault=Fault(error.check, str(error)))
    except LogError as error:
        return Examined(path=path, fault=Fault("log", str(error)))
    header, outcome = verdict.log.header, verdict.log.outcome
    return Examined(
        path=path,
        game=header.game,
        tournament=header.tournament,
        deal=header.deal,
        rotation=header.rotation,
        bots=tuple((bot.name, bot.version, bot.digest) for bot in header.bots),
        settings_sha256=_played(header.settings),
        commitment=header.commitment,
        ranks=tuple(outcome.ranks),
        termination=outcome.termination,
        play_digest=outcome.play_digest,
        sha256=verdict.log.sha256,
        turns=verdict.turns,
        level=header.level,
        overloaded=_is_overloaded(verdict.log),
        draws_checked=verdict.draws_checked,
    )


def examine_all(paths: Sequence[str], processes: int) -> Iterator[Examined]:
    """Examines many logs on so many processes, and yields each result, in the order of the logs."""
    if processes < 2 or len(paths) < FEW:
        yield from map(examine, paths)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_leave_signals_to_the_first) as workers:
        yield from workers.map(examine, paths, chunksize=CHUNK)


def _leave_signals_to_the_first() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@lru_cache(maxsize=16)
def _published_in(folder: str) -> Publication:
    """Reads what is published once for all logs of a folder. What is wrong with it is told once, for the folder."""
    try:
        found = published_in(Path(folder))
    except LogError:
        return Publication(None, None, None)
    return Publication(found.commitment, None, None) if found.contradictions() else found


def _is_overloaded(log: Log) -> bool:
    return any(
        forfeit.overloaded for record in log.records if isinstance(record, ForfeitRecord) for forfeit in record.forfeits
    )


def _played(settings: GameSettings) -> str:
    board = settings.board
    short = settings if board is None else msgspec.structs.replace(
        settings, board=msgspec.structs.replace(board, text="")
    )  # fmt: skip
    return sha256_of(short)


class Auditor:
    """Checks a folder as a whole. Give every log of it to `add`, in any order, and then ask for `result`."""

    def __init__(self, folder: Path, reader: Reader | None = None, noted: Path | None = None) -> None:
        """Reads what is published in the folder.

        Args:
            folder: The folder.
            reader: The database to compare with, if any.
            noted: A copy of the commitment.json from before the first game, if there is one elsewhere.

        Raises:
            LogError: `noted` cannot be read.
        """
        self._folder = folder
        self._reader = reader
        self._faults: list[Fault] = []
        self._checked = {"log", "time"}
        self._logs = 0
        self._draws_unchecked = 0
        self._found: dict[int, str] = {}
        """By its number the first log of each game."""
        self._kept: dict[int, Examined] = {}
        """The same logs, if games depend on results: they are placed when all are known."""
        self._dealt: dict[int, str] = {}
        """By deal its commitment."""
        self._void: dict[int, str] = {}
        """By its number the SHA-256 of the log of each game that is void."""
        try:
            self._published = published_in(folder)
        except LogError as error:
            self._published = Publication(None, None, None)
            self._fault("commitment", str(error))
        for wrong in self._published.contradictions():
            self._fault("commitment", f"{folder}/{wrong}")
        self._schedule: Schedule | None = None
        self._settings: Settings | None = None
        if self._published.commitment is not None:
            self._checked |= {"commitment", "schedule", "bots"}
            try:
                self._read_commitment(self._published.commitment)
                self._compare_commitment(self._published.commitment, noted)
            except RecursionError:
                self._fault("commitment", f"{folder / COMMITMENT_FILE}: the values in it nest too deeply")

    def add(self, log: Examined) -> None:
        """Takes a log that was examined."""
        self._logs += 1
        if log.fault is not None:
            self._faults.append(log.fault)
            return
        self._draws_unchecked += not log.draws_checked
        before = self._published.commitment
        if before is None or self._schedule is None or self._settings is None:
            return
        number = self._identify(log, before)
        if number is None:
            return
        if self._schedule.computed:
            self._place(number, log, self._schedule, self._settings)
        else:
            self._kept[number] = log

    def result(self, *, complete: bool = False) -> Audit:
        """Returns what was found. `complete` demands that every game is there and the secret is out."""
        before, secret = self._published.commitment, self._published.secret
        if self._schedule is not None and self._settings is not None and not self._schedule.computed:
            self._plan_again(self._schedule)
            for number, log in sorted(self._kept.items()):
                self._place(number, log, self._schedule, self._settings)
        games = self._schedule.total if self._schedule is not None else None
        missing = [] if games is None else self._missing(games)
        if secret is not None and not self._draws_unchecked:
            self._checked.add("deals")
        if self._is_open() and (complete or secret is not None):
            self._fault("schedule", f"{self._folder}: by these results the tournament goes on after game {games}")
        if missing and (complete or secret is not None):
            self._fault("schedule", f"{self._folder}: {_gaps(missing, games or 0)}")
        if complete:
            self._checked.add("secret")
            if before is None:
                self._fault("commitment", f"{self._folder}: expected a {COMMITMENT_FILE}, got none")
            if secret is None:
                self._fault("secret", f"{self._folder}: expected a {SECRET_FILE}, got none: the secret is not revealed")
        if self._reader is not None and before is not None:
            self._checked.add("database")
            self._compare(self._reader, before.tournament)
        return Audit(
            folder=str(self._folder),
            tournament=None if before is None else before.tournament,
            logs=self._logs,
            games=games,
            complete=games is not None and not missing and secret is not None and not self._is_open(),
            checked=tuple(name for name in PROMISES if name in self._checked),
            faults=tuple(self._faults),
        )

    def _is_open(self) -> bool:
        return self._schedule is not None and self._schedule.open

    def _plan_again(self, schedule: Schedule) -> None:
        """Plans every round again that follows from the logs."""
        ratings: dict[int, Rating] = {}
        while schedule.open:
            if (awaited := schedule.awaited) is None:
                schedule.plan()
                continue
            pairs: list[PairResult] = []
            for number in range(awaited.first_game, awaited.end):
                log = self._kept.get(number)
                entrants = schedule.game(number).entrants
                if log is None or len(log.ranks) != len(entrants):
                    return
                if self._is_void(log):
                    continue
                before = [ratings.get(entrant, Rating()) for entrant in entrants]
                ratings.update(zip(entrants, rate(before, log.ranks), strict=True))
                pairs += pairs_of(log.deal, entrants, log.ranks)
            meetings = collect(awaited, add_up(pairs))
            schedule.take(round_result(awaited, meetings, lambda entrant: ratings.get(entrant, Rating()).mu))

    def _is_void(self, log: Examined) -> bool:
        """Says whether a game does not count by the settings of the tournament."""
        return log.overloaded and self._settings is not None and self._settings.on_overload == "void"

    def _fault(self, check: str, reason: str) -> None:
        self._checked.add(check)
        self._faults.append(Fault(check, reason))

    def _read_commitment(self, before: Commitment) -> None:
        place = self._folder / COMMITMENT_FILE
        for name, document, digest in (
            ("settings", before.settings, before.settings_sha256),
            ("schedule", before.schedule, before.schedule_sha256),
        ):
            if sha256_of(document) != digest:
                self._fault("commitment", f"{place}: {name}_sha256 is not the digest of its {name}")
        try:
            settings = Settings.read(before.settings)
            schedule = settings.schedule(before.commitment)
        except (ValueError, ArenaError) as error:
            self._fault("commitment", f"{place}: its settings are no tournament's: {error}")
            return
        entered = [(bot.name, bot.version, bot.digest) for bot in settings.bots]
        plan = settings.plan_document()
        deals = settings.format.deals_in_all(len(settings.bots), settings.game.players)
        for what, told, follows in (
            ("schedule", before.schedule, plan),
            ("number of deals", before.deals, deals),
            ("number of games", before.games, plan["games"]),
            ("bots", [(bot.name, bot.version, bot.digest) for bot in before.bots], entered),
        ):
            if told != follows:
                self._fault("commitment", f"{place}: the {what} does not follow from its settings")
        self._schedule, self._settings = schedule, settings

    def _compare_commitment(self, before: Commitment, noted: Path | None) -> None:
        """Compares the commitment with what is known of it from elsewhere."""
        place = self._folder / COMMITMENT_FILE
        if noted is not None:
            was = published(noted.parent, noted.name, Commitment)
            for name in Commitment.__struct_fields__:
                expected, got = getattr(was, name), getattr(before, name)
                if expected != got:
                    self._fault(
                        "commitment", f"{place}: expected the {name} of {noted}, {expected!s:.80}, got: {got!s:.80}"
                    )
        if self._reader is not None and self._reader.has(before.tournament):
            row = self._reader.tournament(before.tournament)
            settings = {key: value for key, value in row.settings.items() if key != "seed"}
            for what, stored, told in (
                ("commitment", row.commitment, before.commitment),
                ("settings", settings, before.settings),
            ):
                if stored != told:
                    self._fault(
                        "commitment",
                        f"{place}: expected the {what} that {self._reader.path} has, {stored!s:.80}, got: {told!s:.80}",
                    )

    def _identify(self, log: Examined, before: Commitment) -> int | None:
        """Returns the number of the game that a log is of, if it is the tournament's and the only log of the game."""
        if log.tournament != before.tournament:
            self._fault("schedule", f"{log.path}:1: a log of tournament {log.tournament}, not of {before.tournament}")
            return None
        tail = log.game.rpartition("-")[2]
        number = int(tail) if tail.isascii() and tail.isdigit() and len(tail) < 12 else -1
        if log.game != game_id(before.tournament, number):
            self._fault("schedule", f"{log.path}:1: {log.game!r:.80} is no game of the schedule")
            return None
        if number in self._found:
            self._fault("schedule", f"{log.path}:1: game {log.game} is there twice, also as {self._found[number]}")
            return None
        self._found[number] = log.path
        return number

    def _place(self, number: int, log: Examined, schedule: Schedule, settings: Settings) -> None:
        """Checks that a log is what the schedule says of its game."""
        if not number < schedule.total:
            del self._found[number]
            self._fault("schedule", f"{log.path}:1: {log.game!r:.80} is no game of the schedule")
            return
        if self._is_void(log):
            self._void[number] = log.sha256
        if self._reader is not None and (row := self._reader.game(log.game)) is not None:
            self._faults += _differences(row, log)
        if log.level != settings.level:
            self._fault(
                "bots",
                f"{log.path}:1: its bots ran at level {log.level}; by the settings of the tournament it is "
                f"{settings.level}",
            )
        game = schedule.game(number)
        if (log.deal, log.rotation) != (game.deal, game.rotation):
            self._fault(
                "schedule",
                f"{log.path}:1: game {log.game} was played on deal {log.deal} in rotation {log.rotation}; "
                f"by the schedule it is deal {game.deal}, rotation {game.rotation}",
            )
        if log.settings_sha256 != _played(settings.game):
            self._fault("schedule", f"{log.path}:1: it was not played by the settings of the tournament")
        if self._dealt.setdefault(log.deal, log.commitment) != log.commitment:
            self._fault("deals", f"{log.path}:1: deal {log.deal} has another commitment than in another log")
        expected = [settings.bots[entrant] for entrant in game.entrants]
        if len(log.bots) != len(expected):
            self._fault("bots", f"{log.path}:1: {len(log.bots)} bots sat there; by the schedule it is {len(expected)}")
            return
        for seat, (bot, entered) in enumerate(zip(log.bots, expected, strict=True)):
            # The header has a bot's own name: two entries of one bot differ only in the names that they are given.
            own = entered.name.partition("#")[0]
            if bot != (own, entered.version, entered.digest):
                self._fault(
                    "bots",
                    f"{log.path}:1: in seat {seat} sat {bot[0]} {bot[1]} ({bot[2][:12]}…); "
                    f"by the schedule it is {entered.name} {entered.version} ({entered.digest[:12]}…)",
                )

    def _missing(self, games: int) -> list[int]:
        if len(self._found) == games:
            return []
        return [number for number in range(games) if number not in self._found]

    def _compare(self, reader: Reader, tournament: str) -> None:
        """Compares which games there are, and plays the ratings again. Each log was compared when it came."""
        with reader.snapshot():
            if not reader.has(tournament):
                self._fault("database", f"{reader.path}: expected tournament {tournament}, got none")
                return
            entrants = reader.entrants(tournament)
            again = [entrant.start for entrant in entrants]
            told, done = reader.tournament(tournament), set()
            for row in reader.games(tournament):
                done.add(row.number)
                if row.number in self._void:
                    self._fault("database", f"{reader.path}: game {row.game} counts, and by its log it is void")
                if row.number not in self._found:
                    self._fault("database", f"{reader.path}: game {row.game} is done, and its log is not there")
                if row.number < told.rated:
                    after = rate([again[entrant] for entrant in row.entrants], row.ranks)
                    for entrant, rating in zip(row.entrants, after, strict=True):
                        again[entrant] = rating
            done |= self._compare_void(reader, tournament)
            # Of one that goes on, a game may have ended whose result was not stored: it will be played again.
            for number in sorted(self._found.keys() - done) if told.status == "finished" else ():
                self._fault("database", f"{self._found[number]}: {reader.path} knows of no such result")
            for bot, rating, stored in zip(entrants, again, reader.ratings(tournament), strict=True):
                if abs(rating.mu - stored.mu) > 1e-9 or abs(rating.sigma - stored.sigma) > 1e-9:
                    self._fault(
                        "database",
                        f"{reader.path}: by these games {bot.name} has mu {rating.mu:.3f}, sigma {rating.sigma:.3f}; "
                        f"the database says {stored.mu:.3f}, {stored.sigma:.3f}",
                    )

    def _compare_void(self, reader: Reader, tournament: str) -> set[int]:
        """Compares the games that are void. Returns their numbers."""
        stored = reader.played_void(tournament)
        for number, (game, sha256) in stored.items():
            if number not in self._found:
                self._fault("database", f"{reader.path}: game {game} was played and is void, and its log is not there")
            elif (log := self._void.get(number)) is None:
                self._fault("database", f"{reader.path}: game {game} is void, and by its log it counts")
            elif log != sha256:
                self._fault("database", f"{reader.path}: the SHA-256 of the log of void game {game} is another, {log}")
        return set(stored)


def _differences(row: GameRow, log: Examined) -> Iterator[Fault]:
    for what, stored, logged in (
        ("SHA-256 of the log", row.log_sha256, log.sha256),
        ("play digest", row.play_digest, log.play_digest),
        ("termination", row.termination, log.termination),
        ("ranks", list(row.ranks), list(log.ranks)),
    ):
        if stored != logged:
            yield Fault("database", f"{log.path}: the {what} is {logged}, the database says {stored}")


def _gaps(missing: list[int], games: int) -> str:
    named = ", ".join(map(str, missing[:MOST_GAPS]))
    more = f" and {len(missing) - MOST_GAPS} more" if len(missing) > MOST_GAPS else ""
    return f"{len(missing)} of {games} games of the schedule are missing: number {named}{more}"
