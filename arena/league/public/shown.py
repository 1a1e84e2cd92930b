"""A league for those who show it: `arena watch` and `arena site` (`arena.core.plugs.ShownFolder`)."""

from __future__ import annotations

from pathlib import Path

from arena.core.face import Reader, errors, files, plain
from arena.league.folder import Folder
from arena.league.settings import load
from arena.league.store import league_of


class ShownLeague(Folder):
    """A league's folder, and what is shown of it. Raises ConfigError: there is none."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder.absolute())
        self.check()

    def told(self) -> tuple[str, str, bool]:
        """Returns its name, the address of its door, and whether it has remote bots."""
        settings = load(self)
        at = self.door / "authors"  # as `arena league open` has left it
        known = files.read_text(at, "a door's address", files.MIB, errors.ConfigError) if at.exists() else ""
        return plain(settings.name), settings.door.url or known.partition("#")[0], settings.bots.remote

    def current(self, reader: Reader) -> str | None:
        """Returns the tournament of the open season."""
        season = league_of(reader).seasons.current()
        return None if season is None else season.tournament
