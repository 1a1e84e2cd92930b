"""Opens seasons, and checks that the settings are still those of the open one."""

from __future__ import annotations

from collections.abc import Mapping

from arena.league.folder import Folder
from arena.league.season_files import write_opened
from arena.league.settings import Settings, check_season, load
from arena.ratings.running import Rating
from arena.record.published import sha256_of
from arena.referee.chance import commitment, new_secret
from arena.store.league import LeagueReader, LeagueStore
from arena.store.league.records import Season
from arena.store.records import Tournament
from arena.store.store import now


def settings_of(folder: Folder, league: LeagueReader) -> Settings:
    """Returns the settings of a league, for playing its open season.

    Raises:
        ConfigError: They cannot be used, or would mix ratings in the open season. Show the message to the operator.
    """
    settings = load(folder)
    season = league.seasons.current()
    if season is not None:
        fixed = league.finder.tournament(season.tournament).settings
        check_season(settings, season.name, fixed, str(folder.settings), folder.settings_text())
    return settings


def open_season(
    store: LeagueStore,
    folder: Folder,
    settings: Settings,
    name: str,
    starts: Mapping[int, Rating] | None = None,
) -> Season:
    """Opens the next season, with a new secret, and publishes the commitment to it. All active versions are in it.

    Args:
        store: The league.
        folder: Its folder.
        settings: Its settings.
        name: What people call the season.
        starts: By version's id the rating that it begins with; a new rating for the others.

    Raises:
        Refused: A season is open, or there was one of that name.
        ConfigError: The settings cannot be used. Show the message to the operator.
        OSError: The commitment cannot be published.
    """
    id = f"{settings.name}-{len(store.seasons.all()) + 1}"
    secret = new_secret()
    document = settings.season_settings()
    logs = folder.logs / id
    logs.mkdir(parents=True, exist_ok=True)
    tournament = Tournament(
        id=id,
        created=now(),
        settings=document,
        digest=sha256_of(document),
        seed=None,
        secret=secret,
        commitment=commitment(secret),
        logs=str(logs),
        games=0,
        open=True,
    )
    season = store.seasons.open(name, tournament, starts=starts)
    write_opened(folder, name, season.opened, tournament, season.digest_before)
    return season
