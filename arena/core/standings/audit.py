"""Checks a folder of logs as a whole: that it is the tournament that was committed to, and all of it.

Each check supports a promise of the organiser. A fault is named with the log and the line, or with the file.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

import msgspec

from arena.core.errors import ArenaError, LaterVersion, LogError, ReplayMismatch, StoreError
from arena.core.extras import has, install
from arena.core.plugs import NotLoaded
from arena.core.record import compressed
from arena.core.record.log import BEGUN, SUFFIX, begun, find_logs
from arena.core.record.published import (
    COMMITMENT_FILE,
    CONTRIBUTIONS_FILE,
    SECRET_FILE,
    Commitment,
    changed_since,
    sha256_of,
    strange_in,
)
from arena.core.record.receipts import WITHOUT_MARKS
from arena.core.record.result import result_of
from arena.core.referee.beacon import is_signature, round_of
from arena.core.referee.verify import Publication, published_in, verify
from arena.core.standings.disk_table import DiskTable
from arena.core.standings.rebuilt import Record, Told, contradictions, rebuild
from arena.core.standings.verdicts import LATER_DOCUMENT, LATER_LOG, Audit, Fault, settled, void_text
from arena.core.store.reader import Reader
from arena.core.store.records import game_id
from arena.core.store.temporary import temporary_store
from arena.core.tournament.schedule import Schedule
from arena.core.tournament.settings import Settings
from arena.core.types import GameResult, GameSettings, Level, TimeControl

PROMISES: Final[Mapping[str, str]] = {
    "log": "every log is whole, and was played by the rules",
    "commitment": "everything was fixed before the first game, and nothing of it was changed",
    "beacon": "the public value is the one that the commitment names, and came after the date that it gives",
    "deals": "every draw follows from the secret that was committed to",
    "schedule": "every game of the schedule is there once, on its deal and in its seats",
    "bots": "the bots that played are those that were entered",
    "time": "no time is one that the clocks do not allow, and races went by time",
    "secret": "the secret is out, so that anyone can deal again",
    "database": "the database says of the tournament what follows from these logs, and nothing else",
}
"""The promise that each check holds, by its name."""
WHY_NOT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("commitment", "beacon", "schedule", "bots"), f"there is no {COMMITMENT_FILE}"),
    "deals": f"there is no {SECRET_FILE} yet",
    "secret": "only --complete demands it",
    "database": "--db names one",
}
"""Why a check was not made, by its name."""
MOST_GAPS: Final = 5
"""How many missing games are named."""
FEW: Final = 40
"""So few logs are examined sooner than a process is started."""
RECEIPTS_SINCE: Final = 3
"""The first version of CHANCE whose tournaments have receipts in every log."""
CHUNK: Final = 16
"""How many logs a process gets at a time."""


class Examined(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one log after it was checked by itself."""

    path: str
    fault: Fault | None = None
    """What is wrong with it. Without a fault all that follows is known."""
    game: str = ""
    tournament: str | None = None
    deal: int = 0
    rotation: int = 0
    bots: tuple[tuple[str, str, str, TimeControl | None], ...] = ()
    """By seat: name, version, digest, and its own time if it has one."""
    parameters: tuple[dict[str, str], ...] = ()
    """By seat the values of parameters that were chosen."""
    entropy: tuple[str | None, ...] = ()
    """By seat what its bot put into chance."""
    settings_sha256: str = ""
    """Of what was played, the board's text left out."""
    commitment: str = ""
    result: GameResult | None = None
    turns: int = 0
    level: Level = Level.TRUSTED
    draws_checked: bool = False
    attempt: int = 0
    """How often it was begun; 0 if its log does not say."""
    chance: int = 0
    has_receipts: bool = False
    arena: str = ""
    """The version that wrote it."""


def examine(path: str, beside: str | None = None) -> Examined:
    """Checks one log by itself. Workers call it, each for many logs.

    Args:
        path: The log.
        beside: The folder with what is published of its tournament; None means the log's own.
    """
    try:
        verdict = verify(Path(path), _published_in(beside or str(Path(path).parent)))
    except ReplayMismatch as error:
        return Examined(path=path, fault=Fault(error.check, str(error)))
    except LogError as error:
        return Examined(path=path, fault=Fault(LATER_LOG if isinstance(error, LaterVersion) else "log", str(error)))
    header = verdict.log.header
    return Examined(
        path=path,
        game=header.game,
        tournament=header.tournament,
        deal=header.deal,
        rotation=header.rotation,
        bots=tuple((bot.name, bot.version, bot.digest, bot.time) for bot in header.bots),
        parameters=tuple(bot.parameters for bot in header.bots),
        entropy=tuple(bot.entropy for bot in header.bots),
        settings_sha256=played_digest(header.settings),
        commitment=header.commitment,
        result=result_of(header, verdict.log.records, verdict.log.sha256, verdict.margins),
        turns=verdict.turns,
        level=header.level,
        attempt=header.attempt,
        chance=header.chance,
        has_receipts=verdict.log.outcome.receipts is not None,
        draws_checked=verdict.draws_checked,
        arena=header.arena,
    )


def examine_all(paths: Sequence[str], processes: int, beside: str | None = None) -> Iterator[Examined]:
    """Examines many logs on so many processes, and yields each result, in the order of the logs."""
    examiner = partial(examine, beside=beside)
    if processes < 2 or len(paths) < FEW:
        yield from map(examiner, paths)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_leave_signals_to_the_first) as workers:
        yield from workers.map(examiner, paths, chunksize=CHUNK)


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


def played_digest(settings: GameSettings) -> str:
    """Returns the SHA-256 (hex) of what is played, the board's text left out: its hash stands for it."""
    board = settings.board
    short = settings if board is None else msgspec.structs.replace(
        settings, board=msgspec.structs.replace(board, text="")
    )  # fmt: skip
    return sha256_of(short)


class Auditor:
    """Checks a folder as a whole. Give every log of it to `add`, in any order, and then ask for `result`."""

    promises: Mapping[str, str] = PROMISES
    why_not: Mapping[str, str] = WHY_NOT

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
        self._unchecked: dict[str, str] = {}
        self._logs = 0
        self._begun = sum(len(begun(path)) for path in folder.glob(f"*{BEGUN}"))
        self._draws_unchecked = 0
        self._kept = DiskTable(Examined)
        """By its number the first log of each game."""
        self._dealt: dict[int, str] = {}
        """By deal its commitment."""
        try:
            self._published = published_in(folder)
        except LogError as error:
            self._published = Publication(None, None, None)
            self._fault(LATER_DOCUMENT if isinstance(error, LaterVersion) else "commitment", str(error))
        for wrong in self._published.contradictions():
            self._fault("commitment", f"{folder}/{wrong}")
        self._check_beacon()
        for inner in _folders_of_games(folder) if self._published.commitment is not None else ():
            self._fault("schedule", f"{inner}: expected no folder of games among the games of a tournament, got one")
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
        if self._published.commitment is not None:
            self._check_name(Path(log.path), log.game)
        self._draws_unchecked += not log.draws_checked
        noted = len(begun(self._folder / f"{log.game}{SUFFIX}"))
        self._begun += max(log.attempt, noted, 1) - 1 - noted
        before = self._published.commitment
        if before is None or self._schedule is None or self._settings is None:
            return
        if (number := self._identify(log, before)) is not None:
            self._kept.put(number, log)

    def result(self, *, complete: bool = False) -> Audit:
        """Returns what was found. `complete` demands that every game is there and the secret is out."""
        before, secret = self._published.commitment, self._published.secret
        if before is not None and self._schedule is not None and self._settings is not None:
            self._make_again(before, self._schedule, self._settings, complete=complete)
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
        audit = Audit(
            folder=str(self._folder),
            tournament=None if before is None else before.tournament,
            logs=self._logs,
            games=games,
            complete=games is not None and not missing and secret is not None and not self._is_open(),
            checked=tuple(name for name in PROMISES if name in self._checked),
            unchecked=self._unchecked,
            faults=tuple(self._faults),
            begun=self._begun,
            notes=tuple(self._void_notes()),
        )
        return settled(audit)

    def _check_beacon(self) -> None:
        """Holds the beacon's value against the one that the commitment names."""
        beacon, given = self._published.beacon, self._published.contributions
        if wrong := self._published.of_beacon():
            for reason in wrong:
                self._fault("beacon", f"{self._folder}/{reason}")
        elif beacon is None or given is None:
            self._unchecked["beacon"] = "the commitment names none"
        elif (round := round_of(beacon)) is None:
            self._unchecked["beacon"] = f"look up for yourself whether {beacon:.200} gave {given.beacon!r:.200}"
        elif not has("beacon"):
            self._unchecked["beacon"] = f"that needs a package: {install('beacon')}"
        elif is_signature(round, given.beacon):
            self._checked.add("beacon")
        else:
            self._fault(
                "beacon",
                f"{self._folder}/{CONTRIBUTIONS_FILE}: expected the signature of quicknet's round {round}, "
                f"got: {given.beacon!r:.120}",
            )

    def _is_open(self) -> bool:
        return self._schedule is not None and self._schedule.open

    def _make_again(self, before: Commitment, schedule: Schedule, settings: Settings, *, complete: bool) -> None:
        """Stores the tournament anew, if anything follows from that, and holds logs and database against it."""
        given = self._published.contributions
        record = Record(
            commitment=before,
            settings=settings,
            beacon="" if given is None else given.beacon,
            entropy=None if given is None else tuple(given.entropy),
            result=self._result,
        )
        if self._reader is None:
            if not schedule.computed:
                with temporary_store() as store:
                    self._schedule = rebuild(store, record, None)
            self._place_all(self._schedule or schedule, settings)
            return
        self._checked.add("database")
        with self._reader.snapshot(), temporary_store(self._reader) as store:
            try:
                told = Told(self._reader, before.tournament)
            except StoreError as error:
                self._fault("database", str(error))
                told = None
            if told is not None and complete and not told.is_finished:
                self._fault("database", f"{self._reader.path}: it does not say that the tournament is finished")
            if told is not None or not schedule.computed:
                self._schedule = rebuild(store, record, told)
            self._place_all(self._schedule or schedule, settings)
            if told is not None:
                try:
                    for reason in contradictions(told, store, record):
                        self._fault("database", reason)
                except (ValueError, TypeError, KeyError, msgspec.MsgspecError) as error:
                    self._fault("database", f"{self._reader.path}: a row cannot be read: {error}")

    def _result(self, number: int) -> GameResult | None:
        return self._kept[number].result if number in self._kept else None

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
        except NotLoaded:
            raise
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
            if told != follows or any(strange_in(told, follows, what)):
                self._fault("commitment", f"{place}: the {what} does not follow from its settings")
        for strange in strange_in(before.settings, settings.document(), "settings"):
            self._fault("commitment", f"{place}: {strange} is no setting of a tournament")
        self._schedule, self._settings = schedule, settings

    def _compare_commitment(self, before: Commitment, noted: Path | None) -> None:
        """Compares the commitment with what is known of it from elsewhere."""
        place = self._folder / COMMITMENT_FILE
        if noted is not None:
            for change in changed_since(noted, before):
                self._fault("commitment", f"{place}: {change}")

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
        if number in self._kept:
            also = self._kept[number].path
            self._fault("schedule", f"{log.path}:1: game {log.game} is there twice, also as {also}")
            return None
        return number

    def _check_name(self, path: Path, game: str) -> None:
        """Checks that a log is a file of its own under the name of its game."""
        if path.is_symlink():
            self._fault("schedule", f"{path}: expected the file of a log, got: a symbolic link")
        if path.name not in (name := f"{game}{SUFFIX}", name + compressed.SUFFIX):
            self._fault("schedule", f"{path}: expected the log of game {game} under the name {name}, got another name")

    def _place_all(self, schedule: Schedule, settings: Settings) -> None:
        for number in self._kept:
            self._place(number, self._kept[number], schedule, settings)

    def _place(self, number: int, log: Examined, schedule: Schedule, settings: Settings) -> None:
        """Checks that a log is what the schedule says of its game."""
        if not number < schedule.total:
            self._kept.remove(number)
            self._fault("schedule", f"{log.path}:1: {log.game!r:.80} is no game of the schedule")
            return
        if log.chance not in (0, settings.chance):
            self._fault(
                "deals",
                f"{log.path}:1: expected seeds by version {settings.chance} of CHANCE, as the settings say, "
                f"got: version {log.chance}",
            )
        if not log.has_receipts and settings.chance >= RECEIPTS_SINCE:
            self._fault("log", f"{log.path}: expected the receipts that this version of arena writes, got none")
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
        if log.settings_sha256 != played_digest(settings.game):
            self._fault("schedule", f"{log.path}:1: it was not played by the settings of the tournament")
        if self._dealt.setdefault(log.deal, log.commitment) != log.commitment:
            self._fault("deals", f"{log.path}:1: deal {log.deal} has another commitment than in another log")
        given = self._published.contributions
        entropy = {} if given is None else dict(enumerate(given.entropy))
        if log.entropy != (put_in := tuple(entropy.get(entrant) for entrant in game.entrants)):
            self._fault(
                "deals",
                f"{log.path}:1: expected the contributions {put_in} by seat, as {CONTRIBUTIONS_FILE} has them, "
                f"got: {log.entropy}",
            )
        expected = [settings.bots[entrant] for entrant in game.entrants]
        if len(log.bots) != len(expected):
            self._fault("bots", f"{log.path}:1: {len(log.bots)} bots sat there; by the schedule it is {len(expected)}")
            return
        for seat, (bot, entered) in enumerate(zip(log.bots, expected, strict=True)):
            if bot != (scheduled := (entered.own_name, entered.version, entered.digest, entered.time)):
                sat, due = (
                    f"{name} {version} ({digest[:12]}…) with {time or settings.game.time}"
                    for name, version, digest, time in (bot, (entered.name, *scheduled[1:]))
                )
                self._fault("bots", f"{log.path}:1: in seat {seat} sat {sat}; by the schedule it is {due}")
            chosen = entered.parameters | (game.parameters[seat] if game.parameters else {})
            if log.parameters[seat] != chosen:
                self._fault(
                    "bots",
                    f"{log.path}:1: {entered.name} in seat {seat} was sent the parameters {log.parameters[seat]}; "
                    f"by the schedule it is {chosen}",
                )

    def _void_notes(self) -> Iterator[str]:
        """Yields which games do not count because the machine was overloaded."""
        if self._settings is None or self._settings.on_overload != "void":
            return
        losses: Counter[str] = Counter()
        games = unproven = 0
        for log in (self._kept[number] for number in self._kept):
            seats = () if log.result is None else log.result.seats
            whose = [
                bot[0] for bot, one in zip(log.bots, seats, strict=False) if one.forfeit and one.forfeit.overloaded
            ]
            losses.update(whose)
            games += bool(whose)
            unproven += bool(whose) and log.arena in WITHOUT_MARKS
        if games:
            yield void_text(games, losses)
        if unproven:
            yield f"of {unproven} of them no receipt says so: arena wrote none that do before 0.3.0"

    def _missing(self, games: int) -> list[int]:
        return [number for number in range(games) if number not in self._kept]


def _folders_of_games(folder: Path) -> Iterator[Path]:
    """Yields the folders in a folder that hold logs, or what is published of a tournament."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and (find_logs(path) or any(path.rglob(COMMITMENT_FILE))):
            yield path


def _gaps(missing: list[int], games: int) -> str:
    named = ", ".join(map(str, missing[:MOST_GAPS]))
    more = f" and {len(missing) - MOST_GAPS} more" if len(missing) > MOST_GAPS else ""
    return f"{len(missing)} of {games} games of the schedule are missing: number {named}{more}"
