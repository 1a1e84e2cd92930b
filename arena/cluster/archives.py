"""The archives in which bots travel: each bot is packed once, when a worker first needs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from arena.author.archives import LIMITS, MOST, check, pack
from arena.cluster.block import Want
from arena.core.face import bot_manifests, errors, files


class BotArchives:
    """The archives of a run. Any thread may ask."""

    def __init__(
        self,
        folder: Path,
        archive_of: Callable[[bot_manifests.BotSpec], Path | None] = lambda bot: None,
        tell: Callable[[str], object] = lambda sentence: None,
    ) -> None:
        """Takes an empty folder for archives, and what returns the archive that a bot came in, if it came in one.

        `tell` is called with a sentence about each bot that workers have without something of its folder.
        """
        self._tell = tell
        self._folder = folder
        self._archive_of = archive_of
        self._wants: dict[str, Want] = {}
        """Wants by the digest of a bot's files: bots with the same files travel as one."""
        self._places: dict[str, Path] = {}
        """Path of each archive, by its digest."""
        self._lock = Lock()

    def want(self, bot: bot_manifests.BotSpec) -> Want:
        """Returns what a worker is told of a bot that it needs.

        Raises:
            BotError: It is a command line, which cannot be sent.
        """
        if not (Path(bot.folder) / bot_manifests.MANIFEST).is_file():
            raise errors.BotError(
                f"expected a bot that can be sent to a cluster, got: {bot.name}, a command line; give a folder with a "
                f"{bot_manifests.MANIFEST}"
            )
        with self._lock:
            if bot.digest not in self._wants:
                self._wants[bot.digest] = self._packed(bot)
            return self._wants[bot.digest]

    def data(self, digest: str) -> bytes:
        """Returns an archive.

        Raises:
            InternalError: It cannot be read any more.
        """
        return files.read(self._places[digest], "a bot's archive", MOST.packed, errors.InternalError, links=False)

    def _packed(self, bot: bot_manifests.BotSpec) -> Want:
        try:
            sent = self._archive_of(bot)
            if sent is not None:
                digest = check(sent).digest
                self._places[digest] = sent
                return Want(bot, digest)
            packed = pack(Path(bot.folder), LIMITS)
            if unusual := [path for path in packed.left_out if path.endswith(")")]:  # with a word on what it is
                self._tell(f"{bot.name} is sent without {', '.join(unusual)}")
            self._places[packed.digest] = self._folder / packed.digest
            files.write(self._places[packed.digest], packed.data, mode=0o600)
            return Want(bot, packed.digest)
        except (errors.ArenaError, OSError) as error:
            return Want(bot, why=str(error))
