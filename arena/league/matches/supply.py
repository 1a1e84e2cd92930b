"""The games of a league's matches, for the lanes.

Laws:
1. Nothing that happens to a game ends the league. A game that was interrupted, or ended its worker, too often takes its
   match out, and the operator is told.
2. A result, the ratings that it moves and the suspensions that it causes are one transaction.
3. A loss on time while the machine was overloaded counts as a result, and never towards a suspension.
4. A machine that fails is left alone for a while: else it would take one match after another out.
5. What cannot be written, on a full disk, is owed: it is written in its order when there is room. Nothing is announced
   before that. What is still owed when the service ends was never stored, and those games are played again.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import (
    FilesChanged,
    GameResult,
    GameSettings,
    Job,
    Level,
    Termination,
    blocks,
    bot_manifests,
    capping,
    counted,
    errors,
    game_rows,
    lane_kit,
    match_workers,
    running,
    tournament_settings,
)
from arena.league.settings import Settings, Suspension
from arena.league.store import LeagueStore
from arena.league.store.records import Form, Version
from arena.league.store.states import Actor, State

LONGEST_REST_S: Final = 60.0
"""How long at most no game begins after faults of the machine. The first fault costs a second, each further one twice
as much as the one before."""

_MOST_KNOWN: Final = 10_000  # games whose match is remembered
_SHOWN: Final = 3
"""Of how many forfeits its author is told at once. `arena league games` lists all."""
_LONGEST: Final = 200


class MatchGames(msgspec.Struct, eq=False):
    """The planned games of the open season, as a `Supply`.

    Args:
        make_job: Returns the work for a claimed game.
        suspension: When a version is suspended.
        make_room: Frees room on the disk, if a result has none.
        unfit: Returns why a version cannot play any more that was taken before, as the rest of a sentence; or nothing.
        starts: Called with each game and its result while that is stored. Returns more sentences for `tell`.
        same_worker: Whether the games of a match are all played on one worker of a cluster, as long as it lives.
        block: How many games follow each other that share bot processes.
    """

    store: LeagueStore
    tournament: str
    make_job: Callable[[game_rows.Claim, game_rows.PlannedGame], Job]
    suspension: Suspension
    tell: Callable[[str], object]
    make_room: Callable[[], object] = lambda: None
    unfit: Callable[[Version], str] = lambda version: ""
    starts: Callable[[game_rows.PlannedGame, GameResult], list[str]] = lambda game, result: []
    same_worker: bool = False
    block: int = 1
    _tries: Counter[str] = msgspec.field(default_factory=Counter)
    """Number of crashes and interruptions of each game that is not over."""
    _kills: Counter[str] = msgspec.field(default_factory=Counter)
    """Number of kills from outside of each game that is not over."""
    _owed: deque[Callable[[], object]] = msgspec.field(default_factory=deque)
    """What is to be written, in order."""
    _faults: int = 0
    """How many there were since the last result."""
    _since: float = msgspec.field(default_factory=time.monotonic)
    machine_faults: int = 0
    rests_until: float = 0.0
    """Until when no game should begin; on the monotonic clock."""
    left: int = 0
    """As `count` found it."""
    told: Callable[[game_rows.Played], object] = lambda played: None
    """Called with each result once it is stored."""
    rated: int = 0
    """How many games were played that count."""
    _homes: match_workers.MatchWorkers | None = None

    def __post_init__(self) -> None:
        match_of = lru_cache(_MOST_KNOWN)(self.store.matches.match_of)
        self._homes = match_workers.MatchWorkers(match_of, self.store.matches.begun()) if self.same_worker else None

    def count(self) -> None:
        """Counts what can be claimed. Call it when something may have changed that."""
        self.left = sum(game.status == "planned" for match in self.store.matches.running() for game in match.games)

    def plan(self) -> None:
        """Plans nothing: the service does, before it feeds the lanes."""

    def share(self, lanes: int) -> int:
        """Returns how many games a lane may claim at a time: at most a block, so that its bots start once for it."""
        return min(self.left // lanes, self.block)

    def claim(self, limit: int, worker: str = "", others: Collection[str] = ()) -> Sequence[lane_kit.Work]:
        """Claims the next game; where matches stay on a worker, the next whose match nobody else has."""
        claimer = partial(self.store.games.claim, self.tournament, self.store.matches.game, limit)
        claims = match_workers.claim_at_home(self._homes, claimer, worker, others)
        left_to_others = self._homes is not None and others
        self.left = self.left - len(claims) if claims or left_to_others else 0
        works = []
        for claim in claims:
            try:
                works.append(lane_kit.Work(claim, self.make_job(claim, self.store.matches.game(claim.number))))
            except FilesChanged as error:
                self.fault(claim, error)
            except capping.BeyondCaps:
                with self.store.transaction():
                    suspended = self._judge(self.store.matches.game(claim.number).entrants)
                self._take_out(claim, "one of its bots asks for more than the league gives")
                for sentence in suspended:
                    self.tell(sentence)
            except (errors.ArenaError, OSError) as error:  # a bot's folder is gone
                self._failed(claim, f"its bots cannot be started: {error}")
        return works

    def release(self, claim: game_rows.Claim) -> None:
        """Gives a game back."""
        self._owe(partial(self._release, claim))

    def _release(self, claim: game_rows.Claim) -> None:
        self.store.games.release(claim)
        self.left += 1

    def take(self, claim: game_rows.Claim, result: GameResult) -> game_rows.Played | None:
        """Stores a result with all that follows from it. Returns None if it is none, or if it is owed."""
        if result.termination is Termination.INTERRUPTED:
            self._failed(claim, "it was interrupted")
            return None
        kept: list[game_rows.Played] = []
        self._owe(lambda: kept.append(self._keep(claim, result)))
        return kept[0] if kept else None

    def storing(self) -> AbstractContextManager[None]:
        """Leaves each result a transaction of its own: what follows from one is published when it is stored."""
        return nullcontext()

    def _owe(self, write: Callable[[], object]) -> None:
        """Writes something after all that is owed."""
        self._owed.append(write)
        self.pay()

    def pay(self) -> None:
        """Writes what is owed, as far as the disk takes it."""
        while self._owed:
            try:
                try:
                    self._owed[0]()
                except sqlite3.OperationalError:  # the disk is full
                    self.make_room()
                    self._owed[0]()
            except (sqlite3.OperationalError, OSError) as error:
                if time.monotonic() >= self.rests_until:
                    self.tell(f"{len(self._owed)} changes wait to be stored: {error}")
                    self.rest()
                return
            self._owed.popleft()

    def _keep(self, claim: game_rows.Claim, result: GameResult) -> game_rows.Played:
        game = self.store.matches.game(claim.number)
        moment = time.monotonic()
        suspended = self._record(claim, result, game, moment - self._since)
        self._since = moment
        self._faults = 0
        self._forget(claim)
        if self._homes is not None:
            self._homes.end(claim.number)
        self.rated += self.store.matches.counts(claim.number)
        for sentence in suspended:
            self.tell(sentence)
        played = game_rows.Played(game, result)
        self.told(played)
        return played

    def _record(
        self, claim: game_rows.Claim, result: GameResult, game: game_rows.PlannedGame, seconds: float
    ) -> list[str]:
        with self.store.transaction():
            self.store.games.record(claim, result, game.entrants, seconds)
            forfeited = (number for number, seat in enumerate(result.seats) if seat.forfeit is not None)
            return self._judge(game.entrants[number] for number in forfeited) + self.starts(game, result)

    def give_back_all(self) -> None:
        """Gives back every game that is claimed, one whose result is owed too.

        Call it when the workers were ended, or nobody awaits them.
        """
        self._owed.clear()
        self.store.games.resume(self.tournament)

    def judge_all(self) -> None:
        """Suspends every active version that deserves it. Rules may have changed since the last run."""
        with self.store.transaction():
            suspended = self._judge(standing.entrant for standing in self.store.facts.standing())
        for sentence in suspended:
            self.tell(sentence)

    def _judge(self, entrants: Iterable[int]) -> list[str]:
        return [sentence for entrant in entrants for sentence in self._judge_one(entrant)]

    def _judge_one(self, entrant: int | None) -> list[str]:
        version = None if entrant is None else self.store.versions.of_entrant(entrant)
        if version is None or version.state is not State.ACTIVE or version.is_of_house:
            return []
        notice = ""
        if not (reason := self.unfit(version)):
            form = self.store.facts.form(version, self.suspension.games)
            if not (reason := verdict(form, self.suspension)):
                return []
            notice = evidence(version.name, reason, form)
        self.store.versions.change(version.id, State.SUSPENDED, Actor.SERVICE, reason, notice=notice)
        good = next((one for one in self.store.versions.of_bot(version.bot) if one.state is State.ACTIVE), None)
        sentence = f"{version.name} is suspended: {reason}" + (f"; {good.name} plays again" if good else "")
        return [sentence, *self._judge_one(good.entrant if good else None)]

    def fault(self, claim: game_rows.Claim, error: BaseException) -> None:
        """Gives a game back that could not be played; or takes its match out, if that was once too often.

        A version whose files are not those that were checked is suspended: no game with it could count.
        """
        version = self._changed(claim, error) if isinstance(error, FilesChanged) else None
        if version is not None:
            self._owe(partial(self._suspend, version, str(error)))
            self._take_out(claim, f"the files of {version.name} are not those that were checked")
            return
        self._failed(claim, f"{type(error).__name__}: {error}")

    def _changed(self, claim: game_rows.Claim, error: FilesChanged) -> Version | None:
        """Returns the version whose files changed, if it can be suspended. The house's are the operator's own."""
        entrants = self.store.matches.game(claim.number).entrants
        found = (self.store.versions.of_entrant(entrant) for entrant in entrants)
        changed = (version for version in found if version and (version.bot, str(version.number)) == error.bot)
        return next((version for version in changed if not version.is_of_house), None)

    def _suspend(self, version: Version, what: str) -> None:
        if self.store.versions.get(version.id).state is not State.ACTIVE:
            return
        reason = "its files in the league are not those that were checked"
        self.store.versions.change(version.id, State.SUSPENDED, Actor.SERVICE, reason)
        self.tell(f"{version.name} is suspended: {what}")

    def died(self, claim: game_rows.Claim, error: BrokenExecutor, *, outside: bool) -> bool:
        """Counts that a worker ended in a game. Takes the match out if that was once too often."""
        counter, most = (self._kills, running.MAX_KILLS) if outside else (self._tries, running.MAX_TRIES)
        counter[claim.game] += 1
        self.tell(f"The worker of game {claim.game} {'was lost' if outside else 'ended'}: {error}")
        if counter[claim.game] < most:
            return True
        self._take_out(claim, f"its worker {'was lost' if outside else 'ended'} {most} times in it")
        return False

    def _failed(self, claim: game_rows.Claim, reason: str) -> None:
        """Counts an interruption, for which no bot is the reason."""
        self.tell(f"Game {claim.game} could not be played: {reason}")
        self.rest()
        self._tries[claim.game] += 1
        if self._tries[claim.game] < running.MAX_TRIES:
            self.release(claim)
        else:
            self._take_out(claim, f"it could not be played {running.MAX_TRIES} times, the last: {reason}")

    def rest(self) -> None:
        """Lets no game begin for a while, since the machine failed. Counts the fault."""
        self.machine_faults += 1
        rest = min(2.0**self._faults, LONGEST_REST_S)
        self._faults = min(self._faults + 1, 10)
        self.rests_until = time.monotonic() + rest

    def _take_out(self, claim: game_rows.Claim, reason: str) -> None:
        """Makes a claimed game void, and what was not begun of its match."""
        self._owe(partial(self._void, claim, reason))

    def _void(self, claim: game_rows.Claim, reason: str) -> None:
        match = next(
            match.number
            for match in self.store.matches.running()
            if any(game.number == claim.number for game in match.games)
        )
        text = f"Match {match} is void, since of game {claim.game}: {reason}"
        with self.store.transaction():
            self.store.games.void(claim, reason)
            self.store.matches.void(match, f"game {claim.game}: {reason}")
            self.store.notices.add(None, "void", text)
        self._forget(claim)
        self.tell(text)
        self.count()

    def _forget(self, claim: game_rows.Claim) -> None:
        self._tries.pop(claim.game, None)
        self._kills.pop(claim.game, None)


def verdict(form: Form, rule: Suspension) -> str:
    """Returns why a version is suspended, as the rest of a sentence; empty if it is not.

    Only what the bot did counts: a loss on time while the machine was overloaded is none of its faults, and a game
    that was interrupted is no game.
    """
    if form.in_a_row >= rule.in_a_row:
        return f"it forfeited its last {counted(form.in_a_row, 'game')}"
    if len(form.forfeits) >= rule.forfeits:
        return f"it forfeited {len(form.forfeits)} of its last {counted(form.games, 'game')}"
    return ""


def evidence(name: str, reason: str, form: Form) -> str:
    """Returns what the author is told: the games, what happened in them, and how to ask the bot again."""
    lines = [f"{name} is suspended: {reason}."]
    for game, forfeit in form.forfeits[:_SHOWN]:
        words = f", last words: {' / '.join(forfeit.stderr[-2:])[-_LONGEST:]}" if forfeit.stderr else ""
        lines.append(f"{game}, turn {forfeit.turn}, {forfeit.code}: {forfeit.sentence}{words}.")
    lines.append("`arena league log GAME` gets a game, and `arena bot rerun LOG BOT --seat N` asks the bot again.")
    return "\n".join(lines)


class Jobs(msgspec.Struct, eq=False):
    """Makes the work for a game of the open season."""

    store: LeagueStore
    bot: Callable[[Version], bot_manifests.BotSpec]
    settings: Settings
    tournament: game_rows.Tournament
    feed: Path
    """The folder in which watchers wait."""
    _games: dict[int, GameSettings] = {}

    def __call__(self, claim: game_rows.Claim, game: game_rows.PlannedGame) -> Job:
        """Returns the work for a claimed game. Raises ArenaError: a bot's files are gone."""
        if self.tournament.awaits:  # no game was claimed before its value was there
            self.tournament = self.store.games.tournament(self.tournament.id)
        players = len(game.entrants)
        if players not in self._games:
            self._games[players] = self.settings.game_settings(players)
        versions = [self.store.versions.of_entrant(entrant) for entrant in game.entrants]
        job = Job(
            game=claim.game, tournament=claim.tournament, settings=self._games[players],
            bots=tuple(self.bot(version) for version in versions if version is not None), deal=game.deal,
            rotation=game.rotation, secret=self.tournament.secret, logs=self.tournament.logs,
            mix=tournament_settings.mix_of(self.tournament), beacon=self.tournament.beacon,
            level=self.settings.level, feed=str(self.feed.absolute()),
        )  # fmt: skip
        return blocks.placed(job, self._processes(versions), game, claim.attempt, serve_on=True)

    def _processes(self, versions: Iterable[Version | None]) -> blocks.Processes:
        """Returns for how long bots are kept: a remote one for one game, which is its sitting."""
        if self.settings.bots.fresh or any(
            version is not None and version.level == Level.REMOTE for version in versions
        ):
            return "game"
        found: blocks.Processes = self.tournament.settings["processes"]
        return found
