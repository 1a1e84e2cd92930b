"""Runs the league in a folder: puts the service together, and cleans up after one that was killed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from arena.core.face import (
    Payload,
    beacons,
    confining,
    counted,
    errors,
    files,
    game_worker,
    lane_kit,
    need,
    plain,
    processor_cores,
    programs,
)
from arena.league.disk import DiskRoom
from arena.league.door.supervisor import DoorSupervisor, door_command
from arena.league.folder import Folder
from arena.league.keeping.calendar import SignsOfLife
from arena.league.keeping.clearing import Clearing, Lost, clean_up
from arena.league.keeping.housekeeping import Tidy
from arena.league.keeping.telling import Telling
from arena.league.matches.planning import Planner
from arena.league.matches.starts import Starts
from arena.league.matches.supply import Jobs, MatchGames
from arena.league.public.monitoring import Figures
from arena.league.public.publishing import Publishing
from arena.league.public.showing import Showing
from arena.league.season.closing import close_season, settings_now
from arena.league.season.ending import Ending
from arena.league.service.inbox import OrderDuty
from arena.league.service.loop import Duty, Ended, Service
from arena.league.service.stopping import Manager, SignOfLife, Stopping
from arena.league.settings import Settings, check_bind, load
from arena.league.store import LeagueStore, open_league
from arena.league.store.records import Season
from arena.league.submissions.house import check_house, renew_house
from arena.league.submissions.requested import Requested
from arena.league.submissions.step_runner import NICENESS, StepRunner, StepWorker
from arena.league.submissions.submitting import Allowance
from arena.league.submissions.tools import LeagueTools, absent, built_tree

PATIENCE_S: Final = 15.0
"""How long it waits for a command that writes the database at this moment."""
LOG_BYTES: Final = 8 * files.MIB
"""Size of the service's log before another is begun."""
LOGS_KEPT: Final = 4
"""How many earlier ones stay: `league.log.1` is the newest of them."""


class Hands(NamedTuple):
    """Who plays the games."""

    number: int | None = None
    """Games at a time; None means as the settings and orders say."""
    worker: lane_kit.Worker = processor_cores.local_worker
    """Starts a worker for games. What is submitted is built and tried here in any case."""
    elsewhere: bool = False
    """Whether workers may be on other machines: then versions that their authors serve do not play."""
    same_worker: bool = False
    """Whether the games of a match are all played on one worker of a cluster, as long as it lives."""
    watch: Callable[[Payload], object] | None = None
    """Called with the service's state several times a second, if anybody wants to see it."""


def run_league(
    folder: Folder,
    hands: Hands,
    *,
    games: int | None = None,
    tell: Callable[[str], object] = lambda sentence: None,
    door: str = "",
    announce: Callable[[str], object] = lambda address: None,
) -> Ended:
    """Runs a league until it is asked to stop by a signal.

    Args:
        games: After how many more rated games it ends; None means never.
        tell: Called with a sentence about each event.
        door: Where the league is open to authors elsewhere; empty means as the settings say.
        announce: Called with the door's address for authors, once it is open.

    Raises:
        ConfigError: The folder or the settings cannot be used. Show the message to the operator.
        StoreError: Another process runs it, or its database cannot be used.
        LevelError: This machine cannot confine bots as the settings demand.
    """
    folder.check()
    with ExitStack() as stack:
        stack.enter_context(folder.running())
        journal = Journal(folder.journal, tell)
        stack.callback(journal.close)
        store = stack.enter_context(_opened(folder.database, journal.say))
        stopping = stack.enter_context(Stopping())
        keepers = _door(folder, door, journal.say, announce, stack)
        played = 0
        while True:
            left = games and games - played
            ended = _run_season(store, folder, stopping, journal.say, left, hands, keepers)
            played += ended.games
            if not ended.closing or stopping.asked or (games is not None and played >= games):
                return replace(ended, games=played)


def _door(
    folder: Folder, bind: str, tell: Callable[[str], object], announce: Callable[[str], object], stack: ExitStack
) -> tuple[DoorSupervisor, ...]:
    """Returns what keeps the league's door open, if it is to be open. It is closed with the stack.

    Raises:
        ConfigError: As for `check_bind`, or what a door needs is not installed.
    """
    check_bind(bind)
    door = load(folder).door
    bind = bind or door.bind
    if not bind:
        return ()
    need("pages", "a league's door")  # else it would fall over again and again
    command = partial(door_command, folder.path, bind, door.url, (door.tls,) if isinstance(door.tls, str) else door.tls)
    supervisor = DoorSupervisor(command, tell, announce)
    stack.callback(supervisor.close)
    return (supervisor,)


def _run_season(
    store: LeagueStore,
    folder: Folder,
    stopping: Stopping,
    tell: Callable[[str], object],
    games: int | None,
    hands: Hands,
    keepers: tuple[Duty, ...],
) -> Ended:
    """Runs the service for the open season, and ends the season if that is ordered."""
    settings = settings_now(store, folder)
    check_house(settings)
    confining.require(settings.level, (), (folder.database, folder.logs))
    programs.check_disk(folder.bots)
    season = store.seasons.current()
    if season is None:
        raise errors.ConfigError("expected an open season, got: none; restore the league from a backup")
    if store.controls.final_matches != settings.season.final_matches:
        store.set_control("final_matches", settings.season.final_matches)
    clean_up(store, folder, settings, season)
    for version in renew_house(store, settings):
        tell(f"{version.name} plays from now on: this version of arena has other files of {version.bot}")
    with ExitStack() as stack:
        service = _put_together(store, folder, settings, season, tell, hands, keepers, stack)
        ended = service.run(stopping, games)
    dropped = f"; {counted(ended.dropped, 'game')} that ran will be played again" if ended.dropped else ""
    tell(f"Ended after {counted(ended.games, 'rated game')}{dropped}")
    if ended.closing:
        closed = close_season(store, folder, tell, Manager().alive)
        tell(f"Season {closed.name} is closed; digest {closed.digest}")
        Telling(store, folder, load(folder).notify, tell).finish()
    return ended


def _put_together(
    store: LeagueStore,
    folder: Folder,
    settings: Settings,
    season: Season,
    tell: Callable[[str], object],
    hands: Hands,
    keepers: tuple[Duty, ...],
    stack: ExitStack,
) -> Service:
    """Returns the service of a league. Its workers end with the stack."""
    tournament = store.games.tournament(season.tournament)
    tools = LeagueTools(folder, settings, partial(built_tree, store))
    publishing = Publishing(store, folder, settings, season, tell)
    publishing.catch_up()
    order_duty = OrderDuty(store, folder, settings, hands.number, tell, publishing.hurry)
    room = DiskRoom(folder.path, tell)
    jobs = Jobs(store, tools.bot, settings, tournament, folder.feed)
    starts = Starts(store, settings.limits)
    supply = MatchGames(
        store, season.tournament, jobs, settings.suspension, tell, room.give_up_reserve, tools.unfit, starts.count,
        same_worker=hands.same_worker, block=settings.matchmaking.deals,
    )  # fmt: skip
    supply.judge_all()
    is_here, cores = hands.worker is processor_cores.local_worker, processor_cores.available_cores()
    ahead = is_here and order_duty.workers < cores
    niceness = NICENESS if is_here and 1 < order_duty.workers >= cores else 0  # else other programs alone gain by it
    lanes = stack.enter_context(
        lane_kit.Lanes(supply, game_worker.play, hands.worker, ahead=ahead, attend=game_worker.attend)
    )
    step_worker = stack.enter_context(StepWorker(processor_cores.local_worker, niceness))
    lost = Lost(store, tools.is_built)
    judge = Allowance(store, folder.bots, settings.limits).judge
    step_runner = StepRunner(store, step_worker, tools, lost, tell, judge)

    def gone() -> frozenset[str]:
        return absent(store, folder, elsewhere=hands.elsewhere) | lost.names

    def requested(*, seats: bool) -> Requested:
        worker = StepWorker(processor_cores.local_worker, niceness)
        stack.callback(worker.drop)
        return Requested(store, folder, tools, worker, tell, gone, seats=seats)

    seats = [(requested(seats=True), True) for _ in range(settings.service.seats)]
    matches = requested(seats=False), settings.service.requested == "beside"
    matches[0].resume()
    planner = Planner(store, settings.rule, bytes.fromhex(tournament.commitment), absent=gone, resting=starts.resting)
    ending = Ending(store, settings, tell, gone)
    playing = len(store.versions.active())
    verb = "plays" if playing == 1 else "play"
    at_a_time = counted(order_duty.workers, "game")
    tell(f"League {settings.name}: {counted(playing, 'version')} {verb}, {at_a_time} at a time")
    if tournament.awaits:
        where = beacons.where(tournament.awaits)
        tell(f"No game begins before `arena league season beacon VALUE` has the value: {where}")
    tidy = Tidy(store, folder, settings.logs, tell)
    service = Service(
        supply,
        lanes,
        step_worker,
        planner,
        ending,
        step_runner,
        order_duty,
        room,
        publishing,
        (
            SignOfLife(Manager(), lambda: f"{counted(supply.rated, 'rated game')} since the start"),
            SignsOfLife(store, folder, tell),
            tidy,
            Telling(store, folder, settings.notify, tell),
            Clearing(store, folder, tell),
            *keepers,
        ),
        tell,
        settings.service.stop_s,
        hands.watch,
        (matches, *seats),
    )
    figures = Figures(store, folder, settings.game.players, service.state, room, order_duty.obeyed, tidy)
    supply.told = figures.count
    service.add(figures)
    publishing.state = figures.state
    showing = Showing(folder.path, settings.site.every_s, tell, lambda: supply.rated)
    order_duty.leaving = showing.drop
    service.add(showing)
    stack.callback(showing.finish)
    return service


@contextmanager
def _opened(database: Path, tell: Callable[[str], object]) -> Iterator[LeagueStore]:
    """Opens the database, however long a command holds it. Raises StoreError: it is too long, or it cannot be used."""
    end = time.monotonic() + PATIENCE_S
    with ExitStack() as stack:
        while True:
            try:
                store = stack.enter_context(open_league(database, tell))
                break
            except errors.StoreError:
                if time.monotonic() >= end:
                    raise
                time.sleep(0.1)
        yield store


class _Handler(RotatingFileHandler):
    """Keeps silent if the disk is full."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Drops the line."""


class Journal:
    """Writes sentences to a file, each a line with its time in UTC. It also tells them to whoever wants to hear.

    A journal that cannot be written ends nothing: what matters is in the database.
    """

    def __init__(self, path: Path, tell: Callable[[str], object] = lambda sentence: None) -> None:
        """Takes the log's path, beside which earlier logs stand, and what is called with each sentence."""
        self._tell = tell
        self._handler = _Handler(path, maxBytes=LOG_BYTES, backupCount=LOGS_KEPT, encoding="utf-8", delay=True)
        formatter = logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
        formatter.converter = time.gmtime
        self._handler.setFormatter(formatter)

    def say(self, sentence: str) -> None:
        """Writes a sentence. Names and texts in it may be anybody's."""
        line = plain(sentence)
        self._handler.handle(logging.LogRecord("arena", logging.INFO, "", 0, line, None, None))
        self._tell(line)

    def close(self) -> None:
        """Closes the file."""
        self._handler.close()
