"""Makes a league: its folder, its database with the first season, the house's bots, and its settings.

Law: `league.toml` is written last. So a folder with one is a whole league. One whose making was broken off is made by
giving the command again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from arena import files
from arena.errors import ConfigError
from arena.league.folder import SETTINGS, Folder
from arena.league.house import check_house, enter_house
from arena.league.opening import open_season
from arena.league.settings import Settings, parse
from arena.league.template import text
from arena.store.league import open_league

FIRST_SEASON: Final = "first"
LOCAL: Final = "local"
"""The author of bots that are submitted on the league's machine, unless another is named."""
_LOCAL_QUOTAS: Final = {"bots": 1_000, "pending": 1_000, "submissions": 100_000}


def make_league(path: Path, settings: Settings) -> Folder:
    """Makes a league in a folder that does not exist, or is empty.

    Args:
        path: The folder.
        settings: What was chosen. What `league.toml` does not take from it has its default.

    Raises:
        ConfigError: The folder is used, or something that was chosen cannot be used. Show the message to the operator.
    """
    folder = Folder(path.absolute())
    if folder.settings.exists():
        raise ConfigError(f"expected a folder without a league, got: {str(path)!r}, which has a {SETTINGS}")
    if path.is_dir() and any(path.iterdir()) and not folder.database.exists():
        raise ConfigError(f"expected a new or an empty folder for a league, got: {str(path)!r}, which has other files")
    written = text(settings)
    settings = parse(written, SETTINGS)
    check_house(settings)
    folder.make()
    with open_league(folder.database) as store, store.transaction():
        if store.seasons.current() is None:
            open_season(store, folder, settings, FIRST_SEASON)
        enter_house(store, settings)
        if store.authors.get(LOCAL) is None:
            store.authors.add(LOCAL, _LOCAL_QUOTAS)
    files.write(folder.settings, written.encode(), durably=True)
    return folder
