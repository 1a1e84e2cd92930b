"""A league's service for tests: its loop with games that take no time, and steps whose outcome the bot's name says."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from msgspec.structs import replace

from arena.core.referee.job import Job
from arena.core.store.database import Connection
from arena.core.store.records import Claim, PlannedGame
from arena.core.tournament.lanes import Lanes, Play, Worker
from arena.core.types import Payload, Termination
from arena.league.keeping.clearing import Lost
from arena.league.matches.planning import Planner
from arena.league.matches.starts import Starts
from arena.league.matches.supply import MatchGames
from arena.league.season.ending import Ending
from arena.league.service.loop import Ended, Service
from arena.league.service.stopping import Stopping
from arena.league.settings import Limits, MatchRule, Settings, Suspension
from arena.league.store import LeagueStore
from arena.league.store.records import Kind, Version
from arena.league.submissions.step_runner import StepRunner, StepWorker
from arena.league.submissions.steps import StepReport, Verdict
from tests import instant, league_kit

MATCHMAKING: Final = MatchRule(players=(2,))


class Tools:
    """Steps that take no time. A bot whose name begins with `bad` is rejected in the step that its version names."""

    def __init__(self) -> None:
        self.done: list[tuple[str, Kind]] = []
        self.unbuilt: set[str] = set()
        """The versions whose files are not there."""

    def work(self, version: Version, kind: Kind) -> tuple[Callable[..., StepReport], tuple[Any, ...]]:
        self.done.append((version.name, kind))
        script = version.manifest.get("version", "")
        if kind == "build" and not script.endswith("build"):
            self.unbuilt.discard(version.name)
        return outcome, (kind, script)

    def is_built(self, version: Version) -> bool:
        return version.name not in self.unbuilt

    def spec(self, version: Version) -> Payload:
        return {"name": version.name}


def outcome(kind: Kind, script: str) -> StepReport:
    """What comes of a step: `bad check` is rejected by the check, `dead check` ends its worker there."""
    if script == f"dead {kind}":
        raise OSError(28, "No space left on device")
    is_bad = script == f"bad {kind}"
    verdict = Verdict.FAILED if is_bad else Verdict.PASSED
    return StepReport(kind=kind, verdict=verdict, finding=f"{kind} {script}".strip(), seconds=0.1)


class Orders:
    """Nobody gives orders."""

    paused = False
    closing = False

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def look(self) -> None:
        """Does nothing."""


class Room:
    """There is always room."""

    is_short = False

    def look(self) -> None:
        """Does nothing."""


class Publisher:
    """Notes that matches were published."""

    def __init__(self, store: LeagueStore) -> None:
        self._store = store
        self.shown = 0  # matches that have a line

    def write_lines(self) -> None:
        self.shown = self._store.matches.count()

    def look(self) -> None:
        for match in self._store.matches.over():
            self._store.matches.publish(match.number)

    def publish(self) -> None:
        self.look()


class Running:
    """A service, and what it consists of."""

    def __init__(
        self,
        store: LeagueStore,
        play: Play,
        worker: Worker = instant.inline,
        workers: int = 2,
        settings: MatchRule = MATCHMAKING,
        make_room: Callable[[], object] = lambda: None,
        *,
        same_worker: bool = False,
        unbuilt: Collection[str] = (),
    ) -> None:
        season = league_kit.season(store)
        self.said: list[str] = []
        self.store = store
        self.tournament = store.games.tournament(season.tournament)
        self.starts = Starts(store, Limits())
        self.unfit: dict[str, str] = {}
        """Why versions that were taken before cannot play any more."""
        self.supply = MatchGames(
            store, season.tournament, self.job, Suspension(), self.said.append, make_room,
            lambda version: self.unfit.get(version.name, ""), self.starts.count, same_worker=same_worker,
        )  # fmt: skip
        self.tools = Tools()
        self.tools.unbuilt |= set(unbuilt)
        self.lanes = Lanes(self.supply, play, worker)
        self.step_worker = StepWorker(instant.inline)
        self.step_runner = StepRunner(
            store, self.step_worker, self.tools, Lost(store, self.tools.is_built), self.said.append
        )
        self.planner = Planner(
            store, settings, bytes.fromhex(self.tournament.commitment),
            absent=lambda: self.step_runner.lost.names, resting=self.starts.resting,
        )  # fmt: skip
        self.orders = Orders(workers)
        self.ending = Ending(store, Settings(name="cup"), self.said.append)
        self.room = Room()
        store.games.resume(season.tournament)
        self.service = Service(
            self.supply, self.lanes, self.step_worker, self.planner, self.ending, self.step_runner, self.orders,
            self.room,
            Publisher(store), (), self.said.append,
        )  # fmt: skip

    def job(self, claim: Claim, game: PlannedGame) -> Job:
        names = [self.store.games.name(claim.tournament, entrant) for entrant in game.entrants]
        return Job(
            game=claim.game,
            tournament=claim.tournament,
            settings=instant.settings().game,
            bots=tuple(replace(instant.spec("x"), name=name) for name in names),
            deal=game.deal,
            rotation=game.rotation,
            secret=self.tournament.secret,
            logs=self.tournament.logs,
            block=f"game {game.number}, attempt {claim.attempt}",
        )

    def run(self, games: int | None) -> Ended:
        with self.lanes, self.step_worker, Stopping() as stopping:
            return self.service.run(stopping, games)


@contextmanager
def league(folder: Path, *bots: str) -> Iterator[LeagueStore]:
    """A league with bots that play, each of an author of its own."""
    (folder / "logs").mkdir(exist_ok=True)
    with league_kit.league(folder, *(f"of {bot}" for bot in bots)) as store:
        for bot in bots:
            league_kit.active(store, bot, author=f"of {bot}")
        yield store


def play(job: Job) -> Any:
    """A game without forfeits, unless a bot's name begins with `crash`: that one always forfeits."""
    result = instant.play(job)
    crashed = [seat for seat, bot in enumerate(job.bots) if bot.name.startswith("crash")]
    seats = tuple(
        replace(
            seat,
            rank=len(job.bots) if number in crashed else 1,
            forfeit=instant.forfeit(number) if number in crashed else None,
        )
        for number, seat in enumerate(result.seats)
    )
    code = Termination.TIMEOUT if crashed else Termination.FINISHED
    return replace(result, seats=seats, termination=code)


def endless(job: Job) -> Any:
    """A game that nobody waits for."""
    time.sleep(600)


class Killed(BaseException):
    """The process ends here and now."""


@contextmanager
def killed_at_commits(dice: Random, share: float, *, after: bool | None = None) -> Iterator[None]:
    """Raises `Killed` at a share of all commits to databases.

    Args:
        dice: Decides at which.
        share: Of 1.
        after: Whether what is committed is there then; None means now and then.
    """
    execute = Connection.execute

    def killing(self: Connection, statement: str, *parameters: Any) -> Any:
        if statement != "COMMIT" or dice.random() >= share:
            return execute(self, statement, *parameters)
        if after or (after is None and dice.random() < 1 / 2):
            execute(self, statement, *parameters)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connection, "execute", killing)
        yield
