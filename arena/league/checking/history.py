"""Follows the lines of a season from the first to the last, and finds those that cannot come after the others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from arena.core.face import errors, examining, pentanomial, record_files
from arena.league.matches import finals
from arena.league.record import old, rounds
from arena.league.record.rounds import Line
from arena.league.store.records import FinalMatch


class ToldMatch(msgspec.Struct, kw_only=True):
    """A match, as far as it is told."""

    planned: rounds.Planned
    over: rounds.Over | None = None
    struck: str = ""
    """The reason why the operator took it back; empty if they did not."""

    @property
    def counts(self) -> bool:
        """Whether its results count."""
        return self.planned.rated and not self.struck


class History:
    """What the lines of a season say. Give each of them to `take`, in order."""

    def __init__(self, tournament: str, players: list[int]) -> None:
        """Takes the identifier of the season, and the numbers of players that its matches may have."""
        self._tournament = tournament
        self._players = players
        self.opened: rounds.Opened | None = None
        self.closed: rounds.Closed | None = None
        self.head = rounds.FIRST
        """SHA-256 (hex) of the last line that was taken."""
        self.entrants: dict[str, rounds.Entered] = {}
        """Versions by name, in the order in which they came."""
        self.playing: set[str] = set()
        self.matches: list[ToldMatch] = []
        self.games: dict[int, tuple[ToldMatch, int]] = {}
        """Match of each game by its number, and its rotation in it."""
        self.final: rounds.FinalBegun | None = None
        self.left: list[str] = []
        """Who is out of the final."""
        self.decided: rounds.Decided | None = None
        self.final_matches: list[ToldMatch] = []

    def result(self, game: int) -> rounds.GameOver | None:
        """Returns what came of a game; None if its match is not over, or there is no such game."""
        match, rotation = self.games.get(game, (None, 0))
        return None if match is None or match.over is None else match.over.games[rotation]

    def take(self, line: Line) -> Iterator[tuple[str, str]]:
        """Takes the next line, and yields what is wrong with it: the check, and why."""
        if (self.opened is None) != isinstance(line, rounds.Opened):
            yield "schedule", "expected the line that opens the season first, and once"
        if self.closed is not None:
            yield "schedule", "expected no line after the one that closes the season"
        match line:
            case rounds.Opened():
                if line.tournament != self._tournament:
                    yield "commitment", f"expected season {self._tournament}, got: {line.tournament:.80}"
                self.opened = line
            case rounds.Entered():
                yield from self._entered(line)
            case rounds.Changed():
                yield from self._changed(line)
            case rounds.Planned():
                yield from self._planned(line)
            case rounds.Over():
                yield from self._over(line)
            case rounds.Struck():
                yield from self._struck(line)
            case rounds.FinalBegun() | rounds.Left() | rounds.Decided():
                yield from self._of_final(line)
            case rounds.Closed():
                yield from self._closed(line)

    def _entered(self, line: rounds.Entered) -> Iterator[tuple[str, str]]:
        if line.name in self.entrants:
            yield "bots", f"expected a new version, got: {line.name:.80}, which has entered already"
        bot = line.name.partition("/")[0]
        if line.after is not None and (line.after not in self.entrants or line.after.partition("/")[0] != bot):
            yield "bots", f"expected {line.name:.80} after an earlier version of its bot, got: {line.after:.80}"
        if active := [name for name in self.playing if name.partition("/")[0] == bot]:
            yield "bots", f"expected one version of {bot:.80} that plays, got: {line.name:.80} beside {active[0]:.80}"
        self.entrants.setdefault(line.name, line)
        self.playing.add(line.name)

    def _changed(self, line: rounds.Changed) -> Iterator[tuple[str, str]]:
        plays = line.state == "active"
        if line.name not in self.entrants or plays == (line.name in self.playing):
            yield "bots", f"expected a version of the season that {'rests' if plays else 'plays'}, got: {line.name:.80}"
        self.playing.symmetric_difference_update({line.name} & self.entrants.keys())

    def _planned(self, line: rounds.Planned) -> Iterator[tuple[str, str]]:
        place = f"match {line.match}"
        if line.match != len(self.matches):
            yield "schedule", f"expected match {len(self.matches)}, got: {line.match}"
        first = line.seats[0] if line.seats else []
        if len(first) not in self._players or len(line.games) != len(line.seats):
            yield "schedule", f"{place}: expected a game for each seating of {self._players} players"
        for shift, seats in enumerate(line.seats):
            if seats != first[shift:] + first[:shift] or len(line.seats) != len(first):
                yield "schedule", f"{place}: game {shift} is not rotation {shift} of it"
        if strange := {*first} - self.playing:
            yield "bots", f"{place}: expected versions that play, got: {min(strange):.80}"
        match = ToldMatch(planned=line)
        for rotation, game in enumerate(line.games[: len(line.seats)]):
            if self.games.setdefault(game, (match, rotation))[0] is not match:
                yield "schedule", f"{place}: game {game} is also of match {self.games[game][0].planned.match}"
        self.matches.append(match)
        if self.final is not None and self.decided is None:
            if out := {*first} - ({*self.final.entrants} - {*self.left}):
                yield "schedule", f"{place}: expected finalists, got: {min(out):.80}"
            self.final_matches.append(match)
        elif self.decided is not None or (self.final is not None and not self.final.entrants):
            yield "schedule", f"{place}: expected no match after the final"

    def _over(self, line: rounds.Over) -> Iterator[tuple[str, str]]:
        place = f"match {line.match}"
        match = self._match(line.match)
        if match is None or match.over is not None:
            yield "schedule", f"{place}: expected a match that was planned and is not over"
            return
        if len(line.games) != len(match.planned.games):
            yield "schedule", f"{place}: expected its {len(match.planned.games)} games, got: {len(line.games)}"
            return
        match.over = line
        for game, seats in zip(line.games, match.planned.seats, strict=True):
            if not _is_whole(game, len(seats)):
                yield "results", f"{place}: expected ranks from 1 on, one a seat of a game that is done, else none"

    def _struck(self, line: rounds.Struck) -> Iterator[tuple[str, str]]:
        match = self._match(line.match)
        if match is None or not match.counts or not line.reason:
            yield "results", f"match {line.match}: expected one that counts, and why it is taken back"
        else:
            match.struck = line.reason

    def _of_final(self, line: rounds.FinalBegun | rounds.Left | rounds.Decided) -> Iterator[tuple[str, str]]:
        if isinstance(line, rounds.FinalBegun):
            if self.final is not None or {*line.entrants} - self.playing:
                yield "schedule", "expected one final, of versions that play"
            self.final = line
        elif self.final is None or self.decided is not None:
            yield "schedule", "expected a final that is being played, got none"
        elif isinstance(line, rounds.Left):
            if {*line.entrants} - ({*self.final.entrants} - {*self.left}):
                yield "schedule", "expected finalists who are in the final, got others"
            if self._outcome() is not None:
                yield "standings", "expected nobody to leave a final that is over by its results"
            self.left += line.entrants
        else:
            if (line.outcome == "settled") != (self._outcome() == "settled"):
                yield "standings", f"expected a final that is {line.outcome}, got another by its results"
            self.decided = line

    def _closed(self, line: rounds.Closed) -> Iterator[tuple[str, str]]:
        if open := [match.planned.match for match in self.matches if match.over is None]:
            yield "schedule", f"expected every match to be over, got: match {open[0]}"
        if {*self.games} != {*range(len(self.games))}:
            yield "schedule", "expected every game from 0 on in a match"
        if self.final is not None and self.final.entrants and self.decided is None:
            yield "schedule", "expected the final to be over"
        if self.opened is not None and line.at < self.opened.at:
            yield "commitment", f"expected the season's end after its beginning, got: {line.at:.80}"
        self.closed = line

    def _match(self, number: int) -> ToldMatch | None:
        return self.matches[number] if 0 <= number < len(self.matches) else None

    # The final

    def _numbers(self) -> dict[str, int]:
        """Returns by name the number of each version."""
        return {name: number for number, name in enumerate(self.entrants)}

    def design(self) -> finals.Design:
        """Returns what the final is planned from."""
        assert self.final is not None
        number = self._numbers()
        return finals.Design(
            entrants=tuple(number[name] for name in self.final.entrants if name not in self.left),
            begun_with=len(self.final.entrants),
            sizes=tuple(self._players),
            deals=self.final.deals,
        )

    def of_final(self) -> list[FinalMatch]:
        """Returns the matches of the final that count, as its rule takes them."""
        number = self._numbers()
        return [
            FinalMatch(
                deal=match.planned.match,
                table=tuple(sorted(number[name] for name in match.planned.seats[0])),
                over=match.over is not None,
                whole=match.over is not None and all(game.status == "done" for game in match.over.games),
            )
            for match in self.final_matches
            if match.counts
        ]

    def pairs_of_final(self) -> list[pentanomial.PairResult]:
        """Returns the results of the final's matches, of each deal and pair."""
        number = self._numbers()
        pairs: list[pentanomial.PairResult] = []
        for match in self.final_matches:
            if match.counts and match.over is not None:
                for game, seats in zip(match.over.games, match.planned.seats, strict=True):
                    if game.status == "done":
                        entrants = [number[name] for name in seats]
                        pairs += pentanomial.pairs_of(
                            match.planned.match, entrants, tuple(game.ranks), [None] * len(seats), None
                        )
        return pentanomial.add_up(pairs)

    def _outcome(self) -> str | None:
        return finals.stage(self.design(), self.of_final(), self.pairs_of_final()).outcome


def _is_whole(game: rounds.GameOver, seats: int) -> bool:
    """Says whether a game that is done has a rank from 1 on for each seat, and any other none."""
    if game.status != "done":
        return not game.ranks
    return len(game.ranks) == seats > 0 and min(game.ranks) == 1 and max(game.ranks) <= seats


def lines_of_old(folder: Path, opened: old.SeasonOpened, logs: Mapping[int, examining.Examined]) -> Iterator[Line]:
    """Yields a season of arena 0.2 as lines, all with its beginning as their date: no file said when it was decided.

    Those of one that is open tell of the matches whose logs are there.

    Args:
        logs: By the game's number what is known of its log.

    Raises:
        LogError: A file cannot be read, or contradicts another.
    """
    told = record_files.sha256_of(old.commitment_of(opened))
    yield rounds.Opened(at=opened.opened, tournament=opened.tournament, season=opened.season, commitment_sha256=told)
    closed = record_files.published(folder, old.STANDINGS_FILE, old.SeasonClosed)
    results, final = _results(folder, opened, closed, logs)
    entered = [
        rounds.Entered(
            name=one.name, digest="", archive=one.digest, level=one.level, mu=one.mu, sigma=one.sigma, after=one.after
        )
        for one in (closed.entrants if closed is not None else _entrants(results, logs))
    ]
    matches = [*_matches(folder, opened, results, whole=closed is not None)]
    if final is not None:
        begun = rounds.FinalBegun(entrants=final.entrants, deals=final.deals, reason="")
        planned = ((at, line.games) for at, line in enumerate(matches) if isinstance(line, rounds.Planned))
        matches.insert(next((at for at, games in planned if min(games) >= final.final), len(matches)), begun)
        if closed is not None and final.outcome != "not played":
            matches.append(rounds.Decided(outcome=final.outcome, reason=str(closed.standings["final"]["reason"])))
    rows = {one.name for one in entered} if closed is None else {row["name"] for row in closed.standings["items"]}
    states = {one.name: "superseded" for one in entered if one.name not in rows}
    for line in old.in_turn(entered, matches, final.left if final is not None else (), states):
        yield msgspec.structs.replace(line, at=opened.opened)
    if closed is not None:
        yield rounds.Closed(at=closed.closed, standings=closed.standings)


def _matches(
    folder: Path, opened: old.SeasonOpened, results: Mapping[int, old.OldResult], *, whole: bool
) -> Iterator[Line]:
    """Yields what is told of matches. If that is not the `whole`, those are left out of which results are missing."""
    told = sorted(old.deals_in(folder), key=lambda one: one.match)  # after a kill some stand there twice
    deals = [one for one, before in zip(told, [None, *told], strict=False) if one != before]
    for number, deal in enumerate(deals):
        rows = [results[game] for game in deal.games if game in results]
        is_right = (
            (deal.match, deal.deal, deal.tournament) == (number, number, opened.tournament)
            and len(rows) == len(deal.games) > 0
            and len({row.counts for row in rows}) == 1
            and hashlib.sha256(bytes.fromhex(deal.secret)).hexdigest() == deal.commitment
        )
        if whole and not is_right:
            raise errors.LogError(
                f"expected match {number} of {opened.tournament} on deal {number}, with its commitment, and results "
                f"that count as a whole, got: match {deal.match} on deal {deal.deal} - at {folder}"
            )
        if not is_right:
            continue
        yield rounds.Planned(
            match=deal.match, games=deal.games, seats=[row.entrants for row in rows], rated=rows[0].counts
        )
        over = [
            rounds.GameOver(
                status=row.status,
                ranks=row.ranks,
                play_digest=row.play_digest,
                log=deal.logs.get(f"{opened.tournament}-{row.number:06d}"),
            )
            for row in rows
        ]
        yield rounds.Over(match=deal.match, secret=deal.secret, games=over, reason="")


def _results(
    folder: Path, opened: old.SeasonOpened, closed: old.SeasonClosed | None, logs: Mapping[int, examining.Examined]
) -> tuple[dict[int, old.OldResult], old.FinalResult | None]:
    """Returns by number the results of games, from their list or from logs, and what is told of the final."""
    if closed is None:
        return {number: _of_log(number, logs[number]) for number in logs}, None
    digest = hashlib.sha256(f"{opened.digest_before}\n".encode())
    found: dict[int, old.OldResult] = {}
    final = None
    for at, line in old.lines_of(folder, old.RESULTS):
        digest.update(line + b"\n")
        if final is None and line.startswith(b'{"deals"'):
            final = old.decoded(line, at, old.FinalResult)
            continue
        row = old.decoded(line, at, old.OldResult)
        if row.number != len(found) or final is not None:
            raise errors.LogError(f"expected the result of game {len(found)}, got: {row.number} - at {at}")
        found[row.number] = row
    if digest.hexdigest() != closed.digest:
        raise errors.LogError(f"expected the digest of the results, got: another - at {folder / old.STANDINGS_FILE}")
    return found, final


def _of_log(number: int, log: examining.Examined) -> old.OldResult:
    assert log.result is not None
    return old.OldResult(
        number=number, status="done", counts=True, entrants=[f"{bot.name}/{bot.version}" for bot in log.head.bots],
        ranks=list(log.result.ranks), play_digest=log.result.play_digest,
    )  # fmt: skip


def _entrants(results: Mapping[int, old.OldResult], logs: Mapping[int, examining.Examined]) -> list[old.SeasonEntrant]:
    """Returns the versions of a season that is open, from the logs of its games."""
    levels = {name: str(logs[row.number].head.level) for row in results.values() for name in row.entrants}
    return [
        old.SeasonEntrant(name=name, digest="", level=level, mu=0.0, sigma=1.0, after=None)
        for name, level in levels.items()
    ]
