"""A tournament whose games take no time: a stand-in for the referee that answers from a hash of the job.

It is what the tests of store and tournament play. Results depend on deal, rotation and bots, never on who plays them
when or where, so that two tournaments with one seed must end equal.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any

from msgspec import UNSET, UnsetType

from arena.core.link.bots import BotSpec
from arena.core.referee.job import Job
from arena.core.rules.base import Margin
from arena.core.store.records import PlannedGame, Tournament, game_id
from arena.core.store.store import Store
from arena.core.tournament.blocks import Processes
from arena.core.tournament.formats.base import Format
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.lanes import Play, Worker
from arena.core.tournament.plan import Begun, begin
from arena.core.tournament.planner import schedule_of
from arena.core.tournament.runner import Runner
from arena.core.tournament.settings import Settings, enter
from arena.core.tournament.steering import Directions
from arena.core.types import BoardFile, Forfeit, GameResult, GameSettings, SeatResult, Teams, Termination, TimeControl

BOTS = ("ann", "bob", "cid")


def spec(name: str) -> BotSpec:
    return BotSpec(
        name=name, version="1", command=("true",), folder="/", digest=hashlib.sha256(name.encode()).hexdigest()
    )


def settings(
    bots: tuple[str, ...] = BOTS,
    *,
    players: int = 2,
    deals: int = 2,
    seed: str | None = "spring",
    format: Format | None = None,
    teams: Teams | UnsetType = UNSET,
) -> Settings:
    game = GameSettings(
        rules="samurai",
        rules_version=1,
        ruleset="standard",
        options={"setup": "draft"},
        players=players,
        board=BoardFile(name="Japan", hash="00"),
        time=TimeControl.parse("10+0.1"),
        teams=teams,
    )
    return Settings(
        game=game, format=format or RoundRobin(deals=deals), seed=seed, bots=enter([spec(name) for name in bots])
    )


def job(tournament: Tournament, setting: Settings, game: PlannedGame) -> Job:
    return Job(
        game=game_id(tournament.id, game.number),
        tournament=tournament.id,
        settings=setting.game,
        bots=tuple(spec(setting.bots[entrant].name.partition("#")[0]) for entrant in game.entrants),
        deal=game.deal,
        rotation=game.rotation,
        secret=tournament.secret,
        logs=tournament.logs,
    )


def play(job: Job) -> GameResult:
    """Ranks with ties, now and then a forfeit, and a log, all from a hash."""
    names = "/".join(bot.name for bot in job.bots)
    digest = hashlib.sha256(f"{job.secret.hex()}/{job.deal}/{job.rotation}/{names}".encode())
    dice = digest.digest()
    points = [dice[seat] % 5 + 2 * (bot.name == "ann") for seat, bot in enumerate(job.bots)]
    loser = dice[9] % len(job.bots) if dice[8] < 40 else None
    if loser is not None:
        points[loser] = -1
    teams = job.settings.teams or tuple(range(len(points)))
    points = [sum(compress(points, [other == team for other in teams])) for team in teams]
    leads = Margin("points", 4).leads(points, () if loser is None else (loser,))
    log = f"{job.game}.jsonl"
    data = digest.hexdigest().encode() + b"\n"
    (Path(job.logs) / log).write_bytes(data)
    return GameResult(
        game=job.game,
        termination=Termination.FINISHED if loser is None else Termination.TIMEOUT,
        seats=tuple(
            SeatResult(
                rank=1 + sum(other > mine for other in points),
                decisions=10,
                total_ms=float(dice[seat + 10]),
                max_ms=float(dice[seat + 20]),
                forfeit=forfeit(seat) if seat == loser else None,
                margin=leads[seat],
                score=None if job.settings.teams is UNSET else mine,
                team=None if job.settings.teams is UNSET else teams[seat],
            )
            for seat, mine in enumerate(points)
        ),
        turns=20,
        actions=30,
        seconds=0.25,
        play_digest=digest.hexdigest(),
        log=log,
        log_sha256=hashlib.sha256(data).hexdigest(),
    )


def forfeit(seat: int) -> Forfeit:
    return Forfeit(
        seat=seat,
        code=Termination.TIMEOUT,
        sentence=f"seat {seat} exceeded its time by 240 ms",
        turn=7,
        stderr=("thinking", "still \x1b[31mthinking"),
    )


class InlineExecutor(Executor):
    """Plays at once, in this process, which keeps its priority."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(None if fn is os.nice else fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def inline() -> Iterator[Executor]:
    yield InlineExecutor()


def start(store: Store, setting: Settings, logs: Path, **options: Any) -> Begun:
    return begin(store, setting, [spec(bot.name.partition("#")[0]) for bot in setting.bots], logs, **options)


def runner(
    store: Store,
    begun: Begun,
    setting: Settings,
    *,
    play: Play = play,
    worker: Worker = inline,
    lanes: int = 2,
    directions: Directions | None = None,
    processes: Processes = "block",
    attend: Callable[[], object] | None = None,
) -> Runner:
    make_job = partial(job, begun.tournament, setting)
    schedule = schedule_of(store, begun.tournament, setting)
    directions = directions or Directions(lanes)
    return Runner(
        store, begun.tournament, schedule, make_job, play, worker, directions, processes=processes, attend=attend
    )


def play_or_die(deadly: frozenset[int], job: Job) -> GameResult:
    """Plays, but the first time that it is one of these games it kills its process."""
    mark = Path(job.logs).with_name(job.game)
    if int(job.game.rpartition("-")[2]) in deadly and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return play(job)
