"""Checks a season by what its league publishes: anybody can, with nothing but the files of `published/`.

Of a season that is open the commitment, the deals and the logs are checked; of a closed one every result and the final
standings too. `protocol/LEAGUE.md` says what must be taken on the operator's word.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from arena.core.face import (
    DiskTable,
    GameResult,
    Reader,
    auditing,
    chance,
    errors,
    game_rows,
    log_records,
    plugs,
    rebuilding,
    record_files,
    verdicts,
)
from arena.league.checking.computed import Computed, Played, differences
from arena.league.checking.stored import contradictions
from arena.league.record.season import (
    DEALS,
    LOGS,
    PUBLISHED,
    RESULTS,
    SEASON_FILE,
    SEASONS,
    STANDINGS_FILE,
    DealRevealed,
    FinalResult,
    Result,
    SeasonClosed,
    SeasonOpened,
    page,
    pages,
    read_lines,
)
from arena.league.store import LeagueReader, league_of

PROMISES: Final[Mapping[str, str]] = {
    "log": auditing.PROMISES["log"],
    "commitment": "the settings and the secret were fixed before the first game, and nothing of them was changed",
    "deals": "every draw follows from the secret that was committed to, and every match has the next deal",
    "schedule": "every game of a match is there once, on the match's deal and in its seats",
    "bots": "the versions that played are those that the results name, each always the same",
    "time": auditing.PROMISES["time"],
    "results": "every result is that of its log, and the digest is over all of them",
    "standings": "the final standings follow from the results",
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
"""So many differences of the standings are named."""

S = TypeVar("S", bound=msgspec.Struct)


def logs_of(folder: Path) -> list[Path]:
    """Returns the public logs of a season that are there, in order, by its folder `seasons/TOURNAMENT`."""
    logs = folder.parent.parent / LOGS
    return sorted(path for path in log_records.find_logs(logs) if path.name.rpartition("-")[0] == folder.name)


def season_of(noted: Path, published_: Path) -> str:
    """Returns of which season a copy of a season.json is.

    Raises:
        LogError: It cannot be read, or its season is not among those that are published.
    """
    was = record_files.published(noted.parent, noted.name, SeasonOpened)
    assert was is not None
    if not (published_ / SEASONS / was.tournament).is_dir():
        raise errors.LogError(
            f"expected the season {was.tournament:.80} of {noted}, got none - at {published_ / SEASONS}"
        )
    return was.tournament


def audits(folder: Path, reader: Reader | None, noted: Path | None) -> Iterator[plugs.ToCheck]:
    """Yields the seasons in the folder of a league, or in what it publishes; see `arena.core.plugs.audits`."""
    if (folder / PUBLISHED / SEASONS).is_dir():
        folder = folder / PUBLISHED
    league = None if reader is None else league_of(reader)
    of = noted and season_of(noted, folder)
    for season in sorted(one for one in (folder / SEASONS).iterdir() if one.is_dir()):
        auditor = partial(SeasonAuditor, season, noted if of == season.name else None, league)
        yield plugs.ToCheck(logs_of(season), auditor, str(season))


class SeasonAuditor:
    """Checks a season. Give each of its logs to `add`, examined, and then ask for `result`."""

    promises: Mapping[str, str] = PROMISES
    why_not: Mapping[str, str] = {
        **auditing.WHY_NOT,
        **dict.fromkeys(("results", "standings"), "the season is not closed"),
        "database": "--db names one, and only that of a closed season is compared",
    }

    def __init__(self, folder: Path, noted: Path | None = None, reader: LeagueReader | None = None) -> None:
        """Reads what is published.

        Args:
            folder: The folder `seasons/TOURNAMENT`, beside which `logs` is.
            noted: A copy of its season.json from before, if there is one elsewhere.
            reader: The league's database, to compare with, if a closed season is checked where it is.

        Raises:
            LogError: `noted` cannot be read.
        """
        self._folder = folder
        self._reader = reader
        self._faults: list[verdicts.Fault] = []
        self._checked = {"log", "time", "commitment", "deals", "schedule", "bots"}
        self._count = self._begun = 0
        self._unknown_draws = 0
        self._logs = DiskTable(auditing.Examined)
        self._opened = self._document(SEASON_FILE, SeasonOpened)
        self._closed = self._document(STANDINGS_FILE, SeasonClosed)
        self._secret = self._document(record_files.SECRET_FILE, record_files.Secret)
        self._deals: dict[int, DealRevealed] = {}
        """By match what was revealed of it."""
        self._match_of: dict[int, DealRevealed] = {}
        """By game the match that it is of."""
        self._results: list[Result] = []
        self._final: FinalResult | None = None
        self._digests: dict[str, str] = {}
        """By version the digest of its files in the first log."""
        self._settings: dict[str, int] = {}
        """By digest of what is played the number of players."""
        if self._opened is None:
            self._fault("commitment", f"{folder}: expected a {SEASON_FILE}, got none; fetch it")
            return
        try:
            self._check_commitment(self._opened, noted)
        except RecursionError:
            self._fault("commitment", f"{folder / SEASON_FILE}: the values in it nest too deeply")
        self._check_dates(self._opened, self._closed)
        self._read_deals(self._opened)
        if self._closed is not None:
            self._checked |= {"results", "standings"} | ({"database"} if reader is not None else set())
            self._read_results(self._opened, self._closed)

    def add(self, log: auditing.Examined) -> None:
        """Takes a log that was examined with what is published of the season."""
        self._count += 1
        if log.fault is not None:
            self._faults.append(log.fault)
            return
        self._unknown_draws += not log.draws_checked
        tail = log.game.rpartition("-")[2]
        number = int(tail) if tail.isascii() and tail.isdigit() and len(tail) < 12 else -1
        if (log.tournament, log.game) != (self._folder.name, game_rows.game_id(self._folder.name, number)):
            self._fault("schedule", f"{log.path}:1: {log.game!r:.80} is no game of season {self._folder.name}")
        elif Path(log.path).is_symlink() or Path(log.path).name.partition(".")[0] != log.game:
            self._fault("schedule", f"{log.path}: expected a file under the name of game {log.game}, no link")
        elif number in self._logs:
            self._fault("schedule", f"{log.path}:1: game {log.game} is there twice, also as {self._logs[number].path}")
        else:
            self._logs.put(number, log)
            self._begun += max(log.attempt, 1) - 1

    def result(self, *, complete: bool = False) -> verdicts.Audit:
        """Returns what was found. `complete` demands that the season is closed, and that every log is there."""
        notes = []
        for number in self._logs:
            self._check_log(number, self._logs[number])
        if self._unknown_draws:
            self._fault(
                "deals", f"{self._folder}: the secrets of the deals of {self._unknown_draws} logs are not there"
            )
        missing = [game for game in self._match_of if self._is_played(game) and game not in self._logs]
        if missing:
            text = f"{len(missing)} of {len(self._match_of)} games have no log here, the first {min(missing)}"
            if complete:
                self._fault("schedule", f"{self._folder}: {text}")
            elif self._closed is not None:
                notes.append(f"{text}: their results are as listed, and the digest is over them")
        if void := sum(result.status == "void" for result in self._results):
            notes.append(f"{void} of {len(self._results)} games are void: they were taken out, or could not be played")
        if self._opened is not None and self._closed is not None:
            self._check_seats()
            if not any(fault.check == "results" for fault in self._faults):
                self._check_standings(self._opened, self._closed)
        if complete:
            self._checked.add("secret")
            if self._secret is None:
                self._fault(
                    "secret",
                    f"{self._folder}: expected a {record_files.SECRET_FILE}, got none: the season is not closed",
                )
        audit = verdicts.Audit(
            folder=str(self._folder),
            tournament=self._folder.name,
            logs=self._count,
            games=len(self._results) or len(self._match_of),
            begun=self._begun,
            complete=self._secret is not None and not missing,
            checked=tuple(name for name in PROMISES if name in self._checked),
            faults=tuple(self._faults),
            notes=tuple(notes),
            of="season",
        )
        return verdicts.settled(audit)

    # What is published

    def _fault(self, check: str, reason: str) -> None:
        self._checked.add(check)
        self._faults.append(verdicts.Fault(check, reason))

    def _document(self, name: str, kind: type[S]) -> S | None:
        try:
            return record_files.published(self._folder, name, kind)
        except errors.LogError as error:
            self._fault(verdicts.LATER_DOCUMENT if isinstance(error, errors.LaterVersion) else "commitment", str(error))
            return None

    def _check_commitment(self, opened: SeasonOpened, noted: Path | None) -> None:
        place = self._folder / SEASON_FILE
        if opened.tournament != self._folder.name:
            self._fault("commitment", f"{place}: expected season {self._folder.name}, got: {opened.tournament:.80}")
        if record_files.sha256_of(opened.settings) != opened.settings_sha256:
            self._fault("commitment", f"{place}: settings_sha256 is not the digest of its settings")
        if noted is not None:
            for change in record_files.changed_since(noted, opened):
                self._fault("commitment", f"{place}: {change}")
        games = opened.settings.get("games")
        for game in games if isinstance(games, list) else ():
            if isinstance(game, dict) and isinstance(game.get("players"), int):
                self._settings[record_files.sha256_of(game)] = game["players"]
        if (secret := self._secret) is None:
            return
        told = (secret.tournament, secret.commitment, chance.commitment(bytes.fromhex(secret.secret)))
        if told != (opened.tournament, opened.commitment, opened.commitment):
            place = self._folder / record_files.SECRET_FILE
            self._fault("commitment", f"{place}: expected the secret of the commitment, got another")
        if self._closed is None:
            self._fault("standings", f"{self._folder}: expected a {STANDINGS_FILE} with the secret, got none")
        elif self._closed.tournament != opened.tournament:
            self._fault("standings", f"{self._folder / STANDINGS_FILE}: it is of {self._closed.tournament:.80}")

    def _check_dates(self, opened: SeasonOpened, closed: SeasonClosed | None) -> None:
        """Checks what can be said of dates: no file shows more of them."""
        end = opened.opened if closed is None else closed.closed
        if not (rebuilding.is_date(opened.opened) and rebuilding.is_date(end) and opened.opened <= end):
            self._fault(
                "commitment",
                f"{self._folder}: expected the season's beginning, and its end after that, "
                f"got: {opened.opened:.80}, {end:.80}",
            )

    def _read_deals(self, opened: SeasonOpened) -> None:
        for path in pages(self._folder, DEALS):
            for number, line in enumerate(self._lines(path, "deals"), start=1):
                at = f"{path}:{number}"
                deal = self._decoded(line, at, DealRevealed, "deals")
                if deal is None:
                    continue
                if deal.tournament != opened.tournament or path.name != page(DEALS, deal.match):
                    self._fault("deals", f"{at}: match {deal.match} of {deal.tournament:.80} does not belong there")
                elif deal.match not in self._deals:
                    self._take_deal(deal, at)
                elif self._deals[deal.match] != deal:  # a line may come twice, not with something else
                    self._fault("deals", f"{at}: match {deal.match} is there twice, with different values")
        if self._closed is not None and (gaps := sorted({*range(len(self._deals))} - self._deals.keys())):
            self._fault("deals", f"{self._folder}: expected every match from 0 on, got none of number {gaps[0]}")

    def _take_deal(self, deal: DealRevealed, at: str) -> None:
        self._deals[deal.match] = deal
        if deal.deal != deal.match:
            self._fault("deals", f"{at}: expected match {deal.match} on the deal of its number, got: deal {deal.deal}")
        if chance.commitment(bytes.fromhex(deal.secret)) != deal.commitment:
            self._fault("deals", f"{at}: the commitment of deal {deal.deal} is not that of its secret")
        if self._secret is not None:
            derived = chance.deal_secret(bytes.fromhex(self._secret.secret), deal.deal).hex()
            if derived != deal.secret:
                self._fault("deals", f"{at}: the secret of deal {deal.deal} does not follow from that of the season")
        for game in deal.games:
            if self._match_of.setdefault(game, deal) is not deal:
                self._fault("schedule", f"{at}: game {game} is also of match {self._match_of[game].match}")
        if not {*deal.logs} <= {game_rows.game_id(self._folder.name, game) for game in deal.games}:
            self._fault("schedule", f"{at}: expected logs of the games of match {deal.match}, got others")

    def _read_results(self, opened: SeasonOpened, closed: SeasonClosed) -> None:
        digest = hashlib.sha256(f"{opened.digest_before}\n".encode())
        for path in pages(self._folder, RESULTS):
            for number, line in enumerate(self._lines(path, "results"), start=1):
                digest.update(line)
                at = f"{path}:{number}"
                found = self._decoded(line, at, FinalResult if line.startswith(b'{"deals"') else Result, "results")
                if isinstance(found, FinalResult) and self._final is None:
                    self._final = found
                elif not isinstance(found, Result) or self._final is not None:
                    self._fault("results", f"{at}: expected the result of game {len(self._results)}")
                elif found.number != len(self._results) or path.name != page(RESULTS, found.number):
                    self._fault("results", f"{at}: expected game {len(self._results)} here, got: {found.number}")
                elif not _is_whole(found):
                    self._fault(
                        "results",
                        f"{at}: expected ranks from 1 on, one a seat of a game that is done, else none",
                    )
                else:
                    self._results.append(found)
        if digest.hexdigest() != closed.digest:
            self._fault("results", f"{self._folder / STANDINGS_FILE}: its digest is not that of the results")
        known = {entrant.name for entrant in closed.entrants}
        if len(known) != len(closed.entrants):
            self._fault("results", f"{self._folder / STANDINGS_FILE}: expected each version once among its entrants")
        earlier: set[str] = set()
        for entrant in closed.entrants:
            same_bot = entrant.after is not None and entrant.after.partition("/")[0] == entrant.name.partition("/")[0]
            if entrant.after is not None and not (same_bot and entrant.after in earlier):
                place = self._folder / STANDINGS_FILE
                self._fault("results", f"{place}: expected {entrant.name:.80} after an earlier version of its bot")
            earlier.add(entrant.name)
        if strange := sorted({name for result in self._results for name in result.entrants} - known):
            self._fault("results", f"{self._folder}: expected versions of the season, got: {strange[0]!r:.80}")
        if {*range(len(self._results))} != self._match_of.keys():
            self._fault("schedule", f"{self._folder}: expected the games of the matches, got results of others")

    def _lines(self, path: Path, check: str) -> Iterator[bytes]:
        try:
            yield from read_lines(path, f"{check} of a season")
        except errors.LogError as error:
            self._fault(check, str(error))

    def _decoded(self, line: bytes, at: str, kind: type[S], check: str) -> S | None:
        """Returns what a line says, if it is written as a league writes it."""
        try:
            record_files.check_form(line, at)
            found = msgspec.json.decode(line, type=kind)
        except errors.LaterVersion as error:
            self._fault(verdicts.LATER_DOCUMENT, str(error))
            return None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self._fault(check, f"{at}: expected a line of {check}, got: {error}")
            return None
        if msgspec.json.encode(found, order="sorted" if check == "results" else None) + b"\n" != line:
            self._fault(check, f"{at}: it has a key twice, a blank, or another order of its keys")
        return found

    # Logs

    def _is_played(self, number: int) -> bool:
        """Says whether a game has a result, as far as is known."""
        if self._closed is not None:
            return number < len(self._results) and self._results[number].status == "done"
        return game_rows.game_id(self._folder.name, number) in self._match_of[number].logs

    def _check_log(self, number: int, log: auditing.Examined) -> None:
        """Checks that a log is what is published of its game."""
        deal = self._match_of.get(number)
        if deal is None:
            self._fault("schedule", f"{log.path}:1: no match is published that has game {log.game}")
            return
        assert log.result is not None
        if (log.deal, log.commitment) != (deal.deal, deal.commitment):
            self._fault("deals", f"{log.path}:1: it was not played on deal {deal.deal} of match {deal.match}")
        if log.rotation != deal.games.index(number):
            self._fault("schedule", f"{log.path}:1: expected rotation {deal.games.index(number)}, got: {log.rotation}")
        if deal.logs.get(log.game) != log.result.log_sha256:
            self._fault("results", f"{log.path}: its SHA-256 is not the one that was published with its match")
        if self._settings.get(log.settings_sha256) != len(log.bots):
            self._fault("schedule", f"{log.path}:1: it was not played by the settings of the season")
        if self._opened is not None and log.level != self._opened.settings.get("level"):
            self._fault("bots", f"{log.path}:1: its bots ran at level {log.level}, another than that of the season")
        if any(log.entropy):
            self._fault("deals", f"{log.path}:1: a bot put something into chance; in a league none does")
        for name, version, digest in log.bots:
            if self._digests.setdefault(f"{name}/{version}", digest) != digest:
                self._fault("bots", f"{log.path}:1: {name}/{version} has other files than in another log")
        if number < len(self._results):
            self._compare(self._results[number], log)

    def _compare(self, result: Result, log: auditing.Examined) -> None:
        assert log.result is not None
        for what, told, logged in (
            ("status", result.status, "done"),
            ("ranks", result.ranks, list(log.result.ranks)),
            ("play digest", result.play_digest, log.result.play_digest),
        ):
            if told != logged:
                self._fault("results", f"{log.path}: its {what} is {logged}, the results say {told}")
        if result.entrants != (sat := [f"{name}/{version}" for name, version, _ in log.bots]):
            self._fault("bots", f"{log.path}:1: in its seats sat {sat}, the results say {result.entrants}")

    def _check_seats(self) -> None:
        """Checks that the games of each match are all rotations of its seats."""
        for deal in self._deals.values():
            if any(game >= len(self._results) for game in deal.games) or not deal.games:
                self._fault("schedule", f"{self._folder}: match {deal.match} has games without a result")
                continue
            first = self._results[deal.games[0]].entrants
            for shift, game in enumerate(deal.games):
                if self._results[game].entrants != first[shift:] + first[:shift]:
                    self._fault(
                        "schedule", f"{self._folder}: game {game} is not rotation {shift} of match {deal.match}"
                    )
            if not len(deal.games) == len(first) == len({*first}):
                self._fault("schedule", f"{self._folder}: match {deal.match} does not have a game for each rotation")

    # Standings

    def _check_standings(self, opened: SeasonOpened, closed: SeasonClosed) -> None:
        """Computes the final standings again from the results and the logs."""
        place = self._folder / STANDINGS_FILE
        try:
            computed = Computed(opened, closed, self._played())
            expected = computed.document(self._final, self._final_matches())
            found = list(differences(expected, closed.standings, "standings"))
        except UNREADABLE as error:
            self._fault("standings", f"{place}: they cannot be computed from these results: {error!r:.200}")
            return
        if self._reader is not None:
            self._check_database(self._reader, opened, closed, computed)
        for reason in found[:MOST_FAULTS]:
            self._fault("standings", f"{place}: {reason}")
        if len(found) > MOST_FAULTS:
            self._fault("standings", f"{place}: {len(found) - MOST_FAULTS} more differences")

    def _check_database(
        self, reader: LeagueReader, opened: SeasonOpened, closed: SeasonClosed, computed: Computed
    ) -> None:
        try:
            for reason in contradictions(reader, opened, closed, computed, self._logged):
                self._fault("database", f"{reader.path}: {reason}")
        except UNREADABLE as error:
            self._fault("database", f"{reader.path}: a row cannot be read: {error!r:.200}")

    def _logged(self, number: int) -> GameResult | None:
        return self._logs[number].result if number in self._logs else None

    def _played(self) -> Iterator[Played]:
        for number, result in enumerate(self._results):
            if result.status == "done":
                log = self._logged(number)
                yield Played(self._match_of[number].deal, result, None if log is None else log.seats)

    def _final_matches(self) -> list[tuple[int, list[Result]]]:
        """Returns the deal and the results of each match of the final, in order."""
        first = len(self._results) if self._final is None else self._final.final
        return [
            (deal.deal, [self._results[game] for game in deal.games])
            for _, deal in sorted(self._deals.items())
            if deal.games and min(deal.games) >= first
        ]


def _is_whole(result: Result) -> bool:
    """Says whether a game that is done has a rank from 1 on for each seat, and any other none."""
    seats = len(result.entrants)
    if result.status != "done":
        return seats > 0 and not result.ranks
    return len(result.ranks) == seats > 0 and min(result.ranks) == 1 and max(result.ranks) <= seats
