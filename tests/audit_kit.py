"""Tournaments that bots in memory play, with their folders and databases, for the tests of the audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from arena.core.catalogue import make_settings, rules_of
from arena.core.link.bots import BotSpec
from arena.core.ratings.running import Rating
from arena.core.referee.game import Game
from arena.core.referee.job import Job
from arena.core.standings.audit import Auditor
from arena.core.standings.closing import close
from arena.core.standings.examined import examine
from arena.core.standings.verdicts import Audit
from arena.core.store.records import PlannedGame, Tournament
from arena.core.store.store import open_reader, open_store
from arena.core.tournament.formats.base import Format
from arena.core.tournament.plan import begin
from arena.core.tournament.planner import schedule_of
from arena.core.tournament.runner import Runner
from arena.core.tournament.settings import Settings, Setup, enter
from arena.core.tournament.steering import Directions
from arena.core.types import GameResult
from arena.core.wire.messages import Request
from tests import instant
from tests.memory_link import CRASH, MemoryBot, MemoryLink, Reply, answer
from tests.referee_kit import first_legal

SPECS = tuple(BotSpec(name=f"bot{n}", version="1", command=("x",), folder="/", digest=f"{n:x}" * 64) for n in range(8))


class Quitter:
    """Plays so many requests, and then is gone."""

    def __init__(self, requests: int) -> None:
        self._left = requests

    def __call__(self, request: Request) -> Sequence[Reply]:
        self._left -= 1
        return [answer(request, first_legal(request), after_ms=2) if self._left >= 0 else Reply(CRASH)]


def play(job: Job, *, upside_down: bool = False) -> GameResult:
    """Plays a game that the bots lose in the order of their numbers, the last first; or the other way round."""
    order = sorted(range(len(job.bots)), key=lambda seat: job.bots[seat].name, reverse=not upside_down)
    patience = {seat: 1 + place for place, seat in enumerate(order)}
    bots = [MemoryBot(Quitter(patience[seat])) for seat in range(len(job.bots))]
    return Game(job, rules_of(job.settings), MemoryLink(bots)).play()


def setup(format: Format, entrants: int, players: int, rules: str = "samurai", ruleset: str = "basic") -> Setup:
    specs = SPECS[:entrants]
    game = make_settings(rules, players, ruleset=ruleset)
    settings = Settings(game=game, format=format, seed="audit", bots=enter(specs))
    return Setup(settings=settings, specs=specs, refs=tuple(spec.name for spec in specs))


class Folder:
    """A tournament that was played, with its database."""

    def __init__(self, root: Path, setup: Setup, *, games: int | None = None, starts: Sequence[Rating] = ()) -> None:
        """Plays the first games of it, or all."""
        self.setup = setup
        root.mkdir(exist_ok=True)
        self.db = root / "arena.db"
        with open_store(self.db) as store:
            begun = begin(store, setup.settings, setup.specs, root / "logs", starts=starts)
            schedule = schedule_of(store, begun.tournament, setup.settings)
            runner = Runner(
                *(
                    store,
                    begun.tournament,
                    schedule,
                    self._make_job(begun.tournament),
                    play,
                    instant.inline,
                    Directions(1),
                ),
                ahead=False,
            )
            for _ in zip(runner.run(), range(10_000 if games is None else games), strict=False):
                pass
            if games is None:
                close(store, begun.tournament)
            self.tournament = store.tournament(begun.tournament.id)
            self.schedule = schedule_of(store, self.tournament, setup.settings)
        self.logs = Path(self.tournament.logs)

    def _make_job(self, tournament: Tournament) -> Callable[[PlannedGame], Job]:
        return lambda game: self.setup.job(tournament, game)

    def log(self, number: int) -> Path:
        return self.logs / f"{self.tournament.id}-{number:06d}.jsonl"

    def play(self, game: PlannedGame, *, upside_down: bool = False) -> None:
        """Writes the log of a game that by itself is faultless: the forger has the secret, and all programs."""
        play(self.setup.job(self.tournament, game), upside_down=upside_down)

    def audit(self, *, complete: bool = False, db: bool = False) -> Audit:
        def result(auditor: Auditor) -> Audit:
            for log in sorted(self.logs.glob("*.jsonl")):
                auditor.add(examine(str(log)))
            return auditor.result(complete=complete)

        if not db:
            return result(Auditor(self.logs))
        with open_reader(self.db) as reader:
            return result(Auditor(self.logs, reader))
