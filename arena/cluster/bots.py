"""Finds on a machine of a cluster the bots that its games ask for: bundled ones, and those that came as archives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from arena.cluster.block import Want
from arena.cluster.cache import BotCache
from arena.core.face import Level, bot_manifests, errors


class CannotStart(errors.BotError):
    """A bot cannot be started on this machine. Show the message to the operator."""

    def __init__(self, bot: bot_manifests.BotSpec, why: str) -> None:
        language = bot.language and f" in {bot.language}"
        super().__init__(f"bot {bot.name}{language} cannot be started there: {why}")
        self.digest = bot.digest


class StartableBots:
    """The bots that a player can start."""

    def __init__(self, folder: Path) -> None:
        """Takes the folder of the bots that came as archives. It is made when there is one."""
        self._folder = folder
        self._cache: BotCache | None = None
        self._found: dict[str, bot_manifests.BotSpec] = {}
        """Bots by digest, as they are started here."""

    def lacking(self, wants: Sequence[Want]) -> tuple[str, ...]:
        """Finds bots, and returns the digests of those that must be brought.

        Raises:
            CannotStart: One is not here and cannot be brought.
            ArenaError: The folder of bots cannot be used.
            OSError: So too.
        """
        for want in wants:
            try:
                if want.bot.digest not in self._found and (found := self._find(want)) is not None:
                    self._found[want.bot.digest] = found
            except CannotStart:
                raise
            except (errors.BotError, errors.ArchiveError) as error:  # what it needs to run is gone
                raise CannotStart(want.bot, str(error)) from None
        return tuple(want.bot.digest for want in wants if want.bot.digest not in self._found)

    def _find(self, want: Want) -> bot_manifests.BotSpec | None:
        bundled = _bundled(want.bot.digest)
        if bundled is not None:
            return bundled
        if not want.archive:
            return _at_its_place(want)
        folder = self._kept().take(want.archive)
        return None if folder is None else _loaded(folder, want)

    def build(self, want: Want, archive: Path, level: Level) -> None:
        """Builds a bot that was brought.

        Raises:
            CannotStart: It cannot be built here.
            ArenaError: This machine is the reason.
            OSError: So too.
        """
        try:
            self._found[want.bot.digest] = _loaded(self._kept().build(want.archive, archive, level), want)
        except (errors.BotError, errors.ArchiveError) as error:
            raise CannotStart(want.bot, str(error)) from None

    def here(self, bots: Sequence[bot_manifests.BotSpec]) -> tuple[bot_manifests.BotSpec, ...]:
        """Returns bots as they are to be started here. They keep the names that logs call them by.

        Raises:
            CannotStart: One was not asked for before.
        """
        for bot in bots:
            if bot.digest not in self._found:
                raise CannotStart(bot, "expected a bot that was asked for before, got: one that was not asked for")
        own = [(bot, self._found[bot.digest]) for bot in bots]
        return tuple(
            replace(bot, command=at.command, folder=at.folder, reads=at.reads, runtimes=at.runtimes) for bot, at in own
        )

    def _kept(self) -> BotCache:
        if self._cache is None:
            self._cache = BotCache(self._folder)
        return self._cache


def _bundled(digest: str) -> bot_manifests.BotSpec | None:
    """Returns the bundled bot with these files, if it can be started: it may need a build that was not done here."""
    for bot in bot_manifests.bundled_bots():
        if bot.digest == digest:
            try:
                return bot_manifests.load_bot(bot.name)
            except errors.BotError:
                return None
    return None


def _loaded(folder: Path, want: Want) -> bot_manifests.BotSpec:
    found = bot_manifests.load_bot(str(folder), capped=False)
    if found.digest != want.bot.digest:
        raise errors.BotError(
            f"expected bot {want.bot.name} with the digest {want.bot.digest[:12]}…, got: {found.digest[:12]}… from its "
            "archive; give the same command again if its files were just changed"
        )
    return found


def _at_its_place(want: Want) -> bot_manifests.BotSpec:
    bot = want.bot
    try:
        found = bot_manifests.load_bot(bot.folder, capped=False)
        got = f"other files in {bot.folder}, with the digest {found.digest[:12]}…"
    except errors.BotError as error:
        got = str(error)
    else:
        if found.digest == bot.digest:
            return found
    raise CannotStart(
        bot,
        f"expected its files with the digest {bot.digest[:12]}… in the same folder, since it cannot be sent "
        f"({want.why}), got: {got}; put them there, and build it",
    )
