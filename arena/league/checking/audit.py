"""Checks a season by what its league publishes: anybody can, with nothing but the files of `published/`.

It is checked as a tournament is, by the same auditor: its schedule is what its lines say, and its standings follow from
them. `protocol/LEAGUE.md` says what must be taken on the operator's word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, Literal

import msgspec

from arena.core.face import (
    GameResult,
    Level,
    Reader,
    auditing,
    chance,
    errors,
    examining,
    files,
    log_records,
    plain,
    plugs,
    record_files,
    verdicts,
)
from arena.league.checking.history import History, lines_of_old
from arena.league.checking.stored import ComputedStandings, contradictions, differences
from arena.league.record import old, rounds
from arena.league.store import LeagueReader, league_of

PROMISES: Final[Mapping[str, str]] = {
    **{name: promise for name, promise in auditing.PROMISES.items() if name not in ("secret", "database")},
    "lines": "no line of the season was changed or left out since it was shown",
    "results": "every result is that of its log",
    "standings": "the final standings follow from the lines and the logs",
    "secret": auditing.PROMISES["secret"],
    "database": "the database says of the results and the standings what follows from these files",
}
"""The promise that each check holds, by its name."""
UNREADABLE: Final = (
    *(errors.ArenaError, ArithmeticError, AssertionError, AttributeError, LookupError),
    *(RecursionError, TypeError, ValueError, msgspec.MsgspecError),
)
"""What a strange document may raise: anything may be in it."""
MOST_FAULTS: Final = 5
"""Differences of the standings, and faults of lines, that are named."""


class _Named(msgspec.Struct):
    """A document that names its season."""

    tournament: str


def logs_of(folder: Path) -> list[Path]:
    """Returns the public logs of a season that are there, in order, by its folder `seasons/TOURNAMENT`."""
    logs = folder.parent.parent / rounds.LOGS
    return sorted(path for path in log_records.find_logs(logs) if path.name.rpartition("-")[0] == folder.name)


def audits(folder: Path, reader: Reader | None, noted: Path | None) -> Iterator[plugs.ToCheck]:
    """Yields the seasons in the folder of a league, or in what it publishes; see `arena.core.plugs.audits`."""
    marks = ("rounds-0.jsonl", old.SEASON_FILE)
    only = folder.resolve().name if any((folder / mark).exists() for mark in marks) else ""  # it is the folder of one
    if only or any(any(folder.glob(f"*/{mark}")) for mark in marks):
        folder = folder.resolve().parent.parent if only else folder.resolve().parent
    if (folder / rounds.PUBLISHED / rounds.SEASONS).is_dir():
        folder = folder / rounds.PUBLISHED
    league = None if reader is None else league_of(reader)
    told = [] if noted is None else noted_in(noted)
    of = {told} if isinstance(told, str) else {head.tournament for head in told}
    if missing := sorted(one for one in of if not (folder / rounds.SEASONS / one).is_dir()):
        raise errors.LogError(
            f"expected the season {missing[0]:.80} of {noted}, got none - at {folder / rounds.SEASONS}"
        )
    seasons = (folder / rounds.SEASONS).iterdir()
    for season in sorted(one for one in seasons if one.is_dir() and one.name == (only or one.name)):
        heads = [head for head in told if isinstance(head, rounds.Noted) and head.tournament == season.name]
        kept = noted if told == season.name else None
        yield plugs.ToCheck(logs_of(season), partial(SeasonAuditor, season, kept, league, heads), str(season))


def noted_in(path: Path) -> list[rounds.Noted] | str:
    """Returns the heads of seasons in a file, which has one on each line; or of which season it is the commitment.

    Raises:
        LogError: It is neither.
    """
    data = files.read(path, "what was noted of a season", files.MOST_DOCUMENT, errors.LogError)
    with suppress(ValueError, RecursionError):
        if heads := rounds.heads(data):
            return heads
    try:
        return msgspec.json.decode(data, type=_Named).tournament
    except (ValueError, RecursionError) as error:
        raise errors.LogError(
            f"expected a copy of a season's commitment, or heads of seasons, got: {error} - at {path}"
        ) from None


class SeasonAuditor(auditing.Auditor):
    """Checks a season. Give each of its logs to `add`, examined, and then ask for `result`."""

    promises: Mapping[str, str] = PROMISES
    why_not: Mapping[str, str] = {
        **auditing.WHY_NOT,
        "lines": "a season of arena 0.2 has none",
        **dict.fromkeys(("results", "commitment"), "its commitment cannot be read"),
        "standings": "the season is not closed",
    }
    of: Literal["tournament", "season"] = "season"

    def __init__(
        self,
        folder: Path,
        noted: Path | None = None,
        league: LeagueReader | None = None,
        heads: list[rounds.Noted] | tuple[rounds.Noted, ...] = (),
    ) -> None:
        """Reads what is published.

        Args:
            folder: The folder `seasons/TOURNAMENT`, beside which `logs` is.
            noted: A copy of its commitment from before, if there is one elsewhere.
            league: The league's database, to compare with, if the season is checked where it is.
            heads: Those of the season that were seen before.

        Raises:
            LogError: `noted` cannot be read.
        """
        self._league = league
        self._heads = heads
        self._history: History | None = None
        self._sha256: dict[int, str] = {}
        """Digest of what is played, by number of players."""
        self._digests: dict[str, str] = {}
        """Digest of a version's files in the first log, of a season of arena 0.2."""
        self._old: old.SeasonOpened | None = None
        self._lines = 0
        """How many there are."""
        self._level: object = None
        """That of the season."""
        super().__init__(folder, None, noted)
        if self._history is None and not self._faults:
            self._fault("commitment", f"{folder}: expected a {record_files.COMMITMENT_FILE}, got none; fetch it")

    def _earlier_commitment(self, folder: Path) -> record_files.Commitment | None:
        self._old = old.opened_in(folder)
        return None if self._old is None else old.commitment_of(self._old)

    def _committed_in(self) -> Path:
        earlier = self._folder / old.SEASON_FILE
        return earlier if earlier.exists() else super()._committed_in()

    def _read_commitment(self, before: record_files.Commitment) -> None:
        place = self._folder / record_files.COMMITMENT_FILE
        self._check_digests(before, place)
        if before.tournament != self._folder.name:
            self._fault("commitment", f"{place}: expected season {self._folder.name}, got: {before.tournament:.80}")
        games = before.settings.get("games")
        for game in games if isinstance(games, list) else ():
            if isinstance(game, dict) and isinstance(game.get("players"), int):
                self._sha256[game["players"]] = record_files.sha256_of(game)
        self._level = before.settings.get("level")
        self._history = History(self._folder.name, sorted(self._sha256))
        self._checked |= {"results"}
        if self._old is None or rounds.pages(self._folder):
            self._checked.add("lines")
            try:
                for at, data in rounds.lines(self._folder):
                    self._take(at, data, self._history)
                self._check_start(before, self._history)
            except errors.LaterVersion as error:
                self._fault(verdicts.UNCHECKED_DOCUMENT, str(error))
            except errors.LogError as error:
                self._fault("lines", str(error))

    def _take(self, at: str, data: bytes, history: History) -> None:
        """Takes a line: where it stands, and what it is by itself and after those before it."""
        try:
            record_files.check_form(data, at)
            line = rounds.decoded(data)
        except (ValueError, RecursionError) as error:
            self._fault("lines", f"{at}: expected a line of a season, got: {error}")
            return
        number = self._lines
        self._lines += 1
        if line.number != number:
            self._fault("lines", f"{at}: expected line {number}, got: line {line.number}")
        if number and line.before != history.head:
            self._fault("lines", f"{at}: it does not follow from the line before it, which was changed or left out")
        if not number:
            self._check_link(line.before, at)
        history.head = rounds.sha256(data)
        for head in self._heads:
            if head.lines == number + 1 and head.sha256 != history.head:
                self._fault("lines", f"{at}: expected the line that was noted, {head.sha256}, got: another")
        try:
            for check, reason in history.take(line):
                self._fault(check, f"{at}: {reason}")
        except UNREADABLE as error:
            self._fault("schedule", f"{at}: it contradicts the lines before it: {error!r:.200}")
        if isinstance(line, rounds.Over):
            self._check_secret(line, at)
        elif isinstance(line, rounds.Entered) and line.level not in (self._level, Level.REMOTE):
            self._fault(
                "bots", f"{at}: expected level {self._level} or remote of {line.name:.80}, got: {line.level:.80}"
            )

    def _check_start(self, before: record_files.Commitment, history: History) -> None:
        for head in self._heads:
            if head.lines > self._lines:
                self._fault(
                    "lines", f"{self._folder}: expected the {head.lines} lines that were noted, got: {self._lines}"
                )
        opened = history.opened
        if opened is None:
            self._fault("lines", f"{self._folder}: expected the line that opens the season, got none; fetch its lines")
        elif opened.commitment_sha256 != record_files.sha256_of(before):
            self._fault("commitment", f"{self._folder}: expected the commitment that the first line names, got another")

    def _check_link(self, before: str, at: str) -> None:
        """Holds the first line against the season before, if its files are there."""
        name, _, number = self._folder.name.rpartition("-")
        last = self._folder.with_name(f"{name}-{int(number) - 1}") if number.isdigit() else self._folder
        if not last.is_dir():
            return
        try:
            closed = record_files.published(last, old.STANDINGS_FILE, old.SeasonClosed)
            lines = [data for _, data in rounds.lines(last)]
        except errors.LogError:
            return  # its own check says so
        ended = closed.digest if closed is not None else rounds.sha256(lines[-1]) if lines else None
        if before != ended:
            self._fault("lines", f"{at}: it does not follow from the last line of the season before, {last}")

    def _check_secret(self, line: rounds.Over, at: str) -> None:
        key = self._published.key
        given = self._published.contributions
        mixed = chance.mix("" if given is None else given.beacon)
        if key is not None and chance.deal_secret(key, line.match, mixed).hex() != line.secret:
            self._fault("deals", f"{at}: the secret of deal {line.match} does not follow from that of the season")

    # The questions of a tournament's auditor

    def _is_open(self) -> bool:
        return self._history is not None and self._history.closed is None

    def _games(self) -> int | None:
        return None if self._history is None else len(self._history.games)

    def _missing(self, games: int) -> list[int]:
        assert self._history is not None
        found = ((number, self._history.result(number)) for number in sorted(self._history.games))
        return [number for number, game in found if game and game.status == "done" and number not in self._kept]

    def _check_missing(self, missing: list[int], games: int, *, complete: bool) -> None:
        """A league removes old logs: their results stay in the lines."""
        if complete and missing:
            super()._check_missing(missing, games, complete=complete)

    def _expected(self, number: int) -> auditing.Expected | None:
        history = self._history
        if history is None or number not in history.games or self._published.commitment is None:
            return None
        match, rotation = history.games[number]
        seats = match.planned.seats[rotation]
        settings = self._published.commitment.settings
        own = [name.rpartition("/") for name in seats]
        bots = [
            (bot, version, self._digest(seats[seat], number, seat), None) for seat, (bot, _, version) in enumerate(own)
        ]
        return auditing.Expected(
            deal=match.planned.match, rotation=rotation, bots=tuple(bots),
            names=tuple(name.partition("/")[0] for name in seats), settings_sha256=self._sha256.get(len(seats), ""),
            level=str(self._level), chance=told if isinstance(told := settings.get("chance", 1), int) else 1,
            parameters=tuple({} for _ in seats), entropy=(None,) * len(seats),
        )  # fmt: skip

    def _digest(self, name: str, number: int, seat: int) -> str:
        """Returns what the files of a version must be. A season of arena 0.2 does not say it: all its logs agree."""
        assert self._history is not None
        entered = self._history.entrants.get(name)
        if entered is not None and entered.digest:
            return entered.digest
        sat = self._kept[number].head.bots
        return self._digests.setdefault(name, sat[seat].digest if seat < len(sat) else "")

    def _make_again(self, before: record_files.Commitment, *, complete: bool) -> None:
        if self._history is None:
            return
        if self._old is not None and not rounds.pages(self._folder):
            self._take_old(self._old, self._history)
        self._place_all()
        self._draws_unchecked = 0
        for number in self._kept:
            self._compare(number, self._kept[number], self._history)
        if self._published.secret is None and not self._draws_unchecked:
            self._checked.add("deals")
        elif self._draws_unchecked and not any(fault.check == verdicts.UNCHECKED_DOCUMENT for fault in self._faults):
            text = f"the secrets of the deals of {self._draws_unchecked} logs are not there"
            self._fault("deals", f"{self._folder}: {text}")
        closed = self._history.closed
        if closed is not None:
            self._checked.add("standings")
            if not any(fault.check == "results" for fault in self._faults):
                self._check_standings(before, self._history, closed)
        elif self._lines:
            self._check_database(before, None)
        if self._published.secret is not None and closed is None:
            self._fault("standings", f"{self._folder}: expected the line that closes the season with the secret")

    def _take_old(self, opened: old.SeasonOpened, history: History) -> None:
        """Takes a season of arena 0.2, which has no lines."""
        try:
            self._check_link(opened.digest_before or rounds.FIRST, str(self._folder))
            for line in lines_of_old(self._folder, opened, {number: self._kept[number] for number in self._kept}):
                for check, reason in history.take(line):
                    self._fault(check, f"{self._folder}: {reason}")
                if isinstance(line, rounds.Over):
                    self._check_secret(line, str(self._folder))
        except errors.LaterVersion as error:
            self._fault(verdicts.UNCHECKED_DOCUMENT, str(error))
        except UNREADABLE as error:
            self._fault("results", f"{self._folder}: {error!s:.400}")

    def _compare(self, number: int, log: examining.Examined, history: History) -> None:
        told = history.result(number)
        assert log.result is not None
        if told is None:  # a league publishes logs, and then the line of the match
            return
        self._draws_unchecked += not log.draws_checked
        match, _ = history.games[number]
        if match.over is not None and chance.commitment(bytes.fromhex(match.over.secret)) != log.head.commitment:
            self._fault("deals", f"{log.path}:1: its deal's commitment is not that of the secret that was published")
        for what, said, logged in (
            ("status", told.status, "done"),
            ("ranks", told.ranks, list(log.result.ranks)),
            ("play digest", told.play_digest, log.result.play_digest),
            ("SHA-256", told.log, log.result.log_sha256),
        ):
            if said != logged:
                self._fault("results", f"{log.path}: its {what} is {logged}, the lines say {said}")

    def _notes(self) -> Iterator[str]:
        history = self._history
        if history is None:
            return
        if missing := self._missing(0):
            yield (
                f"{len(missing)} of {len(history.games)} games have no log here, the first {missing[0]}: their results "
                "are as the lines say"
            )
        if early := sum(history.result(number) is None for number in self._kept):
            yield f"{early} logs are of matches whose end no line tells yet: they were not compared with their lines"
        results = [history.result(number) for number in history.games]
        if void := sum(one is not None and one.status == "void" for one in results):
            yield f"{void} of {len(results)} games are void: they were taken out, or could not be played"
        for reason, count in Counter(match.struck for match in history.matches if match.struck).items():
            yield f"{count} of {len(history.matches)} matches were taken back by the operator: {plain(reason)}"
        if history.left:
            yield f"finalists who left the final: {', '.join(history.left)}"

    # Standings

    def _check_standings(self, before: record_files.Commitment, history: History, closed: rounds.Closed) -> None:
        """Computes the final standings again from the lines and the logs."""
        try:
            computed = ComputedStandings(before.settings, history, self._logged)
            found = list(differences(computed.document(closed.standings), closed.standings, "standings"))
        except UNREADABLE as error:
            self._fault("standings", f"{self._folder}: they cannot be computed from these results: {error!s:.300}")
            return
        self._check_database(before, computed)
        for reason in found[:MOST_FAULTS]:
            self._fault("standings", f"{self._folder}: {reason}")
        if len(found) > MOST_FAULTS:
            self._fault("standings", f"{self._folder}: {len(found) - MOST_FAULTS} more differences")

    def _check_database(self, before: record_files.Commitment, computed: ComputedStandings | None) -> None:
        if self._league is None or self._history is None:
            return
        self._checked.add("database")
        try:
            for reason in contradictions(self._league, before, self._history, computed, self._logged):
                self._fault("database", f"{self._league.path}: {reason}")
        except UNREADABLE as error:
            self._fault("database", f"{self._league.path}: a row cannot be read: {error!r:.200}")

    def _logged(self, number: int) -> GameResult | None:
        return self._kept[number].result if number in self._kept else None
