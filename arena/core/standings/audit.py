"""Checks a folder of logs as a whole: that it is the tournament that was committed to, and all of it.

Each check supports a promise of the organiser. A fault is named with the log and the line, or with the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec

from arena.core import plugs
from arena.core.errors import ArenaError, LogError, StoreError, Unchecked
from arena.core.extras import has, install
from arena.core.record import compressed
from arena.core.record.log import BEGUN, SUFFIX, begun, find_logs
from arena.core.record.published import (
    COMMITMENT_FILE,
    CONTRIBUTIONS_FILE,
    CORRECTIONS_FILE,
    SECRET_FILE,
    Commitment,
    Corrections,
    changed_since,
    is_date,
    published,
    sha256_of,
    strange_in,
)
from arena.core.referee.beacon import is_signature, round_of
from arena.core.referee.verify import Publication, published_in
from arena.core.standings.examined import Examined, ExaminedLogs, played_digest
from arena.core.standings.rebuilt import Record, Told, contradictions, of_beginning, rebuild
from arena.core.standings.verdicts import UNCHECKED_DOCUMENT, Audit, Fault, settled, struck_text, void_text
from arena.core.store.reader import Reader
from arena.core.store.records import game_id
from arena.core.store.temporary import temporary_store
from arena.core.text import plain
from arena.core.tournament.formats import format_of
from arena.core.tournament.schedule import Schedule
from arena.core.tournament.settings import Settings
from arena.core.types import TimeControl

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
MOST_GAPS: Final = 5  # how many missing games are named
RECEIPTS_SINCE: Final = 3  # the first version of CHANCE whose tournaments have receipts in every log


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What the log of a game must say, by what is published of its tournament."""

    deal: int
    rotation: int
    bots: tuple[tuple[str, str, str, TimeControl | None], ...]
    """Bots by seat: name, version, digest, and its own time if it has one."""
    names: tuple[str, ...]
    """Names by seat, as the tournament calls them."""
    settings_sha256: str
    """Digest of what is played, the board's text left out."""
    level: str
    chance: int
    """The version of CHANCE by which seeds follow."""
    parameters: tuple[dict[str, str], ...]
    entropy: tuple[str | None, ...]
    """Contribution of each seat's bot to chance."""


class Auditor:
    """Checks a folder as a whole. Give every log of it to `add`, in any order, and then ask for `result`."""

    promises: Mapping[str, str] = PROMISES
    why_not: Mapping[str, str] = WHY_NOT
    of: Literal["tournament", "season"] = "tournament"

    def __init__(self, folder: Path, reader: Reader | None = None, noted: Path | None = None) -> None:
        """Reads what is published in the folder.

        Args:
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
        self._certain: set[str] = set()
        self._is_read, self._is_numbered = True, False
        """Whether each published file could be read; and whether the commitment has a `format` (since 0.3.0)."""
        self._logs = 0
        self._begun = sum(len(begun(path)) for path in folder.glob(f"*{BEGUN}"))
        self._draws_unchecked = 0
        self._kept = ExaminedLogs()  # by its number the first log of each game
        self._dealt: dict[int, str] = {}  # by deal its commitment
        self._corrections: Corrections | None = None
        try:
            self._published = published_in(folder)
            self._corrections = published(folder, CORRECTIONS_FILE, Corrections)
            if (commitment := self._earlier_commitment(folder)) is not None:
                self._published = msgspec.structs.replace(self._published, commitment=commitment)
            elif self._published.commitment is not None:
                self._is_numbered = self._published.commitment.format > 0
        except LogError as error:
            self._published, self._is_read = Publication(None, None, None), False
            self._fault(UNCHECKED_DOCUMENT if isinstance(error, Unchecked) else "commitment", str(error))
        for wrong in self._published.contradictions():
            self._fault("commitment", f"{folder}/{wrong}")
        for inner in sorted(folder.iterdir()) if self._published.commitment is not None else ():
            if inner.is_dir() and (find_logs(inner) or any(inner.rglob(COMMITMENT_FILE))):
                self._fault("schedule", f"{inner}: expected no folder of games among games of a tournament, got one")
        self._schedule: Schedule | None = None
        self._settings: Settings | None = None
        self._played_sha256 = ""
        if self._published.commitment is not None:
            self._checked |= {"commitment", "schedule", "bots"}
            try:
                self._read_commitment(self._published.commitment)
            except RecursionError:
                self._fault("commitment", f"{folder / COMMITMENT_FILE}: the values in it nest too deeply")
        for change in () if noted is None else changed_since(noted, self._committed_in()):
            self._fault("commitment", f"{self._committed_in()}: {change}")
            self._certain = {"commitment"}

    def _committed_in(self) -> Path:
        """Returns the file with what was committed to."""
        return self._folder / COMMITMENT_FILE

    def _earlier_commitment(self, folder: Path) -> Commitment | None:
        """Returns what was committed to, if an earlier version of arena wrote it in another file."""
        return None

    def add(self, log: Examined) -> None:
        """Takes a log that was examined."""
        self._logs += 1
        if log.fault is not None:
            self._faults.append(log.fault)
            return
        if self._published.commitment is not None:
            self._check_name(Path(log.path), log.head.game)
        self._draws_unchecked += not log.draws_checked
        noted = len(begun(self._folder / f"{log.head.game}{SUFFIX}"))
        self._begun += max(log.head.attempt, noted, 1) - 1 - noted
        before = self._published.commitment
        if before is not None and self._games() is not None and (number := self._identify(log, before)) is not None:
            self._kept.put(number, log)

    def result(self, *, complete: bool = False) -> Audit:
        """Returns what was found. `complete` demands that every game is there and the secret is out."""
        before, secret = self._published.commitment, self._published.secret
        self._check_beacon()
        if before is not None and self._games() is not None:
            self._make_again(before, complete=complete)
        games = self._games()
        missing = [] if games is None else self._missing(games)
        if secret is not None and not self._draws_unchecked:
            self._checked.add("deals")
        if self._is_open() and not missing and (complete or secret is not None):
            self._fault("schedule", f"{self._folder}: by these results the {self.of} goes on after game {games}")
        self._check_missing(missing, games or 0, complete=complete)
        if before is None and self._is_read and (complete or self._reader is not None):
            self._fault("commitment", f"{self._folder}: expected a {COMMITMENT_FILE}, got none")
        if complete:
            self._checked.add("secret")
            if secret is None and self._is_read:
                self._fault("secret", f"{self._folder}: expected a {SECRET_FILE}, got none: the secret is not revealed")
        audit = Audit(
            folder=str(self._folder), tournament=None if before is None else before.tournament, logs=self._logs,
            games=games, complete=games is not None and not missing and secret is not None and not self._is_open(),
            checked=tuple(name for name in self.promises if name in self._checked), unchecked=self._unchecked,
            faults=tuple(self._faults), struck=0 if self._corrections is None else len(self._corrections.struck()),
            begun=self._begun, notes=tuple(self._notes()), of=self.of,
        )  # fmt: skip
        return settled(audit, self._certain)

    def _check_beacon(self) -> None:
        beacon, given = self._published.beacon, self._published.contributions
        if beacon is not None and given is None and not self._logs:
            self._unchecked["beacon"] = f"no game has begun: the value of {beacon:.200} is awaited"
        elif wrong := self._published.of_beacon():
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

    def _games(self) -> int | None:
        """Returns how many games there are, as far as is known; None if nothing says so."""
        return None if self._schedule is None else self._schedule.total

    def _make_again(self, before: Commitment, *, complete: bool) -> None:
        """Stores the tournament anew, if anything follows from that, and holds logs and database against it."""
        schedule, settings, given = self._schedule, self._settings, self._published.contributions
        assert schedule is not None
        assert settings is not None
        record = Record(
            commitment=before,
            settings=settings,
            beacon="" if given is None else given.beacon,
            entropy=None if given is None else tuple(given.entropy),
            struck=self._struck(),
            result=lambda number: self._kept[number].result if number in self._kept else None,
        )
        if self._reader is None:
            if not schedule.computed:
                with temporary_store() as store:
                    self._schedule = rebuild(store, record, None)
            self._place_all()
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
            self._place_all()
            if told is not None:
                try:
                    for reason in contradictions(told, store, record):
                        self._fault("database", reason)
                except (ValueError, TypeError, KeyError, msgspec.MsgspecError) as error:
                    self._fault("database", f"{self._reader.path}: a row cannot be read: {error}")

    def _struck(self) -> dict[int, str]:
        """Returns what was taken back afterwards, and checks that each correction says something, about a result."""
        told, before = self._corrections, self._published.commitment
        if told is None or before is None:
            return {}
        place, counts, at = self._folder / CORRECTIONS_FILE, dict[int, bool](), before.created
        if told.tournament != before.tournament:
            self._fault("schedule", f"{place}: expected those of {before.tournament}, got: {told.tournament:.80}")
        if self._published.secret is None:
            self._fault("schedule", f"{place}: expected corrections after the end of the tournament, got some before")
        for one in told.corrections:
            is_right = one.game in self._kept and counts.get(one.game, True) != one.counts and one.reason and one.by
            if not is_right or not (is_date(one.at) and at <= one.at):
                self._fault("schedule", f"{place}: expected results taken back in turn, by whom and why, got: {one}")
            counts[one.game], at = one.counts, one.at
        return told.struck()

    def _fault(self, check: str, reason: str) -> None:
        self._checked.add(check)
        self._faults.append(Fault(check, reason))

    def _read_commitment(self, before: Commitment) -> None:
        place = self._folder / COMMITMENT_FILE
        self._check_digests(before, place)
        for reason in of_beginning(before.tournament, before.created) if before.created or self._is_numbered else ():
            self._fault("commitment", f"{place}: {reason}")
        try:
            if isinstance(before.settings.get("format"), str):
                format_of(before.settings)
        except ValueError as error:
            self._fault(UNCHECKED_DOCUMENT, f"not checked: {error} - at {place}")
            return
        try:
            settings = Settings.read(before.settings)
            schedule = settings.schedule(before.commitment)
        except plugs.NotLoaded:
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
        self._schedule, self._settings, self._played_sha256 = schedule, settings, played_digest(settings.game)

    def _check_digests(self, before: Commitment, place: Path) -> None:
        for name, document, digest in (
            ("settings", before.settings, before.settings_sha256),
            ("schedule", before.schedule, before.schedule_sha256),
        ):
            if sha256_of(document) != digest:
                self._fault("commitment", f"{place}: {name}_sha256 is not the digest of its {name}")

    def _identify(self, log: Examined, before: Commitment) -> int | None:
        """Returns the number of the game that a log is of, if it is the tournament's and the only log of the game."""
        if log.head.tournament != before.tournament:
            self._fault(
                "schedule", f"{log.path}:1: a log of tournament {log.head.tournament}, not of {before.tournament}"
            )
            return None
        tail = log.head.game.rpartition("-")[2]
        number = int(tail) if tail.isascii() and tail.isdigit() and len(tail) < 12 else -1
        if log.head.game != game_id(before.tournament, number):
            self._fault("schedule", f"{log.path}:1: {log.head.game!r:.80} is no game of the schedule")
            return None
        if number in self._kept:
            also = self._kept[number].path
            self._fault("schedule", f"{log.path}:1: game {log.head.game} is there twice, also as {also}")
            return None
        return number

    def _check_name(self, path: Path, game: str) -> None:
        """Checks that a log is a file of its own under the name of its game."""
        if path.is_symlink():
            self._fault("schedule", f"{path}: expected the file of a log, got: a symbolic link")
        if path.name not in (name := f"{game}{SUFFIX}", name + compressed.SUFFIX):
            self._fault("schedule", f"{path}: expected the log of game {game} under the name {name}, got another name")

    def _expected(self, number: int) -> Expected | None:
        """Returns what the log of a game must say; None if there is no such game."""
        if self._schedule is None or self._settings is None or not number < self._schedule.total:
            return None
        game, settings = self._schedule.game(number), self._settings
        bots = [settings.bots[entrant] for entrant in game.entrants]
        more = game.parameters or ({},) * len(bots)
        given = self._published.contributions
        entropy = {} if given is None else dict(enumerate(given.entropy))
        return Expected(
            deal=game.deal, rotation=game.rotation,
            bots=tuple((bot.own_name, bot.version, bot.digest, bot.time) for bot in bots),
            names=tuple(bot.name for bot in bots), settings_sha256=self._played_sha256, level=settings.level,
            chance=settings.chance,
            parameters=tuple(bot.parameters | chosen for bot, chosen in zip(bots, more, strict=True)),
            entropy=tuple(entropy.get(entrant) for entrant in game.entrants),
        )  # fmt: skip

    def _place_all(self) -> None:
        for number in self._kept:
            self._place(number, self._kept[number], self._expected(number))

    def _place(self, number: int, log: Examined, game: Expected | None) -> None:
        """Checks that a log is what was planned of its game."""
        if game is None:
            self._kept.remove(number)
            of = (
                "of a round that follows from logs that are missing or wrong"
                if self._is_open()
                else "no game of the schedule"
            )
            self._fault("schedule", f"{log.path}:1: {log.head.game!r:.80} is {of}")
            return
        head = log.head
        if not head.chance and self._is_numbered:
            self._fault("log", f"{log.path}:1: expected a `chance`, as {COMMITMENT_FILE} has a `format`, got none")
        if not log.has_receipts and game.chance >= RECEIPTS_SINCE:
            self._fault("log", f"{log.path}: expected the receipts that this version of arena writes, got none")
        for check, what, due, got in (
            ("deals", "version of CHANCE", game.chance, head.chance or game.chance),
            ("bots", "level", game.level, head.level),
            ("schedule", "deal", game.deal, head.deal),
            ("schedule", "rotation", game.rotation, head.rotation),
            ("schedule", "SHA-256 of what is played", game.settings_sha256, log.settings_sha256),
            ("deals", "contributions by seat", game.entropy, tuple(bot.entropy for bot in head.bots)),
            ("bots", "number of bots", len(game.bots), len(head.bots)),
        ):
            if got != due:
                self._fault(check, f"{log.path}:1: expected the {what} {due}, as the {self.of} has it, got: {got}")
        if self._dealt.setdefault(head.deal, head.commitment) != head.commitment:
            self._fault("deals", f"{log.path}:1: deal {head.deal} has another commitment than in another log")
        for seat, (bot, entered) in enumerate(zip(head.bots, game.bots, strict=False)):
            if (own := (bot.name, bot.version, bot.digest, bot.time)) != entered:
                sat, due = (
                    f"{name} {version} ({digest[:12]}…) with {time or head.settings.time}"
                    for name, version, digest, time in (own, (game.names[seat], *entered[1:]))
                )
                self._fault("bots", f"{log.path}:1: in seat {seat} sat {sat}; by the schedule it is {due}")
            if bot.parameters != game.parameters[seat]:
                self._fault(
                    "bots",
                    f"{log.path}:1: {game.names[seat]} in seat {seat} was sent the parameters {bot.parameters}; "
                    f"by the schedule it is {game.parameters[seat]}",
                )

    def _check_missing(self, missing: list[int], games: int, *, complete: bool) -> None:
        if missing and (complete or self._published.secret is not None):
            self._fault("schedule", f"{self._folder}: {_gaps(missing, games)}")

    def _notes(self) -> Iterator[str]:
        """Yields which games do not count (their results were taken back, or the machine was overloaded), and which
        numbers were not compared."""
        before = self._published.commitment
        stored = set() if before is None or self._reader is None else self._reader.numbers(before.tournament)
        if others := sorted(stored - plugs.known_numbers().keys()):
            yield plain(f"numbers of seats not compared, since no loaded wing brings them: {', '.join(others)}")
        if self._corrections is not None and before is not None:
            struck = self._corrections.struck().items()
            yield from filter(None, [struck_text({game_id(before.tournament, game): told for game, told in struck})])
        if self._settings is None or self._settings.on_overload != "void":
            return
        losses: Counter[str] = Counter()
        games = unproven = 0
        for log in (self._kept[number] for number in self._kept):
            seats = () if log.result is None else log.result.seats
            whose = [
                bot.name
                for bot, one in zip(log.head.bots, seats, strict=False)
                if one.forfeit and one.forfeit.overloaded
            ]
            losses.update(whose)
            games += bool(whose)
            unproven += bool(whose) and not log.head.chance  # whatever version the log says that it is of
        if games:
            yield void_text(games, losses)
        if unproven:
            yield f"of {unproven} of them no receipt says so: arena wrote none that do before 0.3.0"

    def _missing(self, games: int) -> list[int]:
        return [number for number in range(games) if number not in self._kept]


def _gaps(missing: list[int], games: int) -> str:
    named = ", ".join(map(str, missing[:MOST_GAPS]))
    more = f" and {len(missing) - MOST_GAPS} more" if len(missing) > MOST_GAPS else ""
    return f"{len(missing)} of {games} games of the schedule are missing: number {named}{more}"
