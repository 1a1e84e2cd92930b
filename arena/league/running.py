"""Runs the league in a folder: puts the service together, and cleans up after one that was killed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from arena import files
from arena.door.keeping import Keeper, door_command
from arena.errors import ConfigError, StoreError
from arena.league.allowance import Allowance
from arena.league.bench import Bench
from arena.league.clearing import Clearing
from arena.league.closing import close_season, settings_for_final
from arena.league.duties import DiskRoom, Health, Helm
from arena.league.ending import Ending
from arena.league.folder import Folder
from arena.league.forgetting import Forget
from arena.league.housekeeping import Remake, Thin, Tidy
from arena.league.journal import Journal
from arena.league.monitoring import Figures
from arena.league.opening import settings_of
from arena.league.planning import Planner
from arena.league.publishing import Publishing
from arena.league.retention import Shelf
from arena.league.service import Ended, Service
from arena.league.settings import Settings, check_bind, load
from arena.league.showing import Showing
from arena.league.steps import StepReport
from arena.league.stopping import Stopping
from arena.league.supply import MatchGames
from arena.league.systemd import Manager
from arena.league.tools import LeagueTools, absent
from arena.league.workshop import Workshop
from arena.link.sandbox.doctor import require
from arena.link.warden import remove_tree
from arena.parcels.building import PART
from arena.referee.job import Job
from arena.referee.worker import attend, play
from arena.store.league import LeagueStore, open_league
from arena.store.league.records import Season
from arena.store.records import Claim, PlannedGame, Tournament
from arena.text import counted
from arena.tournament.blocks import block_of
from arena.tournament.lanes import Lanes, Worker
from arena.tournament.workers import available_cores, local_worker
from arena.types import GameSettings, Payload

PATIENCE_S: Final = 15.0
"""How long it waits for a command that writes the database at this moment."""


class _Hands(NamedTuple):
    """Who plays the games."""

    number: int | None
    """Games at a time; None means as the settings and orders say."""
    worker: Worker
    elsewhere: bool
    """Whether workers may be on other machines."""
    same_worker: bool
    """Whether a match stays on one worker."""


def run_league(
    folder: Folder,
    *,
    games: int | None = None,
    workers: int | None = None,
    tell: Callable[[str], object] = lambda sentence: None,
    watch: Callable[[Payload], object] | None = None,
    door: str = "",
    announce: Callable[[str], object] = lambda address: None,
    worker: Worker = local_worker,
    elsewhere: bool = False,
    same_worker: bool = False,
) -> Ended:
    """Runs a league until it is asked to stop by a signal.

    Args:
        folder: The league.
        games: After how many more rated games it ends; None means never.
        workers: Games at a time; None means as the settings and orders say.
        tell: Called with a sentence about each event.
        watch: Called with the service's state several times a second, if anybody wants to see it.
        door: Where the league is open to authors elsewhere; empty means as the settings say.
        announce: Called with the door's address for authors, once it is open.
        worker: Starts a worker for games. What is submitted is built and tried here in any case.
        elsewhere: Whether workers may be on other machines: then versions that their authors serve do not play.
        same_worker: Whether the games of a match are all played on one worker of a cluster, as long as it lives.

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

        def add_duties(service: Service) -> None:
            for keeper in keepers:
                service.add(keeper)
            if watch is not None:
                service.add(Watched(watch, service.state))

        played = 0
        hands = _Hands(workers, worker, elsewhere, same_worker)
        while True:
            left = games and games - played
            ended = _run_season(store, folder, stopping, journal.say, left, hands, add_duties)
            played += ended.games
            if not ended.closing or stopping.asked or (games is not None and played >= games):
                return replace(ended, games=played)


def _door(
    folder: Folder, bind: str, tell: Callable[[str], object], announce: Callable[[str], object], stack: ExitStack
) -> list[Keeper]:
    """Returns what keeps the league's door open, if it is to be open. It is closed with the stack.

    Raises:
        ConfigError: As for `check_bind`.
    """
    check_bind(bind)
    settings = load(folder)
    bind = bind or settings.door.bind
    if not bind:
        return []
    command = partial(door_command, folder.path, bind, settings.door.host or None)
    keeper = Keeper(command, tell, announce)
    stack.callback(keeper.close)
    return [keeper]


def _run_season(
    store: LeagueStore,
    folder: Folder,
    stopping: Stopping,
    tell: Callable[[str], object],
    games: int | None,
    hands: _Hands,
    add_duties: Callable[[Service], object],
) -> Ended:
    """Runs the service for the open season, and ends the season if that is ordered."""
    settings = _settings(store, folder)
    require(settings.level, (), (folder.database, folder.logs))
    season = store.seasons.current()
    if season is None:
        raise ConfigError("expected an open season, got: none; restore the league from a backup")
    if store.controls.final_matches != settings.season.final_matches:
        store.controls.set("final_matches", settings.season.final_matches)
    _clean_up(store, folder, settings, season)
    with ExitStack() as stack:
        service = _put_together(store, folder, settings, season, tell, hands, stack)
        add_duties(service)
        ended = service.run(stopping, games)
    dropped = f"; {counted(ended.dropped, 'game')} that ran will be played again" if ended.dropped else ""
    tell(f"Ended after {counted(ended.games, 'rated game')}{dropped}")
    if ended.closing:
        closed = close_season(store, folder, tell, Manager().alive)
        tell(f"Season {closed.name} is closed; digest {closed.digest}")
    return ended


def _settings(store: LeagueStore, folder: Folder) -> Settings:
    """Returns the settings for what is left of the open season. They may be those of the next one if nothing is.

    Raises:
        ConfigError: They cannot be used, or a game of the season is still to be played with others.
    """
    closing, season = store.controls.closing, store.seasons.current()
    if closing is None or season is None:
        return settings_of(folder, store)
    settings = load(folder)
    over = season.final is not None and season.final.outcome is not None
    if over or not closing.final or (season.final is None and not settings.season.final):
        return settings
    return settings_for_final(store, folder, settings)


def _put_together(
    store: LeagueStore,
    folder: Folder,
    settings: Settings,
    season: Season,
    tell: Callable[[str], object],
    hands: _Hands,
    stack: ExitStack,
) -> Service:
    """Returns the service of a league. Its workers end with the stack."""
    tournament = store.games.tournament(season.tournament)
    tools = LeagueTools(folder, settings)
    publishing = Publishing(store, folder, settings, season, tournament.secret, tell)
    publishing.catch_up(Manager().alive)
    helm = Helm(store, folder, settings, hands.number, tell, publishing.hurry)
    room = DiskRoom(folder, tell)
    jobs = Jobs(store, tools, settings, tournament, folder.feed)
    supply = MatchGames(
        store, season.tournament, jobs, settings.suspension, tell, room.give_up_reserve, same_worker=hands.same_worker
    )
    supply.judge_all()
    ahead = hands.worker is local_worker and helm.workers < available_cores()
    lanes = stack.enter_context(Lanes(supply, play, hands.worker, ahead=ahead, attend=attend))
    bench = stack.enter_context(Bench[StepReport](local_worker))
    allowance = Allowance(store, folder.bots, settings.limits)
    workshop = Workshop(store, bench, tools, tell, allowance.judge)

    def gone() -> frozenset[str]:
        return absent(store, folder, elsewhere=hands.elsewhere) | workshop.lost

    planner = Planner(store, settings.rule, bytes.fromhex(tournament.commitment), absent=gone)
    ending = Ending(store, settings, tell, gone)
    playing = len(store.versions.active())
    verb = "plays" if playing == 1 else "play"
    tell(f"League {settings.name}: {counted(playing, 'version')} {verb}, {counted(helm.workers, 'game')} at a time")
    health = Health(Manager(), lambda: f"{counted(supply.rated, 'rated game')} since the start")
    tidy = Tidy(store, folder, settings.retention, tell)
    remake, forget, clearing = Remake(store, tell), Forget(store, folder), Clearing(store, folder, tell)
    duties = (health, tidy, Thin(store), remake, forget, clearing)
    service = Service(
        supply, lanes, bench, planner, ending, workshop, helm, room, publishing, duties, tell, settings.service.stop_s
    )
    figures = Figures(store, folder, settings.game.players, service.state, lambda: room.room, lambda: helm.obeyed)
    supply.told = figures.count
    service.add(figures)
    publishing.state = figures.state
    showing = Showing(folder.path, settings.site.every_s, tell, lambda: supply.rated)
    service.add(showing)
    stack.callback(showing.finish)
    return service


class Watched:
    """Shows what the service does to whoever watches it, whenever it is looked at."""

    def __init__(self, watch: Callable[[Payload], object], state: Callable[[], Payload]) -> None:
        """Takes who watches, and what returns the service's state."""
        self._watch = watch
        self._state = state

    def look(self) -> None:
        """Shows it."""
        self._watch(self._state())


class Jobs:
    """Makes the work for a game of the open season."""

    def __init__(
        self, store: LeagueStore, tools: LeagueTools, settings: Settings, tournament: Tournament, feed: Path
    ) -> None:
        """Takes what the work is made from, and the folder in which watchers wait."""
        self._store = store
        self._tools = tools
        self._settings = settings
        self._tournament = tournament
        self._games: dict[int, GameSettings] = {}
        self._feed = str(feed.absolute())

    def __call__(self, claim: Claim, game: PlannedGame) -> Job:
        """Returns the work for a claimed game. Its bots serve no other game.

        Raises:
            ArenaError: A bot's files are gone.
        """
        players = len(game.entrants)
        if players not in self._games:
            self._games[players] = self._settings.game_settings(players)
        versions = [self._store.versions.of_entrant(entrant) for entrant in game.entrants]
        return Job(
            game=claim.game,
            tournament=claim.tournament,
            settings=self._games[players],
            bots=tuple(self._tools.bot(version) for version in versions if version is not None),
            deal=game.deal,
            rotation=game.rotation,
            secret=self._tournament.secret,
            logs=self._tournament.logs,
            level=self._settings.level,
            block=block_of("game", game, claim.attempt),
            feed=self._feed,
        )


@contextmanager
def _opened(database: Path, tell: Callable[[str], object]) -> Iterator[LeagueStore]:
    """Opens the database, however long a command that obeys an order by itself holds it.

    Raises:
        StoreError: Another process holds it for too long, or it cannot be used.
    """
    end = time.monotonic() + PATIENCE_S
    with ExitStack() as stack:
        while True:
            try:
                store = stack.enter_context(open_league(database, tell))
                break
            except StoreError:
                if time.monotonic() >= end:
                    raise
                time.sleep(0.1)
        yield store


def _clean_up(store: LeagueStore, folder: Folder, settings: Settings, season: Season) -> None:
    """Gives back what a service that was killed held, and removes what it left half done."""
    logs = folder.logs / season.tournament
    logs.mkdir(parents=True, exist_ok=True)
    shelf = Shelf([logs])
    most_seats = max(settings.game.players)
    for game in store.games.resume(season.tournament):
        shelf.remove(game, most_seats)
    for part in folder.bots.glob(f"*{PART}"):
        remove_tree(str(part))
    for each in (logs, folder.submissions, *(Path(top) for top, _, _ in os.walk(folder.published))):
        files.remove_unfinished(each)
