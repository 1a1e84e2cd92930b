"""Makes the work for workers: a claimed game of the open season with its bots, its deal and its block."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from arena.league.settings import Settings
from arena.link.bots import BotSpec
from arena.referee.job import Job
from arena.store.league import LeagueStore
from arena.store.league.records import Version
from arena.store.records import Claim, PlannedGame, Tournament
from arena.tournament.blocks import Processes, block_of
from arena.types import GameSettings, Level


class Jobs:
    """Makes the work for a game of the open season."""

    def __init__(
        self,
        store: LeagueStore,
        bot: Callable[[Version], BotSpec],
        settings: Settings,
        tournament: Tournament,
        feed: Path,
    ) -> None:
        """Takes what the work is made from: what a version is started with, and the folder in which watchers wait."""
        self._store = store
        self._bot = bot
        self._settings = settings
        self._tournament = tournament
        self._games: dict[int, GameSettings] = {}
        self._feed = str(feed.absolute())

    def __call__(self, claim: Claim, game: PlannedGame) -> Job:
        """Returns the work for a claimed game. Its bots serve the games of its block, and no others.

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
            bots=tuple(self._bot(version) for version in versions if version is not None),
            deal=game.deal,
            rotation=game.rotation,
            secret=self._tournament.secret,
            logs=self._tournament.logs,
            level=self._settings.level,
            block=block_of(self._processes(versions), game, claim.attempt),
            feed=self._feed,
        )

    def _processes(self, versions: Iterable[Version | None]) -> Processes:
        """Returns for how long bots are kept: a remote one for one game, which is its sitting."""
        if any(version is not None and version.level == Level.REMOTE for version in versions):
            return "game"
        found: Processes = self._tournament.settings["processes"]
        return found
