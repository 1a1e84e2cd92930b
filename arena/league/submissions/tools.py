"""How the steps of a version are done, and what it is started with: from the league's folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from arena.author.archives import bot_folder
from arena.author.archives.settling import tree_digest
from arena.core.face import FilesChanged, GameSettings, Level, Payload, bot_manifests, capping, errors
from arena.league.door.relay import remote_bot, seat_of, served
from arena.league.folder import Folder
from arena.league.keeping.retention import QUALIFYING
from arena.league.settings import Settings
from arena.league.store import LeagueStore
from arena.league.store.controls import Request
from arena.league.store.records import Kind, Version
from arena.league.submissions.house import house_spec
from arena.league.submissions.steps import StepReport, Verdict, build, check, meet, qualify


class LeagueTools:
    """Does the steps of versions, and finds what versions are started with."""

    def __init__(self, folder: Folder, settings: Settings, tree: Callable[[Version], str] = lambda version: "") -> None:
        """Takes the league, and what returns the digest of what the build of a version left."""
        self._folder = folder
        self._settings = settings
        self._tree = tree
        self._specs: dict[int, bot_manifests.BotSpec] = {}
        """Start of each version: a digest over all its files is in it."""

    def work(self, version: Version, kind: Kind) -> tuple[Callable[..., StepReport], tuple[Any, ...]]:
        """Returns what does a step, and its arguments. Raises MachineFault: what the step before has left is gone."""
        if version.level == Level.REMOTE:
            return self._remote(version, kind)
        level = Level(version.level)
        if kind == "build":
            self._specs.pop(version.id, None)  # files that are built again may differ from those before
            return build, (self._folder.archive(version.digest), self._folder.bots, level)
        if not self.is_built(version):
            raise errors.MachineFault(f"expected what was built of {version.name}, got: it is gone")
        place = bot_folder(self._folder.built(version.digest))
        if kind == "check":
            return check, (place, self._settings.game.rules, level)
        return qualify, (place, self._first_games(), level, self._first_logs(), _series(version))

    def _remote(self, version: Version, kind: Kind) -> tuple[Callable[..., StepReport], tuple[Any, ...]]:
        """Returns what does a step of a bot on its author's machine: only its first games can be looked at here.

        Raises:
            MachineFault: Nobody serves it now. It is tried again.
        """
        if kind != "qualify":
            return nothing_to_do, (kind,)
        if version.name not in served(self._folder.path):
            raise errors.MachineFault(f"expected {version.name} to be served, got: it is not; start `arena bot serve`")
        level = Level(self._settings.bots.level)
        return qualify, (self.bot(version), self._first_games(), level, self._first_logs(), _series(version))

    def meeting(self, request: Request, *versions: Version) -> tuple[Callable[..., StepReport], tuple[Any, ...]]:
        """Returns what plays an unrated match of versions, or of an author's seat and one, and its arguments.

        Errors are those of `bot`.
        """
        settings = self._settings.game_settings(min(self._settings.game.players))
        bots = [self.bot(version) for version in versions]
        if request.seat is not None:
            bots[:0] = [seat_of(self._folder.path, request.author, request.game, self._settings.service.seat_time)]
        level, secret = Level(self._settings.bots.level), bytes.fromhex(request.secret)
        return meet, (tuple(bots), settings, level, self._first_logs(), request.order, secret, request.seat)

    def _first_games(self) -> tuple[GameSettings, ...]:
        return tuple(self._settings.game_settings(players) for players in self._settings.game.players)

    def _first_logs(self) -> Path:
        logs = self._folder.logs / QUALIFYING
        logs.mkdir(exist_ok=True)
        return logs

    def is_built(self, version: Version) -> bool:
        """Says whether what it is started from is there."""
        return version.is_of_house or version.level == Level.REMOTE or self._folder.built(version.digest).is_dir()

    def unfit(self, version: Version) -> str:
        """Returns why a version asks for too much, as the rest of a sentence; empty if it does not.

        The caps may be other ones than when it was submitted.
        """
        if version.is_of_house or version.level == Level.REMOTE or not self.is_built(version):
            return ""
        try:
            capping.granted(
                bot_manifests.read_manifest(bot_folder(self._folder.built(version.digest))).limits,
                bot_manifests.MANIFEST,
            )
        except capping.BeyondCaps as error:
            return f"it asks for more than the league gives now: {error}"
        return ""

    def spec(self, version: Version) -> Payload:
        """Returns what it is started with, as plain values."""
        spec: Payload = msgspec.to_builtins(self.bot(version))
        return spec

    def bot(self, version: Version) -> bot_manifests.BotSpec:
        """Returns what it is started with. In logs it is called as people call it, `fox/3`.

        Raises:
            FilesChanged: Above level trusted, where no bot can write: they are not those that its build left.
            BotError: Its files are gone, or cannot be used any more.
            ConfigError: It is not in its folder.
        """
        if version.id in self._specs:
            return self._specs[version.id]
        if version.is_of_house:
            spec = house_spec(version.bot)
        elif version.level == Level.REMOTE:
            spec = remote_bot(self._folder.path, version.name, version.digest)
        else:
            place = self._folder.built(version.digest)
            tree = "" if version.level == Level.TRUSTED else self._tree(version)
            if tree and place.is_dir() and tree_digest(place) != tree:
                raise FilesChanged(
                    f"expected what was built of {version.name} in {place} to stay as it was, got: other files; remove "
                    "that folder, and it is built again",
                    (version.bot, str(version.number)),
                )
            spec = bot_manifests.load_bot(str(bot_folder(place)))
        spec = replace(spec, name=version.bot, version=str(version.number), author=version.author)
        self._specs[version.id] = spec
        return spec


def built_tree(store: LeagueStore, version: Version) -> str:
    """Returns the digest of what the build of a version left, by its last report; empty if that does not say it."""
    builds = [each.tree_digest for each in store.reports.of(version.id) if each.kind == "build"]
    return builds[-1] if builds else ""


def _series(version: Version) -> str:
    """Returns what the names of its first games have in common: they go on where they were."""
    return f"{version.id}-{version.digest[:12]}"


def nothing_to_do(kind: Kind) -> StepReport:
    """Returns the report of a step that a bot on its author's machine does not need."""
    return StepReport(kind=kind, verdict=Verdict.PASSED, seconds=0.0, detail={"remote": True})


def absent(store: LeagueStore, folder: Folder, *, elsewhere: bool = False) -> frozenset[str]:
    """Returns the names of the active versions that cannot play now: no game of theirs should be planned.

    Args:
        elsewhere: Whether games are played on other machines: nothing reaches bots from there that their authors serve.
    """
    remote = frozenset(version.name for version in store.versions.active() if version.level == Level.REMOTE)
    return remote - served(folder.path) if remote and not elsewhere else remote


def archive_of(folder: Folder, bot: bot_manifests.BotSpec) -> Path | None:
    """Returns the archive that a bot of a league came in; None for one of the house."""
    place = Path(bot.folder)
    bots = folder.bots.resolve()
    return folder.archive(place.relative_to(bots).parts[0]) if place.is_relative_to(bots) else None
